"""An agent gets an address to which it posts news of a watched task."""

import logging
from contextlib import suppress

from ...agents.agent import Agent
from ...agents.push_target import PushTarget
from ...errors import AgentError
from ...threads.ports import NewsOffers
from ...turn.progress import TurnRecord

_log = logging.getLogger(__name__)


class PushOffers(NewsOffers):
    """`public_url`: the address below which agents post."""

    def __init__(self, agent: Agent, public_url: str) -> None:
        self._agent, self._public_url = agent, public_url

    def new_target(self, turn: TurnRecord) -> PushTarget | None:
        """Late, when the stream is over: servers wait for each post before they stream on (facts: A2A 12)."""
        if turn.task_id is None or turn.push_id is not None:
            return None
        return PushTarget.new(self._public_url)

    async def offer(self, turn: TurnRecord, target: PushTarget) -> bool:
        """Never raises for what the agent does."""
        agent = self._agent.in_conversation(turn.question.thread)
        try:
            await agent.ensure_card()
            return agent.can_push and await agent.set_push(
                turn.task_id or "", target.push_id, target.url, target.secret
            )
        except AgentError as error:
            _log.info("the agent was not told where to post news of a task: %s", error.brief)
        return False

    async def withdraw(self, turn: TurnRecord) -> None:
        """Only tried: a post about a watch that is over is refused anyway."""
        if turn.push_id is not None and turn.task_id is not None:
            agent = self._agent.in_conversation(turn.question.thread)
            with suppress(AgentError):
                await agent.delete_push(turn.task_id, turn.push_id)
