"""How the bot logs in to the agent: its certificate, its token, and why the agent refuses them."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Sequence

from ...agents.wire.auth import KEY_PLACES, has_credentials, has_tokens, login_remedy, origin_of
from ...agents.wire.card import AgentCard
from ...agents.wire.certificate import Certificate
from ...agents.wire.token_endpoint import token_source
from ...clock import Clock
from ...errors import AgentRefused, SettingsError, TokenRefused, TokenUnavailable
from ...observe.findings import Diagnosis, failed, ok, split, warning
from ...settings.models import AgentSettings, ClientSettings

_PREFIX = "SLACK_BOT_AGENT__CLIENT__"
_SCOPE = (
    f"set {_PREFIX}SCOPE to the scope that the agent wants, and allow it for {_PREFIX}ID at the token server"
)
_AUDIENCE = (
    f"let {_PREFIX}AUDIENCE and {_PREFIX}SCOPE name this agent as its token server knows it, and look at the"
    " agent's log"
)
_FILE = f"let the token in {_PREFIX}TOKEN_FILE be for this agent, from an issuer whose tokens it takes"


async def check_login(client: ClientSettings, clock: Clock) -> AsyncIterator[Diagnosis]:
    """That its certificate can be shown, and that there is a token."""
    if (certificate := Certificate.of(client)) is not None:
        try:
            certificate.shown_by(ssl.create_default_context())
        except SettingsError as error:
            yield split("agent certificate", str(error))
        else:
            yield ok("agent certificate", f"{certificate.file} can be used")
    tokens = token_source(client, clock)
    if tokens is None:
        return
    try:
        await tokens.token()
    except (TokenRefused, TokenUnavailable) as error:
        text, _, remedy = error.brief.partition("; ")
        said = f": {error.said}" if error.said else ""
        yield failed("agent token", f"{text}{said}", remedy or "see whether the token server runs")
    else:
        yield ok("agent token", f"{_place_of(client)} gives one")


def check_api_key(client: ClientSettings, card: AgentCard) -> Diagnosis | None:
    """A key that goes nowhere, as the card names no place for it; None: all is well."""
    schemes = {scheme.partition(" ")[0] for each in card.auth for scheme in each}
    if client.api_key is None or schemes & KEY_PLACES:
        return None
    text = f"{_PREFIX}API_KEY is set, and the agent card says neither header, cookie nor query for it"
    return warning("agent login", text, "let the card say it, or set SLACK_BOT_AGENT__HEADER_NAME instead")


def refused_login(error: AgentRefused, agent: AgentSettings, token_servers: Sequence[str] = ()) -> Diagnosis:
    """Why the agent answers 401 or 403, as far as it says so. `token_servers`: of its card."""
    client, said = agent.client, f": {error.said}" if error.said else ""
    if not has_credentials(agent):
        text = f"the agent answers HTTP {error.status}, and no credentials are set for it{said}"
        return failed("agent login", text, login_remedy(agent))
    if not has_tokens(client):
        text = f"the agent refuses the bot's credentials with HTTP {error.status}{said}"
        return failed("agent login", text, login_remedy(agent))
    text = f"the agent refuses the bot's token with HTTP {error.status}{said}"
    if error.status == 403 or error.said.startswith("insufficient_scope"):
        return failed("agent login", text, _SCOPE)
    if client.token_file is not None:
        return failed("agent login", text, _FILE)
    named = dict.fromkeys(str(origin) for each in token_servers if (origin := origin_of(each)))
    if named and _place_of(client) not in named:
        text = f"{text}; its card says that tokens are from {' or '.join(named)}, not {_place_of(client)}"
        return failed("agent login", text, f"correct {_PREFIX}ISSUER or {_PREFIX}TOKEN_URL, or the card")
    return failed("agent login", text, _AUDIENCE)


def _place_of(client: ClientSettings) -> str:
    return client.token_file or str(origin_of(client.token_url or client.issuer or ""))
