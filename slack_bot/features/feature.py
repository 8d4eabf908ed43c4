"""What a feature is: it is built from the bot's parts, and may handle presses, events and facts, and run work
of its own. `app` has the list of all features; a feature that is removed from it is gone.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from slack_bolt.async_app import AsyncApp

from ..clock import Clock
from ..http_client import AsyncClient
from ..inbound.access import Access, HourlyQuestions, Operators
from ..inbound.authorizer import Identities
from ..inbound.backfill import LookBack
from ..inbound.buttons import Button, ButtonRouter
from ..inbound.http_server import Handler, check_address, listening, slack_limits
from ..inbound.read import BotIdentity
from ..observe.facts import Observer
from ..observe.findings import Diagnosis
from ..settings.load import Settings
from ..settings.models import SlackSettings
from ..slack.blocks import Block
from ..store.collection import Collection
from ..threads.ports import CommonParts, ThreadPorts
from ..threads.threads import Threads

HomeSection: TypeAlias = Callable[[str, str], Awaitable[Sequence[Block]]]
"""The blocks for the Home tab of a person: user and workspace. Raises StoreError."""
HomeWriter: TypeAlias = Callable[[str, BotIdentity], Awaitable[None]]
"""Writes the Home tab of a person. Logs what fails."""


@dataclass(frozen=True, slots=True)
class BotParts:
    """What features are built from.

    `access` and `hourly` decide who may ask. `router` has all controls once the features are built.
    `identities`: who the bot is in each workspace. `http`: a client for all addresses but the agent's.
    `home_sections`: what features show below the rest of the Home tab; each adds its own. `home_writers`:
    what writes the tab of a person after something changed there; added by the feature that has the tab.
    """

    common: CommonParts
    threads: Threads
    hourly: HourlyQuestions
    access: Access
    router: ButtonRouter
    identities: Identities
    http: AsyncClient
    home_sections: list[HomeSection] = field(default_factory=list)
    home_writers: list[HomeWriter] = field(default_factory=list)

    @property
    def operators(self) -> Operators:
        """The people who run the bot."""
        return Operators(self.common.settings.slack.operators, self.common.workspaces.people)


class RequestReceiver(Protocol):
    """Handles requests from outside: in HTTP mode on Slack's port, otherwise on a port of its own."""

    @property
    def routes(self) -> Mapping[str, Handler]:
        """The handlers by path. A path that ends in a slash stands for all paths below it."""

    async def check_port(self, wait: float) -> None:
        """Check that the port is free, and wait up to `wait` seconds for it. Raises SettingsError."""

    async def prepare(self) -> None:
        """Called before the port is opened. Raises SettingsError if the receiver cannot work."""

    def listening(self, slack: SlackSettings) -> AbstractAsyncContextManager[None]:
        """Listen on the receiver's own port inside the block. Raises SettingsError if the port is taken."""


class PortReceiver(RequestReceiver):
    """A receiver that has a port of its own outside HTTP mode.

    `prefix`: how the names of the two settings of the address begin.
    """

    def __init__(self, prefix: str, host: str, port: int) -> None:
        self._prefix, self._address = prefix, (host, port)

    async def check_port(self, wait: float) -> None:
        """See `RequestReceiver`."""
        await check_address(self._prefix, *self._address, wait)

    async def prepare(self) -> None:
        """Nothing has to be read before."""

    @asynccontextmanager
    async def listening(self, slack: SlackSettings) -> AsyncIterator[None]:
        """See `RequestReceiver`. The limits are those of HTTP mode."""
        async with listening(self.routes, slack_limits(slack), self._prefix, *self._address):
            self.announce(*self._address)
            yield

    def announce(self, host: str, port: int) -> None:
        """Log who is waited for at this address."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class FeatureWork:
    """What a feature does in one bot.

    - `buttons`: its controls and modals.
    - `register`: adds its listeners to Bolt, before those that match everything.
    - `run`: runs while Slack is connected, and is cancelled at the end. `receiver` works as long.
    - `observe`: gets every fact.
    - `reload`: takes what the file says now, after all of it was found right. Raises SettingsError.
    - `look_back`: looks for what happened while the bot was away, after its questions.
    - `close`: called when no turn runs any more, before the store is closed.
    """

    buttons: tuple[Button, ...] = ()
    register: Callable[[AsyncApp], None] | None = None
    run: Callable[[], Coroutine[Any, Any, None]] | None = None
    observe: Observer | None = None
    close: Callable[[], Awaitable[None]] | None = None
    receiver: RequestReceiver | None = None
    reload: Callable[[], None] | None = None
    look_back: LookBack | None = None


@dataclass(frozen=True, slots=True)
class SettingsCheck:
    """A check of `doctor`. `look` yields its findings, none if the feature is off; it raises SettingsError.

    `needed`: the settings without which there is nothing to check, in the section named like the feature.
    """

    look: Callable[[Settings], AsyncIterator[Diagnosis]]
    needed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Feature:
    """A row of `app`'s list of features. Most features have only `start`.

    - `start`: builds what the feature does in a bot.
    - `serve_threads`: adds what it does for threads, before these are built.
    - `observe`: opens an observer for `slack-bot run`, before the bot is built, and closes it after the bot.
      It returns None if the settings switch it off, and raises SettingsError. Other bots (of `say`, of the
      playground) have no such observers.
    - `collections`: what it keeps in the store.
    """

    name: str
    start: Callable[[BotParts], FeatureWork] | None = None
    serve_threads: Callable[[CommonParts, ThreadPorts], ThreadPorts] | None = None
    observe: Callable[[Settings, Clock], AbstractAsyncContextManager[Observer] | None] | None = None
    check: SettingsCheck | None = None
    collections: tuple[Collection[Any], ...] = ()
