"""The check of `doctor` for the authorization servers at which people sign in."""

from __future__ import annotations

from collections.abc import AsyncIterator
from urllib.parse import urlsplit

from ...agents.agent import Agent
from ...agents.wire.auth import origin_of
from ...agents.wire.transport import new_http
from ...clock import system_clock
from ...errors import AgentError, SettingsError, TokenRefused, TokenUnavailable
from ...observe.findings import Diagnosis, failed, ok, warning
from ...settings.config_file import read_agents
from ...settings.load import Settings
from ...settings.models import AgentSettings
from ...settings.sign_in import OAuthSettings, SignInSettings
from .card_check import foreign_servers
from .registrar import registration_obstacle
from .registration import method_for
from .rules import redirect_uri_below
from .server import AuthorizationServer
from .server_requests import Metadata

_CHECK = "sign_in"


async def _foreign(name: str, entry: AgentSettings, server: AuthorizationServer) -> tuple[str, str] | None:
    """As `foreign_servers`. The check of agents says why a card cannot be read."""
    try:
        async with new_http(entry) as http:
            card = await Agent(http, entry, system_clock(), name=name).ensure_card()
    except (AgentError, SettingsError):
        return None
    return foreign_servers(card, server)


def _registration(
    name: str, host: str, metadata: Metadata, oauth: OAuthSettings, sign_in: SignInSettings
) -> Diagnosis:
    """What the bot would do. Nothing is registered by looking."""
    if (obstacle := registration_obstacle(metadata, oauth, host)) is not None:
        text, remedy = obstacle.brief.partition("; ")[::2]
        return failed(_CHECK, f"{name}: {text}", remedy)
    place = origin_of(metadata.registration)
    how = "with the initial access token" if oauth.registration_token is not None else "without a token"
    back = "for codes to type in" if oauth.device_flow else redirect_uri_below(sign_in.base_url or "")
    return ok(
        _CHECK,
        f"{name}: when the first person signs in, the bot registers itself at {place} {how}: {back},"
        f" {method_for(oauth, metadata.methods, host)}",
    )


async def check(settings: Settings) -> AsyncIterator[Diagnosis]:
    """Check that each server says of itself what a sign-in needs, and that browsers come back by https."""
    try:
        entries = read_agents(settings).entries
    except SettingsError:
        return  # the check of the file says why
    agents = {name: each for name, each in entries.items() if each.identity == "oauth"}
    for name, entry in agents.items():
        server = AuthorizationServer(entry.oauth, system_clock())
        try:
            metadata = await server.metadata()
        except (TokenRefused, TokenUnavailable) as error:
            text, remedy = error.brief.partition("; ")[::2]
            yield failed(_CHECK, f"{name}: {text}", remedy or "see whether the server runs")
            continue
        if not metadata.revocation:
            text = f"{name}: {server.host} revokes no tokens: what is not kept is good there until it ends"
            yield warning(_CHECK, text, "let it revoke tokens (RFC 7009), or give them a short life")
        else:
            yield ok(_CHECK, f"{name}: {server.host} says what a sign-in needs")
        if entry.oauth.register_client:
            yield _registration(name, server.host, metadata, entry.oauth, settings.sign_in)
        if (found := await _foreign(name, entry, server)) is not None:
            yield warning(_CHECK, f"{name}, its card: {found[0]}", found[1])
    if agents and (url := settings.sign_in.base_url) is not None and urlsplit(url).scheme != "https":
        text = "SLACK_BOT_SIGN_IN__BASE_URL is not https: only browsers on this machine can come back"
        yield warning(_CHECK, text, "put a proxy with TLS in front of it")
