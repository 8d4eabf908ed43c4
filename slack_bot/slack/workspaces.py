"""The workspaces that the bot is in. Each has its own client, with its token, its own budgets, and what is
known of its people.

All that is done in Slack is done with the workspace of its thread (`ThreadKey.team`). Where the settings have
one token, it is for every thread.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient

from ..clock import Clock
from ..observe.facts import Observer
from ..observe.health import Health, TokenHealth
from ..settings.load import Settings
from .api import SlackApi, SlackTransport
from .faults import CallFailed, CallResult, Fault
from .look import Look
from .people import People
from .rate_limiter.local import RateLimiter
from .refused_parts import RefusedParts

NO_TOKEN = "no_token"
"""The error of a call for a workspace of which the bot has no token that works."""


@dataclass(frozen=True, slots=True)
class Installation:
    """The app in one workspace. `team`: the id of the workspace; "" where there is one token only."""

    team: str
    client: AsyncWebClient
    api: SlackApi
    people: People


class Workspaces:
    """The app in each of its workspaces. `only`: with the one token. `absent`: where it is not."""

    def __init__(self, only: Installation | None = None, absent: Installation | None = None) -> None:
        assert only is not None or absent is not None, "one token, or several"
        self._only, self._absent = only, absent
        self._by_team: dict[str, Installation] = {}

    @property
    def are_several(self) -> bool:
        """Which one an event or an order is for has to be said."""
        return self._only is None

    def add(self, workspace: Installation) -> None:
        """One more, whose token works."""
        self._by_team[workspace.team] = workspace

    def has(self, team: str) -> bool:
        """The bot has a token of this workspace."""
        return self._only is not None or team in self._by_team

    def of(self, team: str) -> Installation:
        """The workspace with this id. Without a token of it, each call in it fails (`NO_TOKEN`)."""
        workspace = self._only or self._by_team.get(team) or self._absent
        assert workspace is not None
        return workspace

    def total_of(self, team: str) -> str:
        """What all of a workspace are counted under: "" where there is one token only."""
        return team if self.are_several else ""

    def people(self, team: str) -> People:
        """The people of the workspace with this id."""
        return self.of(team).people

    def __iter__(self) -> Iterator[Installation]:
        return iter(tuple(self._by_team.values()) if self._only is None else (self._only,))

    def __len__(self) -> int:
        return len(self._by_team) if self._only is None else 1


@dataclass(frozen=True, slots=True)
class InstallationMaker:
    """Makes workspaces of one bot, which share all that is here."""

    settings: Settings
    clock: Clock
    observer: Observer
    health: Health

    def new(
        self,
        team: str,
        client: AsyncWebClient,
        limiter: RateLimiter,
        identity: Callable[[], Awaitable[Mapping[str, Any]]],
    ) -> Installation:
        """The workspace `team` of the token of `client`; "": it is the only one. `identity`: as of
        `SlackApi`.
        """
        stream, slack = self.settings.stream, self.settings.slack
        api = SlackApi(
            client, self.clock, self.observer, stream.retry_timeout, limiter, slack.write_timeout,
            TokenHealth(self.health, team), identity,
        )  # fmt: skip
        return Installation(team, client, api, People(api, slack, self.clock))

    def absent(self, client: AsyncWebClient) -> Installation:
        """In place of one of whose token the bot knows nothing. `client` has no token."""
        limiter = RateLimiter(self.settings.governor, self.clock)
        api = _AbsentApi(client, self.clock, self.observer, 0.0, limiter)
        return Installation("", client, api, People(api, self.settings.slack, self.clock))


class _AbsentApi(SlackApi):
    """Sends nothing."""

    def __init__(
        self,
        client: AsyncWebClient,
        clock: Clock,
        observer: Observer,
        retry_timeout: float,
        limiter: RateLimiter,
    ) -> None:
        super().__init__(client, clock, observer, retry_timeout, limiter)
        self.transport = _NoTransport(client, clock, observer, None, RefusedParts())


class _NoTransport(SlackTransport):
    """Sends nothing: each call fails."""

    def for_turn(self, turn: str, look: Look | None) -> SlackTransport:
        return self

    async def call(
        self, method: str, args: Mapping[str, object], *, waited: float, attempt: int
    ) -> CallResult:
        return CallFailed(Fault.DEAD, NO_TOKEN)

    async def upload(self, url: str, content: bytes) -> CallResult:
        return CallFailed(Fault.DEAD, NO_TOKEN)

    async def download(self, url: str, most: int) -> CallResult:
        return CallFailed(Fault.DEAD, NO_TOKEN)

    async def respond(self, url: str, body: Mapping[str, object]) -> CallResult:
        return CallFailed(Fault.DEAD, NO_TOKEN)
