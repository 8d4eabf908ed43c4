"""What Slack brings is stored once, however often it comes and whatever becomes of it meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from slack_bot.errors import BotError, StoreError
from slack_bot.testing.harness import CHANNEL, run_bot
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.testing.tape.builders import answer, failure
from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.turn.progress import Stage, TurnRecord
from slack_bot.turn.record import Outcome, Question

from .test_threads import asked, thread_of


class _WaitingStore(MemoryStore):
    """Stores no question until it `flows`. Another process finds what was stored."""

    def __init__(self) -> None:
        super().__init__(is_durable=True)
        self.flows = asyncio.Event()
        self._asked = asyncio.Semaphore(0)

    async def until_asked(self, times: int = 1) -> None:
        """Until so many more acceptances have begun."""
        for _ in range(times):
            await self._asked.acquire()

    async def accept(self, turn: TurnRecord) -> bool:
        self._asked.release()
        await self.flows.wait()
        return await super().accept(turn)


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
async def test_the_same_mention_as_two_events_at_once_is_asked_once() -> None:
    store = _WaitingStore()
    async with run_bot(answer("Once."), store=store) as bot:
        bot.workspace.say("U1", CHANNEL, f"<@{bot.workspace.bot.user_id}> hi", now=bot.now)
        delivering = [asyncio.create_task(bot.deliver([each])) for each in bot.workspace.take()]
        await store.until_asked(2)
        store.flows.set()
        assert await asyncio.gather(*delivering) == [[200], [200]]
        await bot.idle()
        assert [text for text, _, _ in asked(bot)] == ["hi"]


@pytest.mark.parametrize("texts", [["two"], [None], ["two", "three"], ["two", None], [None, "two"]])
@on_virtual_time
async def test_so_it_is_if_its_message_changes_meanwhile(texts: list[str | None]) -> None:
    """Each change is done before Slack learns that it is known."""
    store = _WaitingStore()
    async with run_bot(answer("Once."), store=store) as bot:
        intake, thread = bot.app.threads.intake, thread_of("1.0")
        question = Question(thread, "1.0", "U1", "T1", "one")
        twins = [asyncio.create_task(intake.accept(question)) for _ in range(2)]
        await store.until_asked(2)
        changes = [asyncio.create_task(intake.edit(question.key, thread, text)) for text in texts]
        await asyncio.sleep(1)
        assert not any(each.done() for each in (*twins, *changes))
        store.flows.set()
        assert sorted(await asyncio.gather(*twins)) == [False, True]
        assert await asyncio.gather(*changes) == [True] * len(texts)
        kept = await store.turn(question.key)
        assert kept is not None
        assert (kept.outcome is Outcome.STOPPED) if texts[-1] is None else kept.question.text == texts[-1]
        await bot.idle()
        assert [text for text, _, _ in asked(bot)] == [text for text in texts[-1:] if text is not None]


@on_virtual_time
async def test_who_delivers_a_question_may_be_gone_when_it_is_stored() -> None:
    """Slack's redelivery would count as accepted before."""
    store = _WaitingStore()
    async with run_bot(answer("Once."), store=store) as bot:
        intake = bot.app.threads.intake
        question = Question(thread_of("1.0"), "1.0", "U1", "T1", "hi")
        accepting = asyncio.create_task(intake.accept(question))
        await store.until_asked()
        accepting.cancel()
        store.flows.set()
        await bot.idle()
        assert not await intake.accept(question)
        assert [text for text, _, _ in asked(bot)] == ["hi"]


@on_virtual_time
async def test_a_bot_that_ends_takes_no_more_questions() -> None:
    async with run_bot() as bot:
        await bot.app.threads.close(0.0)
        with pytest.raises(BotError, match="takes no more"):
            await bot.app.threads.intake.accept(Question(thread_of("1.0"), "1.0", "U1", "T1", "q"))
        await bot.ask("hi")
        assert set(bot.statuses) == {503}


# -- asked again


async def free() -> None:
    """Everybody may ask again."""


@on_virtual_time
async def test_a_question_can_be_asked_again_once_by_its_asker() -> None:
    async with run_bot(failure("no luck"), answer("Luck.")) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        key = f"T1:{CHANNEL}:{root}"
        again = bot.app.threads.intake.ask_again
        assert (await again(key, "U2", free) or "").startswith("Only the person who asked")
        assert (await again("T1:C1:9.9", "U1", free) or "").startswith("I no longer know")
        assert await again(key, "U1", free) is None
        assert await again(key, "U1", free) == "This question is already being asked again."
        await bot.idle()
        assert bot.outcomes == ["failed", "answered"]
        assert bot.read(root)[-1] == "Luck."
        messages = [call.params["message"]["messageId"] for call in bot.agent.questions]
        assert len(set(messages)) == 2
        assert await bot.app.threads.intake.ask_again(f"{key}:1", "U1", free) is None
        await bot.idle()


# -- lines of a direct message


@on_virtual_time
async def test_collect_lines_of_a_direct_message_are_one_question_in_the_thread_of_the_first() -> None:
    async with run_bot(answer("Yes."), busy="collect") as bot:
        channel = bot.workspace.direct("U1")
        root = await bot.say("one", channel=channel)
        lines = []
        for line in ("two", "three", "four"):
            await asyncio.sleep(1.4)
            lines.append(await bot.say(line, channel=channel))
        bot.workspace.edit(channel, lines[0], "2", now=bot.now)
        bot.workspace.delete(channel, lines[1], now=bot.now)
        await bot.deliver()
        await bot.idle()
        assert [text for text, _, _ in asked(bot)] == ["one\n2\nfour"]
        assert bot.read(root, channel) == ["Yes."]
        assert [bot.read(ts, channel) for ts in lines[::2]] == [[], []]
        await asyncio.sleep(2)
        later = await bot.say("later", channel=channel)
        await bot.idle()
        assert bot.read(later, channel) == ["Yes."]
        assert await bot.store.unfinished() == []


@on_virtual_time
async def test_lines_of_two_direct_messages_and_in_a_channel_are_questions_of_their_own() -> None:
    async with run_bot(answer("Yes."), busy="collect") as bot:
        places = [bot.workspace.direct("U1"), bot.workspace.direct("U2"), CHANNEL]
        await bot.say("a", channel=places[0])
        await bot.say("b", channel=places[1], user="U2")
        await bot.ask("c")
        await bot.ask("d")
        await bot.idle()
        assert sorted(text for text, _, _ in asked(bot)) == ["a", "b", "c", "d"]


# -- edited, deleted: before the message comes, and while it is stored


@pytest.mark.parametrize("how", ["mention", "direct", "followed"])
@on_virtual_time
async def test_an_edit_that_overtakes_its_message_is_the_question_once(how: str) -> None:
    async with run_bot(answer("Yes.")) as bot:
        channel = bot.workspace.direct("U1") if how == "direct" else CHANNEL
        root = None if how != "followed" else await bot.ask("first")
        await bot.idle()
        mention = "<@U0BOT> " if how == "mention" else ""
        ts = bot.workspace.say("U1", channel, f"{mention}wrnog", now=bot.now, thread_ts=root)
        late = bot.workspace.take()
        bot.workspace.edit(channel, ts, f"{mention}right", now=bot.now)
        await bot.deliver()
        for _ in range(2):
            await bot.deliver(late)
        await bot.idle()
        assert [text for text, _, _ in asked(bot) if text != "first"] == ["right"]


@pytest.mark.parametrize("where", ["here", "another replica"])
@pytest.mark.parametrize("gone", ["deleted", "emptied"])
@pytest.mark.parametrize("how", ["mention", "direct", "followed"])
@on_virtual_time
async def test_what_is_gone_before_it_comes_is_never_asked(how: str, gone: str, where: str) -> None:
    store = MemoryStore()
    async with run_bot(answer("Yes."), store=store) as bot, run_bot(store=store) as other:
        channel = bot.workspace.direct("U1") if how == "direct" else CHANNEL
        root = None if how != "followed" else await bot.ask("first")
        await bot.idle()
        mention = "<@U0BOT>" if how == "mention" else ""
        ts = bot.workspace.say("U1", channel, f"{mention} wrong", now=bot.now, thread_ts=root)
        late = bot.workspace.take()
        if gone == "deleted":
            bot.workspace.delete(channel, ts, now=bot.now)
        else:
            bot.workspace.edit(channel, ts, mention, now=bot.now)
        await (bot if where == "here" else other).deliver(bot.workspace.take())
        for _ in range(2):
            await bot.deliver(late)
            await bot.idle()
        assert [text for text, _, _ in asked(bot) if text != "first"] == []
        kept = await store.turn(f"T1:{channel}:{ts}")
        assert kept is not None and (kept.outcome, kept.question.text) == ("stopped", "")


@on_virtual_time
async def test_of_what_was_no_question_and_is_gone_nothing_is_kept() -> None:
    async with run_bot() as bot:
        root = bot.workspace.say("U1", CHANNEL, "lunch?", now=bot.now)
        reply = bot.workspace.say("U2", CHANNEL, "yes", now=bot.now, thread_ts=root)
        bot.workspace.take()
        for ts in (reply, root):
            bot.workspace.delete(CHANNEL, ts, now=bot.now)
        await bot.idle()
        assert await bot.store.accepted_since(0.0) == []


class _SlowStore(MemoryStore):
    """Takes a second for each question, before or after that is stored."""

    def __init__(self, *, is_stored_first: bool) -> None:
        super().__init__(is_durable=True)
        self._is_stored_first, self.is_broken = is_stored_first, False

    async def accept(self, turn: TurnRecord) -> bool:
        if self._is_stored_first:
            is_new = await super().accept(turn)
            await asyncio.sleep(1)
            return is_new
        await asyncio.sleep(1)
        if self.is_broken:
            raise StoreError("The disk is full.")
        return await super().accept(turn)


@pytest.mark.parametrize(
    ("texts", "asks"),
    [([None], []), (["two"], ["two"]), (["two", None], []), (["two", "three"], ["three"])],
    ids=["deleted", "edited", "edited and deleted", "edited twice"],
)
@pytest.mark.parametrize("is_stored_first", [True, False])
@on_virtual_time
async def test_what_becomes_of_a_message_while_it_is_stored_counts(
    is_stored_first: bool, texts: list[str | None], asks: list[str]
) -> None:
    async with run_bot(answer("Hello."), store=_SlowStore(is_stored_first=is_stored_first)) as bot:
        asking = asyncio.create_task(bot.ask("one"))
        await asyncio.sleep(0.1)
        (root,) = [message.ts for message in bot.workspace.history(CHANNEL)]
        changing = []
        for text in texts:
            if text is None:
                bot.workspace.delete(CHANNEL, root, now=bot.now)
            else:
                mention = f"<@{bot.workspace.bot.user_id}> {text}"
                bot.workspace.edit(CHANNEL, root, mention, now=bot.now)
            changing.append(asyncio.create_task(bot.deliver()))
            await asyncio.sleep(0.1)
        await asyncio.gather(asking, *changing)
        await bot.idle()
        assert [text for text, *_ in asked(bot)] == asks
        assert await bot.store.unfinished() == []
        turn = await bot.store.turn(f"T1:{CHANNEL}:{root}")
        assert turn is not None and turn.stage is Stage.ENDED


@on_virtual_time
async def test_a_change_of_a_message_that_could_not_be_stored_is_not_lost() -> None:
    """Slack brings both again."""
    store = _SlowStore(is_stored_first=False)
    async with run_bot(answer("Hello."), store=store) as bot:
        root = bot.workspace.say("U1", CHANNEL, f"<@{bot.workspace.bot.user_id}> one", now=bot.now)
        late = bot.workspace.take()
        asking = asyncio.create_task(bot.deliver(late))
        await asyncio.sleep(0.1)
        store.is_broken = True
        bot.workspace.delete(CHANNEL, root, now=bot.now)
        deletion = bot.workspace.take()
        await asyncio.gather(asking, bot.deliver(deletion))
        store.is_broken = False
        assert set(bot.statuses) == {503}
        await bot.deliver(deletion, retry=1)
        await bot.deliver(late, retry=1)
        await bot.idle()
        assert asked(bot) == []


# -- as the bot ends


@pytest.mark.parametrize("change", ["none", "edited", "deleted"])
@on_virtual_time
async def test_what_is_being_stored_as_the_bot_ends_is_left_to_slack(change: str) -> None:
    """It is not acknowledged, and so comes again to the next process, as does what became of its message."""
    store = _WaitingStore()
    async with run_bot(answer("Once."), store=store) as bot:
        mention = f"<@{bot.workspace.bot.user_id}>"
        root = bot.workspace.say("U1", CHANNEL, f"{mention} one", now=bot.now)
        events = bot.workspace.take()
        delivering = [asyncio.create_task(bot.deliver([each])) for each in events]
        await store.until_asked(2)
        if change == "edited":
            bot.workspace.edit(CHANNEL, root, f"{mention} two", now=bot.now)
        elif change == "deleted":
            bot.workspace.delete(CHANNEL, root, now=bot.now)
        changes = bot.workspace.take()
        delivering += [asyncio.create_task(bot.deliver([each])) for each in changes]
        closing = asyncio.create_task(bot.app.close(0.0))
        await asyncio.sleep(1)
        store.flows.set()
        statuses = [status for each in await asyncio.gather(*delivering) for status in each]
        assert statuses[:2] == [503, 503]
        await closing
        assert bot.agent.questions == []
        again = [each for each, status in zip((*events, *changes), statuses, strict=True) if status != 200]
        async with run_bot(after=bot) as next_bot:
            await next_bot.deliver(again[::-1], retry=1)
            await next_bot.idle()
            asks = {"none": ["one"], "edited": ["two"], "deleted": []}[change]
            assert [text for text, _, _ in asked(next_bot)] == asks
            assert await store.unfinished() == []


@pytest.mark.parametrize("change", ["edited", "deleted"])
@on_virtual_time
async def test_a_question_that_waits_for_the_next_process_changes_with_its_message(change: str) -> None:
    """The bot ends while an answer still runs."""
    slow = answer("One two three four.", seconds=600)
    async with run_bot(slow, answer("Yes."), store=MemoryStore(is_durable=True)) as bot:
        mention = f"<@{bot.workspace.bot.user_id}>"
        root = await bot.ask("one")
        waiting = await bot.ask("two", user="U2", thread_ts=root)
        await asyncio.sleep(5)
        closing = asyncio.create_task(bot.app.close(20.0))
        await asyncio.sleep(1)
        if change == "edited":
            bot.workspace.edit(CHANNEL, waiting, f"{mention} three", now=bot.now)
        else:
            bot.workspace.delete(CHANNEL, waiting, now=bot.now)
        changes = bot.workspace.take()
        statuses = await bot.deliver(changes)
        await closing
        async with run_bot(after=bot) as next_bot:
            await next_bot.deliver(
                [each for each, status in zip(changes, statuses, strict=True) if status != 200], retry=1
            )
            await next_bot.idle()
            asks = ["one", "three"] if change == "edited" else ["one"]
            assert [text for text, _, _ in asked(next_bot)] == asks


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
        threads = bot.app.threads
        for _ in range(2):
            waiting = asyncio.create_task(threads.wait_for_broken_store())
            store.numbers = iter(range(failures))
            for number in range(failures):
                assert not waiting.done()
                with pytest.raises(StoreError, match=f"Failure {number}"):
                    await threads.intake.accept(Question(thread_of("1.0"), "1.0", "U1", "T1", "hi"))
            await asyncio.sleep(1)
            assert waiting.done() is (failures == 3)
            if failures == 3:
                problem = str(await waiting)
                assert problem.startswith("3 questions in a row could not be stored. Failure 2. The bot ends")
            assert await threads.intake.accept(Question(thread_of("1.0"), f"1.{bot.now}", "U1", "T1", "hi"))
            await bot.idle()
            waiting.cancel()
