"""Acceptance before the ack, with real Bolt and the emulated workspace."""

from __future__ import annotations

import logging
import time
from pathlib import Path
from typing import Any

import pytest
from slack_bolt.request.async_request import AsyncBoltRequest

from slack_bot.errors import StoreError
from slack_bot.observe.facts import MessageIgnored
from slack_bot.store.contracts import Conversation
from slack_bot.store.memory import MemoryStore
from slack_bot.store.sqlite import open_sqlite
from slack_bot.testing.harness import CHANNEL, bot_on_network, run_bot
from slack_bot.testing.slack.workspace import Envelope
from slack_bot.testing.tape.builders import answer, question
from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.turn.record import ThreadKey
from tests.log_watch import log_watch
from tests.store.small_disk import YESTERDAY_KEYS, add_yesterday_keys, count_keys, fill, small_disk

from .payloads import direct, event, mention


def envelope(body: dict[str, Any]) -> list[Envelope]:
    return [Envelope("e1", "events_api", body)]


class SlowToOpen(MemoryStore):
    """A store that cannot take the first `failures` questions."""

    def __init__(self, failures: int) -> None:
        super().__init__()
        self._failures = failures

    def break_down(self) -> None:
        self._failures = 1_000_000

    async def accept(self, key: str, now: float) -> bool:
        if self._failures:
            self._failures -= 1
            raise StoreError("The disk is full.")
        return await super().accept(key, now)


@on_virtual_time
async def test_a_question_that_cannot_be_stored_is_not_acknowledged_and_is_taken_when_it_comes_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with run_bot(answer("At last."), store=SlowToOpen(2)) as bot:
        root = bot.workspace.say("U1", CHANNEL, f"<@{bot.workspace.bot.user_id}> hi", now=bot.now)
        envelopes = bot.workspace.take()
        with caplog.at_level(logging.ERROR):
            assert await bot.deliver(envelopes) == [503, 503]
        assert "Slack will send it again: The disk is full." in caplog.text
        assert bot.outcomes == []
        assert await bot.deliver(envelopes) == [200, 200]
        await bot.idle()
        assert bot.read(root) == ["At last."]


@on_virtual_time
async def test_it_is_stored_before_it_is_acknowledged() -> None:
    store = MemoryStore()
    async with run_bot(store=store) as bot:
        root = bot.workspace.say("U1", CHANNEL, f"<@{bot.workspace.bot.user_id}> hi", now=bot.now)
        (first, *_) = bot.workspace.take()
        assert await bot.deliver([first]) == [200]
        assert not await store.accept(f"T1:{CHANNEL}:{root}", bot.now)
        await bot.idle()


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
@on_virtual_time
async def test_whichever_twin_comes_first_the_mention_is_answered_once(order: tuple[int, int]) -> None:
    async with run_bot(answer("Once.")) as bot:
        root = bot.workspace.say("U1", CHANNEL, f"<@{bot.workspace.bot.user_id}> hi", now=bot.now)
        twins = bot.workspace.take()
        assert {twin.payload["event"]["type"] for twin in twins} == {"app_mention", "message"}
        await bot.deliver([twins[place] for place in order])
        await bot.idle()
        assert bot.read(root) == ["Once."]


@on_virtual_time
async def test_an_ignored_twin_does_not_take_the_key() -> None:
    async with run_bot(answer("Answered.")) as bot:
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
    async with run_bot(answer("Hello you."), answer("Again.")) as bot:
        channel = bot.workspace.direct("U1")
        root = await bot.say("hello", channel=channel)
        await bot.idle()
        assert bot.read(root, channel) == ["Hello you."]
        await bot.say("and again", channel=channel, thread_ts=root)
        await bot.idle()
        assert bot.read(root, channel) == ["Hello you.", "Again."]


@on_virtual_time
async def test_what_people_say_to_each_other_is_left_alone() -> None:
    async with run_bot() as bot:
        ignored: list[MessageIgnored] = []
        bot.app.observers.add(lambda fact: ignored.append(fact) if isinstance(fact, MessageIgnored) else None)
        root = await bot.say("lunch?")
        await bot.say("yes", user="U2", thread_ts=root)
        await bot.idle()
        assert bot.agent.calls == []
        assert bot.read(root) == []
        assert [(fact.user, fact.channel, fact.thread_ts, fact.text, fact.reason) for fact in ignored] == [
            ("U1", CHANNEL, root, "lunch?", "a message that does not mention the bot"),
            (
                "U2",
                CHANNEL,
                root,
                "yes",
                "a reply that does not mention the bot, and the agent waits for no answer from its author",
            ),
        ]


@on_virtual_time
async def test_a_reply_without_mention_counts_only_while_the_agent_waits_for_its_author() -> None:
    async with run_bot(question("Which one?"), answer("Done.")) as bot:
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
    async with run_bot(answer("I mention <@U0BOT>.")) as bot:
        ignored: list[MessageIgnored] = []
        bot.app.observers.add(lambda fact: ignored.append(fact) if isinstance(fact, MessageIgnored) else None)
        await bot.ask("hi")
        await bot.idle()
        for _ in range(3):
            await bot.idle()
        assert len(bot.agent.questions) == 1
        assert set(bot.statuses) == {200}
        assert ignored == [], "nobody wonders why the bot does not answer itself"


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
    async with run_bot() as bot:
        assert await bot.deliver(envelope(body)) == [200]
        await bot.idle()
        assert bot.agent.calls == []


@on_virtual_time
async def test_a_bot_that_asks_gets_a_post() -> None:
    async with run_bot(answer("For a bot."), allowed_bots=["U9"]) as bot:
        bot.workspace.add_user("U9", is_bot=True)
        root = await bot.ask("hi", user="U9")
        await bot.idle()
        assert bot.read(root) == ["For a bot."]
        assert bot.calls("chat.startStream") == []


# -- a store in trouble


NOT_TAKEN = "The bot has a problem and could not take this question. Please ask again in a few minutes."


async def test_a_question_on_a_nearly_full_disk_is_answered(tmp_path: Path) -> None:
    """On the whole path: socket, Bolt, store, redeliveries. Old keys cannot be removed for lack of room."""
    with small_disk(tmp_path) as disk:
        file = disk / "bot.sqlite"
        await (await open_sqlite(file, 24.0)).close()
        add_yesterday_keys(file, time.time())
        fill(disk, leave=24 * 1024)
        store_url = f"sqlite:///{file}"
        async with bot_on_network(answer("Answered.", seconds=0.1), **{"store.url": store_url}) as parts:
            workspace, face, app = parts
            root = workspace.say("U1", CHANNEL, f"<@{workspace.bot.user_id}> hi", now=time.time())
            await face.settle()
            await app.dispatcher.idle()
            assert face.lost == []
            assert [m.text for m in workspace.thread(CHANNEL, root) if m.is_bot] == ["Answered."]
        assert count_keys(file) == YESTERDAY_KEYS + 1


async def test_a_question_that_a_full_disk_refused_is_answered_when_slack_brings_it_again(
    tmp_path: Path,
) -> None:
    with small_disk(tmp_path) as disk, log_watch() as log:
        options = {"store.url": f"sqlite:///{disk}/bot.sqlite", "http": True, "retry_delays": (0.5, 0.5)}
        async with bot_on_network(answer("At last.", seconds=0.1), **options) as (workspace, face, app):
            filler = fill(disk, leave=0)
            root = workspace.say("U1", CHANNEL, f"<@{workspace.bot.user_id}> hi", now=time.time())
            await log.wait_for("Slack will send it again", times=2)
            filler.unlink()
            await face.settle()
            await app.dispatcher.idle()
            assert [m.text for m in workspace.thread(CHANNEL, root) if m.is_bot] == ["At last."]


@on_virtual_time
async def test_when_slack_comes_for_the_last_time_the_asker_is_told_once() -> None:
    async with run_bot(answer("Again."), store=SlowToOpen(8)) as bot:
        root = bot.workspace.say("U1", CHANNEL, f"<@{bot.workspace.bot.user_id}> hi", now=bot.now)
        envelopes = bot.workspace.take()
        for retry in range(3):
            assert await bot.deliver(envelopes, retry=retry) == [503, 503]
            await bot.idle()
            assert bot.read(root) == []
        assert await bot.deliver(envelopes, retry=3) == [200, 200]
        await bot.idle()
        (notice,) = [seen.read for seen in bot.thread(root) if seen.is_bot]
        assert NOT_TAKEN in notice
        await bot.ask("hi", thread_ts=root)
        await bot.idle()
        assert bot.read(root)[1:] == ["Again."]


@on_virtual_time
async def test_the_twin_of_a_question_that_was_taken_needs_no_store() -> None:
    store = SlowToOpen(0)
    async with run_bot(answer("Answered."), store=store) as bot:
        root = bot.workspace.say("U1", CHANNEL, f"<@{bot.workspace.bot.user_id}> hi", now=bot.now)
        one, other = bot.workspace.take()
        assert await bot.deliver([one]) == [200]
        store.break_down()
        assert await bot.deliver([other]) == [200]
        await bot.idle()
        assert await bot.deliver([one, other], retry=3) == [200, 200]
        await bot.idle()
        assert bot.read(root) == ["Answered."]
        assert not bot.app.dispatcher.is_store_broken


@on_virtual_time
async def test_what_people_say_to_each_other_is_never_answered_with_a_problem_of_the_store() -> None:
    class Unreadable(MemoryStore):
        async def conversation(self, agent: str, thread: ThreadKey) -> Conversation:
            raise StoreError("The disk is gone.")

    async with run_bot(store=Unreadable()) as bot:
        root = bot.workspace.say("U1", CHANNEL, "lunch?", now=bot.now)
        bot.workspace.say("U2", CHANNEL, "yes", now=bot.now, thread_ts=root)
        envelopes = bot.workspace.take()
        assert await bot.deliver(envelopes, retry=2) == [200, 503]
        assert await bot.deliver(envelopes, retry=3) == [200, 200]
        await bot.idle()
        assert bot.read(root) == []


@pytest.mark.parametrize("number", ["", "x", "-1", "9" * 5_000, "³"])
@on_virtual_time
async def test_a_retry_number_that_is_none_counts_as_the_first_delivery(number: str) -> None:
    async with run_bot(store=SlowToOpen(99)) as bot:
        bot.workspace.say("U1", CHANNEL, f"<@{bot.workspace.bot.user_id}> hi", now=bot.now)
        body = dict(bot.workspace.take()[0].payload)
        headers = {"x-slack-retry-num": [number]}
        request = AsyncBoltRequest(body=body, mode="socket_mode", headers=headers)
        assert (await bot.app.bolt.async_dispatch(request)).status == 503
