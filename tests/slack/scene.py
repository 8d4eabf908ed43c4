"""A thread of the emulated workspace with an answer in it, on virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

from slack_sdk.web.async_client import AsyncWebClient

from slack_bot.agents.task.stream_consumer import TurnHandle
from slack_bot.clock import Clock
from slack_bot.observe.facts import Fact, SlackCalled
from slack_bot.settings.models import GovernorSettings, SlackSettings, StreamSettings
from slack_bot.slack.api import SlackApi
from slack_bot.slack.faults import StreamingRefusalCache
from slack_bot.slack.orders import Step
from slack_bot.slack.people import People
from slack_bot.slack.rate_limiter.local import RateLimiter
from slack_bot.slack.status import TypingStatus
from slack_bot.slack.stream_starts import StreamStartTracker
from slack_bot.slack.surfaces import PostSurface, StreamSurface
from slack_bot.slack.turn_calls import TurnCalls
from slack_bot.slack.workspaces import Installation, Workspaces
from slack_bot.slack.writer import FetchFile, TurnServices, Writer
from slack_bot.testing.slack.in_process import SlackSession
from slack_bot.testing.slack.workspace import BOT_TOKEN, SeenMessage, Workspace
from slack_bot.testing.virtual_clock import WALL_ZERO, new_clock
from slack_bot.turn.extras import ExtraRecord
from slack_bot.turn.form import Form
from slack_bot.turn.progress import MessageRecord
from slack_bot.turn.record import Question, ThreadKey

TURN = "T1:C1:1.2"
Faults = Mapping[str, Sequence[str | None]]


_T = TypeVar("_T")
_writers: dict[str, Writer] = {}


async def run(step: Step[_T]) -> _T:
    """Carry out what `step` orders, by the writer that was made last."""
    return await _writers[""].carry_out(step)


def waiting_for(limiter: RateLimiter) -> int:
    """How many calls wait for a permit."""
    return sum(len(bucket.waiting) for bucket in limiter._governor._buckets.values())


def unlimited(clock: Clock) -> RateLimiter:
    """Grants every call at once, until Slack refuses one."""
    rates = {name: 1e6 for name in GovernorSettings.model_fields if name.endswith("_per_minute")}
    return RateLimiter(GovernorSettings(**rates, posts_per_second=1e6, post_burst=1e6), clock)


class _Nothing:
    """Stores nothing."""

    async def task_known(self, task_id: str | None, context_id: str | None) -> None:
        pass

    async def shown(self, messages: tuple[MessageRecord, ...]) -> None:
        pass

    async def attached(self, extras: tuple[ExtraRecord, ...]) -> None:
        pass

    async def open_form(self, form: Form) -> str:
        return ""

    async def form_shown(self, message: MessageRecord | None) -> None:
        pass


class Scene:
    """Somebody has asked something in a channel; `answer` is what is written there."""

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
        self.writer = self.new_writer(refusals)
        self.answer = self.writer.answer

    def new_writer(self, refusals: StreamingRefusalCache | None = None) -> Writer:
        """Writes for this turn; `run` uses the last one that was made."""
        calls = TurnCalls(
            self.question, self.settings, refusals or StreamingRefusalCache(), self.stream_starts
        )
        api = self.api.for_turn(calls.turn, calls.thread_ts)
        writer = _writers[""] = Writer(calls, api, self.clock)
        return writer

    def serve(self, fetch: FetchFile) -> None:
        """Nothing of the turn is stored; linked files are got by `fetch`."""
        self.writer.serve(TurnServices(_Nothing(), TurnHandle(), fetch))

    def new_calls(self) -> TurnCalls:
        """Calls of this turn."""
        return self.new_writer().calls

    def streams(self, calls: TurnCalls | None = None) -> StreamSurface:
        """Streamed messages of this turn."""
        calls = calls or self.new_calls()
        return StreamSurface(calls, self.posts(calls))

    def posts(self, calls: TurnCalls | None = None) -> PostSurface:
        """Messages of this turn that are written as a whole."""
        return PostSurface(calls or self.new_calls(), has_status=True)

    def status(self) -> TypingStatus:
        """The typing status of this turn."""
        calls = self.new_calls()
        api = self.api.for_turn(calls.turn, calls.thread_ts)
        return TypingStatus(calls, api, self.clock)

    def thread(self) -> list[SeenMessage]:
        """What the bot wrote, as a person sees it."""
        return [message for message in self.workspace.thread(self.channel, self.root) if message.is_bot]

    def only(self) -> SeenMessage:
        """The one message the bot wrote."""
        (message,) = self.thread()
        return message

    def answer_text(self) -> str:
        """The answer's part of all texts."""
        added = {each.ts: each for each in self.answer.state.records}
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


def workspaces_of(
    scene: Scene, identity: Callable[[], Awaitable[Mapping[str, Any]]] | None = None
) -> Workspaces:
    """The only workspace of a bot, that of the scene. `identity`: what `auth.test` says."""
    api = SlackApi(
        scene.client, scene.clock, scene.facts.append, 60.0, unlimited(scene.clock), None, None, identity
    )
    people = People(api, SlackSettings(), scene.clock)
    return Workspaces(Installation("", scene.client, api, people))
