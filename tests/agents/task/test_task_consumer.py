"""The reading side: cut and ended are told apart, the question is sent once, a stop is truthful."""

from __future__ import annotations

import asyncio
import base64
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

import httpx
import pytest

from slack_bot.agents.agent import StoppedNotes
from slack_bot.agents.recovery_policy import PollResult, TaskLost
from slack_bot.agents.task.task_consumer import TaskFollower
from slack_bot.agents.wire.frames import Artifact, Frame, Part, Received, Snapshot, TaskState
from slack_bot.errors import AgentError, AgentFailed, AgentRefused, StreamCut
from slack_bot.testing.harness import BotHarness, run_bot
from slack_bot.testing.slack.workspace import PersonFile
from slack_bot.testing.tape.builders import answer, chunk, failure, on_wire, question, status, task
from slack_bot.testing.tape.tape import Moment, Recording, Tape
from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.threads.commands import Stop
from slack_bot.turn.events import AgentIdle, StreamEnd, StreamEnded
from slack_bot.turn.form import Field, Form, answer_of

from . import consumer_side
from .consumer_side import Scene, snapshot, stream


def asked(bot: BotHarness) -> list[str]:
    return [call.method for call in bot.agent.calls]


def cut(tape: Tape, after: int) -> Tape:
    """The same, with the connection cut behind so many events and the work going on."""
    kept = tape.moments[:after]
    return Tape(tape.head, (*kept, Moment(kept[-1].t + 0.01, end="cut"), *()))


@on_virtual_time
async def test_a_cut_stream_is_asked_about_and_the_question_is_sent_once() -> None:
    tape = answer("one two three four five", seconds=5)
    async with run_bot(tape, cut_after=3) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        assert bot.read(root) == ["one two three four five"]
        assert bot.outcomes == ["answered"]
        assert asked(bot).count("message/stream") == 1
        assert "tasks/get" in asked(bot)


def nameless(text: str) -> Tape:
    """One message, of an agent that names no conversation (a2a-sdk 0.2.16)."""
    event = {"kind": "message", "role": "agent", "messageId": text, "parts": [{"kind": "text", "text": text}]}
    return Tape({"wire": "0.3"}, (Moment(0.1, event=event), Moment(0.2, end="closed")))


def contexts(bot: BotHarness) -> list[str | None]:
    sent = [call.params["message"] for call in bot.agent.calls if call.method == "message/stream"]
    return [message.get("contextId") for message in sent]


@on_virtual_time
async def test_an_agent_that_names_no_conversation_is_given_one_and_keeps_it() -> None:
    async with run_bot(*map(nameless, "abcde")) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        for _ in range(2):
            await bot.ask("and", thread_ts=root)
            await bot.idle()
        other = await bot.ask("hi")
        await bot.idle()
        await bot.ask("and", thread_ts=other)
        await bot.idle()
        first, second, third, fourth, fifth = contexts(bot)
        assert first is None
        assert second == third != fourth == fifth
        assert None not in (second, fourth)
        assert bot.outcomes == ["answered"] * 5


@on_virtual_time
async def test_an_agent_that_takes_no_conversation_from_us_is_asked_without_one() -> None:
    refused = Tape({"wire": "0.3"}, (Moment(0.1, error={"code": -32602, "message": "unknown context"}),))
    async with run_bot(nameless("a"), refused, nameless("b"), nameless("c")) as bot:
        for _ in range(3):
            await bot.ask("hi")
            await bot.idle()
        first, second, again, third = contexts(bot)
        assert second is not None
        assert first is again is third is None
        assert bot.outcomes == ["answered"] * 3


class BadRecords(httpx.AsyncBaseTransport):
    """A TLS connection on which something else breaks in: httpx lets that error through as it is."""

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self.inner = inner

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        answered = await self.inner.handle_async_request(request)
        if answered.headers.get("content-type", "").startswith("text/event-stream"):
            answered.stream = _Breaking(answered.stream)
        return answered


class _Breaking(httpx.AsyncByteStream):
    def __init__(self, inner: Any) -> None:
        self.inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for piece in self.inner:
                yield piece
        except httpx.RemoteProtocolError:
            raise ssl.SSLError(1, "[SSL: DECRYPTION_FAILED_OR_BAD_RECORD_MAC]") from None

    async def aclose(self) -> None:
        await self.inner.aclose()


@on_virtual_time
async def test_a_stream_that_tls_breaks_is_one_that_was_cut() -> None:
    async with run_bot(answer("one two three four", seconds=5), cut_after=3, through=BadRecords) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        assert (bot.read(root), bot.outcomes) == (["one two three four"], ["answered"])


@on_virtual_time
async def test_a_task_without_news_is_watched_and_what_was_written_stays() -> None:
    """A crashed 0.3 server leaves its task so (facts: A2A 2.4): its reader is not left alone meanwhile."""
    tape = answer("one two three four five six seven eight", seconds=8)
    async with run_bot(cut(tape, 6), lost_notice_after=15, watch_after=200) as bot:
        began, root = bot.now, await bot.ask("hi")
        await asyncio.sleep(180)
        (card,) = bot.thread(root)[-1].tasks
        assert (card.title, card.status) == ("No news from the agent for 2 min", "complete")
        await bot.idle()
        assert bot.outcomes == ["watched"]
        assert 200 <= bot.now - began < 220
        assert len(bot.read(root)) == 1
        text = bot.read(root)[0]
        assert text.strip()
        assert "one two three four five six seven eight".startswith(text.strip())
        told = str(bot.thread(root)[-1].blocks)
        assert "I still check, and write here when it is done" in told
        assert "retry" in told
        assert asked(bot).count("message/stream") == 1


@on_virtual_time
async def test_a_stream_that_closes_without_an_end_is_not_a_success() -> None:
    tape = Tape(
        {"wire": "0.3"},
        (Moment(0.1, event=task()), Moment(0.2, event=chunk("half ")), Moment(0.3, end="closed")),
    )
    async with run_bot(tape, poll_timeout=10) as bot:
        await bot.ask("hi")
        await bot.idle()
        assert bot.outcomes == ["watched"]
        assert asked(bot).count("tasks/get") > 10


@on_virtual_time
async def test_a_message_that_names_a_task_nobody_made_is_the_whole_answer() -> None:
    reply = {"kind": "message", "role": "agent", "messageId": "m", "taskId": "t", "contextId": "c"}
    said = {**reply, "parts": [{"kind": "text", "text": "Here you are."}]}
    tape = Tape({"wire": "0.3"}, (Moment(0.1, event=said), Moment(0.2, end="closed")))
    async with run_bot(tape) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        assert (bot.outcomes, bot.read(root)) == (["answered"], ["Here you are."])
        assert asked(bot) == ["message/stream"]


@on_virtual_time
async def test_an_agent_that_sends_nothing_at_all_is_told() -> None:
    async with run_bot(Tape({"wire": "0.3"}, (Moment(0.1, end="closed"),))) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        assert bot.outcomes == ["lost"]
        assert "closed the connection" in str(bot.thread(root)[-1].blocks)


@on_virtual_time
async def test_pings_do_not_keep_a_dead_stream_alive() -> None:
    """Events are watched for: the task is asked for, the reader is told, and the turn ends in time."""
    pings = tuple(Moment(float(n), comment="ping") for n in range(1, 4000, 15))
    tape = Tape({"wire": "0.3"}, (Moment(0.1, event=task()), *pings))
    async with run_bot(tape, turn_timeout=600) as bot:
        began, root = bot.now, await bot.ask("hi")
        await asyncio.sleep(130)
        assert asked(bot) == ["message/stream", "tasks/get"]
        assert bot.thread(root)[0].status_line == "is still working, nothing new for 2 min..."
        await bot.idle()
        assert bot.outcomes == ["watched"]
        assert 600 <= bot.now - began < 610
        assert "retry" in str(bot.thread(root)[-1].blocks)


@on_virtual_time
async def test_a_stream_that_is_only_slow_is_listened_to_all_the_time() -> None:
    tape = Tape(
        {"wire": "0.3"},
        (
            Moment(0.1, event=task()),
            Moment(0.2, event=chunk("Wait. ")),
            Moment(400.0, event=chunk("Here.")),
            Moment(400.1, event=status("completed")),
            Moment(400.2, end="closed"),
        ),
    )
    async with run_bot(tape) as bot:
        root = await bot.ask("hi")
        await asyncio.sleep(380)
        assert bot.thread(root)[-1].status_line == "is still working, nothing new for 6 min..."
        await bot.idle()
        assert "".join(bot.read(root)) == "Wait. Here."
        assert asked(bot) == ["message/stream", *["tasks/get"] * 3]
        cards = [card for seen in bot.thread(root) for card in seen.tasks]
        assert [(card.title, card.details, card.status) for card in cards] == [
            ("No news from the agent for 2 min", "", "complete")
        ]


@on_virtual_time
async def test_an_agent_that_says_nothing_until_it_is_done_is_waited_for_as_long_as_is_set() -> None:
    """One task, at the end, after minutes: there is nothing to ask for before (facts: A2A 2.2)."""
    whole = {
        **task("completed"),
        "artifacts": [{"artifactId": "a", "parts": [{"kind": "text", "text": "Done."}]}],
    }
    tape = Tape({"wire": "0.3"}, (Moment(500.0, event=whole), Moment(500.1, end="closed")))
    async with run_bot(tape, idle_timeout=600) as bot:
        root = await bot.ask("hi")
        for seconds, says in (
            (44, "is thinking..."),
            (2, "is waiting for the agent..."),
            (354, "is waiting for the agent..."),
        ):
            await asyncio.sleep(seconds)
            assert bot.thread(root)[0].status_line == says
        await bot.idle()
        assert bot.read(root) == ["Done."]
        assert asked(bot) == ["message/stream"]


@on_virtual_time
async def test_the_time_of_a_turn_is_up_one_day() -> None:
    ticks = [Moment(10.0 * n, event=chunk(f"tick{n} ")) for n in range(1, 100)]
    tape = Tape({"wire": "0.3"}, (Moment(0.1, event=task()), *ticks))
    async with run_bot(tape, turn_timeout=220) as bot:
        began = bot.now
        root = await bot.ask("hi")
        await bot.idle()
        assert bot.outcomes == ["watched"]
        assert bot.now - began < 230
        assert "The agent is still working." in str(bot.thread(root)[-1].blocks)


@on_virtual_time
async def test_a_trailing_snapshot_is_waited_for_but_not_for_ever() -> None:
    never_closes = Tape(
        {"wire": "0.3"},
        (
            Moment(0.1, event=task()),
            Moment(0.2, event=chunk("All.")),
            Moment(0.3, event=status("completed")),
            Moment(900.0, end="closed"),
        ),
    )
    async with run_bot(never_closes) as bot:
        began = bot.now
        root = await bot.ask("hi")
        await bot.idle()
        assert bot.read(root) == ["All."]
        assert bot.now - began < 5


@on_virtual_time
async def test_an_agent_that_asks_and_never_closes_is_left_after_the_grace() -> None:
    asks = Tape({"wire": "0.3"}, (*question("Which one?").moments[:-1], Moment(900.0, end="closed")))
    async with run_bot(asks) as bot:
        began = bot.now
        root = await bot.ask("hi")
        await bot.idle()
        assert bot.outcomes == ["asked"]
        assert "Which one?" in bot.read(root)[0]
        assert bot.now - began < 5


@on_virtual_time
async def test_a_failed_task_is_told_with_a_way_to_try_again() -> None:
    async with run_bot(failure("the model is out")) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        assert bot.outcomes == ["failed"]
        blocks = str(bot.thread(root)[-1].blocks)
        assert "The agent could not finish this. Reference: " in blocks
        assert "the model is out" not in blocks
        assert "retry" in blocks


@on_virtual_time
@pytest.mark.parametrize(
    ("status_code", "body", "outcome"),
    [
        (503, b"<html>busy</html>", "refused"),
        (200, b"<html>sign in</html>", "failed"),
        (
            200,
            b'{"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": "boom at 10.0.0.1"}}',
            "failed",
        ),
    ],
)
async def test_what_a_server_writes_into_its_errors_is_not_shown(
    status_code: int, body: bytes, outcome: str
) -> None:
    kind = "application/json" if body[:1] == b"{" else "text/html"
    recording = Recording(status_code, {"content-type": kind}, ((0.1, body),), False)
    async with run_bot(recording) as bot:  # type: ignore[arg-type]  # the agent plays recordings too
        root = await bot.ask("hi")
        await bot.idle()
        assert bot.outcomes == [outcome]
        shown = str([(seen.text, seen.blocks) for seen in bot.thread(root)])
        assert "10.0.0.1" not in shown
        assert "html" not in shown
        assert "retry" in shown


@on_virtual_time
async def test_a_stop_before_there_is_a_task_is_carried_out_when_there_is_one() -> None:
    late = Tape(
        {"wire": "0.3"},
        (Moment(5.0, event=task()), Moment(30.0, event=chunk("never shown")), Moment(31.0, end="closed")),
    )
    async with run_bot(late) as bot:
        root = await bot.ask("hi")
        await asyncio.sleep(1)
        stop(bot)
        await bot.idle()
        assert bot.outcomes == ["stopped"]
        assert asked(bot) == ["message/stream", "tasks/cancel"]
        assert "never shown" not in str(bot.thread(root))


@on_virtual_time
async def test_a_stop_that_comes_too_late_says_so() -> None:
    tape = answer("quick", seconds=1)
    slow_to_close = Tape(tape.head, (*tape.moments[:-1], Moment(60.0, end="closed")))
    async with run_bot(slow_to_close, terminal_grace=30) as bot:
        root = await bot.ask("hi")
        await asyncio.sleep(5)
        stop(bot)
        await bot.idle()
        assert bot.outcomes == ["stopped"]
        assert "already finished" in str(bot.thread(root)[-1].blocks)


def stop(bot: BotHarness) -> None:
    for conversation in bot.app.threads.conversations:
        conversation.tell(Stop("U1"))


class Door(httpx.AsyncBaseTransport):
    """Before the agent: what is in `first` is given to the first questions, an error or an HTTP answer."""

    def __init__(self, inner: httpx.AsyncBaseTransport, *first: Exception | httpx.Response) -> None:
        self.inner, self.first, self.asked = inner, list(first), 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if request.method == "POST":
            self.asked += 1
            if self.first:
                answer = self.first.pop(0)
                if isinstance(answer, Exception):
                    raise answer
                return answer
        return await self.inner.handle_async_request(request)


@on_virtual_time
@pytest.mark.parametrize(
    ("first", "asked_times", "end"),
    [
        ((httpx.ConnectError("no"), httpx.ConnectTimeout("no")), 3, "answered"),
        ((httpx.ConnectError("no"),) * 3, 3, "refused"),
        ((httpx.Response(503, headers={"retry-after": "9"}), httpx.Response(401)), 3, "answered"),
        ((httpx.Response(503, headers={"retry-after": "99"}),), 1, "refused"),
        ((httpx.Response(401),) * 2, 2, "refused"),
        ((httpx.Response(503),), 1, "refused"),
        ((httpx.ReadError("cut"),), 1, "lost"),
        ((httpx.WriteError("cut"),), 1, "lost"),
        ((httpx.RemoteProtocolError("cut"),), 1, "lost"),
        ((httpx.ReadTimeout("slow"),), 1, "lost"),
        ((httpx.Response(502),), 1, "failed"),
        ((httpx.Response(500),), 1, "failed"),
    ],
)
async def test_a_question_is_sent_again_only_while_it_cannot_have_been_taken(
    first: tuple[Exception | httpx.Response, ...], asked_times: int, end: str
) -> None:
    doors: list[Door] = []

    def door(inner: httpx.AsyncBaseTransport) -> httpx.AsyncBaseTransport:
        doors.append(Door(inner, *first))
        return doors[0]

    async with run_bot(answer("Hello."), through=door) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        assert bot.outcomes == [end]
        assert doors[0].asked == asked_times
        if end == "answered":
            assert bot.read(root) == ["Hello."]
            assert len(bot.agent.questions) == 1
        else:
            assert not bot.agent.questions
            is_locked_out = getattr(first[-1], "status_code", None) == 401
            assert ("retry" in str(bot.thread(root)[-1].blocks)) is not is_locked_out


@on_virtual_time
async def test_a_question_that_is_sent_again_has_its_files() -> None:
    refusals = httpx.Response(503, headers={"retry-after": "9"}), httpx.Response(401)
    async with run_bot(answer("Hello."), through=lambda inner: Door(inner, *refusals)) as bot:
        await bot.ask("what is this?", PersonFile("a.txt", b"bytes"))
        await bot.idle()
        assert bot.outcomes == ["answered"]
        (asked,) = bot.agent.questions
        (_, file) = asked.params["message"]["parts"]
        assert base64.b64decode(file.get("raw") or file["file"]["bytes"]) == b"bytes"


@on_virtual_time
async def test_a_stop_while_the_agent_takes_no_question_is_at_once() -> None:
    busy = httpx.Response(503, headers={"retry-after": "25"})
    async with run_bot(answer("Hello."), through=lambda inner: Door(inner, busy)) as bot:
        began, root = bot.now, await bot.ask("hi")
        await asyncio.sleep(2)
        stop(bot)
        await bot.idle()
        assert (bot.outcomes, bot.agent.questions) == (["stopped"], [])
        assert bot.now - began < 3
        assert "before the agent had begun" in str(bot.thread(root)[-1].blocks)


@on_virtual_time
@pytest.mark.parametrize("wire", ["0.3", "1.0"])
async def test_a_stop_while_the_task_is_followed_is_at_once_and_stops_the_task(wire: str) -> None:
    tape = on_wire(answer("one two three four five six", seconds=60), wire)
    async with run_bot(tape, cut_after=3) as bot:
        began, root = bot.now, await bot.ask("hi")
        await asyncio.sleep(33)
        stop(bot)
        await bot.idle()
        assert bot.outcomes == ["stopped"]
        assert bot.now - began < 34
        assert asked(bot)[-1] in ("tasks/cancel", "CancelTask")
        shown = bot.read(root)[0]
        assert shown.strip() and "one two three four five six".startswith(shown.strip())
        await asyncio.sleep(100)
        assert bot.read(root)[0] == shown


@on_virtual_time
@pytest.mark.parametrize("wire", ["0.3", "1.0"])
async def test_a_question_to_the_human_is_found_behind_the_cut(wire: str) -> None:
    async with run_bot(on_wire(question("Which one?"), wire), cut_after=1) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        assert bot.outcomes == ["asked"]
        assert "Which one?" in bot.read(root)[0]


@on_virtual_time
async def test_a_restarted_agent_that_knows_nothing_is_told_and_a_retry_offered() -> None:
    class Restarted(httpx.AsyncBaseTransport):
        """After the first stream nobody knows its task."""

        def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
            self.inner = inner

        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            if b"tasks/get" in await request.aread():
                error = {"code": -32001, "message": "Task not found"}
                return httpx.Response(200, json={"jsonrpc": "2.0", "id": 1, "error": error})
            return await self.inner.handle_async_request(request)

    async with run_bot(answer("one two three", seconds=9), cut_after=3, through=Restarted) as bot:
        began, root = bot.now, await bot.ask("hi")
        await bot.idle()
        assert bot.outcomes == ["lost"]
        assert bot.now - began < 10
        told = str(bot.thread(root)[-1].blocks)
        assert "no longer knows this question: it was probably restarted. What was written stays" in told
        assert "retry" in told
        assert len(bot.agent.questions) == 1


@on_virtual_time
@pytest.mark.parametrize("wire", ["0.3", "1.0"])
async def test_an_answer_to_the_agent_s_question_that_is_cut_does_not_tell_the_first_part_again(
    wire: str,
) -> None:
    """The task is the same in both turns, and it still holds what was written before the question."""
    asks = Tape(
        {"wire": "0.3"},
        (
            Moment(0.1, event=task()),
            Moment(0.2, event=chunk("First part. ")),
            Moment(0.3, event=status("input-required", "Which one?")),
            Moment(0.4, end="closed"),
        ),
    )
    goes_on = Tape(
        {"wire": "0.3"},
        (
            Moment(0.1, event=status("working")),
            Moment(0.1, event=chunk("First part. ")),  # how the scripted server knows what stood there before
            Moment(5.0, event=chunk("Second part.")),
            Moment(6.0, event=status("completed")),
            Moment(6.1, end="closed"),
        ),
    )

    class Cut(httpx.AsyncBaseTransport):
        """The stream of the second question breaks behind its first event."""

        def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
            self.inner, self.streams = inner, 0

        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            response = await self.inner.handle_async_request(request)
            if b"stream" in (await request.aread()).lower()[:200]:
                self.streams += 1
                if self.streams == 2:
                    body = await anext(aiter(response.stream))  # type: ignore[arg-type]  # it is one
                    return httpx.Response(200, headers=response.headers, stream=Broken(body))
            return response

    class Broken(httpx.AsyncByteStream):
        def __init__(self, body: bytes) -> None:
            self.body = body

        async def __aiter__(self) -> AsyncIterator[bytes]:
            yield self.body
            raise httpx.ReadError("cut")

    async with run_bot(on_wire(asks, wire), on_wire(goes_on, wire), through=Cut) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        await bot.ask("the second", thread_ts=root)
        await bot.idle()
        assert bot.outcomes == ["asked", "answered"]
        assert "".join(bot.read(root)).count("First part.") == 1
        assert bot.read(root)[-1].strip() == "Second part."
        assert len(bot.agent.questions) == 2


@pytest.mark.parametrize("cut_after", [3, 4, 5, 6])
@on_virtual_time
async def test_a_question_that_the_task_has_left_behind_is_none_after_a_cut(cut_after: int) -> None:
    """Servers begin the stream of a reply with the task as it waited, some with another id of its message."""
    moments = (
        Moment(0.1, event=status("input-required", "Which one?")),
        Moment(0.2, event=status("working")),
        *(Moment(float(n), event=chunk(word)) for n, word in enumerate(("This ", "is ", "it."), start=1)),
        Moment(9.0, event=status("completed")),
        Moment(9.1, end="closed"),
    )
    async with run_bot(Tape({"wire": "0.3"}, moments), cut_after=cut_after) as bot:
        root = await bot.ask("the second")
        await bot.idle()
        assert bot.outcomes == ["answered"]
        assert bot.read(root) == ["This is it."]


@on_virtual_time
async def test_a_result_that_is_known_needs_one_look_behind_the_cut() -> None:
    final = chunk("All of it.")
    final["artifact"] = {**final["artifact"], "artifactId": "f", "name": "final_result"}
    final |= {"append": False, "lastChunk": True}  # as CAIPE sends it: others may stream under that name
    never_ends = Tape(
        {"wire": "0.3"}, (Moment(0.1, event=task()), Moment(0.2, event=final), Moment(0.3, end="cut"))
    )
    async with run_bot(never_ends) as bot:
        began, root = bot.now, await bot.ask("hi")
        await bot.idle()
        assert (bot.read(root), bot.outcomes) == (["All of it."], ["answered"])
        assert asked(bot) == ["message/stream", "tasks/get"]
        assert bot.now - began < 2


@on_virtual_time
async def test_a_task_that_has_become_too_long_is_told() -> None:
    tape = answer("one two three " + "word " * 500, seconds=5)
    async with run_bot(tape, cut_after=3, max_turn_chars=1000) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        assert bot.outcomes == ["failed"]
        assert "too long" in str(bot.thread(root)[-1].blocks)


@on_virtual_time
async def test_a_task_that_cannot_be_read_before_its_question_is_answered_is_answered_all_the_same() -> None:
    class NoTasks(httpx.AsyncBaseTransport):
        def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
            self.inner = inner

        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            if b"tasks/get" in await request.aread():
                return httpx.Response(500)
            return await self.inner.handle_async_request(request)

    async with run_bot(question("Which one?"), answer("That one."), through=NoTasks) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        await bot.ask("that", thread_ts=root)
        await bot.idle()
        assert bot.outcomes == ["asked", "answered"]
        assert bot.read(root)[-1] == "That one."


@on_virtual_time
async def test_a_stop_does_not_wait_for_an_agent_that_does_not_say_what_became_of_the_task() -> None:
    class Slow(httpx.AsyncBaseTransport):
        """Takes its time to say how a task stands."""

        def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
            self.inner = inner

        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            if b"tasks/get" in await request.aread():
                await asyncio.sleep(25)
            return await self.inner.handle_async_request(request)

    async with run_bot(answer("one two three", seconds=60), cut_after=2, through=Slow) as bot:
        began = bot.now
        await bot.ask("hi")
        await asyncio.sleep(5)
        stop(bot)
        await bot.idle()
        assert (bot.outcomes, asked(bot)[-1]) == (["stopped"], "tasks/cancel")
        assert bot.now - began < 6


# -- a task whose stream is lost is followed to its end: by its stream on 1.0, by asking on 0.3

WORKING, COMPLETED = TaskState.WORKING, TaskState.COMPLETED
AUTH = TaskState.AUTH_REQUIRED
FORGOTTEN = AgentFailed("gone", code=-32001)
NO_METHOD = AgentFailed("no such method", code=-32601)
CUT = StreamCut("cut")


class TaskServer:
    """An agent that only knows about tasks: the n-th look gives the n-th answer, the last one for ever."""

    name = "default"

    def __init__(
        self, looks: Sequence[Snapshot | AgentError], joins: Sequence[Sequence[tuple[float, Any]]] = ()
    ) -> None:
        self.looks, self.joins = list(looks), list(joins)
        self.can_resubscribe, self.waits_for_whole = bool(joins), False
        self.asked: list[tuple[float, str]] = []
        self.stopped = StoppedNotes()

    def why(self, error: AgentError) -> str:
        return error.brief

    async def task(self, verb: str, task_id: str, messages: int) -> Snapshot:
        self._note(verb, task_id)
        answer = self.looks.pop(0) if len(self.looks) > 1 else self.looks[0]
        if isinstance(answer, AgentError):
            raise answer
        return answer

    async def subscribe(self, task_id: str, last_id: str = "") -> AsyncGenerator[Received, None]:
        self._note("join", task_id)
        frames: list[tuple[float, Frame | Exception]] = list(self.joins.pop(0))
        return stream(*frames)

    def _note(self, what: str, task_id: str) -> None:
        assert task_id == "t"
        self.asked.append((asyncio.get_running_loop().time(), what))


def recovery(here: Scene, server: TaskServer) -> TaskFollower:
    here.agent.server = server
    return here.task.follower


STEADY = {"poll_jitter": 0.0}


@on_virtual_time
async def test_on_0_3_the_task_is_read_until_it_is_over() -> None:
    server = TaskServer([snapshot("one "), snapshot("one two "), snapshot("one two three", COMPLETED)])
    here = Scene("t", **STEADY)
    await here.view.on_frame(Received({}, consumer_side.chunk("one ")))
    assert await recovery(here, server).follow() is None
    assert here.reported.text == "one two three"
    assert server.asked == [(0, "get"), (0.5, "get"), (1, "get")]


@on_virtual_time
async def test_on_1_0_the_stream_is_joined_and_begins_with_what_is_known() -> None:
    joined = [
        (1, snapshot("one two ")),
        (1, consumer_side.chunk("three")),
        (1, consumer_side.status(COMPLETED)),
    ]
    server = TaskServer([snapshot("one two ")], [joined])
    here = Scene("t", **STEADY)
    await here.view.on_frame(Received({}, consumer_side.chunk("one ")))
    assert await recovery(here, server).follow() is None
    assert here.reported.text == "one two three"
    assert [what for _, what in server.asked] == ["get", "join", "get"]


@on_virtual_time
async def test_a_chunk_that_a_joined_stream_tells_in_its_task_and_again_is_told_once() -> None:
    parts = Part(text="one "), Part(text="two ")
    joined = [
        (1, Snapshot("t", "c", WORKING, artifacts=(Artifact("a", "answer", parts=parts),))),
        (1, consumer_side.chunk("two ")),
        (1, consumer_side.chunk("three ")),
        (1, consumer_side.chunk("three ")),
        (1, consumer_side.status(COMPLETED)),
    ]
    server = TaskServer([snapshot("one "), CUT], [joined])
    here = Scene("t", **STEADY)
    await here.view.on_frame(Received({}, consumer_side.chunk("one ")))
    assert await recovery(here, server).follow() is None
    assert here.reported.text == "one two three three "


@on_virtual_time
async def test_statuses_that_a_joined_stream_tells_in_its_task_and_again_are_told_once() -> None:
    words = ["one ", "two ", "three ", "four ", "five ", "five."]
    said = [consumer_side.status(WORKING, word, f"m{n}") for n, word in enumerate(words)]
    one, two, three, four = (each.message for each in said[:4])
    assert one and two and three
    told = Snapshot("t", "c", WORKING, four, history=(one, two, three))
    joined = [(1, frame) for frame in (told, *said[2:], consumer_side.status(COMPLETED))]
    here = Scene(answer_source="status", **STEADY)
    await here.view.on_frame(Received({}, snapshot()))
    assert await recovery(here, TaskServer([snapshot(), CUT], [joined])).follow() is None
    assert here.reported.text == "".join(words)


@on_virtual_time
@pytest.mark.parametrize("last", [snapshot("one two three", COMPLETED), snapshot("one "), FORGOTTEN, CUT])
async def test_a_joined_stream_may_repeat_what_it_began_with_so_the_task_is_asked_for_at_the_end(
    last: Snapshot | AgentError,
) -> None:
    """a2a-sdk listens before it reads the task: what is stored in between comes twice."""
    joined = [
        (1, snapshot("one two ")),
        (1, consumer_side.chunk("two ")),
        (1, consumer_side.chunk("three")),
        (1, consumer_side.status(COMPLETED)),
    ]
    server = TaskServer([snapshot("one "), last], [joined])
    here = Scene("t", **STEADY)
    await here.view.on_frame(Received({}, consumer_side.chunk("one ")))
    assert await recovery(here, server).follow() is None
    is_known = isinstance(last, Snapshot) and last.state is COMPLETED
    assert here.reported.text == ("one two three" if is_known else "one two two three")
    assert [what for _, what in server.asked] == ["get", "join", "get"]


@on_virtual_time
async def test_a_joined_stream_may_break_as_well() -> None:
    joins = [
        [(1, snapshot("one two ")), (1, consumer_side.chunk("three ")), (0, CUT)],
        [(0, CUT)],
        [
            (0, snapshot("one two three four ")),
            (1, consumer_side.chunk("five")),
            (1, consumer_side.status(COMPLETED)),
        ],
    ]
    looks = [snapshot("one two "), snapshot("one two three "), snapshot("one two three four ")]
    server = TaskServer(looks, joins)
    here = Scene("t", **STEADY)
    assert await recovery(here, server).follow() is None
    assert here.reported.text == "one two three four five"


@on_virtual_time
async def test_a_joined_stream_without_the_task_may_have_a_gap_so_the_task_is_asked_for_at_the_end() -> None:
    joined = [(1, consumer_side.chunk("three")), (1, consumer_side.status(COMPLETED))]
    server = TaskServer([snapshot("one "), snapshot("one two three", COMPLETED)], [joined])
    here = Scene("t", **STEADY)
    await here.view.on_frame(Received({}, consumer_side.chunk("one ")))
    assert await recovery(here, server).follow() is None
    assert here.reported.text == "one two three"
    assert [what for _, what in server.asked] == ["get", "join", "get"]


@on_virtual_time
async def test_an_agent_that_offers_no_joining_is_polled() -> None:
    server = TaskServer([snapshot("a"), snapshot("a"), snapshot("ab", COMPLETED)], [[(0, NO_METHOD)]])
    here = Scene("t", **STEADY)
    assert await recovery(here, server).follow() is None
    assert [what for _, what in server.asked] == ["get", "join", "get", "get"]


@on_virtual_time
@pytest.mark.parametrize(
    ("answer", "forgotten", "seconds"),
    [
        (FORGOTTEN, True, 0.5),
        (NO_METHOD, False, 0),
        (CUT, False, 57.5),
        (AgentFailed("x", code=-32603), False, 57.5),
    ],
)
async def test_what_cannot_be_learned_ends_in_time(
    answer: AgentError, forgotten: bool, seconds: float
) -> None:
    here = Scene("t", **STEADY, poll_timeout=60)
    end = await recovery(here, TaskServer([answer])).follow()
    assert isinstance(end, TaskLost)
    assert (end.is_forgotten, here.now()) == (forgotten, seconds)


@on_virtual_time
async def test_a_busy_agent_is_left_alone_for_as_long_as_it_wants() -> None:
    busy = AgentRefused("busy", status=503, retry_after=20.0)
    server = TaskServer([busy, snapshot("a", COMPLETED)])
    here = Scene("t", **STEADY)
    assert await recovery(here, server).follow() is None
    assert server.asked == [(0, "get"), (20, "get")]


@on_virtual_time
async def test_a_task_that_goes_on_without_news_is_followed_for_a_while_and_the_reader_is_told() -> None:
    here = Scene("t", **STEADY, poll_timeout=10, watch_after=1000)
    end = await recovery(here, TaskServer([snapshot("a")])).follow()
    assert end == TaskLost("the task goes on without news", may_go_on=True)
    assert 1000 <= here.now() < 1010
    assert len(here.reported.only(AgentIdle)) == 17
    assert here.reported.text == "a"


@on_virtual_time
async def test_a_stop_ends_it_at_once() -> None:
    here = Scene("t", **STEADY)
    asyncio.get_running_loop().call_later(80.5, here.handle.stop, "U1")
    assert await recovery(here, TaskServer([snapshot("a")])).follow() == TaskLost("left")
    assert here.now() == 80.5


async def silent_then(here: Scene, look: Snapshot | AgentError) -> bool:
    decide: Callable[[], Awaitable[bool]] = recovery(here, TaskServer([look])).on_silence
    return await decide()


@pytest.mark.parametrize(
    ("look", "listens"),
    [
        (snapshot("known"), True),
        (NO_METHOD, True),
        (snapshot("known and more"), False),
        (snapshot("known", COMPLETED), False),
        (FORGOTTEN, False),
        (CUT, False),
    ],
)
async def test_a_silent_stream_is_listened_to_while_the_task_knows_no_more(
    look: Snapshot | AgentError, listens: bool
) -> None:
    here = Scene("t")
    await here.view.on_frame(Received({}, consumer_side.chunk("known")))
    assert await silent_then(here, look) is listens


@pytest.mark.parametrize("waits_for_whole", [True, False])
async def test_before_there_is_a_task_only_an_answer_that_comes_whole_is_waited_for(
    waits_for_whole: bool,
) -> None:
    here = Scene()
    server = TaskServer([FORGOTTEN])
    server.waits_for_whole = waits_for_whole
    assert await recovery(here, server).on_silence() is waits_for_whole


async def test_a_look_says_what_it_found() -> None:
    here = Scene("t")
    server = TaskServer([snapshot("a"), snapshot("a"), snapshot("a", WORKING), snapshot("a", COMPLETED)])
    look = recovery(here, server).poll
    assert [await look() for _ in range(4)] == [
        PollResult.NEWS,
        PollResult.RUNNING,
        PollResult.RUNNING,
        PollResult.OVER,
    ]


@on_virtual_time
async def test_a_stream_on_which_a_sign_in_is_waited_for_may_be_silent() -> None:
    looks = [snapshot(state=AUTH), FORGOTTEN, snapshot("Done.", COMPLETED)]
    here = Scene("t")
    await here.view.on_frame(Received({}, consumer_side.status(AUTH, "Sign in")))
    course = recovery(here, TaskServer(looks))
    assert [await course.on_silence() for _ in looks] == [True, True, False]
    assert not here.reported.only(AgentIdle)


async def test_an_answer_that_has_lost_its_secrets_is_not_sent() -> None:
    form = Form("Key?", (Field("key", is_secret=True),))
    lost = replace(answer_of(form, {"key": "hunter2"}), secrets={})
    scene = Scene(form=form, answer=lost)
    await scene.task.consume()
    (end,) = scene.reported.only(StreamEnded)
    assert end.end is StreamEnd.REFUSED
    assert "never stored" in end.safe
    assert scene.sendings == 0
