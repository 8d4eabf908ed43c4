"""New messages of a channel that are questions though nobody addressed the bot."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from slack_bot.observe.facts import MessageIgnored, TurnRecorded
from slack_bot.testing.harness import CHANNEL, BotHarness, run_bot
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.testing.tape.builders import answer, failure, question, status, task
from slack_bot.testing.tape.tape import Moment, Tape
from slack_bot.testing.virtual_clock import on_virtual_time
from tests.features.routing.town import FILE, town

READS = {"respond": "channel"}
FIRING: list[Any] = [
    {"title": "HighLatency", "text": "p95 is over 2 s", "fields": [{"title": "service", "value": "shop"}]}
]
ALERTS = {**READS, "ask": "What is behind this alert?", "allowed_bots": ["B9"]}


def silent(ids: str = "1") -> Tape:
    """The agent completes its task without a word."""
    moments = Moment(0.1, event=task(ids=ids)), Moment(1.0, event=status("completed", ids=ids))
    return Tape({"wire": "0.3"}, (*moments, Moment(1.1, end="closed")))


def reasons(bot: BotHarness) -> list[str]:
    return [fact.reason for fact in bot.facts if isinstance(fact, MessageIgnored)]


def added(bot: BotHarness) -> None:
    """The bot of the alerts."""
    bot.workspace.add_user("B9", "Alertmanager", is_bot=True)


async def alert(bot: BotHarness, thread_ts: str | None = None) -> str:
    ts = bot.workspace.alert("B9", CHANNEL, FIRING, now=bot.now, thread_ts=thread_ts)
    await bot.deliver()
    await bot.idle()
    return ts


async def said(bot: BotHarness, text: str, **place: Any) -> str:
    root = await bot.say(text, **place)
    await bot.idle()
    return root


@on_virtual_time
async def test_a_new_message_is_a_question_and_the_agent_is_told_that_nobody_addressed_it() -> None:
    async with run_bot(answer("It is Tuesday."), **READS) as bot:
        root = await said(bot, "What day is it?")
        assert bot.read(root) == ["It is Tuesday."]
        (asked,) = bot.agent.questions
        assert asked.text == "What day is it?"
        assert asked.params["message"]["metadata"]["slack"]["addressed"] is False
        (end,) = [fact for fact in bot.facts if isinstance(fact, TurnRecorded)]
        assert end.record.question.cause == "channel"


@on_virtual_time
async def test_it_is_off_unless_a_channel_says_so() -> None:
    async with run_bot() as bot:
        root = await said(bot, "What day is it?")
        assert (bot.read(root), bot.agent.questions) == ([], [])
        assert reasons(bot) == ["a message that does not mention the bot"]


@on_virtual_time
async def test_silence_leaves_nothing_that_anybody_could_see() -> None:
    async with run_bot(silent(), **READS) as bot:
        root = await said(bot, "Lunch?")
        assert bot.outcomes == ["silent"]
        assert len(bot.thread(root)) == 1
        assert not {call.method for call in bot.workspace.calls} & {
            "assistant.threads.setStatus", "agents.sessions.setStatus", "chat.startStream",
            "chat.postMessage", "chat.postEphemeral", "reactions.add",
        }  # fmt: skip


@on_virtual_time
async def test_a_failure_is_never_silent() -> None:
    async with run_bot(failure("The database is away."), **READS) as bot:
        root = await said(bot, "What day is it?")
        assert bot.outcomes == ["failed"] and len(bot.read(root)) == 1


@pytest.mark.parametrize(
    "text", ["<@U2> can you look?", "<!here> lunch", "<!subteam^S99|@ops> please", "<!channel> hi"]
)
@on_virtual_time
async def test_what_mentions_somebody_else_is_for_them(text: str) -> None:
    async with run_bot(**READS) as bot:
        root = await said(bot, text)
        assert (bot.read(root), bot.agent.questions) == ([], [])
        assert reasons(bot) == ["it mentions others, and not the bot"]


@on_virtual_time
async def test_what_mentions_the_bot_too_is_a_mention() -> None:
    async with run_bot(answer("Yes."), **READS) as bot:
        root = await bot.ask("<@U2> wants to know it too")
        await bot.idle()
        assert bot.read(root) == ["Yes."]
        assert "addressed" not in bot.agent.questions[0].params["message"]["metadata"]["slack"]


@on_virtual_time
async def test_with_match_only_messages_that_have_such_a_word() -> None:
    async with run_bot(answer("Look at the logs."), match=["fail*", "how do"], **READS) as bot:
        await said(bot, "Lunch?")
        root = await said(bot, "The build FAILED.")
        assert bot.read(root) == ["Look at the logs."]
        assert [each.text for each in bot.agent.questions] == ["The build FAILED."]
        assert reasons(bot) == ["none of its words is in the channel's `match`"]


@on_virtual_time
async def test_replies_of_others_are_no_questions_and_the_asker_goes_on_once_there_is_an_answer() -> None:
    tapes = answer("One.", ids="1"), answer("Two.", ids="2")
    async with run_bot(*tapes, **READS) as bot:
        root = await bot.say("What day is it?")
        await bot.idle()
        await said(bot, "And tomorrow?", thread_ts=root)
        assert bot.read(root) == ["One.", "Two."]
        await said(bot, "I see", thread_ts=root, user="U2")
        await said(bot, "Me too", thread_ts=root)
        assert bot.read(root) == ["One.", "Two."]
        second = bot.agent.questions[1].params["message"]
        assert "addressed" not in second["metadata"]["slack"]


@on_virtual_time
async def test_a_thread_in_which_the_agent_was_silent_is_not_followed() -> None:
    async with run_bot(silent(), **READS) as bot:
        root = await said(bot, "Lunch?")
        await said(bot, "Anybody?", thread_ts=root)
        assert len(bot.agent.questions) == 1


@on_virtual_time
async def test_who_is_asked_back_can_answer() -> None:
    tapes = question("Which city?", ids="1"), answer("Rainy.", ids="1")
    async with run_bot(*tapes, **READS) as bot:
        root = await said(bot, "How is the weather?")
        await said(bot, "Rome", thread_ts=root)
        assert bot.read(root)[-1] == "Rainy."


@on_virtual_time
async def test_an_alert_is_quoted_below_the_question_of_the_channel() -> None:
    async with run_bot(answer("The cache is cold."), **ALERTS) as bot:
        added(bot)
        root = await alert(bot)
        assert bot.read(root) == ["The cache is cold."]
        (asked,) = bot.agent.questions
        assert asked.text == "What is behind this alert?"
        assert "p95 is over 2 s" in str(asked.params["message"]["parts"][1:])
        assert "service: shop" in str(asked.params["message"]["parts"][1:])


RESOLVED = [{**FIRING[0], "fallback": "Resolved", "title": "Resolved: p95 is 0.2 s"}]


async def edited_alert(bot: BotHarness, seconds: float) -> str:
    """An alert that its bot edits after `seconds`, and what of it went to the agent."""
    added(bot)
    root = bot.workspace.alert("B9", CHANNEL, FIRING, now=bot.now)
    await bot.deliver()
    await asyncio.sleep(seconds)
    bot.workspace.alert_again(CHANNEL, root, RESOLVED, now=bot.now)
    await bot.deliver()
    await bot.idle()
    (asked,) = bot.agent.questions
    assert asked.text == "What is behind this alert?"
    assert bot.read(root) == ["The cache is cold."] and bot.calls("chat.postEphemeral") == []
    return str(asked.params["message"]["parts"][1:])


@on_virtual_time
async def test_an_alert_that_is_edited_before_its_question_begins_is_quoted_as_it_is_then() -> None:
    waits = {"busy": "collect", "collect_delay": 3.0}
    async with run_bot(answer("The cache is cold."), **ALERTS, **waits) as bot:
        quoted = await edited_alert(bot, 1.0)
        assert "Resolved: p95 is 0.2 s" in quoted


@on_virtual_time
async def test_the_text_of_an_alert_never_becomes_the_question() -> None:
    waits = {"busy": "collect", "collect_delay": 3.0}
    async with run_bot(answer("The cache is cold."), **ALERTS, **waits) as bot:
        added(bot)
        root = await bot.say("Firing: p95 is over 2 s", user="B9")
        await asyncio.sleep(1.0)
        bot.workspace.edit(CHANNEL, root, "Resolved: p95 is 0.2 s", now=bot.now)
        await bot.deliver()
        await bot.idle()
        (asked,) = bot.agent.questions
        assert asked.text == "What is behind this alert?"
        assert "Resolved: p95 is 0.2 s" in str(asked.params["message"]["parts"][1:])


@on_virtual_time
async def test_after_that_it_stays_as_it_was() -> None:
    async with run_bot(answer("The cache is cold.", seconds=20.0), **ALERTS) as bot:
        quoted = await edited_alert(bot, 5.0)
        assert "p95 is over 2 s" in quoted


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({**ALERTS, "ask": ""}, "a bot wrote it, and the channel has no `ask`"),
        ({**ALERTS, "allowed_bots": []}, "another bot's message that does not mention the bot"),
        ({**ALERTS, "match": ["disk"]}, "none of its words is in the channel's `match`"),
        ({**ALERTS, "respond": "auto"}, "a message that does not mention the bot"),
    ],
)
@on_virtual_time
async def test_no_other_alert_is_looked_at(settings: dict[str, Any], reason: str) -> None:
    async with run_bot(**settings) as bot:
        added(bot)
        root = await alert(bot)
        assert (bot.read(root), bot.agent.questions) == ([], [])
        assert reasons(bot) == [reason]


@on_virtual_time
async def test_refusals_and_limits_are_silent_and_count() -> None:
    async with run_bot(answer("One."), hourly_person=1, **READS) as bot:
        await said(bot, "What day is it?")
        root = await said(bot, "And tomorrow?")
        assert (len(bot.thread(root)), len(bot.agent.questions)) == (1, 1)
        assert bot.calls("chat.postEphemeral") == []
        assert "there are too many" in reasons(bot)[0]
        await bot.ask("And tomorrow?")
        await bot.idle()
        assert len(bot.calls("chat.postEphemeral")) == 1


@on_virtual_time
async def test_who_may_not_ask_is_not_told() -> None:
    async with run_bot(people=["U2"], **READS) as bot:
        root = await said(bot, "What day is it?")
        assert (len(bot.thread(root)), bot.agent.questions) == (1, [])


@on_virtual_time
async def test_an_edit_that_came_before_the_message_counts_and_a_deletion_takes_it_back() -> None:
    async with run_bot(answer("Noon."), **READS) as bot:
        root = bot.workspace.say("U1", CHANNEL, "What tiem is it?", now=bot.now)
        written = bot.workspace.take()
        bot.workspace.edit(CHANNEL, root, "What time is it?", now=bot.now)
        await bot.deliver()
        await bot.deliver(written)
        gone = bot.workspace.say("U1", CHANNEL, "And where?", now=bot.now)
        written = bot.workspace.take()
        bot.workspace.delete(CHANNEL, gone, now=bot.now)
        await bot.deliver()
        await bot.deliver(written)
        await bot.idle()
        assert [each.text for each in bot.agent.questions] == ["What time is it?"]


@on_virtual_time
async def test_an_edit_that_names_somebody_takes_it_back() -> None:
    async with run_bot(**READS) as bot:
        root = bot.workspace.say("U1", CHANNEL, "Can you look?", now=bot.now)
        written = bot.workspace.take()
        bot.workspace.edit(CHANNEL, root, "<@U2> can you look?", now=bot.now)
        await bot.deliver()
        await bot.deliver(written)
        await bot.idle()
        assert bot.agent.questions == []


@on_virtual_time
async def test_nobody_is_offered_to_ask_again_what_they_did_not_ask() -> None:
    async with run_bot(answer("Noon.", seconds=30.0), **READS) as bot:
        root = await bot.say("What tiem is it?")
        bot.workspace.edit(CHANNEL, root, "What time is it?", now=bot.now)
        await bot.deliver()
        await bot.idle()
        assert (bot.read(root), bot.ephemeral(root)) == (["Noon."], [])


GROUPS = FILE.replace('prefixes = ["r"]', 'prefixes = ["r"]\ngroup = "S7"')


@on_virtual_time
async def test_a_user_group_stands_for_its_agent_where_the_channel_is_read(tmp_path: Path) -> None:
    text = f'{GROUPS}\n[channels.{CHANNEL}]\nrespond = "channel"\n'
    async with town(tmp_path, text) as there:
        root = await said(there.bot, "<!subteam^S7|@research-agent> what is new?")
        assert there.bot.read(root)[0].startswith("R.")
        assert there.asked("research") == ["what is new?"]
        other = await said(there.bot, "What day is it?")
        assert there.bot.read(other)[0].startswith("D.")


@on_virtual_time
async def test_elsewhere_a_user_group_is_people(tmp_path: Path) -> None:
    async with town(tmp_path, GROUPS) as there:
        await said(there.bot, "<!subteam^S7|@research-agent> what is new?")
        assert (there.asked("research"), there.asked("default")) == ([], [])


@on_virtual_time
async def test_two_bots_of_ours_in_one_channel_come_to_an_end() -> None:
    async with run_bot(*[answer("I am a bot.")] * 3, **{**ALERTS, "allowed_bots": ["U7"]}) as bot:
        bot.workspace.add_user("U7", "other bot", is_bot=True)
        root = await said(bot, "Hello all")
        for _ in range(5):  # the other one answers each answer of ours
            await said(bot, "I am the other bot.", user="U7", thread_ts=root)
        assert len(bot.read(root)) == 1


@on_virtual_time
async def test_an_alert_bot_that_answers_each_answer_in_the_channel_comes_to_an_end() -> None:
    async with run_bot(*[answer("Seen.")] * 30, hourly_bot=4, **ALERTS) as bot:
        added(bot)
        for _ in range(12):
            await alert(bot)
        assert len(bot.agent.questions) == 4


@on_virtual_time
async def test_what_we_post_ourselves_is_never_a_question() -> None:
    async with run_bot(**ALERTS) as bot:
        post = {"channel": CHANNEL, "text": f"Monday's report. <@{bot.workspace.bot.user_id}> what is new?"}
        await bot.app.web_client.chat_postMessage(**post)
        await bot.deliver()
        await bot.idle()
        assert bot.agent.questions == []


@on_virtual_time
async def test_what_was_written_while_the_bot_was_away_is_not_answered() -> None:
    tapes = answer("One.", ids="1"), answer("Two.", ids="2")
    store = MemoryStore()
    async with run_bot(*tapes, store=store, **READS) as bot:
        mention = await bot.ask("What day is it?")
        await bot.idle()
        bot.workspace.say("U1", CHANNEL, "And where are we?", now=bot.now)
        bot.workspace.take()
        await bot.app.backfill.run()
        await bot.idle()
        assert (len(bot.agent.questions), bot.read(mention)) == (1, ["One."])
