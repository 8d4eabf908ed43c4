"""Whether there is an agent at an address, and what to do about it where there is none.

The bot's own sentence names the setting. Whoever gave the address on the command line has to be told of that
argument instead.
"""

from __future__ import annotations

from ...a2a.agent import Agent, new_http
from ...a2a.wire.card import AgentCard
from ...clock import loop_clock
from ...errors import CARD_ADDRESS, AgentError, AgentUnreachable, BotError, NoCard
from ...settings.load import Settings
from .agent_address import masks_of
from .redaction import Redactor


async def card_of(settings: Settings, named: str) -> AgentCard:
    """The card of the agent of `settings`; `named` is the argument that gave its address.

    Raises BotError, with the remedy, where nobody is there or has a card that can be used.
    """
    async with new_http(settings.agent, None) as http:
        try:
            return await Agent(http, settings.agent, loop_clock()).ensure_card()
        except AgentError as error:
            raise with_remedy(error, named, masks_of(settings)) from error


def with_remedy(problem: AgentError, named: str, masks: Redactor) -> BotError:
    """`problem` as it is told to whoever gave the agent's address as the argument `named`, without secrets:
    it may quote what the agent said.
    """
    match problem:
        case AgentUnreachable():
            said = f"{problem}; is the agent running at this address?"
        case NoCard(tried=tried):
            said = f"{tried}; {named} {CARD_ADDRESS}"
        case _:
            said = str(problem)
    return BotError(masks.text(said))
