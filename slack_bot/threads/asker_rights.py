"""Where an agent may be asked that acts with the rights of the asker: its answers show what only that person
may read.
"""

from ..agents.agent import Agent
from ..settings.channels import ChannelPolicies
from ..text.words import ANSWER_IS_PERSONAL
from ..turn.record import Question, is_direct


class AskerRights:
    """Decides it for all agents that act so, however they learn who asks."""

    def __init__(self, policies: ChannelPolicies) -> None:
        self._policies = policies

    async def refusal(self, question: Question, agent: Agent) -> str | None:
        """What the asker reads if `question` is not asked; None: it is."""
        channel = question.thread.channel
        if agent.settings.is_personal and not (is_direct(channel) or self._policies.of(channel).personal):
            return ANSWER_IS_PERSONAL.format(agent.name)
        return None
