"""What an agent sends that would be dear to read if each event were laid against all before it.

Each case is the frames of one turn, of a size that is asked for; `cost` tells what reading them is, without a
clock.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import BuiltinMethodType, FrameType
from typing import Any

from slack_bot.agents.answer.snapshot_merger import SnapshotMerger
from slack_bot.agents.parser import EventParser
from slack_bot.agents.wire.frames import Frame, decode

Json = dict[str, Any]

_READS_ALL = {"strip", "lstrip", "rstrip", "split", "splitlines", "find", "rfind", "lower", "replace"} | {
    "remove", "index", "copy", "update", "difference",
}  # fmt: skip
"""Methods that take as long as that is large which they are called on."""


def cost(job: Callable[[], object]) -> int:
    """What `job` is worth: the lines of Python it runs, and the size of what is gone through by C."""
    found = 0

    def trace(frame: FrameType, event: str, arg: object) -> object:
        nonlocal found
        found += event == "line"
        return trace

    def profile(frame: FrameType, event: str, arg: object) -> None:
        nonlocal found
        if event == "c_call" and isinstance(arg, BuiltinMethodType) and arg.__name__ in _READS_ALL:
            of = arg.__self__
            found += len(of) if isinstance(of, str | list | dict | set) else 0

    before = sys.gettrace(), sys.getprofile()
    sys.setprofile(profile)
    sys.settrace(trace)
    try:
        job()
    finally:
        sys.settrace(before[0])
        sys.setprofile(before[1])
    return found


def read(payloads: list[Json], marker: str = "auto") -> None:
    """All of a turn, as the reader does it."""
    parser, merger = EventParser(marker=marker), SnapshotMerger(in_statuses=False)
    for payload in payloads:
        frame: Frame = decode(payload)
        merger.on_frame(frame)
        parser.feed(frame)
    parser.finish()
    parser.profile_updates()


def text(said: str) -> Json:
    return {"kind": "text", "text": said}


def data(value: object, **metadata: object) -> Json:
    return {"kind": "data", "data": value, "metadata": metadata}


def artifact(*parts: Json, key: str = "a", name: str = "answer", **metadata: object) -> Json:
    return {"artifactId": key, "name": name, "parts": list(parts), "metadata": metadata}


def update(
    *parts: Json, key: str = "a", name: str = "answer", append: bool = True, **metadata: object
) -> Json:
    body = artifact(*parts, key=key, name=name, **metadata)
    return {"kind": "artifact-update", "taskId": "t", "append": append, "artifact": body}


def status(*parts: Json, state: str = "working", key: str = "m") -> Json:
    message = {"role": "agent", "messageId": key, "parts": list(parts)}
    return {"kind": "status-update", "taskId": "t", "status": {"state": state, "message": message}}


def task(*artifacts: Json, state: str = "working") -> Json:
    return {"kind": "task", "id": "t", "status": {"state": state}, "artifacts": list(artifacts)}


def new(number: int, said: str, *, append: bool = False) -> Json:
    """An artifact of its own."""
    return update(text(said), key=f"a{number}", name=f"n{number}x", append=append)


def _called(number: int, kind: str = "function_call") -> Json:
    return data({"name": "t", "id": f"{number}"}, adk_type=kind)


def _many(payload: Callable[[int], Json]) -> Callable[[int], list[Json]]:
    return lambda n: [payload(number) for number in range(n)]


def _after(first: Callable[[int], str], payload: Callable[[int], Json]) -> Callable[[int], list[Json]]:
    """A long text, and then many short ones."""
    return lambda n: [update(text(first(n)), append=False), *(payload(number) for number in range(n))]


def _snapshots(n: int) -> list[Json]:
    said = "The word " * n
    return [
        update(text(said), append=False),
        *(update(text(each)) for each in (said + "a", said + "ab", *["The"] * n)),
    ]


def _envelopes(n: int) -> list[Json]:
    asked = (status(text("q"), state="auth-required"), status(text("w")))
    return [each for number in range(n) for each in (new(number, '{"content": "x"}'), *asked)]


def _narrated(n: int) -> list[Json]:
    """ADK's: a text before each tool is none of the answer."""
    return [
        each
        for number in range(n)
        for each in (
            update(text(f"Tok {number}."), key=f"a{number}", name=f"n{number}x", append=False, adk_x=1),
            update(_called(number), key=f"t{number}"),
        )
    ]


def _began_and_ended(n: int) -> list[Json]:
    calls = [_called(number, kind) for kind in ("function_call", "function_response") for number in range(n)]
    return [update(*calls)]


def _filled(n: int) -> list[Json]:
    return [new(number, said) for said in ("", "Tok.") for number in range(n)]


def _renamed(n: int) -> list[Json]:
    return [task(*(artifact(text(f"Tok {k}."), key=f"{old}{k}") for k in range(n))) for old in ("a", "b")]


CASES: dict[str, Callable[[int], list[Json]]] = {
    "tokens": _many(lambda _: update(text("tok "))),
    "spaces": _many(lambda _: update(text(" " * 40))),
    "spaces behind spaces": _after(lambda n: " " * 40 * n, lambda _: update(text(" "))),
    "a fence and spaces": _after(lambda _: "```json", lambda _: update(text(" "))),
    "a brace and spaces": _after(lambda _: "{", lambda _: update(text(" "))),
    "beginnings of markers": _many(lambda _: update(text("["))),
    "thoughts in one event": lambda n: [update(text("<think>a</think>" * n))],
    "thoughts, event by event": _many(lambda _: update(text("<think>a</think>"))),
    "a thought that does not end": _after(lambda _: "<think>", lambda _: update(text("word "))),
    "an envelope in pieces": _after(lambda _: '{"content": "', lambda _: update(text("word "))),
    "text behind an envelope": _after(lambda _: '{"content": "x"}', lambda _: update(text("word "))),
    "envelopes and sign-ins": _envelopes,
    "artifacts": _many(lambda number: new(number, f"Tok {number}. X\n")),
    "artifacts that append": _many(lambda number: new(number, f"Tok {number}. X\n", append=True)),
    "artifacts that say the same": _many(lambda number: new(number, "The answer is here.")),
    "blank artifacts": _many(lambda number: new(number, " ")),
    "blank artifacts behind a long one": _after(
        lambda n: "x" * 40 * n + "y. ", lambda number: new(number, " ")
    ),
    "blank artifacts that are filled": _filled,
    "a short artifact replaced behind a long one": _after(
        lambda n: "x y. " * 20 * n, lambda number: update(text("Z" * (number % 9 + 1)), key="b", append=False)
    ),
    "tasks with one part beside a long one": _after(
        lambda n: "x y. " * 20 * n, lambda number: task(artifact(text("Z" * (number % 9 + 1)), key="b"))
    ),
    "a task with many artifacts": lambda n: [
        task(*(artifact(text(f"Tok {k}."), key=f"a{k}") for k in range(n)))
    ],
    "a task whose artifacts were renamed": _renamed,
    "a task whose artifact has many parts": lambda n: [task(artifact(*[text("tok ")] * n))],
    "snapshots that fall back": _snapshots,
    "text and data by turns": lambda n: [update(*[text("a "), data(1)] * n)],
    "data parts": lambda n: [update(*(data(number) for number in range(n)))],
    "list items": lambda n: [update(data([f"item {k}" for k in range(n)]))],
    "rows": lambda n: [update(data([{"a": k, "b": "x"} for k in range(n)]))],
    "parts in much metadata": lambda n: [update(*[text("a")] * n, **{f"k{k}": 1 for k in range(n)})],
    "parts in much metadata of a tool": lambda n: [
        update(*[text("a")] * n, type="tool_call", **{f"k{k}": 1 for k in range(n)})
    ],
    "tools that begin and end": _began_and_ended,
    "texts before tools": _narrated,
    "statuses before tools": _many(lambda number: status(text("word"), _called(number))),
    "status text": _many(lambda number: status(text("tok "), key=f"m{number}")),
    "status text said twice": lambda n: [
        *(status(text("ab")) for _ in range(n)),
        *(status(text("ab" * (n // 10))) for _ in range(10)),
    ],
    "messages": _many(lambda n: {"kind": "message", "messageId": f"m{n}", "parts": [text("Tok.\n")]}),
    "questions beside a long answer": _after(
        lambda n: "é y " * 10 * n, lambda number: status(text(f"Which {number}?"), state="input-required")
    ),
    "a question of many parts": lambda n: [
        status(*(data({"x": k}) for k in range(n)), state="input-required")
    ],
    "a question of many interrupts": lambda n: [
        status(
            text("word " * n),
            data({"interrupts": [{"name": f"n{k}"} for k in range(n)]}),
            state="input-required",
        )
    ],
    "a schema of many fields": lambda n: [
        status(
            data(
                {
                    "type": "object",
                    "required": [f"f{k}" for k in range(n)],
                    "properties": {f"f{k}": {} for k in range(n)},
                }
            ),
            state="input-required",
        )
    ],
    "a form of many fields": lambda n: [
        status(data({"input_fields": [{"field_name": f"f{k}"} for k in range(n)]}), state="input-required")
    ],
}
