"""A thread of the emulated workspace with a sink in it, on virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient

from slack_bot.clock import Clock
from slack_bot.observe.facts import Fact, SlackCalled
from slack_bot.settings.models import GovernorSettings, StreamSettings
from slack_bot.slack.api import SlackApi
from slack_bot.slack.faults import StreamingRefusalCache
from slack_bot.slack.rate_limiter.local import RateLimiter
from slack_bot.slack.sink import Sink
from slack_bot.slack.stream_starts import StreamStartTracker
from slack_bot.slack.surfaces import PostSurface, StreamSurface
from slack_bot.slack.turn_client import TurnClient
from slack_bot.testing.slack.in_process import SlackSession
from slack_bot.testing.slack.workspace import BOT_TOKEN, SeenMessage, Workspace
from slack_bot.testing.virtual_clock import WALL_ZERO, new_clock
from slack_bot.turn.record import Question, ThreadKey

TURN = "T1:C1:1.2"
Faults = Mapping[str, Sequence[str | None]]


def waiting_for(limiter: RateLimiter) -> int:
    """How many calls wait for a permit."""
    return sum(len(bucket.waiting) for bucket in limiter._governor._buckets.values())


def unlimited(clock: Clock) -> RateLimiter:
    """Grants every call at once, until Slack refuses one."""
    rates = {name: 1e6 for name in GovernorSettings.model_fields if name.endswith("_per_minute")}
    return RateLimiter(GovernorSettings(**rates, posts_per_second=1e6, post_burst=1e6), clock)


class Scene:
    """Somebody has asked something in a channel; `sink` is where the answer goes."""

    def __init__(
        self,
        faults: Faults | None = None,
        *,
        user: str = "U1",
        team: str = "T1",
        can_stream: bool = True,
        memory: StreamingRefusalCache | None = None,
        channel: str | None = None,
        token: str = BOT_TOKEN,
        **settings: Any,
    ) -> None:
        self.workspace = Workspace(faults=faults)
        self.workspace.add_user(user, team=team)
        self.workspace.add_channel("C1")
        self.channel = channel or "C1"
        if self.channel == "D":
            self.channel = self.workspace.direct(user)
        self.root = self.workspace.say(user, self.channel, "question", now=WALL_ZERO)
        self.facts: list[Fact] = []
        self.clock = new_clock()
        self.client = AsyncWebClient(
            token=token,
            session=SlackSession(self.workspace, self.clock),  # type: ignore[arg-type]
            retry_handlers=[],
        )
        self.settings = StreamSettings(**settings)
        limiter = unlimited(self.clock)
        self.api = SlackApi(self.client, self.clock, self.facts.append, self.settings.retry_timeout, limiter)
        thread = ThreadKey("T1", self.channel, self.root)
        self.question = Question(thread, "1.2", user, team, "question", asker_is_bot=not can_stream)
        self.stream_starts = StreamStartTracker(asyncio.ensure_future)
        refusals = memory or StreamingRefusalCache(self.settings.streaming_refusal_ttl)
        self.sink = Sink(self._client(refusals))

    def turn_client(self, on_wait: Callable[[], None] = lambda: None) -> TurnClient:
        """Calls of this turn."""
        client = self._client(StreamingRefusalCache())
        client.on_wait = on_wait
        return client

    def _client(self, refusals: StreamingRefusalCache) -> TurnClient:
        return TurnClient(self.api, self.question, self.settings, self.clock, refusals, self.stream_starts)

    def streams(self, client: TurnClient | None = None) -> StreamSurface:
        """Streamed messages of this turn."""
        client = client or self.turn_client()
        return StreamSurface(client, self.posts(client))

    def posts(self, client: TurnClient | None = None) -> PostSurface:
        """Messages of this turn that are written as a whole."""
        return PostSurface(client or self.turn_client())

    def thread(self) -> list[SeenMessage]:
        """What the bot wrote, as a person sees it."""
        return [message for message in self.workspace.thread(self.channel, self.root) if message.is_bot]

    def only(self) -> SeenMessage:
        """The one message the bot wrote."""
        (message,) = self.thread()
        return message

    def answer(self) -> str:
        """The answer's part of all texts."""
        added = {each.ts: each for each in self.sink.delivery.records}
        texts: list[str] = []
        for message in self.thread():
            text, markup = message.text, added.get(message.ts)
            texts.append(text.removeprefix(markup.opening).removesuffix(markup.closing) if markup else text)
        return "".join(texts)

    def texts(self) -> list[str]:
        """The text of each message of the bot."""
        return [message.text for message in self.thread()]

    def methods(self) -> list[str]:
        """The methods called, in order."""
        return [call.method for call in self.workspace.calls]

    def told(self) -> list[SlackCalled]:
        """What the watcher was told."""
        return [fact for fact in self.facts if isinstance(fact, SlackCalled)]
