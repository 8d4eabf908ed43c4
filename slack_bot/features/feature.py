"""What a feature is to the bot: it is built of the bot's parts, takes presses and events, and may work beside
the answers. `app` has the list of all; what is taken out of it is gone.
"""

from collections.abc import Callable, Coroutine
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
from ..store.contracts import Store
from ..threads.dispatch import TurnDispatcher


@dataclass(frozen=True, slots=True)
class BotParts:
    """What features are built of. `authorize` says who the bot is; `http` is for others than the agent."""

    settings: Settings
    clock: Clock
    observer: Observer
    store: Store
    agent: Agent
    api: SlackApi
    dispatcher: TurnDispatcher
    hourly: HourlyQuestions
    authorize: Authorize
    http: AsyncClient


@dataclass(frozen=True, slots=True)
class FeatureWork:
    """What a feature does in one bot: its controls and modals, its listeners, its work beside the answers.

    `register` is called before the listeners that match everything. `run` runs while Slack is let in, and is
    cancelled at the end.
    """

    buttons: tuple[Button, ...] = ()
    register: Callable[[AsyncApp], None] | None = None
    run: Callable[[], Coroutine[Any, Any, None]] | None = None


@dataclass(frozen=True, slots=True)
class Feature:
    """A row of `app`'s list."""

    name: str
    start: Callable[[BotParts], FeatureWork]
