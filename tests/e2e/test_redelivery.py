"""Each question is answered once, whatever Slack delivers again: events that were not acknowledged in time,
and what was, minutes later, out of order, as `app_mention` and as `message`, by another socket (facts: Slack
3.3, 3.4, 8).
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from slack_bolt.request.async_request import AsyncBoltRequest

from slack_bot.app import App, build
from slack_bot.clock import system_clock
from slack_bot.errors import StoreError
from slack_bot.testing import virtual_clock
from slack_bot.testing.agent.scripted import ScriptedAgent, serve_scripted
from slack_bot.testing.harness import (
    CHANNEL,
    BotHarness,
    bot_settings,
    connected,
    deliver,
    emulated,
    free_port,
    run_bot,
    wait_until,
)
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.testing.overrides import with_overrides
from slack_bot.testing.slack.server import EventDelivery, SlackServer, sign
from slack_bot.testing.slack.workspace import SIGNING_SECRET, Envelope, Workspace, WorkspaceRules
from slack_bot.testing.tape.builders import answer
from slack_bot.turn.progress import TurnRecord
from tests.examples import examples, unheard

MINUTE = 60.0
OFTEN = (0.0, *(0.3 for _ in range(60)))
"""Slack comes more often than the real one: a machine that stands still for seconds loses no question."""
BOTH_MODES = pytest.mark.parametrize("http", [False, True], ids=["sockets", "http"])


class Places:
    """Questions in a workspace: mentions, replies in their threads, direct messages."""

    def __init__(self, workspace: Workspace, now: Callable[[], float]) -> None:
        self.workspace, self._now = workspace, now
        self.asked: list[str] = []
        self.threads: dict[tuple[str, str], int] = {}

    def ask(self, number: int) -> None:
        """Three questions: two in one thread, and a direct message."""
        me, user = f"<@{self.workspace.bot.user_id}>", f"U{number % 3 + 1}"
        root = self._say(user, CHANNEL, f"{me} mention {number}")
        self._say(user, CHANNEL, f"{me} reply {number}", root)
        self._say(user, self.workspace.direct(user), f"direct {number}")

    def _say(self, user: str, channel: str, text: str, root: str | None = None) -> str:
        ts = self.workspace.say(user, channel, text, now=self._now(), thread_ts=root)
        self.asked.append(text.partition("> ")[2] or text)
        place = (channel, root or ts)
        self.threads[place] = self.threads.get(place, 0) + 1
        return ts

    def answers(self) -> dict[tuple[str, str], int]:
        """How many finished answers stand in each thread."""
        return {
            (channel, root): sum(
                seen.is_bot and seen.state != "streaming" and not seen.ephemeral_for
                for seen in self.workspace.thread(channel, root)
            )
            for channel, root in self.threads
        }

    def check(self, agent: ScriptedAgent) -> None:
        assert sorted(call.text for call in agent.questions) == sorted(self.asked)
        assert self.answers() == self.threads


class Served:
    """A bot on the network, in a workspace that keeps all it sends."""

    def __init__(self, workspace: Workspace, server: SlackServer, agent: ScriptedAgent, app: App) -> None:
        self.server, self.agent, self.app = server, agent, app
        self.delivery: EventDelivery = server.events or server.sockets
        self.sent: list[Envelope] = []
        self.places = Places(workspace, app.clock.wall)

    async def finished(self) -> None:
        await wait_until(lambda: self.places.answers() == self.places.threads, self.places.workspace, 60)
        await self.server.settle()
        await self.app.threads.idle()

    async def repeat(self, envelope: Envelope, attempt: int) -> bool:
        return await self.delivery.repeat(envelope, attempt)


@asynccontextmanager
async def served(
    monkeypatch: pytest.MonkeyPatch, http: bool, store: MemoryStore, **times: Any
) -> AsyncIterator[Served]:
    """In Socket Mode with two connections. `times` are Slack's."""
    workspace, clock, port = Workspace(rules=WorkspaceRules.real()), system_clock(), free_port()
    workspace.add_channel(CHANNEL)
    bot_url = f"http://127.0.0.1:{port}/slack/events" if http else None
    agent = ScriptedAgent(answer("Once and whole.", seconds=0.05))
    async with (
        serve_scripted(agent) as agent_url,
        SlackServer(workspace, clock, bot_url=bot_url, **times) as server,
    ):
        settings = emulated(bot_settings({"http_port": port}, agent_url), server.api_url)
        settings = with_overrides(settings, {"http_host": "127.0.0.1", "max_failures": 1_000})
        async with await build(settings, clock=clock, store=store) as app, AsyncExitStack() as stack:
            for _ in range(1 if http else 2):
                await stack.enter_async_context(connected(app, http=http))
            bot = Served(workspace, server, agent, app)
            send = bot.delivery.deliver

            async def keep(envelope: Envelope) -> None:
                bot.sent.append(envelope)
                await send(envelope)

            monkeypatch.setattr(bot.delivery, "deliver", keep)
            yield bot


class SlowStore(MemoryStore):
    """Takes its time to accept a question, and cannot at first."""

    def __init__(self, seconds: float = 0.0, failures: int = 0) -> None:
        super().__init__()
        self.seconds, self.failures = seconds, failures

    async def accept(self, turn: TurnRecord) -> bool:
        await asyncio.sleep(self.seconds)
        if self.failures:
            self.failures -= 1
            raise StoreError("The disk is full.")
        return await super().accept(turn)


@BOTH_MODES
async def test_what_was_acknowledged_comes_again_later_out_of_order_and_elsewhere(
    http: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served(monkeypatch, http, MemoryStore(), ack_timeout=60.0) as bot:
        assert http or bot.server.sockets.connections >= 2
        for number in range(4):
            bot.places.ask(number)
        await asyncio.sleep(0)
        assert len(bot.sent) == 4 * 5
        again = [bot.repeat(envelope, attempt) for envelope in bot.sent[::-1] for attempt in (1, 1)]
        assert all(await asyncio.gather(*again))
        await bot.finished()
        late = [bot.repeat(envelope, attempt) for attempt in (3, 2) for envelope in bot.sent[::-1]]
        assert all(await asyncio.gather(*late))
        await bot.finished()
        assert {each.payload["event"]["type"] for each in bot.sent} == {"app_mention", "message"}
        bot.places.check(bot.agent)


@BOTH_MODES
async def test_what_is_stored_too_slowly_comes_again_and_is_answered_once(
    http: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = {"ack_timeout": 0.2, "retry_delays": OFTEN}
    async with served(monkeypatch, http, SlowStore(0.3), **times) as bot:
        for number in range(2):
            bot.places.ask(number)
        await bot.finished()
        assert bot.server.lost == []
        bot.places.check(bot.agent)


@BOTH_MODES
async def test_what_cannot_be_stored_at_first_is_taken_when_it_comes_again(
    http: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # each of the 6 questions comes as one or two events
    store = SlowStore(failures=14)
    times = {"ack_timeout": 60.0 if http else 0.2, "retry_delays": OFTEN}
    async with served(monkeypatch, http, store, **times) as bot:
        for number in range(2):
            bot.places.ask(number)
        await bot.finished()
        assert (store.failures, bot.server.lost) == (0, [])
        bot.places.check(bot.agent)


# -- any order, any time


async def post(app: App, payload: Mapping[str, Any], retry: int) -> int:
    """Hand a payload to the bot as the Events API does."""
    now, body = int(time.time()), json.dumps(payload)
    headers = {
        "content-type": ["application/json"],
        "x-slack-request-timestamp": [str(now)],
        "x-slack-signature": [sign(SIGNING_SECRET, now, body)],
        **({"x-slack-retry-num": [str(retry)]} if retry else {}),
    }
    return (await app.bolt.async_dispatch(AsyncBoltRequest(body=body, headers=headers))).status


async def hand_over(bot: BotHarness, envelope: Envelope, retry: int, after: float, http: bool) -> None:
    await asyncio.sleep(after)
    if http:
        assert await post(bot.app, envelope.payload, retry) == 200
    else:
        assert (await deliver(bot.app, envelope.payload, retry=retry)).status == 200


AFTER = st.sampled_from([0.0, 0.0, 0.001, 0.5, 3.0, MINUTE, 6 * MINUTE, 7 * MINUTE])
"""Seconds until an event comes, or comes again."""
TIMES = st.lists(st.lists(AFTER, min_size=1, max_size=4), min_size=10, max_size=10)


@given(times=TIMES, http=st.booleans(), mention_first=st.booleans())
@examples(200)
def test_at_any_times_in_any_order_each_question_is_answered_once(
    times: list[list[float]], http: bool, mention_first: bool
) -> None:
    async def story() -> None:
        rules = WorkspaceRules.real()
        async with run_bot(answer("Once."), rules=rules) as bot:
            places = Places(bot.workspace, lambda: bot.now)
            bot.workspace.state.rules = WorkspaceRules(mention_first=mention_first)
            for number in range(2):
                places.ask(number)
            envelopes = bot.workspace.take()
            assert len(envelopes) == len(times)
            await asyncio.gather(
                *(
                    hand_over(bot, envelope, retry, after, http)
                    for envelope, comes in zip(envelopes, times, strict=True)
                    for retry, after in enumerate(comes)
                )
            )
            await bot.idle()
            places.check(bot.agent)

    with unheard():
        virtual_clock.run(story())
