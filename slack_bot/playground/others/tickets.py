"""The playground's agent for tickets: A2A 0.3 over JSON-RPC, whose answer is one message. It acts with the
rights of the person whose access token a call carries, and refuses all others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from a2a.helpers import new_text_message
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.types import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    OpenIdConnectSecurityScheme,
    SecurityRequirement,
    SecurityScheme,
    StringList,
)
from a2a.utils.constants import AGENT_CARD_WELL_KNOWN_PATH
from starlette.middleware import Middleware
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from .accounts import PlayedAccount, Ticket
from .served_agent import ServedAgent

SCOPE = "tickets.read"
_SHORTEST = 4  # letters of a word that finds a ticket
_ACCOUNT = "playground.account"

AccountOf: TypeAlias = Callable[[str, str, str], PlayedAccount | None]
"""Whose access token it is, if it is good for an agent at this address and for this scope."""


def tickets_card(url: str, issuer: str) -> AgentCard:
    """The card, for an agent that is reached at `url`. `issuer`: where people sign in."""
    login = OpenIdConnectSecurityScheme(
        open_id_connect_url=f"{issuer}/.well-known/oauth-authorization-server"
    )
    return AgentCard(
        name="Tickets",
        description="Shows the open tickets of the person who asks.",
        version="1.0.0",
        supported_interfaces=[AgentInterface(url=url, protocol_binding="JSONRPC", protocol_version="0.3")],
        capabilities=AgentCapabilities(streaming=False),
        default_input_modes=["text/plain"],
        default_output_modes=["text/markdown"],
        security_schemes={"login": SecurityScheme(open_id_connect_security_scheme=login)},
        security_requirements=[SecurityRequirement(schemes={"login": StringList(list=[SCOPE])})],
        skills=[
            AgentSkill(
                id="tickets",
                name="Tickets",
                description="The open tickets of whoever asks.",
                tags=["ticket"],
                examples=["Show my tickets", "What became of my laptop?"],
            )
        ],
    )


def build_tickets(url: str, issuer: str, account_of: AccountOf) -> ServedAgent:
    """The agent, reached at `url`."""
    guard = Middleware(_TokenGuard, url=url, account_of=account_of)
    return ServedAgent(tickets_card(url, issuer), _TicketsAgent(url, account_of), [guard])


class _TokenGuard:
    """Lets in who has an access token for this agent. The card is for everybody."""

    def __init__(self, app: ASGIApp, url: str, account_of: AccountOf) -> None:
        self._app, self._url, self._account_of = app, url, account_of

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_call = scope["type"] == "http" and scope["path"] != AGENT_CARD_WELL_KNOWN_PATH
        if is_call and self._account_of(_token_in(dict(scope["headers"])), self._url, SCOPE) is None:
            login = {"WWW-Authenticate": f'Bearer error="invalid_token", scope="{SCOPE}"'}
            refusal = JSONResponse({"error": "invalid_token"}, 401, login)
            await refusal(scope, receive, send)
            return
        await self._app(scope, receive, send)


def _token_in(headers: dict[bytes, bytes]) -> str:
    kind, _, token = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
    return token if kind.lower() == "bearer" else ""


class _TicketsAgent(AgentExecutor):
    def __init__(self, url: str, account_of: AccountOf) -> None:
        self._url, self._account_of = url, account_of

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        headers = context.call_context.state["headers"]
        token = headers.get("authorization", "").partition(" ")[2]
        account = self._account_of(token, self._url, SCOPE)
        words = "I do not know you." if account is None else tickets_of(account, context.get_user_input())
        await event_queue.enqueue_event(new_text_message(words, context_id=context.context_id))

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """An answer is one message: there is no task to end."""


def tickets_of(account: PlayedAccount, question: str) -> str:
    """The open tickets of a person; those that the question names, if it names any."""
    asked = {word.strip(".,:;!?").casefold() for word in question.split()}
    named = [each for each in account.tickets if asked & _words_of(each)]
    head = f"**{account.name}, you have {_counted(account.tickets)}.**"
    if named and len(named) < len(account.tickets):
        head += f" {'This one fits' if len(named) == 1 else 'These fit'} your question:"
    rows = "\n".join(
        f"| {each.number} | {each.about} | {each.state} | {each.since} |" for each in named or account.tickets
    )
    return f"{head}\n\n| ticket | about | state | open for |\n| --- | --- | --- | --- |\n{rows}\n"


def _words_of(ticket: Ticket) -> set[str]:
    words = {word.casefold() for word in ticket.about.split() if len(word) >= _SHORTEST}
    return {*words, ticket.number.casefold()}


def _counted(tickets: Sequence[Ticket]) -> str:
    return f"{len(tickets)} open ticket{'s' if len(tickets) > 1 else ''}"
