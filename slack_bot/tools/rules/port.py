"""What a probe works with: a workspace behind slack_sdk, a place in it, and the table of all probes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias, TypeVar

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from ...clock import Clock
from ...settings.slack_rules import CATALOGUE, OK, RuleValue
from ...testing.slack.rules import METHODS
from .ears import Ears, HttpEars, SocketEars, Way, open_socket
from .hand import Hand

T = TypeVar("T")
_LIMITED = ("ratelimited", "rate_limited")
_OTHER_WAY: Mapping[Way, str] = {
    "delivery": "events come by HTTP",
    "http": "events come by Socket Mode; --http PORT hears those of an app in HTTP mode",
}
_NO_EVENTS = "no event can be heard without SLACK_APP_TOKEN"
_PAUSE = 3.0  # seconds, where Slack names none
_NOT_OURS = {
    "missing_scope": "the token lacks the scope {needed}",
    "not_allowed_token_type": "{method} takes another kind of token",
}
"""Errors that say something about the token, and nothing about the rule."""


class CannotTell(Exception):
    """A rule cannot be looked at here. `str()` says why."""


@dataclass(frozen=True, slots=True)
class CallReply:
    """What came back. `error`: `ok`, Slack's error, or `http_STATUS` for a page that is no JSON."""

    error: str
    body: Mapping[str, Any] = field(default_factory=dict)
    status: int = 200
    retry_after: float | None = None

    @property
    def is_limited(self) -> bool:
        """The call came too often."""
        return self.error in _LIMITED


class SlackPort:
    """A workspace. `calls`: how many were made. `roots`: the messages written outside threads.

    `app_token`: for connections of Socket Mode. `hand`: a person there.
    """

    def __init__(
        self,
        client: AsyncWebClient,
        http: aiohttp.ClientSession,
        clock: Clock,
        *,
        app_token: str | None = None,
        hand: Hand | None = None,
    ) -> None:
        self.clock, self.http, self.calls = clock, http, 0
        self._client, self._app_token, self._hand = client, app_token, hand
        self._ears: Ears | None = None
        self._silence = _NO_EVENTS
        self._made: dict[str, asyncio.Future[Any]] = {}
        self.roots: list[tuple[str, str]] = []

    async def once(self, name: str, make: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """What `make` gives, which is made once for all probes that ask for this `name`."""
        if name not in self._made:
            self._made[name] = asyncio.ensure_future(make())
            self._made[name].add_done_callback(_take_error)
        made: T = await asyncio.shield(self._made[name])
        return made

    @property
    def ears(self) -> Ears:
        """Raises CannotTell where no events come."""
        if self._ears is None:
            raise CannotTell(self._silence)
        return self._ears

    def ears_by(self, way: Way) -> Ears:
        """The same, for events that come so."""
        if self.ears.way != way:
            raise CannotTell(_OTHER_WAY[way])
        return self.ears

    @asynccontextmanager
    async def listening(self, at: int | str | None = None) -> AsyncIterator[int]:
        """Hear the app's events meanwhile: by Socket Mode, or by HTTP at a port or on a socket of the file
        system. Gives how many other connections the app has.

        Raises CannotTell without a token for that, NoConnection where Slack lets none in, OSError where `at`
        cannot be had.
        """
        socket, count = (None, 1) if at is not None else await self.connect()
        ears = SocketEars(socket, self.clock) if socket is not None else HttpEars(at or 0, self.clock)
        async with ears as self._ears:
            yield count - 1
        self._ears = None

    async def connect(self) -> tuple[aiohttp.ClientWebSocketResponse, int]:
        """A connection, and how many the app has with it. Raises as `listening`."""
        return await open_socket(self.http, await self.ticket())

    async def ticket(self) -> str:
        """The address of a connection, good for one. Raises CannotTell."""
        if self._app_token is None:
            raise CannotTell(_NO_EVENTS if self._ears is None else _OTHER_WAY["delivery"])
        try:
            return str((await self.ok("apps.connections.open", token=self._app_token)).get("url"))
        except CannotTell as reason:
            self._silence = f"no event can be heard: {reason}"
            raise

    @property
    def hand(self) -> Hand:
        """Raises CannotTell where nobody is there."""
        if self._hand is None:
            raise CannotTell("a person has to do something in Slack; run it in a terminal, with --hand")
        return self._hand

    async def call(self, method: str, *, hurry: bool = False, **args: Any) -> CallReply:
        """Call a method; one that came too often is repeated after its Retry-After, but for `hurry`.

        Raises CannotTell for a token that may not call it, and where no answer comes.
        """
        while True:
            answer = await self._send(method, args)
            if hurry or not answer.is_limited:
                break
            await asyncio.sleep(answer.retry_after or _PAUSE)
        if (reason := _NOT_OURS.get(answer.error)) is not None:
            needed = str(answer.body.get("needed", "")).replace(",", " or ")
            raise CannotTell(reason.format(needed=needed, method=method))
        return answer

    async def answer_to(self, method: str, **args: Any) -> ProbeResult:
        """Slack's answer as what was observed: `ok` or its error."""
        return ProbeResult((await self.call(method, **args)).error)

    async def ok(self, method: str, **args: Any) -> Mapping[str, Any]:
        """The body of an answer without an error; else CannotTell."""
        answer = await self.call(method, **args)
        if answer.error != OK:
            raise CannotTell(f"{method} is refused ({answer.error})")
        return answer.body

    async def takes(self, method: str, **args: Any) -> bool:
        """Whether Slack answers without an error."""
        return (await self.call(method, **args)).error == OK

    async def _send(self, method: str, args: Mapping[str, Any]) -> CallReply:
        self.calls += 1
        is_form = method in METHODS and METHODS[method].form_only
        token, args = args.get("token"), {name: value for name, value in args.items() if name != "token"}
        given: dict[str, Any] = {"data": args} if is_form or not args else {"json": args}
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        try:
            answer = await self._client.api_call(method, headers=headers, **given)
        except SlackApiError as error:
            return _refusal(error)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise CannotTell(f"{method} had no answer ({type(error).__name__})") from error
        body = answer.data if isinstance(answer.data, dict) else {}
        if method in ("chat.postMessage", "chat.startStream") and not args.get("thread_ts"):
            self.roots.append((str(body.get("channel") or args.get("channel")), str(body.get("ts"))))
        return CallReply(OK, body)


def _take_error(made: asyncio.Future[Any]) -> None:
    """All who waited for it may be gone, after Ctrl-C: then it is no news that it failed."""
    if not made.cancelled():
        made.exception()


def _refusal(error: SlackApiError) -> CallReply:
    response = error.response
    if isinstance(response, dict):  # what slack_sdk makes of a page that is no JSON
        return CallReply(f"http_{response.get('status')}")
    body = response.data if isinstance(response.data, dict) else {}
    pause = next((value for name, value in response.headers.items() if name.lower() == "retry-after"), None)
    name = str(body.get("error") or f"http_{response.status_code}")
    return CallReply(name, body, response.status_code, None if pause is None else float(pause))


@dataclass(frozen=True, slots=True)
class Place:
    """Where probes write: below `root` in a channel, and in a thread of the direct message with `user`.

    `direct_message`: its channel and that thread; empty where there is none. `team`: that person's.
    `bot_user`: ours.
    """

    channel: str
    root: str
    direct_message: tuple[str, str]
    user: str
    team: str
    bot_user: str

    @property
    def direct(self) -> tuple[str, str]:
        """The direct message and the thread in it. Raises CannotTell where there is none."""
        if not self.direct_message[0]:
            raise CannotTell("no direct message can be opened; see the scope im:write")
        return self.direct_message

    @property
    def thread(self) -> dict[str, str]:
        """Arguments that name the thread."""
        return {"channel": self.channel, "thread_ts": self.root}

    @property
    def session(self) -> dict[str, str]:
        """The same, for methods about a conversation with an agent."""
        return {"channel_id": self.channel, "thread_ts": self.root}

    @property
    def recipient(self) -> dict[str, str]:
        """Arguments that name whom a stream is for."""
        return {"recipient_user_id": self.user, "recipient_team_id": self.team}


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """What a probe observed. `detail`: more of it, for the terminal only; it may hold texts."""

    value: RuleValue
    detail: str = ""


class Need(StrEnum):
    """What a probe wants beside a token and a channel.

    SANDBOX: a workspace that nobody works in. HTTP: events that come by HTTP. TIME: minutes, beside others.
    ALONE: that no other probe runs. RATE: that nothing was called for a minute.
    """

    EVENTS = "events"
    HAND = "hand"
    SANDBOX = "sandbox"
    HTTP = "http"
    TIME = "time"
    ALONE = "alone"
    RATE = "rate"


Run: TypeAlias = Callable[[SlackPort, Place], Awaitable[ProbeResult]]


@dataclass(frozen=True, slots=True)
class Probe:
    """The experiment of one rule."""

    rule: str
    run: Run
    needs: frozenset[Need] = frozenset()


PROBES: dict[str, Probe] = {}
"""By the id of the rule; `probes/` fills it."""


def probe(rule: str, *needs: Need) -> Callable[[Run], Run]:
    """Add a probe to the table."""

    def add(run: Run) -> Run:
        add_probe(rule, run, *needs)
        return run

    return add


def add_probe(rule: str, run: Run, *needs: Need) -> None:
    """The same, for one that is made and not written."""
    PROBES[rule] = Probe(rule, run, frozenset(needs))


_FARTHEST = 4  # times the number that is expected: so far is looked


async def largest(rule: str, accepts: Callable[[int], Awaitable[bool]]) -> ProbeResult:
    """The largest number that Slack accepts, by few questions if it is the expected one."""
    expected = int(CATALOGUE[rule].expected)
    low, high = 0, expected + 1
    if not await accepts(expected):
        high = expected
    elif not await accepts(expected + 1):
        return ProbeResult(expected)
    else:
        low, high = expected + 1, expected * _FARTHEST
        if await accepts(high):
            return ProbeResult(high, "or more")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if await accepts(middle) else (low, middle)
    return ProbeResult(low)
