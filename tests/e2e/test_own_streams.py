"""A start without an answer: Slack's own event about the stream says that there is one, and which.

The thread cannot be read here, so nothing but the event tells. The reader sees the answer whole and once, and
no stream stays open, whether the event comes before the call is given up, after it, after another surface was
taken, or when the turn is over.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from slack_bot.testing.harness import CHANNEL, BotHarness, bot_on_network, run_bot, wait_until
from slack_bot.testing.slack.workspace import Envelope, SeenMessage, Workspace
from slack_bot.testing.tape.builders import answer
from slack_bot.testing.virtual_clock import on_virtual_time

START, STOP, DELETE = "chat.startStream", "chat.stopStream", "chat.delete"
TEXT = "One two three four five six seven eight nine ten eleven twelve."
UNREADABLE = {"conversations.replies": ["missing_scope"]}
MANIFEST = Path(__file__).parents[2] / "docs" / "slack-app-manifest.json"


def began(envelope: Envelope) -> bool:
    return envelope.payload.get("event", {}).get("streaming_state") == "in_progress"


class Mail:
    """What Slack delivers, as it comes; what `holds` picks stays until it is let go."""

    def __init__(self, bot: BotHarness, holds: Callable[[Envelope], bool]) -> None:
        self._bot, self._holds = bot, holds
        self.held: list[Envelope] = []

    async def deliver(self) -> None:
        more = asyncio.Event()
        self._bot.workspace.listen(lambda _: more.set())
        while True:
            more.clear()
            for envelope in self._bot.workspace.take():
                if self._holds(envelope):
                    self.held.append(envelope)
                else:
                    await self._bot.deliver([envelope])
            await more.wait()

    async def let_go(self) -> None:
        held, self.held = self.held, []
        assert await self._bot.deliver(held) == [200] * len(held)


@asynccontextmanager
async def mail(bot: BotHarness, holds: Callable[[Envelope], bool] = lambda _: False) -> AsyncIterator[Mail]:
    post = Mail(bot, holds)
    delivering = asyncio.create_task(post.deliver())
    try:
        yield post
    finally:
        delivering.cancel()
        with suppress(asyncio.CancelledError):
            await delivering


def answers(bot: BotHarness, root: str) -> list[SeenMessage]:
    return [message for message in bot.thread(root) if message.is_bot]


def whole(bot: BotHarness, root: str) -> str:
    """What the reader has in the end. No stream may be open then."""
    assert bot.workspace.open_streams() == []
    return "".join(bot.read(root))


@pytest.mark.parametrize("entry", ["timeout!", "slow:9!", "internal_error!", "cut!", "http:502!"])
@on_virtual_time
async def test_where_the_thread_cannot_be_read_the_event_suffices(entry: str) -> None:
    async with run_bot(answer(TEXT, seconds=8), faults={START: [entry, None], **UNREADABLE}) as bot:
        async with mail(bot):
            root = await bot.ask("hi")
            await bot.idle()
        assert whole(bot, root) == TEXT
        assert len(answers(bot, root)) == 2
        assert bot.calls(DELETE) == bot.calls("conversations.replies") == []


@on_virtual_time
async def test_an_answer_that_never_comes_is_not_waited_for_to_the_end() -> None:
    """The event tells at once; a call may take ten seconds."""
    async with run_bot(answer(TEXT, seconds=8), faults={START: ["timeout!", None], **UNREADABLE}) as bot:
        async with mail(bot):
            root = await bot.ask("hi")
            await asyncio.sleep(5.5)
            assert len(answers(bot, root)) == 2
            assert len(bot.calls(STOP)) == 1
            await bot.idle()
        assert whole(bot, root) == TEXT


@on_virtual_time
async def test_an_event_that_comes_when_the_call_was_given_up_is_not_waited_past() -> None:
    async with run_bot(answer(TEXT, seconds=8), faults={START: ["timeout!", None], **UNREADABLE}) as bot:
        async with mail(bot, began) as post:
            root = await bot.ask("hi")
            await asyncio.sleep(12)
            assert len(answers(bot, root)) == 1
            await post.let_go()
            await asyncio.sleep(0.5)
            assert len(bot.calls(STOP)) >= 1
            await bot.idle()
        assert whole(bot, root) == TEXT


@pytest.mark.parametrize("over", [False, True])
@pytest.mark.parametrize("start", [["timeout!", None], ["timeout!", "channel_type_not_supported"]])
@on_virtual_time
async def test_a_stream_that_shows_itself_late_is_stopped_and_taken_away(
    start: list[str | None], over: bool
) -> None:
    """The rest went on in another stream, or on another surface: the late one stands there twice."""
    async with run_bot(answer(TEXT, seconds=60), faults={START: start, **UNREADABLE}) as bot:
        async with mail(bot, began) as post:
            root = await bot.ask("hi")
            await asyncio.sleep(40)
            (lost, *_) = bot.workspace.open_streams()
            assert len(answers(bot, root)) == 2
            if over:
                await bot.app.threads.idle()
                assert bot.outcomes == ["answered"]
            await post.let_go()
            await asyncio.sleep(1)
            assert lost not in [message.ts for message in answers(bot, root)]
            assert ("answered" in bot.outcomes) is over
            await bot.idle()
        assert whole(bot, root) == TEXT
        assert len(answers(bot, root)) == 1


@on_virtual_time
async def test_a_stream_of_the_turn_before_is_not_taken_for_this_one() -> None:
    """Its event is late; the next answer neither goes into it nor waits for it."""
    again = "A second answer that is quite another one."
    faults = {START: ["timeout!", "timeout", None], **UNREADABLE}
    async with run_bot(answer("First.", seconds=1), answer(again, ids="2"), faults=faults) as bot:
        async with mail(bot, began) as post:
            root = await bot.ask("hi")
            await bot.app.threads.idle()
            (lost,) = bot.workspace.open_streams()
            await bot.ask("and?", thread_ts=root)
            await asyncio.sleep(5)
            await post.let_go()
            await bot.idle()
        assert lost not in [message.ts for message in answers(bot, root)]
        assert whole(bot, root) == f"First.{again}"


@on_virtual_time
async def test_another_app_s_stream_is_nobody_s() -> None:
    def foreign(envelope: Envelope) -> Envelope:
        body = {**envelope.payload["event"], "bot_id": "B0OTHER", "user": "U0OTHER"}
        return Envelope("other", "events_api", {**envelope.payload, "event": body})

    async with run_bot(answer(TEXT, seconds=8), faults={START: ["timeout!", None], **UNREADABLE}) as bot:
        async with mail(bot, began) as post:
            root = await bot.ask("hi")
            await asyncio.sleep(5)
            await bot.deliver([foreign(each) for each in post.held])
            await asyncio.sleep(4)
            assert bot.calls(STOP) == []
            await post.let_go()
            await bot.idle()
        assert whole(bot, root) == TEXT


@on_virtual_time
async def test_a_start_that_was_refused_owns_no_event() -> None:
    faults = {START: ["channel_type_not_supported"]}
    async with run_bot(answer(TEXT), faults=faults) as bot:
        root = await bot.ask("hi")
        await asyncio.sleep(2)
        event = {"type": "message", "bot_id": "B0BOT", "streaming_state": "in_progress", "channel": CHANNEL}
        body = {**event, "ts": f"{bot.now:.6f}", "thread_ts": root, "text": ""}
        await bot.deliver([Envelope("e", "events_api", {"type": "event_callback", "event": body})])
        await bot.idle()
        assert whole(bot, root) == TEXT
        assert bot.calls(STOP) == []


def is_done(workspace: Workspace, root: str) -> bool:
    texts = [message.text for message in workspace.thread(CHANNEL, root) if message.is_bot]
    return "".join(texts) == TEXT and not workspace.open_streams()


@pytest.mark.parametrize("http", [False, True])
async def test_the_event_comes_over_the_real_wire(http: bool) -> None:
    async with bot_on_network(answer(TEXT, seconds=0.5), http=http, start_answer_wait=0.1) as (
        workspace,
        face,
        app,
    ):
        workspace.faults.set(START, ["timeout!", None])
        workspace.faults.set("conversations.replies", ["missing_scope"])
        root = workspace.say("U1", CHANNEL, f"<@{workspace.bot.user_id}> hi", now=time.time())
        await wait_until(lambda: is_done(workspace, root), workspace, within=5)
        await app.threads.idle()
        await face.settle()
        assert face.lost == []


def test_the_manifest_asks_slack_for_these_events() -> None:
    manifest = json.loads(MANIFEST.read_text("utf-8"))
    events = set(manifest["settings"]["event_subscriptions"]["bot_events"])
    asked = manifest["oauth_config"]["scopes"]
    scopes = {*asked["bot"], *asked["bot_optional"]}
    assert {"message.channels", "message.groups", "message.im", "message.mpim"} <= events
    assert {"channels:history", "groups:history", "im:history", "mpim:history"} <= scopes
