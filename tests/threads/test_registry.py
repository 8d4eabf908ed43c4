"""Who may stop a turn, and what becomes of the questions that wait."""

from __future__ import annotations

import asyncio

import pytest

from slack_bot.slack.status import WAITING_REACTION
from slack_bot.testing.harness import CHANNEL, BotHarness, run_bot, wait_until
from slack_bot.testing.tape.builders import answer, task
from slack_bot.testing.tape.tape import Moment, Tape
from slack_bot.testing.virtual_clock import on_virtual_time
from tests.tapped_store import TappedStore

from .test_threads import asked, thread_of


@on_virtual_time
async def test_a_stop_ends_the_running_turn_of_its_thread() -> None:
    async with run_bot(answer("A very long answer indeed.", seconds=60)) as bot:
        root = await bot.ask("hi")
        await asyncio.sleep(20)
        assert not await bot.app.threads.registry.stop(thread_of("9.9"), "U1")
        assert await bot.app.threads.registry.stop(thread_of(root), "U1")
        await bot.idle()
        assert bot.outcomes == ["stopped"]
        assert any(call.method == "tasks/cancel" for call in bot.agent.calls)
        assert not await bot.app.threads.registry.stop(thread_of(root), "U1")


@on_virtual_time
async def test_the_asker_s_word_stop_stops_and_is_no_question() -> None:
    async with run_bot(answer("A very long answer indeed.", seconds=60), answer("Stopping what?")) as bot:
        root = await bot.ask("hi")
        await asyncio.sleep(20)
        await bot.ask("Stop!", thread_ts=root)
        await bot.idle()
        assert bot.outcomes == ["stopped"]
        assert len(asked(bot)) == 1
        await asyncio.sleep(10)
        await bot.ask("stop", thread_ts=root)  # nothing runs: then it is a question
        await bot.idle()
        assert asked(bot)[1][0] == "stop"


@on_virtual_time
async def test_after_a_stop_of_a_silent_agent_a_notice_says_the_truth_and_the_next_question_runs() -> None:
    """Agents that do not stream send nothing, not even their task's id, until the end."""
    slow = Tape({"wire": "0.3"}, (Moment(1200.0, event=task()), Moment(1200.1, end="closed")))
    async with run_bot(slow, answer("Here I am.")) as bot:
        root = await bot.ask("hi")
        await asyncio.sleep(10)
        await bot.app.threads.registry.stop(thread_of(root), "U1")
        await bot.ask("and now?", thread_ts=root)
        await asyncio.sleep(60)
        assert bot.outcomes == ["stopped", "answered"]
        (notice, answered) = [seen for seen in bot.thread(root) if seen.is_bot]
        assert "could not be stopped and may still be working" in str(notice.blocks)
        assert answered.text == "Here I am."


@pytest.mark.parametrize("hourly", [0, 3])
@on_virtual_time
async def test_in_a_direct_message_the_word_ends_what_was_asked_there_last(hourly: int) -> None:
    slow = answer("A very long answer indeed.", seconds=60)
    async with run_bot(slow, hourly_person=hourly) as bot:
        direct = bot.workspace.direct("U1")
        elsewhere = await bot.ask("in the channel")
        roots = [await bot.say(text, channel=direct) for text in ("one", "two")]
        await asyncio.sleep(20)
        await bot.say("Stop!", channel=direct)
        await asyncio.sleep(1)
        stopped = [root for root in roots if bot.thread(root, direct)[-1].extras == ("Stopped.",)]
        assert stopped == [roots[1]]
        await bot.say("stop", channel=direct)
        await bot.idle()
        assert bot.outcomes == ["stopped", "stopped", "answered"]
        assert "Stopped." not in str(bot.thread(elsewhere))
        assert len(asked(bot)) == 3
        if not hourly:
            await bot.say("stop", channel=direct)  # nothing runs there: then it is a question
            await bot.idle()
            assert asked(bot)[3][0] == "stop"


@on_virtual_time
async def test_another_who_writes_stop_is_told_at_once_that_only_the_asker_can() -> None:
    async with run_bot(answer("One.", seconds=20)) as bot:
        root = await bot.ask("hi")
        await bot.ask("stop", user="U2", thread_ts=root)
        await wait_until(lambda: told(bot, root, "U2"), bot.workspace)
        [only] = told(bot, root, "U2")
        assert only.startswith("Only the person who asked can stop this with a word.")
        assert bot.outcomes == []
        await bot.idle()
        assert bot.outcomes == ["answered"]
        assert [text for text, *_ in asked(bot)] == ["hi"]


# -- a stop, and what waits


KEPT = "Stopped. Your questions that wait here are kept and asked next."


async def press(bot: BotHarness, root: str, action: str, user: str = "U1") -> None:
    (offer,) = [seen for seen in bot.thread(root) if seen.ephemeral_for and action in str(seen.blocks)]
    bot.workspace.press(user, CHANNEL, offer.ts, action, now=bot.now)
    await bot.deliver()


def told(bot: BotHarness, root: str, user: str = "U1") -> list[str]:
    return [text for whom, text in bot.ephemeral(root) if whom == user]


@pytest.mark.parametrize("how", ["word", "native"])
@on_virtual_time
async def test_a_stop_offers_to_drop_what_waits_and_keeps_it_otherwise(how: str) -> None:
    async with run_bot(answer("A long answer.", seconds=60), answer("Yes.")) as bot:
        root = await bot.ask("one")
        for user, text in (("U1", "two"), ("U2", "theirs"), ("U1", "three")):
            await bot.ask(text, user=user, thread_ts=root)
        await asyncio.sleep(5)
        if how == "word":
            await bot.ask("stop", thread_ts=root)
        else:
            bot.workspace.stop("U1", CHANNEL, root, now=bot.now)
            await bot.deliver()
        await bot.idle()
        assert told(bot, root)[-1] == KEPT
        assert [text for text, _, _ in asked(bot)] == ["one", "two", "theirs", "three"]
        await press(bot, root, "drop")
        assert told(bot, root)[-1] == "Nothing of yours waits here any more."
        assert "Drop" not in str([seen.blocks for seen in bot.thread(root)])


@pytest.mark.parametrize("how", ["word", "native"])
@on_virtual_time
async def test_two_stops_offer_once_to_drop_the_same_questions(how: str) -> None:
    slow = Tape({"wire": "0.3"}, (Moment(1200.0, event=task()), Moment(1200.1, end="closed")))
    async with run_bot(slow, answer("Yes.")) as bot:
        root = await bot.ask("one")
        await bot.ask("two", thread_ts=root)
        await asyncio.sleep(5)
        for text in (None, "three"):
            if text is not None:
                await bot.ask(text, thread_ts=root)
            for _ in range(2):
                if how == "word":
                    await bot.say("stop", thread_ts=root)
                else:
                    bot.workspace.stop("U1", CHANNEL, root, now=bot.now)
                    await bot.deliver()
                await asyncio.sleep(0.1)
        assert [text for text in told(bot, root) if text == KEPT] == [KEPT] * 2
        buttons = str([seen.blocks for seen in bot.thread(root)])
        assert "Drop 1 waiting" in buttons
        assert "Drop 2 waiting" in buttons
        await bot.idle()
        assert [text for text, _, _ in asked(bot)] == ["one", "two", "three"]


@on_virtual_time
async def test_what_waits_is_dropped_at_a_press_and_nothing_of_others_or_of_later() -> None:
    async with run_bot(answer("A long answer.", seconds=60), answer("Yes.", seconds=20)) as bot:
        root = await bot.ask("one")
        for user, text in (("U2", "theirs"), ("U1", "two"), ("U1", "three")):
            await bot.ask(text, user=user, thread_ts=root)
        await asyncio.sleep(5)
        bot.workspace.stop("U1", CHANNEL, root, now=bot.now)
        await bot.deliver()
        await asyncio.sleep(2)
        await bot.ask("four", thread_ts=root)
        await press(bot, root, "drop")
        assert told(bot, root).count("Dropped 2 waiting.") == 1, "in the place of the offer"
        assert "Drop 2 waiting" not in str([seen.blocks for seen in bot.thread(root)])
        await bot.idle()
        assert [text for text, _, _ in asked(bot)] == ["one", "theirs", "four"]
        assert await bot.store.unfinished() == []
        assert not any((seen.reactions or {}).get(WAITING_REACTION) for seen in bot.thread(root))


@pytest.mark.parametrize(
    ("waiting", "said"),
    [
        (("two",), "Stopped the one that had begun."),
        (("two", "three"), "Dropped 1 waiting, and stopped the one that had begun."),
    ],
)
@on_virtual_time
async def test_a_press_stops_what_has_begun_of_the_questions_that_waited(
    waiting: tuple[str, ...], said: str
) -> None:
    async with run_bot(answer("A long answer.", seconds=60), answer("Another one.", seconds=60)) as bot:
        root = await bot.ask("one")
        for text in waiting:
            await bot.ask(text, thread_ts=root)
        await asyncio.sleep(5)
        bot.workspace.stop("U1", CHANNEL, root, now=bot.now)
        await bot.deliver()
        await asyncio.sleep(10)
        assert [text for text, _, _ in asked(bot)] == ["one", "two"]
        await press(bot, root, "drop")
        assert told(bot, root)[-1] == said
        await bot.idle()
        assert [text for text, _, _ in asked(bot)] == ["one", "two"]
        assert bot.outcomes == ["stopped", "stopped"]


@on_virtual_time
async def test_a_press_stops_nothing_that_was_asked_after_the_offer() -> None:
    async with run_bot(answer("A long answer.", seconds=60), answer("Yes.", seconds=20)) as bot:
        root = await bot.ask("one")
        await bot.ask("two", thread_ts=root)
        await asyncio.sleep(5)
        bot.workspace.stop("U1", CHANNEL, root, now=bot.now)
        await bot.deliver()
        await bot.idle()
        await bot.ask("three", thread_ts=root)
        await asyncio.sleep(5)
        await press(bot, root, "drop")
        assert told(bot, root)[-1] == "Nothing of yours waits here any more."
        await bot.idle()
        assert bot.outcomes == ["stopped", "answered", "answered"]


@on_virtual_time
async def test_the_button_tells_the_truth_where_slack_takes_no_change_of_it() -> None:
    async with run_bot(answer("A long answer.", seconds=60), answer("Yes.")) as bot:
        root = await bot.ask("one")
        await bot.ask("two", thread_ts=root)
        await asyncio.sleep(5)
        await bot.ask("stop", thread_ts=root)
        await bot.idle()
        for said in ("Nothing of yours waits here any more.",) * 2:
            (offer,) = [seen for seen in bot.thread(root) if "Drop 1" in str(seen.blocks)]
            bot.workspace.press("U1", CHANNEL, offer.ts, "drop", now=bot.now)
            bot.workspace.state.responses.clear()
            await bot.deliver()
            assert told(bot, root)[-1] == said


@on_virtual_time
async def test_the_word_of_who_only_waits_drops_their_questions_and_stops_nobody_s_answer() -> None:
    async with run_bot(answer("One.", seconds=20), answer("Yes.")) as bot:
        root = await bot.ask("one")
        for text in ("two", "three"):
            await bot.ask(text, user="U2", thread_ts=root)
        await bot.say("Stop!", user="U2", thread_ts=root)  # no mention
        await bot.idle()
        assert [text for text, _, _ in asked(bot)] == ["one"]
        assert told(bot, root, "U2")[-1] == "Dropped 2 waiting."
        assert bot.outcomes == ["answered"]


@on_virtual_time
async def test_collect_the_word_in_time_takes_the_question_back() -> None:
    async with run_bot(answer("Yes."), busy="collect") as bot:
        root = await bot.ask("one")
        await bot.say("stop", thread_ts=root)
        await bot.idle()
        assert asked(bot) == []
        assert told(bot, root) == ["Dropped 1 waiting."]


@on_virtual_time
async def test_the_word_needs_no_mention_where_others_write_too() -> None:
    async with run_bot(answer("A long answer.", seconds=60)) as bot:
        root = await bot.ask("one")
        await bot.say("interesting", user="U2", thread_ts=root)
        await asyncio.sleep(5)
        await bot.say("stop", user="U2", thread_ts=root)
        await bot.say("stop", thread_ts=root)
        await bot.idle()
        assert bot.outcomes == ["stopped"]
        assert len(asked(bot)) == 1


@on_virtual_time
async def test_a_question_that_waits_is_stopped_by_name_and_the_one_that_runs_is_not() -> None:
    async with run_bot(answer("One.", seconds=20), answer("Yes.")) as bot:
        root = await bot.ask("one")
        waiting = await bot.ask("two", user="U2", thread_ts=root)
        await asyncio.sleep(1)
        await bot.app.threads.registry.stop_turn(f"T1:{CHANNEL}:{waiting}", "U2")
        await bot.idle()
        assert bot.outcomes == ["answered"]
        assert [text for text, _, _ in asked(bot)] == ["one"]
        assert await bot.store.unfinished() == []


@on_virtual_time
async def test_who_edits_a_question_while_it_is_answered_may_ask_it_again_as_it_reads_now() -> None:
    slow = answer("Paris is the capital.", seconds=60)
    async with run_bot(slow, answer("Madrid is the capital.", ids="2")) as bot:
        mention = f"<@{bot.workspace.bot.user_id}>"
        root = await bot.ask("capital of France?")
        await asyncio.sleep(20)
        bot.workspace.edit(CHANNEL, root, f"{mention} capital of Spain?", now=bot.now)
        await bot.deliver()
        (offered,) = [each for each in bot.thread(root) if each.ephemeral_for]
        assert offered.ephemeral_for == "U1"
        assert "*Ask again* asks what it says now: that answer comes after this one" in offered.text
        bot.workspace.edit(CHANNEL, root, f"{mention} capital of Spain?", now=bot.now)
        await bot.deliver()
        assert len(bot.ephemeral(root)) == 1, "it says the same"
        await bot.idle()
        bot.workspace.press("U1", CHANNEL, offered.ts, "retry", now=bot.now)
        await bot.deliver()
        await bot.idle()
        assert [text for text, *_ in asked(bot)] == ["capital of France?", "capital of Spain?"]
        assert bot.read(root)[-1] == "Madrid is the capital."


class _SlowToBegin(TappedStore):
    async def tap(self, kind: str) -> None:
        if kind == "conversations":
            await asyncio.sleep(3.0)


@on_virtual_time
async def test_so_may_who_edits_it_just_before_the_agent_is_asked() -> None:
    tapes = answer("Paris is the capital."), answer("Madrid is the capital.", ids="2")
    async with run_bot(*tapes, store=_SlowToBegin()) as bot:
        root = await bot.ask("capital of France?")
        await asyncio.sleep(1.0)
        bot.workspace.edit(CHANNEL, root, f"<@{bot.workspace.bot.user_id}> capital of Spain?", now=bot.now)
        await bot.deliver()
        # it stands in the channel: Slack shows nothing private in a thread without replies
        (offered,) = [each for each in bot.workspace.history(CHANNEL) if each.ephemeral_for]
        await bot.idle()
        bot.workspace.press("U1", CHANNEL, offered.ts, "retry", now=bot.now)
        await bot.deliver()
        await bot.idle()
        assert [text for text, *_ in asked(bot)] == ["capital of France?", "capital of Spain?"]


@on_virtual_time
async def test_the_word_stop_that_comes_just_too_late_is_no_question() -> None:
    async with run_bot(answer("Short."), answer("Stopping what?")) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        await bot.say("stop", thread_ts=root)
        await bot.idle()
        assert len(asked(bot)) == 1
        assert bot.ephemeral(root) == [("U1", "There is nothing to stop: this answer had ended already.")]
        await asyncio.sleep(10)
        await bot.say("stop", thread_ts=root)
        await bot.idle()
        assert asked(bot)[1][0] == "stop"


@on_virtual_time
async def test_nor_is_it_in_a_direct_message() -> None:
    async with run_bot(answer("Short."), answer("Stopping what?")) as bot:
        channel = bot.workspace.direct("U1")
        await bot.say("hi", channel=channel)
        await bot.idle()
        await bot.say("stop", channel=channel)
        await bot.idle()
        assert len(asked(bot)) == 1
