"""The agent's connection ends too early, behind every event of several captures, on both wires.

The reader sees the answer whole and once, or the truth about what is missing, and the agent is asked once.
The captures are our own recordings of real servers; what they do not show (long texts, several artifacts,
artifacts that are replaced or shrink, narration) is made here.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.testing import virtual_clock
from slack_bot.testing.harness import run_bot
from slack_bot.testing.tape.builders import on_wire, status, task
from slack_bot.testing.tape.recording import Recording
from slack_bot.testing.tape.tape import Moment, Tape
from slack_bot.tools.files import open_capture
from tests.agents.memory_server import capture

FRAMEWORKS = Path(__file__).parents[1] / "captures" / "frameworks"

# name of the recording -> how many events it has, and its answer
CAPTURES = {
    "a2asdk130_chunks": (7, "The quick brown fox."),
    "a2asdk130compat03_chunks": (7, "The quick brown fox."),
    "a2asdk0326_chunks": (7, "The quick brown fox."),
    "adk213_ext_sse_hello": (8, "The quick brown fox"),
    "fasta2a211_v1_hello": (10, "The quick brown fox answered: hello"),
    "a2asdk130_status": (4, "final text in the status message"),
}


@dataclass(frozen=True)
class Ended:
    """What a reader sees in the end, and what the agent was asked."""

    text: str
    ends: list[str]
    notes: str
    asked: list[str]
    said: str

    @property
    def questions(self) -> int:
        return sum(method in ("message/stream", "SendStreamingMessage") for method in self.asked)


def ended(source: Tape | Recording, **options: Any) -> Ended:
    async def story() -> Ended:
        async with run_bot(source, **options) as bot:  # type: ignore[arg-type]  # plays recordings too
            root = await bot.ask("hi")
            await bot.idle()
            notes = " ".join(str(seen.blocks) for seen in bot.thread(root) if seen.is_bot)
            asked = [call.method for call in bot.agent.calls]
            assert all(seen.state != "streaming" for seen in bot.thread(root))
            return Ended("".join(bot.read(root)), bot.outcomes, notes, asked, str(bot.workspace.calls))

    return virtual_clock.run(story())


def is_truthful(got: Ended) -> bool:
    """The end is not known: that is said, what was written stays, a retry is offered."""
    return got.ends == ["lost"] and "connection" in got.notes and "Try again" in got.notes


@pytest.mark.parametrize("name", CAPTURES)
def test_a_recording_cut_behind_every_event(name: str) -> None:
    events, answer = CAPTURES[name]
    assert ended(capture(name)).text.strip() == answer
    for after in range(events + 1):
        got = ended(capture(name), cut_after=after)
        assert got.questions == 1, after
        if after == 0:  # the agent had named no task: nobody can be asked for it
            assert is_truthful(got) and not got.text.strip()
            continue
        assert (got.text.strip(), got.ends) == (answer, ["answered"]), after


def test_a_message_without_a_task_cannot_be_asked_for() -> None:
    for name in ("a2asdk130_message", "a2asdk0326_message"):
        before, behind = (ended(capture(name), cut_after=after) for after in (0, 1))
        assert is_truthful(before)
        assert is_truthful(behind)
        assert behind.text == "Hello, I am a message only reply"
        assert "What was written stays" in behind.notes
        assert before.questions == behind.questions == 1


@pytest.mark.parametrize("name", ["a2asdk130_input", "a2asdk0326_input"])
def test_a_question_of_the_agent_cut_behind_every_event(name: str) -> None:
    whole = ended(capture(name))
    assert whole.ends == ["asked"]
    for after in (1, 2):
        got = ended(capture(name), cut_after=after)
        assert (got.text, got.ends, got.questions) == (whole.text, ["asked"], 1)


@pytest.mark.parametrize("name", ["a2asdk130_failed", "a2asdk0326_failed"])
def test_a_failure_cut_behind_every_event(name: str) -> None:
    whole = ended(capture(name))
    assert whole.ends == ["failed"]
    for after in (1, 2):
        got = ended(capture(name), cut_after=after)
        assert (got.text, got.ends, got.questions) == (whole.text, ["failed"], 1)


# -- what the recordings do not show


def artifact(
    text: str, *, key: str = "a", append: bool = True, name: str = "answer", **metadata: Any
) -> dict[str, Any]:
    said = {"artifactId": key, "name": name, "parts": [{"kind": "text", "text": text}]}
    if metadata:
        said["metadata"] = metadata
    update = {"kind": "artifact-update", "taskId": "task-1", "contextId": "ctx-1", "append": append}
    return {**update, "artifact": said}


def taped(*events: dict[str, Any], every: float = 0.7) -> Tape:
    begun = (task(), status("working"))
    moments = [Moment(every * n, event=event) for n, event in enumerate((*begun, *events), 1)]
    end = every * (len(moments) + 1)
    return Tape(
        {"wire": "0.3"}, (*moments, Moment(end, event=status("completed")), Moment(end + 0.1, end="closed"))
    )


LONG = "\n".join(
    [
        "# Streams, once",
        "",
        "They *break*. **Always** at the worst moment, e.g. in `code`, in a [link](https://x.example/a_b).",
        "",
        "| wire | after a cut | loses |",
        "|---|---|---|",
        "| 1.0 | subscribe | nothing |",
        "| 0.3 | poll | nothing |",
        "",
        "```python",
        "async for event in stream:",
        "    show(event)  # 一度だけ 🦊",
        "```",
        "",
        "1. 日本語のテキストも、もちろん。",
        "2. Ärger, naïve, 👨‍👩‍👧‍👦, and a line\u2028separator.",
        "",
        "The end.",
    ]
)


def pieces(text: str, seed: int, most: int = 60) -> list[str]:
    """`text` cut anywhere, the same way for the same seed."""
    dice, found = random.Random(seed), []
    while text:
        size = dice.randint(1, most)
        found.append(text[:size])
        text = text[size:]
    return found


def chunks(text: str, seed: int, *, key: str = "a", **metadata: Any) -> list[dict[str, Any]]:
    return [artifact(piece, key=key, append=n > 0, **metadata) for n, piece in enumerate(pieces(text, seed))]


def in_statuses() -> Tape:
    """Deltas in working statuses and nowhere else, each a message of its own."""
    said = []
    for n, piece in enumerate(["All that ", "is said ", "stands in a ", "status, ", "piece by ", "piece."]):
        event = status("working", piece)
        event["status"]["message"]["messageId"] = f"m{n}"
        said.append(event)
    return taped(*said)


def in_messages() -> Tape:
    """agno's way: deltas of one message beside a task, whose history has it whole in the end."""
    text = "A message in many pieces, and whole only in the history of its task."
    said = [{**MESSAGE, "parts": [{"kind": "text", "text": piece}]} for piece in pieces(text, 8, most=9)]
    whole = {**MESSAGE, "parts": [{"kind": "text", "text": text}]}
    tape = taped(*said)
    done = Moment(tape.moments[-2].t, event={**task("completed"), "history": [whole]})
    return Tape(tape.head, (*tape.moments[1:-2], done, tape.moments[-1]))


MESSAGE = {
    "kind": "message", "role": "agent", "messageId": "m", "taskId": "task-1", "contextId": "ctx-1",
}  # fmt: skip


def narrated() -> Tape:
    """CAIPE's way: narration and answer in one artifact, then the whole again as the final result."""
    flags = [{"is_narration": True}] * 3 + [{"is_final_answer": True}] * 4
    texts = ["I will look ", "into the docs", ".\n\n", "Found ", "all of ", "it, ", "at last."]
    said = [
        artifact(text, key="s", name="streaming_result", append=n > 0, **flag)
        for n, (text, flag) in enumerate(zip(texts, flags, strict=True))
    ]
    final = artifact("Found all of it, at last.", key="f", name="final_result", append=False)
    return taped(*said, final)


MADE: dict[str, tuple[Tape, str]] = {
    "long": (taped(*chunks(LONG, 1)), LONG),
    "two artifacts": (
        taped(*chunks("First of all. ", 2, key="a"), *chunks("And then.", 3, key="b")),
        "First of all. \n\nAnd then.",
    ),
    "replaced": (
        taped(*chunks("A guess, no more", 4), artifact("The truth.", append=False)),
        "The truth.",
    ),
    "shrinking": (
        taped(*chunks("Let me look. The answer is 42.", 5), artifact("The answer is 42.", append=False)),
        "The answer is 42.",
    ),
    "cumulative": (
        taped(*(artifact("One two three."[:n], append=False) for n in (4, 8, 14))),
        "One two three.",
    ),
}
MADE["narrated"] = (narrated(), "Found all of it, at last.")


def same(left: str, right: str) -> bool:
    return left.split() == right.split()


@pytest.mark.parametrize("wire", ["0.3", "1.0"])
@pytest.mark.parametrize("name", MADE)
def test_a_made_answer_cut_behind_every_event(name: str, wire: str) -> None:
    tape, answer = MADE[name]
    tape = on_wire(tape, wire)
    events = len(tape.moments) - 1
    whole = ended(tape)
    assert same(whole.text, answer)
    for after in range(1, events + 1):
        got = ended(tape, cut_after=after)
        assert got.questions == 1
        assert got.ends == ["answered"], after
        assert got.text == whole.text, after
        assert "look" not in got.said if name == "narrated" else True, after


class Breaking(httpx.AsyncBaseTransport):
    """Each stream, also one that was joined again, ends after `events` events, with `error` or without."""

    def __init__(
        self, inner: httpx.AsyncBaseTransport, events: int, error: Callable[[], Exception] | None
    ) -> None:
        self.inner, self.events, self.error = inner, events, error

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await self.inner.handle_async_request(request)
        if "event-stream" in response.headers.get("content-type", ""):
            response.stream = _Short(response.stream, self.events, self.error)
        return response


class _Short(httpx.AsyncByteStream):
    def __init__(self, inner: Any, events: int, error: Callable[[], Exception] | None) -> None:
        self.inner, self.events, self.error = inner, events, error

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = self.events
        async for chunk in self.inner:
            if left == 0:
                break
            left -= 1
            yield chunk
        else:
            return
        if self.error is not None:
            raise self.error()

    async def aclose(self) -> None:
        await self.inner.aclose()


def cut() -> Exception:
    return httpx.RemoteProtocolError("peer closed connection without sending complete message body")


@pytest.mark.parametrize("error", [cut, None], ids=["cut", "closed early"])
@pytest.mark.parametrize("wire", ["0.3", "1.0"])
@pytest.mark.parametrize("events", [1, 2, 3, 7])
def test_streams_that_break_again_and_again(
    events: int, wire: str, error: Callable[[], Exception] | None
) -> None:
    tape = on_wire(taped(*chunks(LONG, 6), every=3.0), wire)
    got = ended(tape, through=lambda inner: Breaking(inner, events, error))
    assert (got.questions, got.ends) == (1, ["answered"])
    assert same(got.text, LONG)
    if wire == "1.0":
        assert got.asked.count("SubscribeToTask") > 1


@pytest.mark.parametrize("wire", ["0.3", "1.0"])
def test_an_answer_in_statuses_cut_behind_every_event(wire: str) -> None:
    """What was said between is in the task's history, and what was heard is not said again."""
    tape = on_wire(in_statuses(), wire)
    whole = ended(tape, answer_source="status")
    assert whole.text == "All that is said stands in a status, piece by piece."
    for after in range(1, len(tape.moments)):
        got = ended(tape, cut_after=after, answer_source="status")
        assert (got.text, got.ends, got.questions) == (whole.text, ["answered"], 1), after


@pytest.mark.parametrize("seen", range(4, 9))
def test_a_question_of_which_the_task_has_the_first_words_is_asked_once(seen: int) -> None:
    """Behind the cut the task is read when it has the first `seen` events, and then when it has all.

    ADK writes the question in its statuses, and asks by a call that has it too.
    """
    recorded = open_capture(FRAMEWORKS / "adk-rest03_ask.sse")
    assert isinstance(recorded, Recording)
    times = [0.01 if n < seen else 0.06 for n in range(len(recorded.chunks))]
    chunks = tuple((at, data) for at, (_, data) in zip(times, recorded.chunks, strict=True))
    tape = replace(recorded, chunks=chunks, ended=0.2)
    for after in range(1, seen + 1):
        got = ended(tape, cut_after=after, poll_intervals=[0.1])
        asked = "Shall I really delete the three old records? Please answer yes or no."
        assert (got.text, got.ends, got.questions) == (asked, ["asked"], 1), after


def test_an_answer_in_messages_beside_a_task_cut_behind_every_event() -> None:
    tape = in_messages()
    whole = ended(tape)
    assert whole.text == "A message in many pieces, and whole only in the history of its task."
    for after in range(1, len(tape.moments)):
        got = ended(tape, cut_after=after)
        assert (got.text, got.ends, got.questions) == (whole.text, ["answered"], 1), after


def test_joining_again_on_0_3_is_only_by_setting_and_a_gap_is_filled_at_the_end() -> None:
    """There a joined stream does not begin with the task: what was said before it stands in the task only."""
    tape = taped(*chunks(LONG, 9))
    usual, joined = (ended(tape, cut_after=4, resubscribe_03=joins) for joins in (False, True))
    assert "tasks/resubscribe" not in usual.asked
    assert joined.asked.count("tasks/resubscribe") == 1
    assert joined.asked[-1] == "tasks/get"
    assert usual.text == joined.text == LONG


def test_a_silent_stream_whose_task_went_on_is_left_for_the_task() -> None:
    """A stream that is wedged, and pings: what it does not say the task says."""
    tape = taped(*chunks(LONG, 10))

    class Wedged(httpx.AsyncBaseTransport):
        """The first stream says nothing behind its fourth event, and never ends."""

        def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
            self.inner, self.is_first = inner, True

        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            response = await self.inner.handle_async_request(request)
            if self.is_first and "event-stream" in response.headers.get("content-type", ""):
                self.is_first = False
                response.stream = _Pinging(response.stream)
            return response

    for wire in ("0.3", "1.0"):
        got = ended(on_wire(tape, wire), through=Wedged)
        assert (got.text, got.ends, got.questions) == (LONG, ["answered"], 1)


class _Pinging(httpx.AsyncByteStream):
    def __init__(self, inner: Any) -> None:
        self.inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        said = 0
        async for chunk in self.inner:
            said += 1
            if said > 4:
                break
            yield chunk
        while True:
            await asyncio.sleep(15)
            yield b": ping\n\n"

    async def aclose(self) -> None:
        await self.inner.aclose()


PARTS = st.lists(
    st.sampled_from(
        [
            "Well, ",
            "so *be* it. ",
            "\n\n",
            "```py\nx = 1\n```\n",
            "| a | b |\n|---|---|\n| 1 | 2 |\n",
            "一。",
            "🦊 ",
        ]
    ),
    min_size=1,
    max_size=30,
)


@given(
    parts=PARTS,
    seed=st.integers(0, 999),
    wire=st.sampled_from(["0.3", "1.0"]),
    events=st.integers(1, 9),
    error=st.sampled_from([cut, None]),
    every=st.sampled_from([0.01, 0.5, 4.0]),
    replaced=st.booleans(),
)
def test_whatever_is_said_and_however_often_it_breaks(
    parts: list[str],
    seed: int,
    wire: str,
    events: int,
    error: Callable[[], Exception] | None,
    every: float,
    replaced: bool,
) -> None:
    text = "Begin. " + "".join(parts) + "End."
    said = chunks(text, seed)
    if replaced:
        said += [artifact("Instead: " + text, append=False)]
        text = "Instead: " + text
    tape = on_wire(taped(*said, every=every), wire)
    got = ended(tape, through=lambda inner: Breaking(inner, events, error))
    assert (got.questions, got.ends) == (1, ["answered"])
    assert same(got.text, text)
