"""The agents of one bot, by the names that the settings give them."""

from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack

from ..clock import Clock
from ..http_client import AsyncBaseTransport
from ..observe.health import Health
from ..settings.agents import AgentTable
from ..text.words import AGENT_GONE, AGENT_OR_AGENT
from ..turn.progress import DEFAULT_AGENT
from .agent import Agent
from .wire.asker_tokens import PeopleTokens
from .wire.auth import key_of_agent
from .wire.card_trust import FactStore
from .wire.transport import new_http


class Agents:
    """All agents that the settings name. Empty before `open`.

    A name that is not here was removed from the settings: what is stored may still have it.
    """

    def __init__(
        self,
        settings: AgentTable,
        clock: Clock,
        health: Health,
        facts: FactStore,
        traceparent: Callable[[str], str | None] = lambda _: None,
        people: PeopleTokens | None = None,
    ) -> None:
        self.settings, self.people = settings, people
        self.are_several = settings.are_listed
        """Whether there is anything to choose, and to keep."""
        self.default_name = settings.default
        """Of the agent that gets a question which names none."""
        self.transport: AsyncBaseTransport | None = None
        """In place of the network."""
        self._clock, self._health, self._facts = clock, health, facts
        self._traceparent = traceparent
        self._agents: dict[str, Agent] = {}

    async def open(self, closers: AsyncExitStack, transport: AsyncBaseTransport | None = None) -> None:
        """Make each agent, with what was learned of it. `closers` gets what closes their connections.

        Raises SettingsError for an address or a login that cannot be used, and StoreError.
        """
        self.transport = transport
        for name, entry in self.settings.entries.items():
            http = await closers.enter_async_context(new_http(entry, transport))
            askers = None if self.people is None else self.people.for_agent(entry, name, transport)
            agent = Agent(
                http, entry, self._clock, self._health, self._facts, self._traceparent, name, askers
            )
            agent.load_profile(await self._facts.profile(agent.key))
            self._agents[name] = agent

    def __iter__(self) -> Iterator[Agent]:
        return iter(self._agents.values())

    @property
    def default(self) -> Agent:
        """The agent that gets a question which names none."""
        return self._agents[self.default_name]

    def get(self, name: str) -> Agent | None:
        """The agent of this name; None if the settings do not have it any more."""
        return self._agents.get(name)

    def label(self, agent: Agent) -> str:
        """The agent's address, behind its name where there are several: later lines of the log name it."""
        address = key_of_agent(DEFAULT_AGENT, agent.settings)
        return f"{agent.name} at {address}" if self.are_several else address

    def key_of(self, name: str) -> str:
        """What is stored of an agent is stored under this key."""
        entry = self.settings.entries.get(name)
        return name if entry is None else key_of_agent(name, entry)

    def owner_of(self, name: str, user: str) -> str:
        """Whose conversation with this agent a thread is: of `user` alone, or "", of all who ask there."""
        entry = self.settings.entries.get(name)
        is_own = entry is not None and entry.knows_people and not entry.shared_context
        return user if is_own else ""

    def words_without(self, name: str) -> str:
        """The notice for readers of a thread whose agent was removed from the settings."""
        return AGENT_GONE.format(name, AGENT_OR_AGENT.join(self._agents))

    @property
    def secrets(self) -> tuple[str, ...]:
        """The tokens with which agents are asked now, if they were fetched or read."""
        return tuple(secret for agent in self._agents.values() for secret in agent.secrets)
