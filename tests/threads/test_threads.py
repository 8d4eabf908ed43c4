"""One turn at a time in a thread, what is stored, and how it all ends."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from slack_bot.testing.harness import CHANNEL, BotHarness, run_bot
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.testing.tape.builders import answer, question, status, task
from slack_bot.testing.tape.tape import Moment, Tape
from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.turn.progress import TurnRecord
from slack_bot.turn.record import Question, ThreadKey
from tests.store import subjects


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
        assert (await subjects.conversation(store, bot.app.agent.key, thread_of(root))).context_id == "ctx-1"


@on_virtual_time
async def test_the_context_is_kept_as_soon_as_it_is_known() -> None:
    store = MemoryStore()
    async with run_bot(answer("Long.", seconds=60), store=store) as bot:
        root = await bot.ask("one")
        await asyncio.sleep(1)
        assert (await subjects.conversation(store, bot.app.agent.key, thread_of(root))).context_id == "ctx-1"
        await bot.idle()


@on_virtual_time
async def test_the_asker_s_next_message_answers_an_agent_that_asked() -> None:
    async with run_bot(question("Which environment?"), answer("Deployed.")) as bot:
        root = await bot.ask("deploy")
        await bot.idle()
        assert "Which environment?" in bot.read(root)[0]
        assert await bot.app.threads.registry.is_waiting_for(thread_of(root), "U1")
        assert not await bot.app.threads.registry.is_waiting_for(thread_of(root), "U2")

        await bot.say("production", thread_ts=root)  # no mention needed
        await bot.idle()
        assert asked(bot)[1] == ("production", "ctx-1", "task-1")
        assert bot.read(root)[-1] == "Deployed."
        assert not await bot.app.threads.registry.is_waiting_for(thread_of(root), "U1")
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
        known = await subjects.conversation(store, bot.app.agent.key, thread_of(root))
        assert list(known.waits.items()) == [("U2", "b"), ("U1", "a")]


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
async def test_a_slack_that_answers_nothing_does_not_hold_the_end_up() -> None:
    faults = {method: ["timeout"] for method in ("chat.startStream", "chat.postMessage", "chat.stopStream")}
    async with run_bot(answer("One two.", seconds=600), faults=faults) as bot:
        await bot.ask("hi")
        await asyncio.sleep(1)
        began = asyncio.get_running_loop().time()
        await bot.app.close(1.0)
        assert asyncio.get_running_loop().time() - began < 20


@pytest.mark.parametrize("seconds", [0.5, 600.0])
@on_virtual_time
async def test_a_bot_that_has_ended_has_no_task_left(seconds: float) -> None:
    before = asyncio.all_tasks()
    async with run_bot(answer("One.", seconds=seconds), store=MemoryStore(is_durable=True)) as bot:
        root = await bot.ask("one")
        await bot.ask("two", thread_ts=root)
        await asyncio.sleep(0.45)
        bot.life.end_now()  # nothing has an answer any more: each task ends only if it is cancelled
        await asyncio.sleep(1)
    assert asyncio.all_tasks() - before == set()


def test_another_attempt_is_another_question_of_the_same_message() -> None:
    first = Question(thread_of("1.0"), "1.0", "U1", "T1", "q")
    again = replace(first, attempt=1)
    assert (again.key, again.thread) == (f"{first.key}:1", first.thread)
    assert again.message_id != first.message_id


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
        await bot.app.threads.close(0.0)
        assert bot.now - began < 30
        assert bot.workspace.open_streams() == []
        notices = ["being restarted" in str([seen.blocks for seen in bot.thread(root)]) for root in roots]
        assert all(notices)
