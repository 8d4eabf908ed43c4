"""Gives the agent an address to which it can post news of a watched task."""

import logging
from contextlib import suppress

from ...agents.agents import Agents
from ...agents.push_target import PushTarget
from ...errors import AgentError
from ...threads.ports import NewsOffers
from ...turn.progress import TurnRecord

_log = logging.getLogger(__name__)


class PushOffers(NewsOffers):
    """Makes, offers and withdraws these addresses. `public_url`: the address below which agents post."""

    def __init__(self, agents: Agents, public_url: str) -> None:
        self._agents, self._public_url = agents, public_url

    def new_target(self, turn: TurnRecord) -> PushTarget | None:
        """An address for the turn's task; None without a task, or if it has one already.

        It is made only when the stream is over: servers wait for each post before they stream on (facts: A2A
        12).
        """
        if turn.task_id is None or turn.push_id is not None:
            return None
        return PushTarget.new(self._public_url)

    async def offer(self, turn: TurnRecord, target: PushTarget) -> bool:
        """Tell the agent the address. Returns whether it accepted; errors of the agent are logged."""
        if (its_agent := self._agents.get(turn.agent)) is None:
            return False
        agent = its_agent.in_conversation(turn.question.thread, asker=turn.question.asker)
        try:
            await agent.ensure_card()
            return agent.can_push and await agent.set_push(
                turn.task_id or "", target.push_id, target.url, target.secret
            )
        except AgentError as error:
            _log.info("the agent was not told where to post news of a task: %s", agent.why(error))
        return False

    async def withdraw(self, turn: TurnRecord) -> None:
        """Tell the agent to stop posting.

        Errors are ignored: a post about an ended watch is refused anyway.
        """
        its_agent = self._agents.get(turn.agent)
        if turn.push_id is not None and turn.task_id is not None and its_agent is not None:
            agent = its_agent.in_conversation(turn.question.thread, asker=turn.question.asker)
            with suppress(AgentError):
                await agent.delete_push(turn.task_id, turn.push_id)
