"""What a feature is to the bot: it is built of the bot's parts, takes presses, events and facts, and may work
beside the answers. `app` has the list of all; what is taken out of it is gone.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from slack_bolt.async_app import AsyncApp

from ..clock import Clock
from ..http_client import AsyncClient
from ..inbound.access import HourlyQuestions
from ..inbound.authorizer import Authorize
from ..inbound.buttons import Button
from ..inbound.http_server import Handler
from ..observe.facts import Observer
from ..observe.findings import Diagnosis
from ..settings.load import Settings
from ..settings.models import SlackSettings
from ..store.collection import Collection
from ..threads.ports import CommonParts, ThreadPorts
from ..threads.threads import Threads


@dataclass(frozen=True, slots=True)
class BotParts:
    """What features are built of. `authorize` says who the bot is; `http` is for others than the agent."""

    common: CommonParts
    threads: Threads
    hourly: HourlyQuestions
    authorize: Authorize
    http: AsyncClient


class RequestReceiver(Protocol):
    """Takes requests from outside: in HTTP mode at the port for Slack, else at a port of its own."""

    @property
    def routes(self) -> Mapping[str, Handler]:
        """A path, or what a path begins with, and who handles it."""

    async def check_port(self, wait: float) -> None:
        """Look whether its own port is free, for `wait` seconds at most. Raises SettingsError."""

    async def prepare(self) -> None:
        """Called before a port is opened. Raises SettingsError if it cannot work."""

    def listening(self, slack: SlackSettings) -> AbstractAsyncContextManager[None]:
        """Listen at its own port meanwhile. Raises SettingsError if that is taken."""


@dataclass(frozen=True, slots=True)
class FeatureWork:
    """What a feature does in one bot: its controls and modals, its listeners, its work beside the answers.

    `register` is called before the listeners that match everything. `run` runs while Slack is let in, and is
    cancelled at the end; `receiver` works as long. `observe` takes every fact; `close` is called when no turn
    runs any more, before the store is closed.
    """

    buttons: tuple[Button, ...] = ()
    register: Callable[[AsyncApp], None] | None = None
    run: Callable[[], Coroutine[Any, Any, None]] | None = None
    observe: Observer | None = None
    close: Callable[[], Awaitable[None]] | None = None
    receiver: RequestReceiver | None = None


@dataclass(frozen=True, slots=True)
class SettingsCheck:
    """What `doctor` looks at. `look` gives what it finds, nothing if it is off; raises SettingsError.

    `needed`: the settings without which it cannot look, in the section that has the name of the feature.
    """

    look: Callable[[Settings], AsyncIterator[Diagnosis]]
    needed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Feature:
    """A row of `app`'s list; most features need only `start`. `collections`: what it keeps in the store.
    `serve_threads` adds what it does for threads, before these are built.

    `observe` gives an observer for `slack-bot run`, which opens it before the bot is built and closes it
    after the bot; it returns None if the settings do not want it, and raises SettingsError. A bot that is
    built for something else (`say` alone, the playground) has no such observers.
    """

    name: str
    start: Callable[[BotParts], FeatureWork] | None = None
    serve_threads: Callable[[CommonParts, ThreadPorts], ThreadPorts] | None = None
    observe: Callable[[Settings, Clock], AbstractAsyncContextManager[Observer] | None] | None = None
    check: SettingsCheck | None = None
    collections: tuple[Collection[Any], ...] = ()
