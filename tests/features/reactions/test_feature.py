"""Reactions of people that ask, stop, repeat and rate."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest

from slack_bot.manifest import Wants, manifest_of, wanted
from slack_bot.observe.facts import TurnRecorded
from slack_bot.store.quoted import QUOTED
from slack_bot.testing.harness import CHANNEL, BotHarness, run_bot
from slack_bot.testing.slack.rules import AppManifest
from slack_bot.testing.slack.workspace import PersonFile
from slack_bot.testing.tape.builders import answer, failure, question
from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.text.feature_words import REACTED_IS_EXTERNAL, REACTED_NOT_READ, REACTION_ASKS
from slack_bot.text.words import ALREADY_OVER, NOT_YOURS_TO_ASK_AGAIN, NOT_YOURS_TO_STOP
from tests.features.routing.town import FILE, town
from tests.store import subjects

HEARS = AppManifest.from_json(manifest_of(wanted(Wants(hears_reactions=True))))
"""The manifest of a bot to which reactions mean something."""
USES = {
    "robot_face": "ask", "octagonal_sign": "stop", "repeat": "again", "+1": "good", "-1": "bad",
}  # fmt: skip
SETTINGS: dict[str, Any] = {"manifest": HEARS, "reactions": tuple(USES.items())}


async def react(
    bot: BotHarness, ts: str, name: str = "robot_face", user: str = "U2", channel: str = CHANNEL
) -> None:
    bot.workspace.react(user, channel, ts, name, now=bot.now)
    await bot.deliver()
    await bot.idle()


async def said(bot: BotHarness, text: str, *files: PersonFile, **place: Any) -> str:
    ts = await bot.say(text, *files, **place)
    await bot.idle()
    return ts


def told(bot: BotHarness) -> list[tuple[str, str]]:
    """What people read privately."""
    return [(args["user"], args["text"]) for args in bot.calls("chat.postEphemeral")]


def records(bot: BotHarness) -> list[TurnRecorded]:
    return [fact for fact in bot.facts if isinstance(fact, TurnRecorded)]


async def rating(bot: BotHarness, root: str, user: str) -> str | None:
    """What a person said of the answer to `root`."""
    feedback = await subjects.change_feedback(bot.store, f"T1:{CHANNEL}:{root}", user, lambda _: None)
    return None if feedback is None else feedback.value


# -- ask


@on_virtual_time
async def test_the_agent_is_asked_about_the_message_in_its_thread(caplog: pytest.LogCaptureFixture) -> None:
    async with run_bot(answer("The cache."), **SETTINGS) as bot:
        root = await said(bot, "Why is the shop so slow?")
        with caplog.at_level(logging.INFO):
            await react(bot, root)
        assert bot.read(root) == ["The cache."]
        (asked,) = bot.agent.questions
        assert asked.text == REACTION_ASKS
        quote = str(asked.params["message"]["parts"][1:])
        assert "Why is the shop so slow?" in quote and "U1 (person)" in quote
        assert asked.params["message"]["metadata"]["slack"]["user"] == "U2"
        assert "addressed" not in asked.params["message"]["metadata"]["slack"]
        assert records(bot)[0].record.question.cause == "reaction robot_face"
        assert "a question is taken without a message to the bot: reaction robot_face" in caplog.text


@on_virtual_time
async def test_a_reply_is_quoted_too_and_the_answer_stands_in_its_thread() -> None:
    async with run_bot(answer("Tuesday."), **SETTINGS) as bot:
        root = await said(bot, "Lunch?")
        reply = await said(bot, "What day is it?", thread_ts=root)
        await react(bot, reply)
        assert bot.read(root) == ["Tuesday."]
        assert "What day is it?" in str(bot.agent.questions[0].params["message"]["parts"][1:])


@on_virtual_time
async def test_its_files_go_along() -> None:
    async with run_bot(answer("A graph."), **SETTINGS) as bot:
        root = await said(bot, "Look", PersonFile("graph.png", b"png", "image/png"))
        await react(bot, root)
        assert "graph.png" in str(bot.agent.questions[0].params["message"]["parts"])


@on_virtual_time
async def test_a_message_is_asked_about_once_for_each_emoji_and_person() -> None:
    tapes = [answer(text, ids=text[0]) for text in ("1", "2", "3")]
    async with run_bot(*tapes, **SETTINGS) as bot:
        root = await said(bot, "Why?")
        await react(bot, root)
        bot.workspace.unreact("U2", CHANNEL, root, "robot_face", now=bot.now)
        await react(bot, root)
        assert len(bot.agent.questions) == 1
        await react(bot, root, user="U1")
        assert len(bot.agent.questions) == 2


@on_virtual_time
async def test_slack_may_bring_a_reaction_twice() -> None:
    async with run_bot(answer("1"), **SETTINGS) as bot:
        root = await said(bot, "Why?")
        bot.workspace.react("U2", CHANNEL, root, "robot_face", now=bot.now)
        envelopes = bot.workspace.take()
        await bot.deliver([*envelopes, *envelopes])
        await bot.idle()
        assert len(bot.agent.questions) == 1


@on_virtual_time
async def test_in_a_direct_message_too() -> None:
    async with run_bot(answer("One.", ids="1"), answer("Two.", ids="2"), **SETTINGS) as bot:
        direct = bot.workspace.direct("U1")
        root = await said(bot, "What day is it?", channel=direct)
        await react(bot, root, user="U1", channel=direct)
        assert bot.read(root, direct) == ["One.", "Two."]


@on_virtual_time
async def test_an_alert_is_quoted_with_its_attachments() -> None:
    async with run_bot(answer("The cache."), **SETTINGS) as bot:
        bot.workspace.add_user("B9", "Alertmanager", is_bot=True)
        ts = bot.workspace.alert("B9", CHANNEL, [{"title": "High", "text": "p95 is 2 s"}], now=bot.now)
        await bot.deliver()
        await react(bot, ts)
        assert "p95 is 2 s" in str(bot.agent.questions[0].params["message"]["parts"][1:])


@on_virtual_time
async def test_without_settings_no_reaction_means_anything_and_nothing_is_subscribed() -> None:
    async with run_bot() as bot:
        root = await said(bot, "Why?")
        bot.workspace.react("U2", CHANNEL, root, "robot_face", now=bot.now)
        assert bot.workspace.take() == []
    async with run_bot(manifest=HEARS) as bot:
        root = await said(bot, "Why?")
        await react(bot, root)
        assert (bot.agent.questions, bot.calls("conversations.replies"), bot.calls("users.info")) == (
            [],
            [],
            [],
        )


@on_virtual_time
async def test_another_emoji_means_nothing_and_the_colour_of_a_hand_does_not_matter() -> None:
    async with run_bot(answer("One."), manifest=HEARS, reactions=(("thumbsup", "ask"),)) as bot:
        root = await said(bot, "Why?")
        await react(bot, root, "robot_face")
        assert bot.agent.questions == []
        await react(bot, root, "+1::skin-tone-4")
        assert len(bot.agent.questions) == 1


@on_virtual_time
async def test_who_reacts_counts_for_the_limits_and_is_told() -> None:
    async with run_bot(answer("One."), hourly_person=1, **SETTINGS) as bot:
        first, second = await said(bot, "Why?"), await said(bot, "How?")
        await react(bot, first)
        await react(bot, second)
        assert len(bot.agent.questions) == 1
        ((user, words),) = told(bot)
        assert user == "U2" and "an hour" in words


@on_virtual_time
async def test_who_may_not_ask_may_not_by_a_reaction() -> None:
    async with run_bot(people=["U1"], **SETTINGS) as bot:
        root = await said(bot, "Why?")
        await react(bot, root)
        await react(bot, root, "repeat")
        assert bot.agent.questions == [] and len(told(bot)) == 1


@pytest.mark.parametrize("external", ["deny", "allow"])
@on_virtual_time
async def test_messages_of_others_only_where_they_may_ask(external: str) -> None:
    async with run_bot(answer("One."), external=external, **SETTINGS) as bot:
        bot.workspace.add_user("U9", team="T9")
        root = await said(bot, "Our secret", user="U9")
        await react(bot, root)
        assert len(bot.agent.questions) == (external == "allow")
        assert told(bot) == ([] if external == "allow" else [("U2", REACTED_IS_EXTERNAL)])


@on_virtual_time
async def test_people_of_other_organisations_may_not_react_where_they_may_not_ask() -> None:
    async with run_bot(**SETTINGS) as bot:
        bot.workspace.add_user("U9", team="T9")
        await said(bot, "Hello", user="U9")
        root = await said(bot, "Why?")
        await react(bot, root, user="U9")
        assert bot.agent.questions == []


@on_virtual_time
async def test_a_message_that_cannot_be_read_is_named() -> None:
    async with run_bot(faults={"conversations.replies": ["not_in_channel"]}, **SETTINGS) as bot:
        root = await said(bot, "Why?")
        await react(bot, root)
        assert told(bot) == [("U2", REACTED_NOT_READ)]


@on_virtual_time
async def test_a_store_that_fails_lets_slack_bring_the_reaction_again() -> None:
    from tests.inbound.test_events import SlowToOpen

    async with run_bot(answer("At last."), store=SlowToOpen(1), **SETTINGS) as bot:
        root = await said(bot, "Why?")
        bot.workspace.react("U2", CHANNEL, root, "robot_face", now=bot.now)
        envelopes = bot.workspace.take()
        assert await bot.deliver(envelopes) == [503]
        assert await bot.deliver(envelopes, retry=1) == [200]
        await bot.idle()
        assert bot.read(root) == ["At last."]


@on_virtual_time
async def test_what_the_agent_waits_for_is_not_answered_by_a_reaction() -> None:
    tapes = question("Which city?", ids="1"), answer("A reaction.", ids="2"), answer("Rainy.", ids="1")
    async with run_bot(*tapes, **SETTINGS) as bot:
        root = await bot.ask("How is the weather?", user="U2")
        await bot.idle()
        await react(bot, root)
        assert bot.agent.questions[1].params["message"].get("taskId") is None
        await said(bot, "Rome", thread_ts=root, user="U2")
        assert bot.agent.questions[2].params["message"]["taskId"] == "task-1"


@on_virtual_time
async def test_the_agent_of_the_channel_is_asked(tmp_path: Path) -> None:
    uses = f'[channels.{CHANNEL}]\nagent = "ops"\nreactions = {{ robot_face = "ask" }}\n'
    async with town(tmp_path, FILE + uses, manifest=HEARS) as there:
        root = await said(there.bot, "help")
        await react(there.bot, root)
        assert there.asked("ops") == [REACTION_ASKS]


@on_virtual_time
async def test_what_is_quoted_is_kept_before_the_question_and_for_whom() -> None:
    async with run_bot(answer("One."), **SETTINGS) as bot:
        root = await said(bot, "Why?")
        await react(bot, root)
        key = f"T1:{CHANNEL}:{root}:robot_face:U2"
        kept = await bot.store.get(QUOTED, (key,))
        assert kept is not None and (kept.user, [each.text for each in kept.messages]) == ("U2", ["Why?"])


# -- what buttons do


@pytest.mark.parametrize("at_answer", [True, False])
@on_virtual_time
async def test_its_asker_stops_an_answer_at_the_answer_or_at_the_question(at_answer: bool) -> None:
    async with run_bot(answer("word " * 40, seconds=40.0), **SETTINGS) as bot:
        root = await bot.ask("Tell me")
        await asyncio.sleep(10.0)
        ts = bot.thread(root)[1].ts if at_answer else root
        for user in ("U2", "U1"):
            bot.workspace.react(user, CHANNEL, ts, "octagonal_sign", now=bot.now)
            await bot.deliver()
            await asyncio.sleep(1.0)
            assert told(bot) == [("U2", NOT_YOURS_TO_STOP)]
        await bot.idle()
        assert bot.outcomes == ["stopped"]


@on_virtual_time
async def test_what_is_over_is_not_stopped() -> None:
    async with run_bot(answer("One."), **SETTINGS) as bot:
        root = await bot.ask("Tell me")
        await bot.idle()
        await react(bot, root, "octagonal_sign", user="U1")
        assert told(bot) == [("U1", ALREADY_OVER)]


@on_virtual_time
async def test_its_asker_has_it_asked_again_as_often_as_they_react() -> None:
    tapes = failure("Away.", ids="1"), answer("Two.", ids="2"), answer("Three.", ids="3")
    async with run_bot(*tapes, **SETTINGS) as bot:
        root = await bot.ask("Tell me")
        await bot.idle()
        await react(bot, root, "repeat", user="U2")
        assert (told(bot), len(bot.agent.questions)) == ([("U2", NOT_YOURS_TO_ASK_AGAIN)], 1)
        await react(bot, root, "repeat", user="U1")
        assert bot.read(root)[-1] == "Two."
        await react(bot, bot.thread(root)[-1].ts, "repeat", user="U1")
        assert bot.read(root)[-1] == "Three."
        assert [each.text for each in bot.agent.questions] == ["Tell me"] * 3


@on_virtual_time
async def test_answers_are_rated_and_nothing_else() -> None:
    async with run_bot(answer("One."), **SETTINGS) as bot:
        root = await bot.ask("Tell me")
        await bot.idle()
        await react(bot, root, "+1")
        assert await rating(bot, root, "U2") is None
        await react(bot, bot.thread(root)[1].ts, "+1")
        await react(bot, bot.thread(root)[1].ts, "-1", user="U1")
        assert (await rating(bot, root, "U1"), await rating(bot, root, "U2")) == ("negative", "positive")
        assert told(bot) == []


@on_virtual_time
async def test_a_reaction_that_is_taken_back_changes_nothing() -> None:
    async with run_bot(answer("One."), **SETTINGS) as bot:
        root = await bot.ask("Tell me")
        await bot.idle()
        ts = bot.thread(root)[1].ts
        await react(bot, ts, "+1")
        bot.workspace.unreact("U2", CHANNEL, ts, "+1", now=bot.now)
        await bot.deliver()
        assert await rating(bot, root, "U2") == "positive"


# -- loops


@on_virtual_time
async def test_the_bots_own_reactions_never_count() -> None:
    reactions = (("hourglass_flowing_sand", "ask"),)  # its own mark
    tapes = answer("One.", seconds=9.0, ids="1"), answer("Two.", ids="2")
    async with run_bot(*tapes, manifest=HEARS, reactions=reactions) as bot:
        root = await bot.ask("First")
        await bot.ask("Second", thread_ts=root)
        await bot.idle()
        assert bot.calls("reactions.add")
        assert [each.text for each in bot.agent.questions] == ["First", "Second"]


@on_virtual_time
async def test_reactions_of_other_bots_never_count() -> None:
    async with run_bot(**SETTINGS, allowed_bots=["U7"]) as bot:
        bot.workspace.add_user("U7", "other bot", is_bot=True)
        root = await said(bot, "Why?")
        for name in USES:
            await react(bot, root, name, user="U7")
        assert (bot.agent.questions, told(bot)) == ([], [])
