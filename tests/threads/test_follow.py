"""A thread goes on without another mention: whose words are questions there, who is told what, and when."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from slack_bot.errors import StoreError
from slack_bot.store.contracts import Store
from slack_bot.store.knowledge import THREADS
from slack_bot.testing.harness import CHANNEL, BotHarness, run_bot
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.testing.slack.rules import WorkspaceRules
from slack_bot.testing.tape.builders import answer, question
from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.turn.buttons import TurnButton
from tests.form_tapes import approval
from tests.store import subjects
from tests.tapped_store import TappedStore

DAY = 86_400.0
YES = answer("Yes.")
READS_ALONG = "I read along in this thread: you need not mention me here."
MENTION_NEEDED = "Others write in this thread now. Mention me with your next question here."
STOPPED = "I no longer read along in this thread. Mention me to go on."


def asked(bot: BotHarness) -> list[str]:
    return [call.text for call in bot.agent.questions]


NO_FOOTER = "Helpful Not helpful"


def footers(bot: BotHarness, root: str, channel: str = CHANNEL) -> list[str]:
    seen = [each for each in bot.thread(root, channel) if each.is_bot and not each.ephemeral_for]
    return [each.extras[-1] for each in seen if each.extras]


async def say(bot: BotHarness, root: str, *texts: str, user: str = "U1") -> None:
    for text in texts:
        await bot.say(text, user=user, thread_ts=root)
        await bot.idle()


@on_virtual_time
async def test_the_asker_goes_on_without_a_mention_and_is_told_once_with_a_button() -> None:
    async with run_bot(YES) as bot:
        root = await bot.ask("one")
        await bot.idle()
        await say(bot, root, "two", "three")
        assert asked(bot) == ["one", "two", "three"]
        assert bot.ephemeral(root) == [("U1", READS_ALONG)]


@on_virtual_time
async def test_in_the_next_thread_of_the_channel_the_asker_knows_it_for_a_day() -> None:
    async with run_bot(*[YES] * 9) as bot:
        told: list[int] = []
        for _ in range(2):
            root = await bot.ask("one")
            await bot.idle()
            await say(bot, root, "two")
            told.append(bot.ephemeral(root).count(("U1", READS_ALONG)))
        other = await bot.ask("one", user="U2")
        await bot.idle()
        await say(bot, other, "two", user="U2")
        told.append(bot.ephemeral(other).count(("U2", READS_ALONG)))
        await asyncio.sleep(DAY + 1)
        root = await bot.ask("one")
        await bot.idle()
        await say(bot, root, "two")
        told.append(bot.ephemeral(root).count(("U1", READS_ALONG)))
        assert told == [1, 0, 1, 1]
        assert asked(bot).count("two") == 4


@on_virtual_time
async def test_who_is_asked_by_the_agent_is_not_told_that_no_mention_is_needed() -> None:
    async with run_bot(approval(), YES, YES) as bot:
        root = await bot.ask("deploy")
        await bot.idle()
        await say(bot, root, "yes")
        [(user, only)] = bot.ephemeral(root)
        assert (user, only.partition(":")[0]) == ("U1", "Words do not answer this")
        await say(bot, root, "stop", "and now?")
        assert bot.ephemeral(root)[1:] == [("U1", READS_ALONG)]


@on_virtual_time
async def test_what_is_written_while_the_answer_runs_is_a_question_too() -> None:
    async with run_bot(answer("Yes.", seconds=20)) as bot:
        root = await bot.ask("one")
        await bot.say("two", thread_ts=root)
        await bot.idle()
        assert asked(bot) == ["one", "two"]


@on_virtual_time
async def test_the_time_counts_from_the_last_answer() -> None:
    async with run_bot(answer("Yes.", seconds=100)) as bot:
        root = await bot.ask("one")
        await bot.idle()
        await asyncio.sleep(DAY - 50)
        await say(bot, root, "two")
        await asyncio.sleep(DAY + 1)
        await say(bot, root, "three")
        assert asked(bot) == ["one", "two"]
        await bot.ask("four", thread_ts=root)
        await bot.idle()
        await say(bot, root, "five")
        assert asked(bot) == ["one", "two", "four", "five"]


@on_virtual_time
async def test_when_somebody_else_writes_a_mention_is_needed_and_the_asker_is_told_once() -> None:
    async with run_bot(YES) as bot:
        root = await bot.ask("one")
        await bot.idle()
        await say(bot, root, "I would say so too", user="U2")
        await say(bot, root, "me too", user="U3")
        await say(bot, root, "thanks")
        assert asked(bot) == ["one"]
        assert bot.ephemeral(root) == [("U1", MENTION_NEEDED)]
        await bot.ask("two", thread_ts=root)
        await bot.idle()
        await say(bot, root, "thanks again")
        assert asked(bot) == ["one", "two"]


@pytest.mark.parametrize("who", ["mention", "bot"])
@on_virtual_time
async def test_another_s_mention_and_another_bot_count_as_somebody_else(who: str) -> None:
    async with run_bot(YES) as bot:
        bot.workspace.add_user("U7", is_bot=True)
        root = await bot.ask("one")
        await bot.idle()
        if who == "mention":
            await bot.ask("mine", user="U2", thread_ts=root)
        else:
            await bot.say("CI is green", user="U7", thread_ts=root)
        await bot.idle()
        before = asked(bot)
        await say(bot, root, "thanks")
        assert asked(bot) == before
        assert bot.ephemeral(root) == [("U1", MENTION_NEEDED)]


@on_virtual_time
async def test_in_the_middle_of_a_discussion_a_mention_is_needed_each_time() -> None:
    async with run_bot(YES) as bot:
        root = await bot.say("the server is down", user="U2")
        await bot.ask("why?", thread_ts=root)
        await bot.idle()
        await say(bot, root, "thanks, U2")
        assert asked(bot) == ["why?"]
        assert bot.ephemeral(root) == []


@on_virtual_time
async def test_in_the_middle_of_a_thread_of_its_own_the_asker_is_followed() -> None:
    """The thread is read for the agent anyway: nobody else has written there."""
    async with run_bot(YES) as bot:
        root = await bot.say("the server is down")
        await say(bot, root, "it was up this morning")
        await bot.ask("why?", thread_ts=root)
        await bot.idle()
        await say(bot, root, "and now?")
        assert asked(bot) == ["why?", "and now?"]
        assert bot.ephemeral(root) == [("U1", READS_ALONG)]
        await say(bot, root, "look at db1", user="U2")
        await say(bot, root, "thanks")
        assert asked(bot) == ["why?", "and now?"]
        assert bot.ephemeral(root)[1:] == [("U1", MENTION_NEEDED)]


@pytest.mark.parametrize(
    "options",
    [
        {"context": "none"},
        {"reads_per_minute": 1, "overheard": 0},
        {"faults": {"conversations.replies": ["internal_error"]}},
        {"faults": {"conversations.replies": ["timeout"]}},
    ],
)
@on_virtual_time
async def test_where_the_thread_is_not_read_a_mention_is_needed_each_time(options: dict[str, Any]) -> None:
    async with run_bot(YES, **options) as bot:
        root = await bot.say("the server is down")
        await bot.ask("why?", thread_ts=root)
        await bot.idle()
        await say(bot, root, "and now?")
        assert asked(bot) == ["why?"]


@on_virtual_time
async def test_a_thread_that_is_too_long_to_be_read_whole_is_not_followed() -> None:
    async with run_bot(YES, rules=WorkspaceRules(page=2), pages=2) as bot:
        root = await bot.say("1")
        await say(bot, root, "2", "3", "4", "5")
        await bot.ask("why?", thread_ts=root)
        await bot.idle()
        await say(bot, root, "and now?")
        assert asked(bot) == ["why?"]


@pytest.mark.parametrize(
    ("respond", "footer"),
    [
        ("mention", "Mention me in this thread to go on."),
        ("auto", "Write in this thread to go on. If you did not ask, mention me."),
        ("thread", "Write in this thread to go on."),
    ],
)
@on_virtual_time
async def test_the_footer_says_who_must_mention_the_bot_where_that_changed(respond: str, footer: str) -> None:
    async with run_bot(YES, respond=respond) as bot:
        root = await bot.ask("one")
        await bot.idle()
        assert footers(bot, root) == [footer]
        await bot.ask("two", thread_ts=root)
        await bot.idle()
        assert footers(bot, root) == [footer, NO_FOOTER]
        await say(bot, root, "hm", user="U2")
        await bot.ask("three", thread_ts=root)
        await bot.idle()
        expected = "Mention me in this thread to go on." if respond == "auto" else NO_FOOTER
        assert footers(bot, root)[-1] == expected


@on_virtual_time
async def test_after_stop_listening_the_next_answer_says_again_how_to_go_on() -> None:
    async with run_bot(YES, respond="auto") as bot:
        root = await bot.ask("one")
        await bot.idle()
        await say(bot, root, "stop listening")
        await bot.ask("two", thread_ts=root)
        await bot.idle()
        auto = "Write in this thread to go on. If you did not ask, mention me."
        assert footers(bot, root)[0] == footers(bot, root)[-1] == auto


@on_virtual_time
async def test_a_direct_message_says_it_once_a_thread() -> None:
    async with run_bot(YES) as bot:
        direct = bot.workspace.direct("U1")
        root = await bot.say("one", channel=direct)
        await bot.idle()
        await bot.say("two", channel=direct, thread_ts=root)
        await bot.idle()
        assert footers(bot, root, direct) == ["Write in this thread to go on.", NO_FOOTER]


@on_virtual_time
async def test_a_store_that_hangs_does_not_hold_up_the_end_of_an_answer() -> None:
    class Hanging(TappedStore):
        hangs = False

        async def get(self, *given: Any) -> Any:
            if self.hangs and given[0] is THREADS:
                await asyncio.Event().wait()
            return await super().get(*given)

    store = Hanging()
    async with run_bot(answer("Yes.", seconds=5), store=store) as bot:
        root = await bot.ask("one")
        await asyncio.sleep(1)
        store.hangs = True
        await asyncio.sleep(10)
        assert footers(bot, root) == ["Mention me in this thread to go on."]
        store.hangs = False


@pytest.mark.parametrize("text", ["<@U2> what do you think?", "<!here> look", "<!subteam^S1> look"])
@on_virtual_time
async def test_what_mentions_others_and_not_the_bot_is_not_for_it(text: str) -> None:
    async with run_bot(YES, respond="thread") as bot:
        root = await bot.ask("one")
        await bot.idle()
        await say(bot, root, text)
        assert asked(bot) == ["one"]
        await say(bot, root, f"<@U2> <@{bot.workspace.bot.user_id}> and you?")
        assert asked(bot)[1:] == ["<@U2> and you?"]


@on_virtual_time
async def test_thread_everybody_s_words_are_questions() -> None:
    async with run_bot(YES, respond="thread") as bot:
        root = await bot.say("the server is down", user="U2")
        await bot.ask("why?", thread_ts=root)
        await bot.idle()
        await say(bot, root, "and since when?", user="U2")
        await say(bot, root, "and who?", user="U3")
        assert asked(bot) == ["why?", "and since when?", "and who?"]
        assert bot.ephemeral(root) == [("U2", READS_ALONG)]


@on_virtual_time
async def test_mention_nothing_but_a_mention_is_a_question_and_nothing_is_kept() -> None:
    store = MemoryStore()
    async with run_bot(YES, store=store, respond="mention") as bot:
        root = await bot.ask("one")
        await bot.idle()
        await say(bot, root, "two")
        await say(bot, root, "two", user="U2")
        assert asked(bot) == ["one"]
        assert bot.ephemeral(root) == []
        assert "threads" not in (await subjects.person(store, "U1", None)).records


@pytest.mark.parametrize("how", ["word", "mention", "button"])
@on_virtual_time
async def test_stop_listening_is_acknowledged_and_lasts_until_the_next_mention(how: str) -> None:
    async with run_bot(YES) as bot:
        root = await bot.ask("one")
        await bot.idle()
        await say(bot, root, "two")
        if how == "word":
            await say(bot, root, "Stop listening.")
        elif how == "mention":
            await bot.ask("stop listening", thread_ts=root)
        else:
            (offer,) = [seen for seen in bot.thread(root) if seen.ephemeral_for]
            bot.workspace.press("U1", CHANNEL, offer.ts, TurnButton.STOP_LISTENING, now=bot.now)
            await bot.deliver()
        await bot.idle()
        assert bot.read(root)[-1] == STOPPED
        await say(bot, root, "three")
        await say(bot, root, "so?", user="U2")
        assert asked(bot) == ["one", "two"]
        left = [] if how == "button" else [("U1", READS_ALONG)]
        assert bot.ephemeral(root) == left, "what was done once is offered no longer"

        root = await bot.ask("one") if how == "word" else root
        await bot.ask("four", thread_ts=root)
        await bot.idle()
        assert asked(bot)[-1] == "four"


@on_virtual_time
async def test_a_later_mention_begins_anew() -> None:
    async with run_bot(YES) as bot:
        root = await bot.ask("one")
        await bot.idle()
        await say(bot, root, "stop listening", "two")
        await bot.ask("three", thread_ts=root)
        await bot.idle()
        await say(bot, root, "four")
        assert asked(bot) == ["one", "three", "four"]


@on_virtual_time
async def test_what_slack_brings_again_changes_nothing() -> None:
    async with run_bot(YES) as bot:
        root = await bot.ask("one")
        await bot.idle()
        bot.workspace.say("U1", CHANNEL, "two", now=bot.now, thread_ts=root)
        taken = bot.workspace.take()
        bot.workspace.say("U1", CHANNEL, "<@U0BOT> stop listening", now=bot.now, thread_ts=root)
        taken += bot.workspace.take()
        for _ in range(2):
            await bot.deliver(taken)
            await bot.idle()
        await say(bot, root, "three")
        assert asked(bot) == ["one", "two"]
        assert bot.read(root).count(STOPPED) == 1


@on_virtual_time
async def test_direct_messages_are_always_questions() -> None:
    async with run_bot(YES, respond="mention") as bot:
        channel = bot.workspace.direct("U1")
        root = await bot.say("one", channel=channel)
        await bot.idle()
        await bot.say("stop listening", channel=channel, thread_ts=root)
        await bot.idle()
        await bot.say("two", channel=channel, thread_ts=root)
        await bot.idle()
        assert asked(bot) == ["one", "stop listening", "two"]


@on_virtual_time
async def test_another_process_knows_it_too() -> None:
    store: Store = MemoryStore(is_durable=True)
    async with run_bot(YES, store=store) as bot:
        root = await bot.ask("one")
        await bot.idle()
    async with run_bot(YES, after=bot) as again:
        await say(again, root, "two")
        await say(again, root, "hm", user="U2")
        await say(again, root, "three")
        assert asked(again) == ["one", "two"]


@on_virtual_time
async def test_an_answer_to_the_agent_is_one_also_where_a_mention_is_needed() -> None:
    async with run_bot(question("Where?"), answer("Done."), YES) as bot:
        root = await bot.ask("deploy")
        await bot.idle()
        await say(bot, root, "well", user="U2")
        await say(bot, root, "here")
        assert asked(bot) == ["deploy", "here"]


@on_virtual_time
async def test_a_store_that_fails_lets_slack_bring_the_words_again() -> None:
    class Failing(TappedStore):
        fails = False

        async def tap(self, kind: str) -> None:
            if self.fails and kind == "threads":
                raise StoreError("The disk is full.")

    store = Failing()
    async with run_bot(YES, store=store) as bot:
        root = await bot.ask("one")
        await bot.idle()
        bot.workspace.say("U1", CHANNEL, "two", now=bot.now, thread_ts=root)
        taken, store.fails = bot.workspace.take(), True
        assert 503 in await bot.deliver(taken)
        store.fails = False
        await bot.deliver(taken)
        await bot.idle()
        assert asked(bot) == ["one", "two"]
