"""What a feature is to the bot: it is built of the bot's parts, takes presses, events and facts, and may work
beside the answers. `app` has the list of all; what is taken out of it is gone.
"""

from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any

from slack_bolt.async_app import AsyncApp

from ..agents.agent import Agent
from ..clock import Clock
from ..http_client import AsyncClient
from ..inbound.access import HourlyQuestions
from ..inbound.authorizer import Authorize
from ..inbound.buttons import Button
from ..observe.facts import Observer
from ..settings.load import Settings
from ..slack.api import SlackApi
from ..store.collection import Collection
from ..store.contracts import Store
from ..threads.threads import Threads


@dataclass(frozen=True, slots=True)
class BotParts:
    """What features are built of. `authorize` says who the bot is; `http` is for others than the agent."""

    settings: Settings
    clock: Clock
    observer: Observer
    store: Store
    agent: Agent
    api: SlackApi
    threads: Threads
    hourly: HourlyQuestions
    authorize: Authorize
    http: AsyncClient


@dataclass(frozen=True, slots=True)
class FeatureWork:
    """What a feature does in one bot: its controls and modals, its listeners, its work beside the answers.

    `register` is called before the listeners that match everything. `run` runs while Slack is let in, and is
    cancelled at the end. `observe` takes every fact; `close` is called when no turn runs any more, before the
    store is closed.
    """

    buttons: tuple[Button, ...] = ()
    register: Callable[[AsyncApp], None] | None = None
    run: Callable[[], Coroutine[Any, Any, None]] | None = None
    observe: Observer | None = None
    close: Callable[[], Awaitable[None]] | None = None


@dataclass(frozen=True, slots=True)
class SettingsCheck:
    """What `doctor` looks at. `look` returns what works, "" if it is switched off, and raises SettingsError.

    `needed`: the settings without which it cannot look, in the section that has the name of the feature.
    """

    look: Callable[[Settings], str]
    needed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Feature:
    """A row of `app`'s list; most features need only `start`. `collections`: what it keeps in the store.

    `observe` gives an observer for `slack-bot run`, which opens it before the bot is built and closes it
    after the bot; it returns None if the settings do not want it, and raises SettingsError. A bot that is
    built for something else (`say` alone, the playground) has no such observers.
    """

    name: str
    start: Callable[[BotParts], FeatureWork] | None = None
    observe: Callable[[Settings, Clock], AbstractAsyncContextManager[Observer] | None] | None = None
    check: SettingsCheck | None = None
    collections: tuple[Collection[Any], ...] = ()
