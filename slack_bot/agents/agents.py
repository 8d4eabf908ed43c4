"""The agents of one bot, by the names that the settings give them."""

from collections.abc import Iterator, Sequence

from ..settings.agents import AgentTable
from ..text.words import AGENT_GONE
from .agent import Agent


class Agents:
    """All agents that the settings name. `default`: the one that is asked if nothing else is said.

    A name that is not here was taken out of the settings: what is stored may still have it.
    """

    def __init__(self, agents: Sequence[Agent], table: AgentTable) -> None:
        self._agents = {each.name: each for each in agents}
        self.table = table
        self.default = self._agents[table.default]

    def __iter__(self) -> Iterator[Agent]:
        return iter(self._agents.values())

    def __len__(self) -> int:
        return len(self._agents)

    @property
    def are_several(self) -> bool:
        """Whether there is anything to choose, and to keep."""
        return self.table.are_listed

    def get(self, name: str) -> Agent | None:
        """The agent of this name; None if the settings do not have it any more."""
        return self._agents.get(name)

    def key_of(self, name: str) -> str:
        """What is stored of an agent is stored under this key."""
        agent = self._agents.get(name)
        return name if agent is None else agent.key

    def words_without(self, name: str) -> str:
        """What readers are told where a thread's agent is gone from the settings."""
        return AGENT_GONE.format(name, " or ".join(each.name for each in self))

    @property
    def secrets(self) -> tuple[str, ...]:
        """The tokens with which agents are asked now, if they were fetched or read."""
        return tuple(secret for agent in self._agents.values() for secret in agent.secrets)
