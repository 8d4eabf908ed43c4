"""Who may ask an agent that must know who asks, and where one may be asked that acts with the asker's rights:
its answers show what only that person may read.
"""

import logging

from ..agents.agent import Agent
from ..agents.agents import Agents
from ..agents.wire.asker_tokens import PersonDirectory
from ..errors import AgentError
from ..settings.channels import ChannelPolicies
from ..text.feature_words import RIGHTS_WANT_A_MENTION
from ..text.words import (
    ANSWER_IS_PERSONAL,
    ASKER_MAY_NOT_BE_TOLD,
    ASKER_NOT_A_MEMBER,
)
from ..turn.record import Question, is_direct
from .looks import shown_name

_log = logging.getLogger(__name__)


class AskerRights:
    """Decides it for all agents that act so, however they learn who asks."""

    def __init__(self, policies: ChannelPolicies, directory: PersonDirectory, agents: Agents) -> None:
        self._policies, self._directory = policies, directory
        self._agents = agents

    async def refusal(self, question: Question, agent: Agent) -> str | None:
        """What the asker reads if `question` is not asked; None: it is."""
        channel, settings = question.thread.channel, agent.settings
        policy = self._policies.of(channel, question.thread.team)
        if not settings.knows_people:
            return None
        name = shown_name(self._agents, agent.name)
        if question.asker is None or question.cause:  # only who writes to the bot means to act
            is_person = question.asker is not None
            return RIGHTS_WANT_A_MENTION.format(name) if is_person else ASKER_NOT_A_MEMBER
        if settings.is_personal and not (is_direct(channel) or policy.personal):
            return ANSWER_IS_PERSONAL.format(name)
        if policy.identity == "none":
            return ASKER_MAY_NOT_BE_TOLD.format(name)
        try:
            await self._directory.proven(question.asker)
        except AgentError as error:
            _log.info("a question is not asked: %s", error.brief, extra={"turn": question.key})
            return error.safe
        return None
