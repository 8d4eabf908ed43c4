"""A turn ends truthfully: interrupted by a new message of its asker, broken, or too long. What it learns."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from slack_bot.errors import StoreError
from slack_bot.observe.facts import Fact, TurnEnded
from slack_bot.settings.models import TurnSettings
from slack_bot.store.knowledge import CONVERSATIONS
from slack_bot.testing.harness import CHANNEL, BotHarness, run_bot
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.testing.tape.builders import answer, chunk, status, task
from slack_bot.testing.tape.tape import Moment, Tape
from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.text.words import GIVEN_UP
from slack_bot.turn.record import Question, ThreadKey
from tests.examples import at_each_fifth
from tests.store import subjects
from tests.tapped_store import TappedStore

from .test_threads import asked

LONG = answer(" ".join(f"word{n}" for n in range(100)), seconds=60)
INTERRUPTED = "Interrupted by a new message."
NOT_INTERRUPTED = "The agent could not be interrupted. Your question is next, when it has answered."


class CancelDoor(httpx.AsyncBaseTransport):
    """Before the agent: what becomes of a call to cancel a task. None: no answer ever."""

    def __init__(self, inner: httpx.AsyncBaseTransport, result: dict[str, Any] | None) -> None:
        self.inner, self.result, self.cancels = inner, result, 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        call = json.loads(await request.aread() or b"{}")
        if call.get("method") not in ("tasks/cancel", "CancelTask"):
            return await self.inner.handle_async_request(request)
        self.cancels += 1
        if self.result is None:
            await asyncio.Event().wait()
        answered = {"jsonrpc": "2.0", "id": call["id"], **(self.result or {})}
        return httpx.Response(200, json=answered, request=request)


def door(result: dict[str, Any] | None) -> Callable[[httpx.AsyncBaseTransport], httpx.AsyncBaseTransport]:
    return lambda inner: CancelDoor(inner, result)


def cancels(bot: BotHarness) -> int:
    return sum("ancel" in call.method for call in bot.agent.calls)


def references(bot: BotHarness) -> list[list[str] | None]:
    return [call.params["message"].get("referenceTaskIds") for call in bot.agent.questions]


@on_virtual_time
async def test_the_asker_s_new_message_ends_the_answer_and_refers_to_its_task() -> None:
    async with run_bot(LONG, answer("Second."), busy="interrupt") as bot:
        root = await bot.ask("one")
        await asyncio.sleep(10)
        await bot.say("two", thread_ts=root)
        await bot.idle()
        assert [text for text, _, _ in asked(bot)] == ["one", "two"]
        assert (cancels(bot), references(bot)) == (1, [None, ["task-1"]])
        assert bot.outcomes == ["stopped", "answered"]
        first, second = [seen for seen in bot.thread(root) if seen.is_bot and not seen.ephemeral_for]
        assert first.text.startswith("word0") and INTERRUPTED in str(first.blocks)
        assert second.text == "Second."
        assert bot.workspace.session(CHANNEL, root) == "active"
        assert bot.workspace.open_streams() == []


@on_virtual_time
async def test_also_before_the_agent_has_named_its_task() -> None:
    late = Tape({"wire": "0.3"}, (Moment(10.0, event=task()), Moment(60.0, end="closed")))
    async with run_bot(late, answer("Second."), busy="interrupt") as bot:
        root = await bot.ask("one")
        await asyncio.sleep(1)
        await bot.say("two", thread_ts=root)
        await asyncio.sleep(5)
        assert cancels(bot) == 0
        await bot.idle()
        assert (cancels(bot), references(bot)) == (1, [None, ["task-1"]])
        assert bot.read(root)[-1] == "Second."


@on_virtual_time
async def test_another_s_words_wait_and_interrupt_nothing() -> None:
    async with run_bot(LONG, answer("Second."), busy="interrupt") as bot:
        root = await bot.ask("one")
        await asyncio.sleep(10)
        await bot.ask("two", user="U2", thread_ts=root)
        await bot.idle()
        assert (cancels(bot), bot.outcomes) == (0, ["answered", "answered"])


@on_virtual_time
async def test_several_messages_interrupt_once_and_none_is_lost() -> None:
    async with run_bot(LONG, answer("Yes."), busy="interrupt") as bot:
        root = await bot.ask("one")
        await asyncio.sleep(10)
        for text in ("two", "three"):
            await bot.say(text, thread_ts=root)
        await bot.idle()
        assert [text for text, _, _ in asked(bot)] == ["one", "two\nthree"]
        assert (cancels(bot), references(bot)) == (1, [None, ["task-1"]])
        await bot.say("four", thread_ts=root)
        await bot.idle()
        assert [text for text, _, _ in asked(bot)][2:] == ["four"]


@on_virtual_time
async def test_a_message_that_comes_when_the_interrupting_one_is_asked_interrupts_that() -> None:
    async with run_bot(LONG, LONG, answer("Yes."), busy="interrupt") as bot:
        root = await bot.ask("one")
        for text in ("two", "three"):
            await asyncio.sleep(10)
            await bot.say(text, thread_ts=root)
        await bot.ask("mine", user="U2", thread_ts=root)
        await bot.idle()
        assert [text for text, _, _ in asked(bot)] == ["one", "two", "three", "mine"]
        assert bot.outcomes == ["stopped", "stopped", "answered", "answered"]
        assert cancels(bot) == 2


@pytest.mark.parametrize("result", [{"error": {"code": -32002, "message": "no"}}, None])
@pytest.mark.parametrize(
    ("busy", "then"),
    [("queue", ["two", "three"]), ("collect", ["two\nthree"]), ("interrupt", ["two\nthree"])],
)
@on_virtual_time
async def test_whatever_an_agent_does_with_a_cancel_a_stop_ends_the_answer_and_what_waits_is_asked(
    busy: str, then: list[str], result: dict[str, Any] | None
) -> None:
    """It refuses, or never answers."""
    async with run_bot(LONG, answer("Yes."), busy=busy, through=door(result), stop_timeout=5.0) as bot:
        root = await bot.ask("one")
        await asyncio.sleep(10)
        for text in ("two", "three"):
            await bot.say(text, thread_ts=root)
        await asyncio.sleep(5)
        bot.workspace.stop("U1", CHANNEL, root, now=bot.now)
        await bot.deliver()
        shown = bot.read(root)[0]
        await bot.idle()
        assert [text for text, _, _ in asked(bot)] == ["one", *then]
        assert bot.outcomes == ["stopped", *["answered"] * len(then)]
        assert bot.read(root)[0] == shown, "nothing appears after it"
        assert bot.workspace.open_streams() == []


@pytest.mark.parametrize("code", [-32002, -32004, -32601, -32603])
@on_virtual_time
async def test_an_agent_that_refuses_goes_on_and_the_message_waits_which_is_said(code: int) -> None:
    refused = {"error": {"code": code, "message": "no"}}
    async with run_bot(LONG, answer("Second."), busy="interrupt", through=door(refused)) as bot:
        root = await bot.ask("one")
        await asyncio.sleep(10)
        await bot.say("two", thread_ts=root)
        await bot.idle()
        assert bot.outcomes == ["answered", "answered"]
        assert bot.read(root)[0].endswith("word99")
        assert references(bot) == [None, None]
        assert ("U1", NOT_INTERRUPTED) in bot.ephemeral(root)


@on_virtual_time
async def test_an_agent_that_never_answers_a_cancel_goes_on_too() -> None:
    async with run_bot(LONG, answer("Second."), busy="interrupt", through=door(None)) as bot:
        root = await bot.ask("one")
        await asyncio.sleep(10)
        await bot.say("two", thread_ts=root)
        await asyncio.sleep(31)
        assert ("U1", NOT_INTERRUPTED) in bot.ephemeral(root)
        await bot.idle()
        assert bot.outcomes == ["answered", "answered"]
        assert references(bot) == [None, None]


@on_virtual_time
async def test_a_cancel_that_is_under_way_when_the_answer_ends_holds_nothing_up_for_ever() -> None:
    async with run_bot(
        answer("One.", seconds=12), answer("Second."), busy="interrupt", through=door(None)
    ) as bot:
        root = await bot.ask("one")
        await asyncio.sleep(10)
        await bot.say("two", thread_ts=root)
        await asyncio.sleep(40)
        assert bot.read(root) == ["One.", "Second."]
        await bot.idle()
        assert NOT_INTERRUPTED not in str(bot.ephemeral(root))


@on_virtual_time
async def test_an_agent_that_has_only_begun_to_stop_is_waited_for() -> None:
    """The cancel is accepted, and the stream says later that the task is canceled."""
    events = [task(), chunk("Half. "), status("canceled")]
    tape = Tape(
        {"wire": "0.3"},
        (
            *(Moment(t, event=event) for t, event in zip((0.1, 1.0, 15.0), events, strict=True)),
            Moment(15.1, end="closed"),
        ),
    )
    working = {"result": {**task(), "status": {"state": "working"}}}
    async with run_bot(tape, answer("Second."), busy="interrupt", through=door(working)) as bot:
        root = await bot.ask("one")
        await asyncio.sleep(10)
        await bot.say("two", thread_ts=root)
        await asyncio.sleep(2)
        assert len(asked(bot)) == 1
        await bot.idle()
        first, second = [seen for seen in bot.thread(root) if seen.is_bot and not seen.ephemeral_for]
        assert INTERRUPTED in str(first.blocks) and second.text == "Second."
        assert references(bot) == [None, ["task-1"]]


@on_virtual_time
async def test_a_stop_meanwhile_does_not_cancel_twice_and_drops_nothing() -> None:
    async with run_bot(LONG, answer("Second."), busy="interrupt") as bot:
        root = await bot.ask("one")
        await asyncio.sleep(10)
        await bot.say("two", thread_ts=root)
        bot.workspace.stop("U1", CHANNEL, root, now=bot.now)
        await bot.deliver()
        await bot.idle()
        assert cancels(bot) == 1
        assert [text for text, _, _ in asked(bot)] == ["one", "two"]


@at_each_fifth
@on_virtual_time
async def test_the_message_is_asked_whenever_the_process_ends(step: int) -> None:
    """It is killed at every point from the new message to its answer."""
    points, is_over, unasked = 0, True, 0
    while is_over:
        store = MemoryStore(is_durable=True)
        async with run_bot(
            answer("One. " * 9, seconds=9), answer("Second."), store=store, busy="interrupt"
        ) as bot:
            root = await bot.ask("one")
            await asyncio.sleep(5)
            bot.workspace.say("U1", CHANNEL, "two", now=bot.now, thread_ts=root)
            taken = bot.workspace.take()
            bot.life.end_after(points)
            delivery = asyncio.create_task(bot.deliver(taken))
            await asyncio.sleep(30)
            is_over = bot.life.over.is_set()
            bot.life.end_now()
            delivery.cancel()
            async with run_bot(after=bot, busy="interrupt") as after:
                await after.deliver(taken, retry=1)
                await after.idle()
                texts = [text for text, _, _ in asked(after)]
                is_told = "cannot find out what became of" in str(after.thread(root))
                assert texts == ["one", "two"] or (texts == ["one"] and is_told), points
                assert await after.store.unfinished() == []
                assert after.workspace.open_streams() == []
                assert cancels(after) <= 1
        points, unasked = points + step, unasked + (len(texts) == 1)
    assert points > 20
    assert unasked <= 3, "only between the mark that it is sent and the call; its status is set meanwhile"


# -- a turn that broke, or hangs


class BrokenStore(TappedStore):
    """A store that breaks at the collections named in `broken`."""

    def __init__(self, *broken: str) -> None:
        super().__init__()
        self.broken = broken

    async def tap(self, kind: str) -> None:
        if kind in self.broken:
            raise StoreError("The disk is full.")


@on_virtual_time
async def test_a_thread_goes_on_after_a_turn_that_broke() -> None:
    store = BrokenStore("conversations")
    async with run_bot(answer("Second."), store=store) as bot:
        root = await bot.ask("one")
        await bot.ask("two", thread_ts=root)
        await bot.idle()
        assert bot.outcomes == ["failed", "failed"]
        store.broken = ()
        await bot.ask("three", thread_ts=root)
        await bot.idle()
        assert bot.read(root)[-1] == "Second."


@on_virtual_time
async def test_an_observer_that_breaks_does_not_block_a_thread(caplog: pytest.LogCaptureFixture) -> None:
    def breaking(fact: Fact) -> None:
        if isinstance(fact, TurnEnded):
            raise ZeroDivisionError

    async with run_bot(answer("One."), answer("Two."), observer=breaking) as bot:
        root = await bot.ask("one")
        await bot.ask("two", thread_ts=root)
        await bot.idle()
        assert "One." in bot.read(root)[0]
        assert "Two." in bot.read(root)[-1]
        broken = [record for record in caplog.records if record.getMessage() == "a background task broke"]
        assert f"T1:{CHANNEL}:{root}" in [vars(record)["turn"] for record in broken]


@on_virtual_time
async def test_a_turn_that_hangs_in_the_bot_ends_at_its_deadline_and_its_thread_goes_on() -> None:
    class HangingStore(TappedStore):
        hangs = True  # once

        async def change(self, *args: Any) -> Any:
            if self.hangs and args[0] is CONVERSATIONS:
                self.hangs = False
                await asyncio.Event().wait()
            return await super().change(*args)

    times = {"turn_timeout": 300, "turn_deadline": 400, "post_retry_timeout": 10}
    async with run_bot(
        answer("One.", ids="1"), answer("Two.", ids="1"), store=HangingStore(), **times
    ) as bot:
        began, root = bot.now, await bot.ask("one")
        await bot.idle()
        assert 400 <= bot.now - began < 410
        assert bot.outcomes == ["lost"]
        notices = str([seen.blocks for seen in bot.thread(root)])
        assert "took too long, so I ended it" in notices and "Try again" in notices
        await bot.ask("two", thread_ts=root)
        await bot.idle()
        assert bot.read(root)[-1] == "Two."


# -- what is learned


@on_virtual_time
async def test_the_agent_s_protocol_version_is_learned_for_the_next_start() -> None:
    store = MemoryStore()
    async with run_bot(store=store) as bot:
        await bot.ask("hi")
        await bot.idle()
        assert await subjects.profile(store, bot.app.agent.key) == {"wire": "0.3"}
    async with run_bot(store=store) as bot:
        assert bot.app.agent.profile["wire"] == "0.3"


@on_virtual_time
async def test_a_protocol_version_that_is_set_is_not_learned() -> None:
    store = MemoryStore()
    async with run_bot(store=store, protocol_version="0.3") as bot:
        await bot.ask("hi")
        await bot.idle()
        assert await subjects.profile(store, bot.app.agent.key) == {}


def said_in_status(*words: str) -> Tape:
    """An agent that writes its answer into the working status, and in the end into an artifact."""
    whole = "".join(words)
    artifact = {"artifactId": "a", "parts": [{"kind": "text", "text": whole}]}
    last = {"kind": "artifact-update", "taskId": "task-1", "contextId": "ctx-1", "artifact": artifact}
    events = [task(), *(status("working", word) for word in words), last, status("completed")]
    moments = [Moment(0.5 + 2.0 * number, event=event) for number, event in enumerate(events)]
    return Tape({"wire": "0.3"}, (*moments, Moment(moments[-1].t, end="closed")))


@on_virtual_time
async def test_where_an_agent_s_answer_stands_is_learned_and_the_next_one_is_live() -> None:
    store, said = MemoryStore(), ("One line.\n", "And another.\n", "And a third.\n")
    async with run_bot(said_in_status(*said), store=store) as bot:
        root = await bot.ask("hi")
        await asyncio.sleep(5.5)
        assert bot.read(root) == [], "not known yet to be the answer"
        await bot.idle()
        assert bot.read(root) == ["".join(said)]
        assert (await subjects.profile(store, bot.app.agent.key))["answer_source"] == "status"
        root = await bot.ask("hi again")
        await asyncio.sleep(5.5)
        assert bot.read(root) == ["".join(said[:2])]
        await bot.idle()
        assert bot.read(root) == ["".join(said)]
    async with run_bot(said_in_status(*said), store=store) as bot:
        root = await bot.ask("after a restart")
        await asyncio.sleep(5.5)
        assert bot.read(root) == ["".join(said[:2])]
        await bot.idle()


@on_virtual_time
async def test_a_store_that_cannot_keep_the_context_costs_the_context_and_not_the_answer() -> None:
    async with run_bot(answer("Still here."), store=BrokenStore("save_conversation", "save_fact")) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        assert bot.read(root) == ["Still here."]
        assert bot.outcomes == ["answered"]


# -- nobody addressed the bot


async def ask_unaddressed(bot: BotHarness, text: str = "the disk of db1 is full") -> str:
    """A message that mentions nobody, as a question."""
    ts = await bot.say(text, user="U2")
    question = Question(ThreadKey("T1", CHANNEL, ts), ts, "U2", "T1", text, is_addressed=False)
    await bot.app.threads.intake.accept(question)
    return ts


def written(bot: BotHarness) -> list[str]:
    """What anybody in the channel could see of the bot, also for a moment."""
    seen = ("chat.", "assistant.", "agents.", "reactions.add", "files.")
    return [call.method for call in bot.workspace.calls if call.method.startswith(seen)]


WORKS = Tape(
    {"wire": "0.3"},
    (
        Moment(0.1, event=task()),
        Moment(1.0, event=status("working")),
        Moment(40.0, event=status("completed")),
        Moment(40.1, end="closed"),
    ),
)


@on_virtual_time
async def test_an_agent_with_nothing_to_say_leaves_no_trace_in_a_channel() -> None:
    async with run_bot(WORKS) as bot:
        root = await ask_unaddressed(bot)
        await bot.idle()
        assert bot.outcomes == ["silent"]
        assert [seen.text for seen in bot.thread(root) if seen.is_bot] == []
        assert not written(bot)


@on_virtual_time
async def test_its_answer_is_an_ordinary_one_and_the_agent_knows_that_nobody_waits() -> None:
    async with run_bot(answer("Delete the logs.")) as bot:
        root = await ask_unaddressed(bot)
        await bot.idle()
        assert bot.outcomes == ["answered"]
        assert [seen.text for seen in bot.thread(root) if seen.is_bot] == ["Delete the logs."]
        (asked_question,) = bot.agent.questions
        assert asked_question.params["message"]["metadata"]["slack"]["addressed"] is False


@on_virtual_time
async def test_a_process_that_ends_shows_nothing_of_it_and_the_next_one_goes_on() -> None:
    store = MemoryStore(is_durable=True)
    async with run_bot(WORKS, store=store) as bot:
        root = await ask_unaddressed(bot)
        await asyncio.sleep(10)
        before = bot
    async with run_bot(after=before) as bot:
        await bot.idle()
        assert bot.outcomes == ["silent"]
        assert [seen.text for seen in bot.thread(root) if seen.is_bot] == []
        assert not written(bot)


@on_virtual_time
async def test_its_failure_is_shown() -> None:
    failed = Tape({"wire": "0.3"}, (Moment(0.1, event=task()), Moment(1.0, event=status("failed"))))
    async with run_bot(failed) as bot:
        root = await ask_unaddressed(bot)
        await bot.idle()
        assert bot.outcomes == ["failed"]
        assert [seen for seen in bot.thread(root) if seen.is_bot]


# -- more kills than processes that may try


@on_virtual_time
async def test_a_turn_that_is_given_up_leaves_no_stream_open_and_its_text_stays() -> None:
    store = MemoryStore(is_durable=True)
    before: BotHarness | None = None
    root = ""
    for _ in range(TurnSettings().max_takeovers + 1):
        started = {"after": before} if before is not None else {"store": store}
        async with run_bot(*([LONG] if before is None else []), **started) as bot:
            root = root or await bot.ask("one")
            await asyncio.sleep(8)
            before = bot
            bot.life.end_now()
    async with run_bot(after=before) as bot:
        await bot.idle()
        assert bot.outcomes == ["lost"]
        assert bot.workspace.open_streams() == []
        read = [seen for seen in bot.thread(root) if seen.is_bot and not seen.ephemeral_for]
        words = " ".join(seen.text for seen in read).split()
        assert words == [f"word{number}" for number in range(len(words))] and len(words) > 10
        assert GIVEN_UP.partition(".")[0] in read[-1].read
