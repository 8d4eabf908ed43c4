"""The check of `doctor` for the authorization servers at which people sign in."""

from __future__ import annotations

from collections.abc import AsyncIterator
from urllib.parse import urlsplit

from ...clock import system_clock
from ...errors import TokenRefused, TokenUnavailable
from ...observe.findings import Diagnosis, failed, ok, warning
from ...settings.config_file import read_agents
from ...settings.load import Settings
from .server import AuthorizationServer


async def check(settings: Settings) -> AsyncIterator[Diagnosis]:
    """Check that each server says of itself what a sign-in needs, and that browsers come back by https."""
    agents = {name: each for name, each in read_agents(settings).entries.items() if each.identity == "oauth"}
    for name, entry in agents.items():
        server = AuthorizationServer(entry.oauth, system_clock())
        try:
            metadata = await server.metadata()
        except (TokenRefused, TokenUnavailable) as error:
            text, remedy = error.brief.partition("; ")[::2]
            yield failed("sign-in", f"{name}: {text}", remedy or "see whether the server runs")
            continue
        if not metadata.revocation:
            text = f"{name}: {server.host} revokes no tokens: what is not kept is good there until it ends"
            yield warning("sign-in", text, "let it revoke tokens (RFC 7009), or give them a short life")
        else:
            yield ok("sign-in", f"{name}: {server.host} says what a sign-in needs")
    if agents and (url := settings.sign_in.base_url) is not None and urlsplit(url).scheme != "https":
        text = "SLACK_BOT_SIGN_IN__BASE_URL is not https: only browsers on this machine can come back"
        yield warning("sign-in", text, "put a proxy with TLS in front of it")
