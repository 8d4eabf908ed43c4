"""The tapes of the extended suite, written by a script: change it here, and write them again.

python -m tests.tools.conform.replay_fixtures
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from slack_bot.testing.tape.items import Moment
from slack_bot.testing.tape.json_file import Json
from slack_bot.testing.tape.tape import Tape, write_tape
from slack_bot.tools.conform import conform

FOLDER = Path(conform.__file__).parent / "suites" / "tapes"
USUAL = "how do streams work?"

_IDS = {"taskId": "task-1", "contextId": "context-1"}

ANSWER = (
    "Streams are opened once. Text is appended as it is written, and the message is closed when the task has"
    " ended.\n\nNothing is said twice, and nothing is left out.\n"
)
LINES = "".join(
    f"{n}. The line number {n} of this answer says what comes next and why it matters here.\n"
    for n in range(1, 21)
)
ONE_LINE = (
    " ".join(
        f"Part {n} of one long line goes on and on, without an end of line anywhere," for n in range(1, 41)
    )
    + " and ends here."
)
BEFORE = "Streams are opened once, and the reader sees them grow, "
AFTER = "but only if somebody looks at the clock when the agent stops writing in the middle of a sentence.\n"
CITIES = (
    "# Oslo and Rome\n\n- Oslo: 4 degrees, snow before the evening.\n"
    "- Rome: 16 degrees, dry and with a little wind.\n\nTake the train to the south.\n"
)
SILENT = "Streaming starts after a long silence, and its first word is whole.\n\nThe rest follows soon.\n"
MARKED = (
    "The marker opens the gate, and only what follows it is the answer.\n\n"
    "The last word is never kept back.\n"
)
PINGS = "Dear <!channel>, ask <@U123> or <!subteam^S1> about it.\n\nOr do not ask at all.\n"
LOOK = "I will look at the manual before I answer. "


def _chapter(n: int) -> str:
    return (
        f"## {n}. What happens in part {n}\n\nPart {n} is about how an answer is laid into messages, why a"
        " message is left before it is full, and what is carried over to the next one. It says so in"
        f" **plain words that matter**, in `code-{n}`, and in a list:\n\n- one thing of part {n}, which is"
        f" short\n- another thing of part {n}, which is somewhat longer than the first one\n\n"
        f"```python\ndef part_{n}():\n    for line in lines_of({n}):\n        append(line)\n    return {n}\n"
        f"```\n\n| part | says | size |\n|---|---|---:|\n| {n} | what it is about | {n * 17} |\n"
        f"| {n} again | how it goes on | {n * 31} |\n\n"
    )


LONG = "# A long answer\n\n" + "".join(map(_chapter, range(1, 31))) + "That was all of it.\n"


class Script:
    """What an agent says, in order. Times are seconds from what was said before."""

    def __init__(self, question: str = USUAL) -> None:
        self.question = question
        self.moments = [Moment(0.05, event=_task()), Moment(0.1, event=_status("working"))]
        self._t = 0.1
        self._begun = set[str]()
        self._tools = 0
        self._has_plan = False

    def event(self, event: Json, after: float = 0.0) -> Script:
        self._t = round(self._t + after, 3)
        self.moments.append(Moment(self._t, event=event))
        return self

    def wait(self, seconds: float) -> Script:
        self._t = round(self._t + seconds, 3)
        return self

    def say(self, text: str, size: int, pace: float = 0.05, stream: str = "stream-1", **flags: Any) -> Script:
        """`text` in pieces of `size` characters."""
        for at in range(0, len(text), size):
            piece = _artifact("streaming_result", stream, text[at : at + size], flags)
            self.event({**piece, "append": stream in self._begun}, pace)
            self._begun.add(stream)
        return self

    def answer(self, text: str, size: int = 5, pace: float = 0.05, **flags: Any) -> Script:
        return self.say(text, size, pace, is_final_answer=True, **flags)

    def narrate(self, text: str, stream: str = "stream-1", size: int = 9, **flags: Any) -> Script:
        return self.say(text, size, stream=stream, is_narration=True, **flags)

    def tool(self, name: str, agent: str = "Supervisor", step: str = "", end: str = "completed") -> Script:
        """A call of 0.8 s; `end` "" leaves it running."""
        self._tools += 1
        flags = {"sourceAgent": name, "agentType": "notification"} | ({"plan_step_id": step} if step else {})
        started = f"🔧 {agent}: Calling {name}...\n"
        self.event(self._told("start", started, flags, f"Tool call started: {name}"), 0.1)
        if end:
            ended = f"{'❌' if end == 'failed' else '✅'} {agent}: {name} {end}\n"
            self.event(self._told("end", ended, flags, f"Tool call {end}: {name}"), 0.8)
        return self

    def _told(self, what: str, text: str, flags: Json, about: str) -> Json:
        event = _artifact(f"tool_notification_{what}", f"tool-{self._tools}-{what}", text, flags)
        event["artifact"]["description"] = about
        return event

    def plan(self, steps: tuple[tuple[str, str], ...], *states: str) -> Script:
        rows = [
            {"step_id": f"step-{n}", "title": title, "agent": agent, "status": state, "order": n}
            for n, ((title, agent), state) in enumerate(zip(steps, states, strict=True))
        ]
        name = "execution_plan_status_update" if self._has_plan else "execution_plan_update"
        self._has_plan = True
        event = _artifact(name, "plan-1", "", {})
        event["artifact"]["parts"] = [{"kind": "data", "data": {"steps": rows}}]
        return self.event(event, 0.1)

    def result(self, text: str) -> Script:
        event = _artifact("final_result", "result-1", text, {"trace_id": "trace-1"})
        return self.event({**event, "lastChunk": True}, 0.2)

    def end(self, note: str, state: str = "completed", text: str = "") -> Tape:
        self.event(_status(state, text), 0.05)
        self.moments.append(Moment(round(self._t + 0.05, 3), end="closed"))
        return Tape({"wire": "0.3", "question": self.question, "note": note}, tuple(self.moments))


def _task() -> Json:
    return {"kind": "task", "id": "task-1", "contextId": "context-1", "status": {"state": "submitted"}}


def _status(state: str, text: str = "") -> Json:
    status: Json = {"state": state}
    if text:
        parts = [{"kind": "text", "text": text}]
        status["message"] = {"kind": "message", "messageId": "m-1", "role": "agent", "parts": parts}
    return {"kind": "status-update", **_IDS, "status": status, "final": state != "working"}


def _artifact(name: str, artifact_id: str, text: str, flags: Json) -> Json:
    parts = [{"kind": "text", "text": text}]
    artifact = {"artifactId": artifact_id, "name": name, "metadata": flags, "parts": parts}
    return {"kind": "artifact-update", **_IDS, "append": False, "lastChunk": False, "artifact": artifact}


def tapes() -> Iterator[tuple[str, Tape]]:
    """All of them, by name."""
    yield from _results()
    yield from _times()
    yield from _oddities()
    yield "several-agents", _several_agents()


def _results() -> Iterator[tuple[str, Tape]]:
    def looked() -> Script:
        return Script().narrate(LOOK).tool("search")

    yield (
        "rest-in-result",
        looked()
        .answer(ANSWER[:-13])
        .result(ANSWER)
        .end("The stream lacks its last words; the final result has them."),
    )
    guess = "My first guess is that nobody knows how streams work.\n\nI will look again.\n"
    yield (
        "other-result",
        Script()
        .answer(guess)
        .wait(1)
        .result(ANSWER)
        .end("The final result says something else than the stream did."),
    )
    found = "The manual has a chapter on exactly this question. "
    yield (
        "same-result",
        looked()
        .narrate(found)
        .answer(ANSWER)
        .result(ANSWER)
        .end("Narration, a tool, a tagged answer, and the same text as final result."),
    )
    yield "no-result", looked().answer(ANSWER).end("A tagged answer and no final result.")
    puts = "Now I put the pieces of the answer together. "
    yield (
        "only-result",
        looked()
        .narrate(puts)
        .wait(2)
        .result(ANSWER)
        .end("Narration only; the answer is in the final result."),
    )


def _times() -> Iterator[tuple[str, Tape]]:
    yield (
        "twenty-lines",
        Script()
        .answer(LINES, 8, 0.06)
        .result(LINES)
        .end("Twenty lines at an even pace: for streams that are cut, refused or stopped."),
    )
    pause = Script().answer(BEFORE, pace=0.08).wait(12).answer(AFTER, pace=0.08)
    yield (
        "pause-in-a-sentence",
        pause.result(BEFORE + AFTER).end("The agent stops in the middle of a sentence for twelve seconds."),
    )
    yield (
        "one-line",
        Script()
        .answer(ONE_LINE, 12, 0.08)
        .result(ONE_LINE)
        .end("Three thousand characters without an end of line."),
    )
    yield (
        "long-answer",
        Script("tell me everything")
        .answer(LONG, 30, 0.55)
        .result(LONG)
        .end("An answer that is longer than a message may be, and takes longer than a stream may live."),
    )
    silent = Script().wait(25).answer(SILENT[:4], 4).answer(SILENT[4:], 6, 0.09)
    yield "long-silence", silent.result(SILENT).end("Nothing for 25 seconds, and then half a word.")


def _oddities() -> Iterator[tuple[str, Tape]]:
    marked = Script().say("I should look this up before I say anything at all. [FINAL ", 4)
    yield (
        "marker",
        marked.say("ANSWER]\n\n" + MARKED, 4)
        .result(MARKED)
        .end("The marker stands in the text, cut over two pieces."),
    )
    yield (
        "both-flags",
        Script()
        .answer(ANSWER, 6, is_narration=True)
        .result(ANSWER)
        .end("Text that is tagged as narration and as final answer."),
    )
    steps = (("Look it up", "RAG"), ("Write the answer", "Supervisor"))
    running = Script().plan(steps, "in_progress", "pending").tool("search", step="step-0")
    yield (
        "open-steps",
        running.tool("fetch_document", step="step-0", end="")
        .answer(ANSWER)
        .result(ANSWER)
        .end("The task ends with a running step and a tool that never ended."),
    )
    again = _artifact("streaming_result", "stream-1", ANSWER, {"is_final_answer": True})
    yield (
        "sent-again",
        Script()
        .answer(ANSWER)
        .event(again, 0.2)
        .result(ANSWER)
        .end("The whole artifact is sent again after its pieces."),
    )
    yield (
        "pings",
        Script("whom do I ask?")
        .answer(PINGS, 7)
        .result(PINGS)
        .end("An answer that would wake up a whole channel."),
    )
    half = "Here is what I have so far:\n\n- the archive was asked,\n- it began to answer, and\n"
    yield (
        "failed",
        Script()
        .tool("archive", end="failed")
        .answer(half)
        .end("The task fails after half an answer.", "failed", "The archive broke."),
    )


def _several_agents() -> Tape:
    steps = (("Ask about Oslo", "Weather"), ("Ask about Rome", "Travel"), ("Compare them", "Supervisor"))
    script = Script("compare the weather of two cities")
    script.narrate("Two specialists will be asked for this comparison. ")
    script.plan(steps, "in_progress", "pending", "pending").tool("weather", "Weather", "step-0")
    script.narrate("The weather agent thinks aloud about the north. ", "weather-1", 8, sourceAgent="weather")
    script.plan(steps, "completed", "in_progress", "pending").tool("travel", "Travel", "step-1")
    script.narrate("The travel agent thinks aloud about the south. ", "travel-1", 8, sourceAgent="travel")
    script.plan(steps, "completed", "completed", "in_progress").answer(CITIES, plan_step_id="step-2")
    script.plan(steps, "completed", "completed", "completed").result(CITIES)
    return script.end("A plan over three agents, each of which thinks aloud.")


if __name__ == "__main__":
    for name, tape in tapes():
        (FOLDER / f"{name}.jsonl").write_text(write_tape(tape), encoding="utf-8")
