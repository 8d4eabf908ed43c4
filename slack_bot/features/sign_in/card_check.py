"""Compares what an agent's card says of sign-ins with the settings, which alone say where people sign in."""

from __future__ import annotations

import logging

from ...agents.agent import Agent
from ...agents.wire.auth import origin_of
from ...agents.wire.card import AgentCard
from ...errors import AgentError
from ...threads.ports import CommonParts
from .server import AuthorizationServer
from .tokens import SignInParts

_log = logging.getLogger(__name__)

_MOST_HOSTS = 3  # that are named


def foreign_servers(card: AgentCard, server: AuthorizationServer) -> tuple[str, str] | None:
    """The problem and its remedy, if the card names servers to sign in at, but not that of the settings."""
    schemes = card.sign_ins.values()
    if not card.sign_ins or any(map(server.is_at, schemes)):
        return None
    origins = (origin_of(each) for addresses in schemes for each in addresses)
    hosts = list(dict.fromkeys(str(each) for each in origins if each is not None))[:_MOST_HOSTS]
    named = " and ".join(hosts) or "no address"
    problem = f"it has people sign in at {named}, and the settings at {server.host}, which counts"
    return problem, "correct the issuer in the settings, or have the card corrected"


async def warn_of_cards(common: CommonParts, sign_in_parts: SignInParts) -> None:
    """Log what does not fit. The log has an agent or a server that does not answer already."""
    for name, server in sign_in_parts.servers.items():
        if (agent := common.agents.get(name)) is not None and (found := await _looked_at(agent, server)):
            _log.warning("the card of %s does not fit the settings: %s", name, "; ".join(found))


async def _looked_at(agent: Agent, server: AuthorizationServer) -> tuple[str, str] | None:
    try:
        await server.metadata()
        return foreign_servers(await agent.ensure_card(), server)
    except AgentError as error:
        _log.info("an agent's card was not compared with the settings: %s", agent.why(error))
        return None
