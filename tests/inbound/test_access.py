"""Who may ask and press buttons, seen from both sides of the emulated workspace."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from slack_bot.inbound.access import BotAccess, HourlyQuestions, LocalHour
from slack_bot.settings.models import TurnSettings
from slack_bot.testing.harness import CHANNEL, BotHarness, run_bot
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.testing.slack.rules import SHIPPED, AppManifest
from slack_bot.testing.slack.workspace import Envelope
from slack_bot.testing.tape.builders import answer, failure, question
from slack_bot.testing.virtual_clock import new_clock, on_virtual_time
from slack_bot.turn.record import Question, ThreadKey
from tests.store import subjects

HOUR = 3600.0
MEMBER, GUEST, SINGLE, OUTSIDER = "U1", "U5", "U6", "U7"
EXTERNAL, GUESTS, LISTED, UNKNOWN = "other organisations", "guests", "Only certain people", "find out"


def with_people(bot: BotHarness) -> BotHarness:
    bot.workspace.add_user(GUEST, guest="multi")
    bot.workspace.add_user(SINGLE, guest="single")
    bot.workspace.add_user(OUTSIDER, team="T2")
    bot.workspace.add_group("S1", GUEST, OUTSIDER)
    return bot


def told(bot: BotHarness) -> list[tuple[str, str]]:
    """All private lines: (person, words)."""
    posts = bot.calls("chat.postEphemeral")
    return [(post["user"], post["text"]) for post in posts]


# -- who may ask


def together(team: str) -> str:
    """There is one workspace only."""
    return ""


@pytest.mark.parametrize(
    ("user", "policy", "refused"),
    [
        (MEMBER, {}, None),
        (MEMBER, {"guests": "deny"}, None),
        (MEMBER, {"people": ["U1"]}, None),
        (MEMBER, {"people": ["U2"]}, LISTED),
        (MEMBER, {"groups": ["S1"]}, LISTED),
        (MEMBER, {"people": ["U1"], "groups": ["S9"]}, None),
        (MEMBER, {"groups": ["S9"]}, UNKNOWN),
        (GUEST, {}, None),
        (GUEST, {"guests": "deny"}, GUESTS),
        (SINGLE, {"guests": "deny"}, GUESTS),
        (GUEST, {"groups": ["S1"]}, None),
        (GUEST, {"guests": "deny", "people": ["U5"]}, GUESTS),
        (OUTSIDER, {}, EXTERNAL),
        (OUTSIDER, {"people": ["U7"], "groups": ["S1"]}, EXTERNAL),
        (OUTSIDER, {"external": "allow"}, None),
        (OUTSIDER, {"external": "allow", "guests": "deny"}, None),
        (OUTSIDER, {"external": "allow", "people": ["U1"]}, LISTED),
    ],
)
@on_virtual_time
async def test_who_may_ask(user: str, policy: dict[str, Any], refused: str | None) -> None:
    async with run_bot(**policy) as bot:
        root = await with_people(bot).ask("hi", user=user)
        await bot.idle()
        assert bot.read(root) == ([] if refused else ["Hello."])
        assert len(bot.agent.questions) == (0 if refused else 1)
        if refused is None:
            assert told(bot) == []
        else:
            ((who, words),) = told(bot)
            assert (who, refused in words) == (user, True)


@on_virtual_time
async def test_one_channel_has_another_policy_than_the_others(tmp_path: Any) -> None:
    file = tmp_path / "slack_bot.toml"
    file.write_text(f'[channel]\npeople = ["U1"]\n[channels.{CHANNEL}]\npeople = []\n')
    async with run_bot(config=str(file)) as bot:
        bot.workspace.add_channel("C2")
        open_to_all = await bot.ask("hi", user="U2")
        await bot.say(f"<@{bot.workspace.bot.user_id}> hi", user="U2", channel="C2")
        await bot.idle()
        assert bot.read(open_to_all) == ["Hello."]
        assert len(told(bot)) == 1


@on_virtual_time
async def test_in_an_ordinary_channel_nothing_is_asked_of_slack() -> None:
    async with run_bot() as bot:
        await bot.ask("hi")
        await bot.idle()
        assert bot.calls("users.info") == []


@on_virtual_time
async def test_who_is_of_the_same_organisation_on_enterprise_grid_may_ask() -> None:
    async with run_bot(answer("Hello.")) as bot:
        bot.workspace.state.enterprise = "E1"
        bot.workspace.add_user("U8", team="T8", enterprise="E1")
        bot.workspace.add_user("U9", team="T9", enterprise="E9")
        roots = [await bot.ask("hi", user=user) for user in ("U8", "U9")]
        await bot.idle()
        assert [bot.read(root) for root in roots] == [["Hello."], []]


@on_virtual_time
async def test_without_the_scope_an_outsider_may_not_ask_and_a_member_may() -> None:
    async with run_bot() as bot:
        scopes = SHIPPED.scopes - {"users:read"}
        bot.workspace.state.manifest = AppManifest(scopes, SHIPPED.events)
        outside = await with_people(bot).ask("hi", user=OUTSIDER)
        inside = await bot.ask("hi")
        await bot.idle()
        assert (bot.read(outside), bot.read(inside)) == ([], ["Hello."])
        assert [(who, UNKNOWN in words) for who, words in told(bot)] == [(OUTSIDER, True)]


@on_virtual_time
async def test_a_refused_person_is_told_once_an_hour_in_a_thread_and_nobody_else_sees_it() -> None:
    async with run_bot(people=["U1"]) as bot:
        root = await bot.ask("hi", user="U2")
        for _ in range(2):
            await bot.ask("hello?", user="U2", thread_ts=root)
        await bot.say("I only talk", user="U2", thread_ts=root)
        await bot.idle()
        assert len(told(bot)) == 1
        assert [seen.author for seen in bot.thread(root) if seen.ephemeral_for is None] == ["U2"] * 4
        await asyncio.sleep(HOUR + 1)
        await bot.ask("hello?", user="U2", thread_ts=root)
        await bot.idle()
        assert [who for who, _ in bot.ephemeral(root)] == ["U2"]


@on_virtual_time
async def test_a_refused_bot_is_never_told(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "slack_bot.inbound")
    async with run_bot(allowed_bots=[CHANNEL]) as bot:
        bot.workspace.add_user("U9", team="T2", is_bot=True)
        root = await bot.ask("hi", user="U9")
        await bot.idle()
        assert (bot.read(root), told(bot)) == ([], [])
    assert len([each for each in caplog.records if "refused" in each.getMessage()]) == 1


@on_virtual_time
async def test_an_outsider_who_talks_in_a_thread_is_not_told_anything() -> None:
    async with run_bot(answer("Hello.")) as bot:
        root = await with_people(bot).ask("hi")
        await bot.idle()
        await bot.say("interesting", user=OUTSIDER, thread_ts=root)
        await bot.idle()
        assert [each for each in told(bot) if each[0] == OUTSIDER] == []


# -- who may press


@pytest.mark.parametrize(("external", "is_stored"), [("deny", False), ("allow", True)])
@on_virtual_time
async def test_only_who_may_be_external_presses_the_buttons(external: str, *, is_stored: bool) -> None:
    async with run_bot(external=external) as bot:
        root = await with_people(bot).ask("hi")
        await bot.idle()
        (seen,) = [seen for seen in bot.thread(root) if seen.is_bot]
        bot.workspace.state.channels[CHANNEL].members.add(OUTSIDER)
        bot.workspace.press(OUTSIDER, CHANNEL, seen.ts, "feedback", now=bot.now, value="positive")
        assert await bot.deliver() == [200]
        await bot.idle()
        key = f"T1:{CHANNEL}:{root}"
        assert (
            await subjects.change_feedback(bot.store, key, OUTSIDER, lambda _: None) is not None
        ) == is_stored
        ((who, words),) = told(bot)
        assert (who, "organisation" in words) == (OUTSIDER, not is_stored)


@on_virtual_time
async def test_an_outsider_cannot_ask_again() -> None:
    async with run_bot(failure("broke"), answer("Hello.")) as bot:
        root = await with_people(bot).ask("hi")
        await bot.idle()
        seen = bot.thread(root)[-1]
        bot.workspace.state.channels[CHANNEL].members.add(OUTSIDER)
        bot.workspace.press(OUTSIDER, CHANNEL, seen.ts, "retry", now=bot.now)
        await bot.deliver()
        await bot.idle()
        assert len(bot.agent.questions) == 1
        assert "organisation" in told(bot)[0][1]


@pytest.mark.parametrize(("user", "stopped"), [("U2", True), (OUTSIDER, False)])
@on_virtual_time
async def test_an_outsider_does_not_stop_the_agent(user: str, *, stopped: bool) -> None:
    async with run_bot(answer("A long answer.", seconds=60)) as bot:
        root = await with_people(bot).ask("hi")
        await asyncio.sleep(1)
        bot.workspace.state.channels[CHANNEL].members.add(user)
        place = {"channel": CHANNEL, "thread_ts": root, "user": user, "streaming_message_ts": []}
        body = {
            "type": "event_callback",
            "team_id": "T1",
            "event": {"type": "agent_session_stopped", "event_ts": root, **place},
            "is_ext_shared_channel": True,
        }
        await bot.deliver([Envelope("e1", "events_api", body)])
        await bot.idle()
        assert bot.outcomes == ["stopped" if stopped else "answered"]


# -- how often


@on_virtual_time
async def test_questions_of_an_hour_are_counted_by_person_channel_and_in_all() -> None:
    settings = TurnSettings(hourly_person=2, hourly_channel=3, hourly_total=4)
    hourly = HourlyQuestions(settings, LocalHour(MemoryStore(), new_clock(), together), together)
    assert [await hourly.refusal("U1", "C1", "T1", key) for key in ("a", "b", "a", "b")] == [None] * 4
    refused = await hourly.refusal("U1", "C1", "T1", "c")
    assert refused is not None
    assert refused.words.startswith("You have asked 2 questions")
    assert refused.words.endswith("Please ask again in 60 minutes.")
    assert await hourly.refusal("U2", "C1", "T1", "d") is None
    refused = await hourly.refusal("U3", "C1", "T1", "e")
    assert refused is not None
    assert refused.words.startswith("This channel has asked 3 questions")
    assert await hourly.refusal("U3", "C2", "T1", "e") is None
    refused = await hourly.refusal("U4", "C3", "T1", "f")
    assert refused is not None
    assert refused.words.startswith("I was asked 4 questions")
    await asyncio.sleep(HOUR - 30)
    refused = await hourly.refusal("U1", "C1", "T1", "c")
    assert refused is not None
    assert refused.words.endswith("again in a minute.")
    await asyncio.sleep(31)
    assert await hourly.refusal("U1", "C1", "T1", "c") is None


@on_virtual_time
async def test_without_a_limit_nothing_is_counted() -> None:
    hourly = HourlyQuestions(TurnSettings(), LocalHour(MemoryStore(), new_clock(), together), together)
    assert not [key for key in range(1000) if await hourly.refusal("U1", "C1", "T1", str(key))]


@on_virtual_time
async def test_who_asks_too_often_is_told_when_to_ask_again_each_time() -> None:
    async with run_bot(hourly_person=1) as bot:
        root = await bot.ask("one")
        await bot.ask("two", thread_ts=root)
        await bot.ask("three", thread_ts=root)
        other = await bot.ask("mine", user="U2")
        await bot.idle()
        assert (bot.read(root), bot.read(other)) == (["Hello."], ["Hello."])
        assert [(who, words.endswith("in 60 minutes.")) for who, words in told(bot)] == [("U1", True)] * 2
        await asyncio.sleep(HOUR)
        await bot.ask("four", thread_ts=root)
        await bot.idle()
        assert bot.read(root) == ["Hello.", "Hello."]


@on_virtual_time
async def test_who_answers_the_agent_and_has_asked_too_often_is_told() -> None:
    async with run_bot(question("Which one?"), hourly_person=1) as bot:
        root = await bot.ask("one")
        await bot.idle()
        await bot.say("the first", thread_ts=root)
        await bot.idle()
        assert [who for who, _ in told(bot)] == ["U1"]


@on_virtual_time
async def test_the_word_stop_is_no_question() -> None:
    async with run_bot(answer("A long answer.", seconds=60), hourly_person=1) as bot:
        root = await bot.ask("one")
        await asyncio.sleep(1)
        await bot.ask("stop", thread_ts=root)
        await bot.idle()
        assert bot.outcomes == ["stopped"]
        assert told(bot) == []


@on_virtual_time
async def test_the_words_that_end_reading_along_are_no_question() -> None:
    async with run_bot(hourly_person=1) as bot:
        root = await bot.ask("one")
        await bot.idle()
        await bot.say("stop listening", thread_ts=root)
        await bot.idle()
        assert told(bot) == []


@on_virtual_time
async def test_a_question_without_a_mention_that_is_one_too_many_is_refused_visibly() -> None:
    async with run_bot(hourly_person=1) as bot:
        root = await bot.ask("one")
        await bot.idle()
        await bot.say("and two?", thread_ts=root)
        await bot.idle()
        assert [words.startswith("You have asked 1 question within") for _, words in told(bot)] == [True]
        assert len(bot.agent.questions) == 1


@on_virtual_time
async def test_what_was_asked_before_a_restart_counts() -> None:
    store = MemoryStore(is_durable=True)
    async with run_bot(hourly_person=2, store=store) as first:
        await first.ask("one")
        await first.idle()
        async with run_bot(hourly_person=2, after=first) as bot:
            await bot.ask("two")
            await bot.ask("three")
            await bot.idle()
            assert len(bot.agent.questions) == 2
            assert [who for who, _ in told(bot)] == ["U1"]


@on_virtual_time
async def test_asking_again_by_the_button_counts() -> None:
    async with run_bot(failure("broke"), answer("Hello."), hourly_person=1) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        bot.workspace.press("U1", CHANNEL, bot.thread(root)[-1].ts, "retry", now=bot.now)
        await bot.deliver()
        await bot.idle()
        assert len(bot.agent.questions) == 1
        assert "Please ask again in" in told(bot)[0][1]


@on_virtual_time
async def test_who_presses_below_the_answer_of_another_person_loses_no_question() -> None:
    async with run_bot(failure("broke"), answer("Hello."), hourly_person=1) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        bot.workspace.press("U2", CHANNEL, bot.thread(root)[-1].ts, "retry", now=bot.now)
        await bot.deliver()
        await bot.ask("mine", user="U2")
        await bot.idle()
        assert [call.text for call in bot.agent.questions] == ["hi", "mine"]
        assert "Only the person who asked can ask again" in told(bot)[0][1]


# -- other bots


def asked(root: str = "1.0", ts: str = "2.0") -> Question:
    return Question(ThreadKey("T1", "C1", root), ts, "U7", "T1", "more", asker_is_bot=True)


def test_a_question_that_comes_twice_is_counted_once() -> None:
    access = BotAccess(["U7"], 1)
    assert [access.refusal(asked(), ["U7"]) for _ in range(3)] == [None] * 3
    assert access.refusal(asked(ts="3.0"), ["U7"])
    access.person_wrote(asked().thread)
    assert access.refusal(asked(ts="3.0"), ["U7"]) == ""  # judged before, and not again
    assert access.refusal(asked(ts="4.0"), ["U7"]) is None


def test_of_too_many_threads_the_one_that_was_quiet_longest_is_forgotten() -> None:
    access = BotAccess(["U7"], 1)
    assert access.refusal(asked(), ["U7"]) is None
    assert access.refusal(asked(ts="3.0"), ["U7"]) is not None
    for number in range(10_000):
        access.refusal(asked(f"{number}.5", f"{number}.6"), ["U7"])
    assert access.refusal(asked(ts="4.0"), ["U7"]) is None
    assert access.refusal(asked("9999.5", "9999.7"), ["U7"]) is not None


@on_virtual_time
async def test_a_loop_of_two_bots_over_new_threads_ends() -> None:
    async with run_bot(answer("Hello."), allowed_bots=[CHANNEL], hourly_bot=3) as bot:
        bot.workspace.add_user("U9", is_bot=True)
        roots = [await bot.ask("hi again", user="U9") for _ in range(8)]
        await bot.idle()
        assert [bool(bot.read(root)) for root in roots] == [True] * 3 + [False] * 5
        assert told(bot) == []
        root = await bot.ask("hi", user="U2")  # people have a count of their own
        await bot.idle()
        assert bot.read(root) == ["Hello."]
        await asyncio.sleep(HOUR + 1)
        root = await bot.ask("hi", user="U9")
        await bot.idle()
        assert bot.read(root) == ["Hello."]
