"""What features do for threads. Each class does here what is done in a bot without that feature."""

from dataclasses import dataclass, field

from ..agents.agent import Agent
from ..agents.push_target import PushTarget
from ..clock import Clock
from ..observe.facts import Observer
from ..observe.health import Health
from ..settings.channels import ChannelPolicies
from ..settings.load import Settings
from ..slack.api import SlackApi
from ..store.contracts import Store
from ..turn.progress import TurnRecord


@dataclass(frozen=True, slots=True)
class CommonParts:
    """What the threads and the features are built of."""

    settings: Settings
    policies: ChannelPolicies
    clock: Clock
    observer: Observer
    health: Health
    store: Store
    agent: Agent
    api: SlackApi


class NewsOffers:
    """Lets agents say that there is news of a watched task. This one lets none: tasks are only polled."""

    def new_target(self, turn: TurnRecord) -> PushTarget | None:
        """Where the agent may post news of this turn's task. None: nowhere, or it knows already."""
        return None

    async def offer(self, turn: TurnRecord, target: PushTarget) -> bool:
        """Send `target` to the agent. Returns whether the agent will post there."""
        return False

    async def withdraw(self, turn: TurnRecord) -> None:
        """The task of this turn is watched no longer: its agent need not post."""


@dataclass(frozen=True, slots=True)
class ThreadPorts:
    """All that features do for threads."""

    news: NewsOffers = field(default_factory=NewsOffers)
