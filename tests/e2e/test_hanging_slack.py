"""Every call to Slack hangs: what it sends is acknowledged all the same, and a Stop ends the work at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from slack_bot.slack.status import WAITING_REACTION
from slack_bot.testing.harness import CHANNEL, BotHarness, run_bot, wait_until
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.testing.slack.faults import METHODS
from slack_bot.testing.slack.workspace import SeenMessage
from slack_bot.testing.tape.builders import answer
from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.text.words import ASKER_IS_UNKNOWN, STOPPED, WATCHING_AFTER_LOSS
from tests.form_tapes import DONE, ONE, approval, asking, form_in
from tests.threads.test_watch import FIRST, slow

WITHIN = 1.0  # second
TEXT = " ".join(f"word{number}" for number in range(200))
LONG = answer(TEXT, seconds=120)


def hang(bot: BotHarness, methods: Iterable[str] = METHODS) -> None:
    """From now on no call is applied or answered; a caller waits for half a minute."""
    for method in methods:
        bot.workspace.faults.set(method, ["timeout"])


def recover(bot: BotHarness) -> None:
    for method in METHODS:
        bot.workspace.faults.set(method, [])


async def deliver_in_time(bot: BotHarness) -> None:
    """All that Slack has to send is acknowledged, each within the time."""
    for envelope in bot.workspace.take():
        async with asyncio.timeout(WITHIN):
            assert await bot.deliver([envelope]) == [200]


def answers(bot: BotHarness, root: str) -> list[SeenMessage]:
    """What all people read of the bot."""
    return [seen for seen in bot.thread(root) if seen.is_bot and not seen.ephemeral_for]


def cancels(bot: BotHarness) -> int:
    return [call.method for call in bot.agent.calls].count("tasks/cancel")


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(WITHIN):
        while not condition():  # noqa: ASYNC110  no event reports it
            await asyncio.sleep(0.01)


# -- acknowledged


def mention(bot: BotHarness, root: str) -> None:
    bot.workspace.say("U2", CHANNEL, "<@U0BOT> and?", now=bot.now)


def reply(bot: BotHarness, root: str) -> None:
    bot.workspace.say("U1", CHANNEL, "<@U0BOT> and?", now=bot.now, thread_ts=root)


def followed(bot: BotHarness, root: str) -> None:
    bot.workspace.say("U1", CHANNEL, "and?", now=bot.now, thread_ts=root)


def chatter(bot: BotHarness, root: str) -> None:
    bot.workspace.say("U2", CHANNEL, "lunch?", now=bot.now, thread_ts=root)


def direct(bot: BotHarness, root: str) -> None:
    bot.workspace.say("U1", bot.workspace.direct("U1"), "and?", now=bot.now)


def edit(bot: BotHarness, root: str) -> None:
    bot.workspace.edit(CHANNEL, root, "<@U0BOT> something else", now=bot.now)


def deletion(bot: BotHarness, root: str) -> None:
    bot.workspace.delete(CHANNEL, root, now=bot.now)


def native_stop(bot: BotHarness, root: str) -> None:
    bot.workspace.stop("U1", CHANNEL, root, now=bot.now)


def word(bot: BotHarness, root: str) -> None:
    bot.workspace.say("U1", CHANNEL, "stop", now=bot.now, thread_ts=root)


def stop_listening(bot: BotHarness, root: str) -> None:
    bot.workspace.say("U1", CHANNEL, "<@U0BOT> stop listening", now=bot.now, thread_ts=root)


EVENTS = [
    mention, reply, followed, chatter, direct, edit, deletion, native_stop, word, stop_listening,
]  # fmt: skip


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.__name__)
@pytest.mark.parametrize("running", [True, False], ids=["an answer runs", "nothing runs"])
@on_virtual_time
async def test_what_happens_in_a_thread_is_acknowledged(
    running: bool, event: Callable[[BotHarness, str], None]
) -> None:
    async with run_bot(LONG if running else answer("Yes."), store=MemoryStore(is_durable=True)) as bot:
        root = await bot.ask("one")
        if running:
            await wait_until(bot.workspace.open_streams, bot.workspace)
        else:
            await bot.idle()
        await bot.deliver()
        hang(bot)
        await asyncio.sleep(5)
        event(bot, root)
        await deliver_in_time(bot)


@on_virtual_time
async def test_the_first_question_of_a_process_is_acknowledged() -> None:
    async with run_bot(answer("Yes."), store=MemoryStore(is_durable=True)) as bot:
        hang(bot)
        bot.workspace.faults.set("auth.test", [])  # no process is connected that does not know who it is
        root = bot.workspace.say("U1", CHANNEL, "<@U0BOT> hi", now=bot.now)
        await deliver_in_time(bot)
        assert [turn.question.ts for turn in await bot.store.unfinished()] == [root]


@pytest.mark.parametrize(
    ("user", "policy"),
    [("U5", {"guests": "deny"}), ("U1", {"groups": ["S1", "S2"]}), ("U7", {})],
    ids=["a guest", "not in a group", "of another organisation"],
)
@on_virtual_time
async def test_where_slack_must_say_who_an_asker_is(user: str, policy: dict[str, object]) -> None:
    """What Slack does not say in time counts as a no, and who asked reads so."""
    async with run_bot(LONG, store=MemoryStore(is_durable=True), **policy) as bot:
        bot.workspace.add_user("U5", guest="multi")
        bot.workspace.add_user("U7", team="T2")
        hang(bot, {"users.info", "usergroups.users.list"})
        bot.workspace.say(user, CHANNEL, "<@U0BOT> hi", now=bot.now)
        await deliver_in_time(bot)
        await bot.idle()
        assert bot.agent.questions == []
        assert await bot.store.unfinished() == []
        assert [(post["user"], post["text"]) for post in bot.calls("chat.postEphemeral")] == [
            (user, ASKER_IS_UNKNOWN)
        ]


@on_virtual_time
async def test_where_slack_must_say_who_stops() -> None:
    async with hanging_answer(5.0) as (bot, root):
        bot.workspace.add_user("U7", team="T2")
        bot.workspace.stop("U7", CHANNEL, root, now=bot.now)
        (stop,) = [each for each in bot.workspace.take() if "agent_session_stopped" in str(each.payload)]
        of_both = replace(stop, payload={**stop.payload, "is_ext_shared_channel": True})
        async with asyncio.timeout(WITHIN):
            assert await bot.deliver([of_both]) == [200]
        await asyncio.sleep(WITHIN)
        assert cancels(bot) == 0


@on_virtual_time
async def test_where_slack_must_say_who_may_approve() -> None:
    async with run_bot(approval(), DONE, approvers=["S1", "S2", "S3"]) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        hang(bot)
        bot.workspace.press("U1", CHANNEL, form_in(bot, root).ts, "form_approve", now=bot.now)
        (envelope,) = bot.workspace.take()
        pressed = asyncio.create_task(bot.deliver([envelope]))  # its reply to who pressed hangs too
        await until(pressed.done)
        assert len(bot.agent.questions) == 1


@on_virtual_time
async def test_an_answer_to_a_form_is_acknowledged_and_reaches_the_agent() -> None:
    async with run_bot(asking(ONE, "Where?"), DONE) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        hang(bot)
        bot.workspace.press("U1", CHANNEL, form_in(bot, root).ts, "form_choose-1", now=bot.now)
        await deliver_in_time(bot)
        assert len(await bot.store.unfinished()) == 1


# -- stopped


@asynccontextmanager
async def hanging_answer(at: float, *more: object) -> AsyncIterator[tuple[BotHarness, str]]:
    """An answer runs, and Slack hangs since so many seconds after its question, for some seconds already."""
    async with run_bot(LONG, answer("Yes."), store=MemoryStore(is_durable=True)) as bot:
        root = await bot.ask("one")
        await asyncio.sleep(at)
        await bot.deliver()
        hang(bot)
        await asyncio.sleep(4)
        yield bot, root


@pytest.mark.parametrize("how", [native_stop, word], ids=["native", "word"])
@pytest.mark.parametrize("at", [0.0, 1.0, 20.0])
@on_virtual_time
async def test_a_stop_ends_the_agent_s_task_at_once_and_the_thread_is_right_later(
    at: float, how: Callable[[BotHarness, str], None]
) -> None:
    async with hanging_answer(at) as (bot, root):
        assert len(bot.agent.questions) == 1
        how(bot, root)
        await deliver_in_time(bot)
        await until(lambda: cancels(bot))
        (turn,) = [each for each in await bot.store.unfinished() if each.question.ts == root]
        assert turn.stopped_by == "U1", "a process that takes over ends it too"
        await asyncio.sleep(60)
        recover(bot)
        await bot.idle()
        assert bot.outcomes == ["stopped"]
        assert cancels(bot) == 1
        assert len(bot.agent.questions) == 1
        assert bot.workspace.open_streams() == []


@on_virtual_time
async def test_the_button_that_drops_what_waits_ends_what_has_begun_at_once() -> None:
    async with run_bot(LONG, answer("word " * 100, seconds=120, ids="2"), answer("Yes.", ids="3")) as bot:
        root = await bot.ask("one")
        await bot.ask("two", thread_ts=root)
        await asyncio.sleep(5)
        native_stop(bot, root)
        await bot.deliver()
        await wait_until(lambda: len(bot.agent.questions) == 2, bot.workspace)
        await asyncio.sleep(5)
        (offer,) = [seen for seen in bot.thread(root) if seen.ephemeral_for and "drop" in str(seen.blocks)]
        hang(bot)
        await asyncio.sleep(4)
        before = cancels(bot)
        bot.workspace.press("U1", CHANNEL, offer.ts, "drop", now=bot.now)
        pressed = asyncio.create_task(bot.deliver())  # its reply to who pressed hangs too
        await until(lambda: cancels(bot) == before + 1)
        recover(bot)
        await pressed
        await bot.idle()
        assert set(bot.statuses) == {200}
        assert bot.outcomes == ["stopped", "stopped"]


@pytest.mark.parametrize("how", [native_stop, word], ids=["native", "word"])
@pytest.mark.parametrize(
    "methods",
    [METHODS - {"auth.test"}, {"conversations.replies"}, {"chat.stopStream"}],
    ids=["every call", "reading", "stopping"],
)
@on_virtual_time
async def test_a_stop_of_what_was_taken_over_ends_it_at_once(
    methods: Collection[str], how: Callable[[BotHarness, str], None]
) -> None:
    async with run_bot(LONG, store=MemoryStore(is_durable=True)) as first:
        root = await first.ask("one")
        await asyncio.sleep(20)
        await first.deliver()
        first.life.end_now()
        hang(first, methods)
        async with run_bot(after=first) as bot:
            await asyncio.sleep(4)
            how(bot, root)
            await deliver_in_time(bot)
            await until(lambda: cancels(bot))
            recover(bot)
            await bot.idle()
            assert bot.outcomes == ["stopped"]
            assert cancels(bot) == 1
            assert bot.workspace.open_streams() == []
            (shown,) = answers(bot, root)
            assert TEXT.startswith(shown.text)
            assert len(shown.text) > 50
            assert shown.read.endswith(STOPPED)


@pytest.mark.parametrize("how", ["native", "word", "button"])
@on_virtual_time
async def test_a_stop_of_a_watched_task_ends_it_at_once(how: str) -> None:
    async with run_bot(slow(), cut_after=2) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        assert bot.outcomes == ["watched"]
        (shown,) = [seen for seen in bot.thread(root) if seen.is_bot]
        hang(bot)
        await asyncio.sleep(4)
        if how == "button":
            bot.workspace.press("U1", CHANNEL, shown.ts, "stop", now=bot.now)
        else:
            {"native": native_stop, "word": word}[how](bot, root)
        await deliver_in_time(bot)
        await until(lambda: cancels(bot))
        recover(bot)
        await bot.idle()
        assert bot.outcomes == ["watched", "stopped"]
        assert cancels(bot) == 1
        (shown,) = answers(bot, root)
        assert shown.text == FIRST
        assert shown.read.endswith(STOPPED)
        assert WATCHING_AFTER_LOSS not in shown.read


@pytest.mark.parametrize("how", [native_stop, word], ids=["native", "word"])
@on_virtual_time
async def test_a_stop_of_what_is_left_to_be_watched_ends_it_at_once(
    how: Callable[[BotHarness, str], None],
) -> None:
    """Its turn cannot end before Slack shows that it does."""
    async with run_bot(slow(), cut_after=2) as bot:
        root = await bot.ask("hi")
        await asyncio.sleep(10)
        hang(bot)
        await asyncio.sleep(600)
        assert (bot.outcomes, cancels(bot)) == ([], 0)
        how(bot, root)
        await deliver_in_time(bot)
        await until(lambda: cancels(bot))
        recover(bot)
        await bot.idle()
        assert bot.outcomes == ["watched", "stopped"]
        shown = answers(bot, root)
        assert "".join(message.text for message in shown) == FIRST
        assert shown[-1].read.endswith(f"\n{STOPPED}")
        assert not any(WATCHING_AFTER_LOSS in message.read for message in shown)
        assert bot.workspace.open_streams() == []


@on_virtual_time
async def test_the_word_takes_back_at_once_what_waits() -> None:
    async with hanging_answer(5.0) as (bot, root):
        waiting = bot.workspace.say("U2", CHANNEL, "<@U0BOT> two", now=bot.now, thread_ts=root)
        await deliver_in_time(bot)
        bot.workspace.say("U2", CHANNEL, "<@U0BOT> stop", now=bot.now, thread_ts=root)
        await deliver_in_time(bot)
        await asyncio.sleep(WITHIN)
        assert bot.app.threads.conversations.load()["waiting"] == 0
        assert waiting not in {turn.question.ts for turn in await bot.store.unfinished()}
        recover(bot)
        await bot.idle()
        assert [call.text for call in bot.agent.questions] == ["one"]
        assert not any((seen.reactions or {}).get(WAITING_REACTION) for seen in bot.thread(root))
