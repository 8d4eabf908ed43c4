"""Tapes made from the timelines that CAIPE published for releases 0.2.41 and 0.3.0 (facts: CAIPE 2).

Only their numbers are used: the kinds and times of events, the number of chunks and of characters. The words
are ours. One release streams from the second second on; the other is silent and then writes everything at
once. `trace` must show that.

python -m tests.tools.sample_tapes docs/tapes
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from slack_bot.testing.tape.items import Moment
from slack_bot.testing.tape.json_file import Json
from slack_bot.testing.tape.tape import FORMAT, VERSION, Tape, write_tape

_ANSWERS = Path(__file__).parent / "sample_answers"
_IDS = {"taskId": "task-1", "contextId": "context-1"}


def tapes() -> dict[str, Tape]:
    """The tapes, by the names of their files."""
    return {
        "caipe-0.2.41-simple.jsonl": _gradual(),
        "caipe-0.3.0-simple.jsonl": _burst(),
        "caipe-0.3.0-rag.jsonl": _rag(),
    }


def _gradual() -> Tape:
    """Word by word from 2.0 s to 12.3 s; 216 chunks; the result of 2,098 characters at 12.5 s."""
    answer = _answer("what-i-can-do-short", 2098)
    plain = {"sourceAgent": "supervisor", "agentType": "streaming"}
    moments = [Moment(0.0, event=_task()), *_stream(answer, 216, 2.0, 12.3, plain), *_end(answer, 12.5)]
    return _tape("what can you do?", moments, {"dialect": "caipe-0.2"})


def _burst() -> Tape:
    """Nothing until 17.8 s; 290 chunks until 18.2 s, without the last word; a result of 2,571 characters."""
    answer = _answer("what-i-can-do-long", 2571)
    moments = [
        Moment(0.0, event=_task()),
        Moment(17.8, event=_tool("start", "composing_answer")),
        *_stream(answer.rpartition(" ")[0], 290, 17.8, 18.2, {"is_final_answer": True}),
        *_end(answer, 18.2),
    ]
    return _tape("what can you do?", moments)


def _rag() -> Tape:
    """Tools and narration for 114.6 s, and then 300 chunks within 0.3 s; 2,870 characters."""
    answer = _answer("what-caipe-is", 2870)
    said = [_narration(text) for text in ("Now I'll run both searches.", "Both searches found something.")]
    summary = _narration(_answer("what-i-did", 686))
    moments = [
        Moment(0.0, event=_task()),
        Moment(17.9, event=_tool("start", "list_datasources")),
        Moment(17.9, event=_tool("end", "list_datasources")),
        *(Moment(19.1, event=_tool("start", "search", number)) for number in (1, 2)),
        Moment(19.1, event=said[0]),
        Moment(24.8, event=said[1]),
        *(Moment(27.6, event=_tool("end", "search", number)) for number in (1, 2)),
        *(Moment(63.3, event=_tool("start", "fetch_document", number)) for number in (1, 2)),
        *(Moment(65.0, event=_tool("end", "fetch_document", number)) for number in (1, 2)),
        Moment(65.0, event=_narration("Now I'll put it together.")),
        Moment(104.9, event=summary),
        Moment(114.6, event=_tool("start", "composing_answer")),
        *_stream(answer.rpartition(" ")[0], 300, 114.6, 114.9, {"is_final_answer": True}),
        *_end(answer, 114.9),
    ]
    return _tape("what is caipe?", moments)


def _tape(question: str, moments: list[Moment], settings: Json | None = None) -> Tape:
    head: Json = {"format": FORMAT, "version": VERSION, "wire": "0.3", "question": question}
    head["note"] = "Made from a published timeline: the times and sizes are measured, the words are not."
    return Tape(head | ({"settings": settings} if settings else {}), tuple(moments))


def _answer(name: str, size: int) -> str:
    """A plausible answer of ours, of exactly as many characters as the published one."""
    text = (_ANSWERS / f"{name}.md").read_text("utf-8").rstrip("\n")
    assert len(text) == size, f"{name}: {len(text)} characters in place of {size}"
    return text


def _stream(answer: str, chunks: int, start: float, end: float, metadata: Json) -> Iterator[Moment]:
    """`answer` in so many `chunks`, evenly from `start` to `end` (seconds)."""
    edges = [round(len(answer) * number / chunks) for number in range(chunks + 1)]
    for number, (left, right) in enumerate(zip(edges, islice(edges, 1, None), strict=False)):
        t = start + (end - start) * number / max(1, chunks - 1)
        event = _artifact("streaming_result", "stream-1", answer[left:right], metadata, append=number > 0)
        yield Moment(round(t, 4), event=event)


def _narration(text: str) -> Json:
    """0.3.0 did not mark narration."""
    return _artifact("streaming_result", "stream-1", text + "\n", {}, append=True)


def _tool(what: str, tool: str, number: int = 1) -> Json:
    word, mark = ("started", "🔧") if what == "start" else ("completed", "✅")
    name = f"tool_notification_{what}"
    text = f"{mark} Supervisor: {tool} {word}\n"
    event = _artifact(
        name, f"{name}-{tool}-{number}", text, {"sourceAgent": tool, "agentType": "notification"}
    )
    event["artifact"]["description"] = f"Tool call {word}: {tool}"
    return event


def _end(answer: str, t: float) -> list[Moment]:
    final = _artifact("final_result", "final-1", answer, {"trace_id": "trace-1"})
    final["lastChunk"] = True
    done = {"kind": "status-update", **_IDS, "status": {"state": "completed"}, "final": True}
    return [Moment(t, event=final), Moment(t, event=done), Moment(t, end="closed")]


def _task() -> Json:
    return {"kind": "task", "id": "task-1", "contextId": "context-1", "status": {"state": "submitted"}}


def _artifact(name: str, artifact_id: str, text: str, metadata: Json, *, append: bool = False) -> Json:
    parts: list[Any] = [{"kind": "text", "text": text}]
    artifact = {"artifactId": artifact_id, "name": name, "metadata": metadata, "parts": parts}
    update = {"kind": "artifact-update", **_IDS, "append": append, "lastChunk": False}
    return {**update, "artifact": artifact}


def main(folder: str) -> None:
    """Write the tapes into `folder`."""
    for name, tape in tapes().items():
        (Path(folder) / name).write_text(write_tape(tape), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
