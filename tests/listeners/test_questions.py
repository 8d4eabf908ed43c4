"""Acceptance before the ack, with real Bolt and the emulated workspace."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from slack_bot.errors import StoreError
from slack_bot.playground.workspace import Envelope
from slack_bot.store.memory import MemoryStore
from tests.whole_bot import CHANNEL, answer, on_virtual_time, question, whole_bot

from .payloads import direct, event, mention


def envelope(body: dict[str, Any]) -> list[Envelope]:
    return [Envelope("e1", "events_api", body)]


class SlowToOpen(MemoryStore):
    """A store that cannot take the first `failures` questions."""

    def __init__(self, failures: int) -> None:
        super().__init__()
        self._failures = failures
        self._accept = self.inbox.accept
        self.inbox.accept = self._maybe  # type: ignore[method-assign]

    async def _maybe(self, key: str, now: float) -> bool:
        if self._failures:
            self._failures -= 1
            raise StoreError("The disk is full.")
        return await self._accept(key, now)


@on_virtual_time
async def test_a_question_that_cannot_be_stored_is_not_acknowledged_and_is_taken_when_it_comes_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with whole_bot(answer("At last."), store=SlowToOpen(2)) as bot:
        root = bot.workspace.say("U1", CHANNEL, f"<@{bot.workspace.bot.user_id}> hi", now=bot.now)
        envelopes = bot.workspace.take()
        with caplog.at_level(logging.ERROR):
            assert await bot.deliver(envelopes) == [503, 503]
        assert "Slack will bring it again: The disk is full." in caplog.text
        assert bot.ends == []
        assert await bot.deliver(envelopes) == [200, 200]
        await bot.idle()
        assert bot.read(root) == ["At last."]


@on_virtual_time
async def test_it_is_stored_before_it_is_acknowledged() -> None:
    store = MemoryStore()
    async with whole_bot(store=store) as bot:
        root = bot.workspace.say("U1", CHANNEL, f"<@{bot.workspace.bot.user_id}> hi", now=bot.now)
        (first, *_) = bot.workspace.take()
        assert await bot.deliver([first]) == [200]
        assert not await store.inbox.accept(f"T1:{CHANNEL}:{root}", bot.now)
        await bot.idle()


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
@on_virtual_time
async def test_whichever_twin_comes_first_the_mention_is_answered_once(order: tuple[int, int]) -> None:
    async with whole_bot(answer("Once.")) as bot:
        root = bot.workspace.say("U1", CHANNEL, f"<@{bot.workspace.bot.user_id}> hi", now=bot.now)
        twins = bot.workspace.take()
        assert {twin.payload["event"]["type"] for twin in twins} == {"app_mention", "message"}
        await bot.deliver([twins[place] for place in order])
        await bot.idle()
        assert bot.read(root) == ["Once."]


@on_virtual_time
async def test_an_ignored_twin_does_not_take_the_key() -> None:
    async with whole_bot(answer("Answered.")) as bot:
        root = bot.workspace.say("U1", CHANNEL, f"<@{bot.workspace.bot.user_id}> hi", now=bot.now)
        twins = bot.workspace.take()
        (spoken,) = [twin for twin in twins if twin.payload["event"]["type"] == "message"]
        changed = {
            **spoken.payload,
            "event": {**spoken.payload["event"], "subtype": "message_changed", "hidden": True},
        }
        await bot.deliver(envelope(changed))
        await bot.deliver([twin for twin in twins if twin is not spoken])
        await bot.idle()
        assert bot.read(root) == ["Answered."]


@on_virtual_time
async def test_a_direct_message_needs_no_mention_and_its_thread_goes_on() -> None:
    async with whole_bot(answer("Hello you."), answer("Again.")) as bot:
        channel = bot.workspace.direct("U1")
        root = await bot.say("hello", channel=channel)
        await bot.idle()
        assert bot.read(root, channel) == ["Hello you."]
        await bot.say("and again", channel=channel, thread_ts=root)
        await bot.idle()
        assert bot.read(root, channel) == ["Hello you.", "Again."]


@on_virtual_time
async def test_what_people_say_to_each_other_is_left_alone() -> None:
    async with whole_bot() as bot:
        root = await bot.say("lunch?")
        await bot.say("yes", user="U2", thread_ts=root)
        await bot.idle()
        assert bot.agent.calls == []
        assert bot.read(root) == []


@on_virtual_time
async def test_a_reply_without_mention_counts_only_while_the_agent_waits_for_its_author() -> None:
    async with whole_bot(question("Which one?"), answer("Done.")) as bot:
        root = await bot.ask("deploy")
        await bot.idle()
        await bot.say("blue", user="U2", thread_ts=root)
        await bot.idle()
        assert len(bot.agent.questions) == 1
        await bot.say("green", thread_ts=root)
        await bot.idle()
        assert [call.text for call in bot.agent.questions] == ["deploy", "green"]
        await bot.say("thanks", thread_ts=root)
        await bot.idle()
        assert len(bot.agent.questions) == 2


@on_virtual_time
async def test_the_bot_never_answers_itself() -> None:
    async with whole_bot(answer("I mention <@U0BOT>.")) as bot:
        await bot.ask("hi")
        await bot.idle()
        for _ in range(3):
            await bot.idle()
        assert len(bot.agent.questions) == 1
        assert set(bot.answers) == {200}


@pytest.mark.parametrize(
    "body",
    [
        event(subtype="message_changed", hidden=True),
        event(subtype="channel_join"),
        mention(edited={"user": "U1", "ts": "2.0"}),
        direct(subtype="message_deleted", hidden=True),
        event(text="hello all"),
        {"type": "event_callback", "team_id": "T1", "event": {"type": "message"}},
    ],
)
@on_virtual_time
async def test_what_is_ignored_is_acknowledged(body: dict[str, Any]) -> None:
    async with whole_bot() as bot:
        assert await bot.deliver(envelope(body)) == [200]
        await bot.idle()
        assert bot.agent.calls == []


@on_virtual_time
async def test_a_bot_that_asks_gets_a_post() -> None:
    async with whole_bot(answer("For a bot."), allowed_bots=["U9"]) as bot:
        bot.workspace.add_user("U9", is_bot=True)
        root = await bot.ask("hi", user="U9")
        await bot.idle()
        assert bot.read(root) == ["For a bot."]
        assert bot.calls("chat.startStream") == []
