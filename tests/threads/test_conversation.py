"""One turn at a time in a thread, and what waits behind it."""

from __future__ import annotations

import asyncio
import logging

import pytest

from slack_bot.errors import StoreError
from slack_bot.slack.status import WAITING_REACTION
from slack_bot.testing.harness import CHANNEL, BotHarness, run_bot
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.testing.tape.builders import answer, question
from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.turn.progress import TurnRecord

from .test_threads import asked

TOO_MANY = "Too many questions wait in this thread, so I did not take this one. Please ask it again later."


@on_virtual_time
async def test_a_second_question_in_a_thread_waits_for_the_first_and_is_marked_while_it_does() -> None:
    async with run_bot(answer("First.", ids="1"), answer("Second.", ids="1")) as bot:
        root = await bot.ask("one")
        second = await bot.ask("two", user="U2", thread_ts=root)
        await asyncio.sleep(0.5)
        assert len(asked(bot)) == 1
        (waiting,) = [seen for seen in bot.thread(root) if seen.ts == second]
        assert WAITING_REACTION in (waiting.reactions or {})
        await bot.idle()
        assert bot.read(root) == ["First.", "Second."]
        assert asked(bot) == [("one", None, None), ("two", "ctx-1", None)]
        (marked,) = [seen for seen in bot.thread(root) if seen.ts == second]
        assert not (marked.reactions or {}).get(WAITING_REACTION)
        assert bot.workspace.status_rows(CHANNEL, root) == []


@on_virtual_time
async def test_a_mark_that_waits_for_slack_s_budget_is_not_set_when_its_question_s_turn_has_come() -> None:
    async with run_bot(answer("Yes.", seconds=3)) as bot:
        roots = [await bot.ask("one") for _ in range(45)]
        for root in roots:
            await bot.ask("two", thread_ts=root)
        await bot.idle()
        marked = [
            seen.ts for root in roots for seen in bot.thread(root) if any((seen.reactions or {}).values())
        ]
        assert marked == []
        assert 0 < len(bot.calls("reactions.add")) == len(bot.calls("reactions.remove")) < 45


@on_virtual_time
async def test_questions_of_one_thread_are_answered_in_the_order_they_came() -> None:
    async with run_bot(answer("Yes.")) as bot:
        root = await bot.ask("0")
        for number in range(1, 6):
            await bot.ask(str(number), thread_ts=root)
        await bot.idle()
        assert [text for text, _, _ in asked(bot)] == ["0", "1", "2", "3", "4", "5"]


@on_virtual_time
async def test_threads_do_not_wait_for_each_other() -> None:
    async with run_bot(answer("Long.", seconds=60), answer("Short.", seconds=1)) as bot:
        await bot.ask("one")
        other = await bot.ask("two")
        await asyncio.sleep(5)
        assert bot.read(other) == ["Short."]
        await bot.idle()


@on_virtual_time
async def test_a_reaction_that_slack_refuses_does_not_hurt_a_turn(caplog: pytest.LogCaptureFixture) -> None:
    faults = {"reactions.add": ["missing_scope"], "reactions.remove": ["missing_scope"]}
    async with run_bot(answer("Yes."), faults=faults) as bot:
        root = await bot.ask("one")
        await bot.ask("two", thread_ts=root)
        with caplog.at_level(logging.WARNING):
            await bot.idle()
        assert bot.outcomes == ["answered", "answered"]


# -- the place in the line


def places(bot: BotHarness, root: str) -> list[tuple[str, str]]:
    return [told for told in bot.ephemeral(root) if "in line" in told[1]]


@on_virtual_time
async def test_who_is_not_the_next_is_told_the_place_in_the_line() -> None:
    async with run_bot(answer("Yes.", seconds=20)) as bot:
        root = await bot.ask("0")
        for user in ("U1", "U2", "U1"):
            await bot.ask("more", user=user, thread_ts=root)
        await asyncio.sleep(1)
        words = "Your question is number {} in line in this thread."
        assert places(bot, root) == [("U2", words.format(2)), ("U1", words.format(3))]
        await bot.idle()
        assert len(places(bot, root)) == 2


@on_virtual_time
async def test_collect_what_is_asked_with_another_has_no_place_of_its_own() -> None:
    async with run_bot(answer("Yes.", seconds=20), busy="collect") as bot:
        root = await bot.ask("0")
        await asyncio.sleep(5)
        for user in ("U1", "U1", "U2", "U2", "U1"):
            await bot.ask("more", user=user, thread_ts=root)
        await bot.idle()
        assert places(bot, root) == [("U2", "Your question is number 2 in line in this thread.")]


# -- as many as may wait


@on_virtual_time
async def test_of_too_many_questions_the_next_is_not_taken_and_its_asker_is_told() -> None:
    async with run_bot(answer("Yes.", seconds=20), max_waiting=2) as bot:
        root = await bot.ask("0")
        for number in (1, 2):
            await bot.ask(str(number), thread_ts=root)
        bot.workspace.say("U2", CHANNEL, "<@U0BOT> 3", now=bot.now, thread_ts=root)
        taken = bot.workspace.take()
        for _ in range(2):  # brought again
            await bot.deliver(taken)
            await asyncio.sleep(1)
        assert [told for told in bot.ephemeral(root) if told[0] == "U2"] == [("U2", TOO_MANY)]
        await bot.idle()
        await bot.ask("4", user="U2", thread_ts=root)
        await bot.idle()
        assert [text for text, _, _ in asked(bot)] == ["0", "1", "2", "4"]


# -- collected


@on_virtual_time
async def test_collect_lines_written_within_a_moment_are_one_question() -> None:
    async with run_bot(answer("Yes."), busy="collect") as bot:
        root = await bot.ask("one")
        for line in ("two", "three"):
            await asyncio.sleep(1.4)
            await bot.say(line, thread_ts=root)
        assert asked(bot) == []
        await bot.idle()
        assert [text for text, _, _ in asked(bot)] == ["one\ntwo\nthree"]
        assert bot.read(root) == ["Yes."]
        await bot.say("four", thread_ts=root)
        await bot.idle()
        assert [text for text, _, _ in asked(bot)][1:] == ["four"]


@on_virtual_time
async def test_collect_what_waits_of_one_person_becomes_one_question_and_others_stay_theirs() -> None:
    async with run_bot(answer("Yes.", seconds=30), busy="collect") as bot:
        root = await bot.ask("first")
        await asyncio.sleep(5)
        said = [("U1", "a"), ("U2", "b"), ("U1", "c"), ("U2", "d")]
        marked = [await bot.ask(text, user=user, thread_ts=root) for user, text in said]
        await asyncio.sleep(1)
        for seen in bot.thread(root):
            assert (WAITING_REACTION in (seen.reactions or {})) is (seen.ts in marked)
        await bot.idle()
        assert [text for text, _, _ in asked(bot)] == ["first", "a\nc", "b\nd"]
        assert not any((seen.reactions or {}).get(WAITING_REACTION) for seen in bot.thread(root))
        outcomes = [(await bot.store.turn(f"T1:{CHANNEL}:{ts}")) for ts in marked]
        assert [each and each.outcome for each in outcomes] == ["answered", "answered", "merged", "merged"]


@on_virtual_time
async def test_collect_survives_the_process_before_and_after_it_became_one() -> None:
    """A process is killed at every point from the acceptance of the lines to the agent's answer."""
    for points in range(200):
        async with run_bot(answer("Yes."), store=MemoryStore(is_durable=True), busy="collect") as first:
            root = await first.ask("one")
            first.workspace.say("U1", CHANNEL, "two", now=first.now, thread_ts=root)
            (line,) = first.workspace.take()
            first.life.end_after(points)
            delivery = asyncio.create_task(first.deliver([line]))
            await asyncio.wait({delivery}, timeout=20)
            is_over = first.life.over.is_set()
            first.life.end_now()
            delivery.cancel()
        async with run_bot(after=first, busy="collect") as second:
            await second.deliver([line], retry=1)
            await second.idle()
            texts = "\n".join(text for text, _, _ in asked(second)).split("\n")
            assert sorted(texts) == ["one", "two"], points
            assert await second.store.unfinished() == []
        if not is_over:
            break
    else:
        raise AssertionError("it never got to the end")


@on_virtual_time
async def test_collect_what_cannot_be_stored_as_one_is_asked_one_by_one() -> None:
    class Failing(MemoryStore):
        async def save(self, *changes: tuple[TurnRecord, int]) -> None:
            if len(changes) > 1:
                raise StoreError("The disk is full.")
            await super().save(*changes)

    async with run_bot(answer("Yes."), store=Failing(), busy="collect") as bot:
        root = await bot.ask("one")
        await bot.say("two", thread_ts=root)
        await bot.say("three", thread_ts=root)
        await bot.idle()
        assert [text for text, _, _ in asked(bot)] == ["one", "two", "three"]
        assert await bot.store.unfinished() == []


# -- edited, deleted


@pytest.mark.parametrize("before", ["is that so?", "<@U2> is that so?"])
@on_virtual_time
async def test_an_edit_that_adds_a_mention_asks_nothing_nor_does_one_of_long_ago(before: str) -> None:
    async with run_bot(answer("Yes.")) as bot:
        ts = await bot.say(before)
        bot.workspace.edit(CHANNEL, ts, "<@U0BOT> is that so?", now=bot.now)
        old = bot.workspace.say("U1", CHANNEL, "<@U0BOT> old", now=bot.now)
        bot.workspace.take()
        await asyncio.sleep(61)
        bot.workspace.edit(CHANNEL, old, "<@U0BOT> older", now=bot.now)
        await bot.idle()
        assert asked(bot) == []


@on_virtual_time
async def test_an_edit_of_what_waits_counts_and_of_what_is_answered_does_not() -> None:
    store = MemoryStore()
    async with run_bot(answer("Yes.", seconds=20), store=store) as bot:
        root = await bot.ask("one")
        second = await bot.ask("two", thread_ts=root)
        await asyncio.sleep(1)
        for ts, text in ((root, "<@U0BOT> 1"), (second, "<@U0BOT> 2 &amp; more")):
            bot.workspace.edit(CHANNEL, ts, text, now=bot.now)
        await bot.deliver()
        kept = await store.turn(f"T1:{CHANNEL}:{second}")
        assert kept is not None and kept.question.text == "2 & more"
        await bot.idle()
        assert [text for text, _, _ in asked(bot)] == ["one", "2 & more"]
        bot.workspace.edit(CHANNEL, second, "<@U0BOT> late", now=bot.now)
        await bot.idle()
        assert len(asked(bot)) == 2


@pytest.mark.parametrize("how", ["deleted", "emptied", "for others"])
@on_virtual_time
async def test_a_question_whose_message_is_gone_while_it_waits_is_not_asked(how: str) -> None:
    async with run_bot(answer("Yes.", seconds=20)) as bot:
        root = await bot.ask("one")
        second = await bot.ask("two", thread_ts=root)
        await bot.ask("three", thread_ts=root)
        await asyncio.sleep(1)
        if how == "deleted":
            bot.workspace.delete(CHANNEL, second, now=bot.now)
        else:
            text = "<@U0BOT>" if how == "emptied" else "<@U2> two?"
            bot.workspace.edit(CHANNEL, second, text, now=bot.now)
        await bot.deliver()
        await bot.idle()
        assert [text for text, _, _ in asked(bot)] == ["one", "three"]
        assert await bot.store.unfinished() == []
        assert not any((seen.reactions or {}).get(WAITING_REACTION) for seen in bot.thread(root))


@on_virtual_time
async def test_collect_lines_are_one_question_in_the_order_in_which_they_were_written() -> None:
    async with run_bot(answer("Yes."), busy="collect") as bot:
        root = await bot.ask("one")
        await bot.idle()
        for text in ("two", "three", "four"):
            bot.workspace.say("U1", CHANNEL, text, now=bot.now, thread_ts=root)
        for envelope in bot.workspace.take()[::-1]:  # Slack keeps no order
            await bot.deliver([envelope])
        await bot.idle()
        assert [text for text, _, _ in asked(bot)] == ["one", "two\nthree\nfour"]


@on_virtual_time
async def test_an_edit_that_names_somebody_takes_no_question_back_that_is_for_the_bot() -> None:
    async with run_bot(question("Whose?"), answer("Yes.", seconds=20), busy="collect") as bot:
        root = await bot.ask("one")
        await bot.idle()
        waited_for = await bot.say("theirs", thread_ts=root)
        bot.workspace.edit(CHANNEL, waited_for, "<@U2>'s", now=bot.now)
        await bot.deliver()
        await asyncio.sleep(10)
        second = await bot.ask("two", thread_ts=root)
        bot.workspace.edit(CHANNEL, second, "<@U2> <@U0BOT> 2", now=bot.now)
        await bot.deliver()
        await bot.idle()
        direct = bot.workspace.direct("U1")
        first = await bot.say("three", channel=direct)
        bot.workspace.edit(direct, first, "<@U2> 3", now=bot.now)
        await bot.deliver()
        await bot.idle()
        assert [text for text, _, _ in asked(bot)] == ["one", "<@U2>'s", "<@U2> 2", "<@U2> 3"]


@on_virtual_time
async def test_collect_a_deleted_line_is_not_part_of_the_question_and_nothing_is_asked_of_none() -> None:
    async with run_bot(answer("Yes."), busy="collect") as bot:
        root = await bot.ask("one")
        second = await bot.say("two", thread_ts=root)
        third = await bot.say("three", thread_ts=root)
        bot.workspace.edit(CHANNEL, third, "3", now=bot.now)
        bot.workspace.delete(CHANNEL, second, now=bot.now)
        await bot.deliver()
        await bot.idle()
        assert [text for text, _, _ in asked(bot)] == ["one\n3"]
        only = await bot.ask("alone")
        bot.workspace.delete(CHANNEL, only, now=bot.now)
        await bot.deliver()
        await bot.idle()
        assert len(asked(bot)) == 1
