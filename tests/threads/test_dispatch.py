"""One turn at a time in a thread, what is stored, and how it all ends."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from slack_bot.errors import BotError, StoreError
from slack_bot.observe.facts import Fact, TurnEnded
from slack_bot.store.knowledge import CONVERSATIONS
from slack_bot.testing.harness import CHANNEL, BotHarness, run_bot, wait_until
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.testing.tape.builders import answer, question, status, task
from slack_bot.testing.tape.tape import Moment, Tape
from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.turn.progress import TurnRecord
from slack_bot.turn.record import Question, ThreadKey
from tests.store import subjects
from tests.tapped_store import TappedStore


def thread_of(root: str) -> ThreadKey:
    return ThreadKey("T1", CHANNEL, root)


def asked(bot: BotHarness) -> list[tuple[str, str | None, str | None]]:
    """Text, context id and task id of every question that reached the agent."""
    sent = [(call.text, call.params["message"]) for call in bot.agent.questions]
    return [(text, message.get("contextId"), message.get("taskId")) for text, message in sent]


# -- one at a time


@on_virtual_time
async def test_a_mention_is_answered_in_its_thread() -> None:
    async with run_bot(answer("The answer is 42.")) as bot:
        root = await bot.ask("what is it?")
        await bot.idle()
        assert bot.read(root) == ["The answer is 42."]
        assert asked(bot) == [("what is it?", None, None)]
        assert bot.outcomes == ["answered"]


@on_virtual_time
async def test_the_same_question_brought_again_is_asked_once() -> None:
    async with run_bot(answer("Once.")) as bot:
        bot.workspace.say("U1", CHANNEL, f"<@{bot.workspace.bot.user_id}> hi", now=bot.now)
        envelopes = bot.workspace.take()
        assert len(envelopes) == 2  # the twins
        assert await bot.deliver(envelopes) == [200, 200]
        await bot.idle()
        assert await bot.deliver(envelopes) == [200, 200]
        await bot.idle()
        assert len(asked(bot)) == 1


@on_virtual_time
async def test_a_mention_without_words_gets_a_hint_once_and_no_turn() -> None:
    async with run_bot() as bot:
        root = await bot.ask("")
        await bot.idle()
        (hint,) = bot.read(root)
        assert "Write your question" in hint
        assert asked(bot) == []
        assert bot.outcomes == []


# -- what is stored of a thread


@on_virtual_time
async def test_a_thread_keeps_its_context_and_another_has_its_own() -> None:
    store = MemoryStore()
    async with run_bot(
        answer("One.", ids="1"), answer("Two.", ids="1"), answer("Three.", ids="2"), store=store
    ) as bot:
        root = await bot.ask("one")
        await bot.idle()
        await bot.ask("two", thread_ts=root)
        await bot.idle()
        await bot.ask("three")
        await bot.idle()
        assert asked(bot) == [("one", None, None), ("two", "ctx-1", None), ("three", None, None)]
        assert (await subjects.conversation(store, bot.app.agent.name, thread_of(root))).context_id == "ctx-1"


@on_virtual_time
async def test_the_context_is_kept_as_soon_as_it_is_known() -> None:
    store = MemoryStore()
    async with run_bot(answer("Long.", seconds=60), store=store) as bot:
        root = await bot.ask("one")
        await asyncio.sleep(1)
        assert (await subjects.conversation(store, bot.app.agent.name, thread_of(root))).context_id == "ctx-1"
        await bot.idle()


@on_virtual_time
async def test_the_asker_s_next_message_answers_an_agent_that_asked() -> None:
    async with run_bot(question("Which environment?"), answer("Deployed.")) as bot:
        root = await bot.ask("deploy")
        await bot.idle()
        assert "Which environment?" in bot.read(root)[0]
        assert await bot.app.dispatcher.is_waiting_for(thread_of(root), "U1")
        assert not await bot.app.dispatcher.is_waiting_for(thread_of(root), "U2")

        await bot.say("production", thread_ts=root)  # no mention needed
        await bot.idle()
        assert asked(bot)[1] == ("production", "ctx-1", "task-1")
        assert bot.read(root)[-1] == "Deployed."
        assert not await bot.app.dispatcher.is_waiting_for(thread_of(root), "U1")
        assert bot.outcomes == ["asked", "answered"]


@on_virtual_time
async def test_what_another_person_says_does_not_answer_the_agent() -> None:
    async with run_bot(question("Which environment?"), answer("Something else."), answer("Deployed.")) as bot:
        root = await bot.ask("deploy")
        await bot.idle()
        await bot.say("I would take staging", user="U2", thread_ts=root)
        await bot.idle()
        assert len(asked(bot)) == 1
        await bot.ask("what is staging?", user="U2", thread_ts=root)
        await bot.idle()
        assert asked(bot)[1] == ("what is staging?", "ctx-1", None)
        await bot.say("production", thread_ts=root)
        await bot.idle()
        assert asked(bot)[2] == ("production", "ctx-1", "task-1")


def asks(text: str, task_id: str) -> Tape:
    """The agent asks back in a task of its own, in the context it was handed."""
    said = [task(), status("input-required", text)]
    named = [{**event, "id" if event["kind"] == "task" else "taskId": task_id} for event in said]
    moments = [Moment(0.1 + 0.4 * number, event=event) for number, event in enumerate(named)]
    return Tape({"wire": "0.3"}, (*moments, Moment(0.6, end="closed")))


@pytest.mark.parametrize("order", [("U1", "U2"), ("U2", "U1")])
@on_virtual_time
async def test_an_agent_may_wait_for_two_people_in_one_thread(order: tuple[str, str]) -> None:
    said = {"U1": "production", "U2": "staging"}
    tasks = {"U1": "task-of-1", "U2": "task-of-2"}
    async with run_bot(
        asks("Deploy where?", tasks["U1"]), asks("Roll back where?", tasks["U2"]), answer("Done.")
    ) as bot:
        root = await bot.ask("deploy")
        await bot.idle()
        await bot.ask("roll back", user="U2", thread_ts=root)
        await bot.idle()
        assert bot.read(root) == ["Deploy where?", "Roll back where?"]
        for user in order:
            await bot.say(said[user], user=user, thread_ts=root)  # no mention
            await bot.idle()
            assert asked(bot)[-1] == (said[user], "ctx-1", tasks[user])
            await bot.say("thanks", user=user, thread_ts=root)
            await bot.idle()
        assert [text for text, _, _ in asked(bot)] == ["deploy", "roll back", *(said[user] for user in order)]
        assert bot.outcomes == ["asked", "asked", "answered", "answered"]
        assert bot.read(root)[2:] == ["Done.", "Done."]


@on_virtual_time
async def test_who_was_asked_again_in_the_same_task_was_asked_last() -> None:
    store = MemoryStore()
    async with run_bot(asks("1?", "a"), asks("2?", "b"), asks("1 again?", "a"), store=store) as bot:
        root = await bot.ask("one")
        await bot.idle()
        await bot.ask("two", user="U2", thread_ts=root)
        await bot.idle()
        await bot.say("this", thread_ts=root)
        await bot.idle()
        known = await subjects.conversation(store, bot.app.agent.name, thread_of(root))
        assert list(known.waits.items()) == [("U2", "b"), ("U1", "a")]


@on_virtual_time
async def test_the_agent_s_protocol_version_is_learned_for_the_next_start() -> None:
    store = MemoryStore()
    async with run_bot(store=store) as bot:
        await bot.ask("hi")
        await bot.idle()
        assert await subjects.profile(store, bot.app.agent.name) == {"wire": "0.3"}
    async with run_bot(store=store) as bot:
        assert bot.app.agent.wire == "0.3"


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
        assert (await subjects.profile(store, bot.app.agent.name))["answer_source"] == "status"
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


class BrokenStore(TappedStore):
    """A store that breaks at the collections named in `broken`."""

    def __init__(self, *broken: str) -> None:
        super().__init__()
        self.broken = broken

    async def tap(self, kind: str) -> None:
        if kind in self.broken:
            raise StoreError("The disk is full.")


@on_virtual_time
async def test_a_store_that_cannot_keep_the_context_costs_the_context_and_not_the_answer() -> None:
    async with run_bot(answer("Still here."), store=BrokenStore("save_conversation", "save_fact")) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        assert bot.read(root) == ["Still here."]
        assert bot.outcomes == ["answered"]


# -- a turn that broke


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


# -- the end of the process


@on_virtual_time
async def test_what_is_nearly_done_is_finished_within_the_grace() -> None:
    async with run_bot(answer("Just in time.", seconds=5)) as bot:
        root = await bot.ask("hi")
        await asyncio.sleep(1)
        await bot.app.close(20.0)
        assert bot.read(root) == ["Just in time."]
        assert bot.outcomes == ["answered"]


@on_virtual_time
async def test_what_is_not_done_by_then_is_ended_with_a_notice() -> None:
    async with run_bot(answer("One two three four.", seconds=600)) as bot:
        root = await bot.ask("hi")
        waiting = await bot.ask("and?", user="U2", thread_ts=root)
        await asyncio.sleep(1)
        began = asyncio.get_running_loop().time()
        await bot.app.close(20.0)
        assert asyncio.get_running_loop().time() - began < 40
        notices = [seen.read for seen in bot.thread(root) if seen.is_bot and "being restarted" in seen.read]
        assert len(notices) == 2, (waiting, notices)
        assert bot.workspace.open_streams() == []
        assert bot.outcomes == ["lost"]
        assert len(asked(bot)) == 1


@on_virtual_time
async def test_a_bot_that_ends_takes_no_more_questions() -> None:
    async with run_bot() as bot:
        await bot.app.dispatcher.close(0.0)
        with pytest.raises(BotError, match="takes no more"):
            await bot.app.dispatcher.accept(Question(thread_of("1.0"), "1.0", "U1", "T1", "q"))
        await bot.ask("hi")
        assert set(bot.statuses) == {503}


class _SlowClaims(MemoryStore):
    """As over a network: the bot may be told to end while it asks for a thread."""

    def __init__(self) -> None:
        super().__init__(is_durable=True)
        self.asked, self.answered = asyncio.Event(), asyncio.Event()

    async def claim(self, turn: TurnRecord) -> TurnRecord | None:
        self.asked.set()
        await self.answered.wait()
        return await super().claim(turn)


@on_virtual_time
async def test_what_is_stored_as_the_bot_ends_is_left_to_the_next_process() -> None:
    store = _SlowClaims()
    async with run_bot(answer("Yes."), store=store) as bot:
        asking = asyncio.create_task(bot.ask("hi"))
        await store.asked.wait()
        closing = asyncio.create_task(bot.app.close(0.0))
        await asyncio.sleep(1)
        store.answered.set()
        root = await asking
        await closing
        assert bot.agent.questions == []
        async with run_bot(after=bot) as next_bot:
            await next_bot.idle()
            assert next_bot.read(root) == ["Yes."]


@on_virtual_time
async def test_who_has_seen_nothing_goes_first_when_turns_are_taken_over() -> None:
    """Slack allows so few reads of threads that all but the first one wait."""
    text = " ".join(f"word{number}" for number in range(40))
    tapes = [answer(text, seconds=200, ids=str(number)) for number in range(3)]
    async with run_bot(*tapes) as bot:
        begun = [await bot.ask(f"question {number}", user=f"U{number}") for number in range(2)]
        await wait_until(lambda: len(bot.workspace.open_streams()) == len(begun), bot.workspace)
        waiting = await bot.ask("the last one", user="U3")
        while len(bot.agent.questions) < len(tapes):  # noqa: ASYNC110  no event reports it
            await asyncio.sleep(0.01)
        bot.life.end_now()
        before = len(bot.workspace.calls)
        async with run_bot(after=bot, reads_per_minute=1.0) as next_bot:
            await next_bot.idle()
            calls = bot.workspace.calls[before:]
            reads = [call.args["ts"] for call in calls if call.method == "conversations.replies"]
            assert reads[:3] == [begun[0], waiting, begun[1]]


@on_virtual_time
async def test_a_slack_that_answers_nothing_does_not_hold_the_end_up() -> None:
    faults = {method: ["timeout"] for method in ("chat.startStream", "chat.postMessage", "chat.stopStream")}
    async with run_bot(answer("One two.", seconds=600), faults=faults) as bot:
        await bot.ask("hi")
        await asyncio.sleep(1)
        began = asyncio.get_running_loop().time()
        await bot.app.close(1.0)
        assert asyncio.get_running_loop().time() - began < 20


def test_another_attempt_is_another_question_of_the_same_message() -> None:
    first = Question(thread_of("1.0"), "1.0", "U1", "T1", "q")
    again = replace(first, attempt=1)
    assert (again.key, again.thread) == (f"{first.key}:1", first.thread)
    assert again.message_id != first.message_id


# -- small things


@on_virtual_time
async def test_a_protocol_version_that_is_set_is_not_learned() -> None:
    store = MemoryStore()
    async with run_bot(store=store, protocol_version="0.3") as bot:
        await bot.ask("hi")
        await bot.idle()
        assert await subjects.profile(store, bot.app.agent.name) == {}


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


@on_virtual_time
async def test_the_readers_of_forty_live_answers_all_get_a_notice_that_the_bot_ends() -> None:
    """Their streams are stopped within Slack's budgets, which takes a while."""
    async with run_bot(answer("word " * 20, seconds=300)) as bot:
        roots = []
        for _ in range(40):
            roots.append(await bot.ask("hi"))
            await asyncio.sleep(0.5)
        await asyncio.sleep(60)
        began = bot.now
        await bot.app.dispatcher.close(0.0)
        assert bot.now - began < 30
        assert bot.workspace.open_streams() == []
        notices = ["being restarted" in str([seen.blocks for seen in bot.thread(root)]) for root in roots]
        assert all(notices)


# -- a store that fails


@pytest.mark.parametrize("failures", [2, 3])
@on_virtual_time
async def test_a_store_is_broken_after_failures_in_a_row_and_until_one_success(failures: int) -> None:
    class Failing(MemoryStore):
        numbers: Iterator[int] = iter(())

        async def accept(self, turn: TurnRecord) -> bool:
            for number in self.numbers:
                raise StoreError(f"Failure {number}.")
            return await super().accept(turn)

    store = Failing()
    async with run_bot(answer("Yes."), store=store, max_failures=3) as bot:
        dispatcher = bot.app.dispatcher
        for _ in range(2):
            waiting = asyncio.create_task(dispatcher.wait_for_broken_store())
            store.numbers = iter(range(failures))
            for number in range(failures):
                assert not waiting.done()
                with pytest.raises(StoreError, match=f"Failure {number}"):
                    await dispatcher.accept(Question(thread_of("1.0"), "1.0", "U1", "T1", "hi"))
            await asyncio.sleep(1)
            assert waiting.done() is (failures == 3)
            if failures == 3:
                problem = str(await waiting)
                assert problem.startswith("3 questions in a row could not be stored. Failure 2. The bot ends")
            assert await dispatcher.accept(Question(thread_of("1.0"), f"1.{bot.now}", "U1", "T1", "hi"))
            await bot.idle()
            waiting.cancel()
