"""What is known of all agents when a question comes: what they say of themselves, and who may ask them."""

import asyncio
from collections.abc import Collection, Mapping

from ...settings.agents import AgentEntry
from ...threads.ports import CommonParts
from ...turn.record import Introduction


class AgentDirectory:
    """Reads cards and user groups, within the time that a question may wait for them."""

    def __init__(self, common: CommonParts) -> None:
        self._agents, self._workspaces = common.agents, common.workspaces
        self._entries: Mapping[str, AgentEntry] = common.agents.settings.entries
        self._patience = common.settings.slack.lookup_timeout

    async def introductions(self) -> Mapping[str, Introduction]:
        """What each agent says of itself, as far as that is known soon; empty for all others."""
        reading = {each.name: asyncio.ensure_future(each.introduction()) for each in self._agents}
        await asyncio.wait(reading.values(), timeout=self._patience)
        for each in reading.values():
            each.add_done_callback(_forget_failure)  # the card is read to its end, for the next question
        return {name: _read(each) for name, each in reading.items()}

    async def names_for(self, user: str, team: str) -> Collection[str]:
        """The agents that `user` may ask in the workspace `team`."""
        may_ask = await asyncio.gather(*(self._may_ask(each, user, team) for each in self._entries.values()))
        return [name for name, may in zip(self._entries, may_ask, strict=True) if may]

    async def _may_ask(self, entry: AgentEntry, user: str, team: str) -> bool:
        if not entry.is_for_some or user in entry.people:
            return True
        groups = await asyncio.gather(*map(self._workspaces.people(team).members, entry.groups))
        return any(user in members for members in groups if members is not None)


def _read(reading: asyncio.Future[Introduction]) -> Introduction:
    """What was read; empty as long as it was not."""
    is_read = reading.done() and not reading.cancelled() and reading.exception() is None
    return reading.result() if is_read else Introduction()


def _forget_failure(reading: asyncio.Future[Introduction]) -> None:
    """That an agent is away is known from its questions."""
    if not reading.cancelled():
        reading.exception()
