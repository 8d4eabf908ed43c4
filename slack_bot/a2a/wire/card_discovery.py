"""Fetching the agent card: from a configured card URL, else from the well-known places below the base.

A wrong address is every installation's first mistake, so whatever is there instead of a card (nothing, a web
page, a login, a redirect) is named in one sentence.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import httpx

from ...errors import BadAgentData, BadEncoding, CardError, NoCard, StreamLost
from ...settings.models import AgentSettings
from .card import AgentCard, CardPolicy, base_of, card_urls, is_card_url, looks_like_card, resolve
from .origins import origin_of
from .transport import map_exceptions, media_type, read_json, with_read_timeout

_MAX_CARD_BYTES = 1024 * 1024
_ACCEPT = {"Accept": "application/json", "Accept-Encoding": "identity"}
_REDIRECTS = range(300, 400)


@dataclass(frozen=True, slots=True)
class _NoCard:
    """No card at `url`, and why. `is_specific`: more than "nothing is there"."""

    url: str
    reason: str
    is_specific: bool = True


async def fetch_card(http: httpx.AsyncClient, auth: httpx.Auth, settings: AgentSettings) -> AgentCard:
    """Find and read the card of the configured agent, within `card_timeout` seconds.

    Raises:
        AgentUnreachable: no server answers at that address.
        CardError: it answers without a usable card.
    """
    host = str(origin_of(settings.url or ""))
    try:
        async with asyncio.timeout(settings.card_timeout):
            found_at, value = await _first_card(http, auth, settings)
    except TimeoutError as error:
        raise CardError(f"{host} did not send its agent card within {settings.card_timeout:g} s") from error
    except (StreamLost, BadAgentData) as error:
        raise CardError(f"the agent card cannot be read: {error}") from error
    return resolve(value, found_at, rules_of(settings))


def rules_of(settings: AgentSettings) -> CardPolicy:
    """The settings about cards."""
    return CardPolicy(
        configured=settings.url or "",
        use_configured_url=settings.use_configured_url,
        allowed_hosts=settings.allowed_hosts,
        wire=None if settings.protocol_version == "auto" else settings.protocol_version,
        extensions=settings.extensions,
    )


async def _first_card(http: httpx.AsyncClient, auth: httpx.Auth, settings: AgentSettings) -> tuple[str, Any]:
    configured, misses = settings.url or "", list[_NoCard]()
    for url in card_urls(configured):
        found = await _fetch(http, auth, url, settings.card_timeout)
        if not isinstance(found, _NoCard):
            return url, found
        misses.append(found)
    specific = next((miss for miss in misses[:2] if miss.is_specific), misses[0])
    if specific.is_specific:
        raise CardError(f"no agent card at {specific.url}: {specific.reason}")
    tried = specific.url if is_card_url(configured) else f"{base_of(configured)} or below its /.well-known/"
    raise NoCard(f"no agent card at {tried} ({specific.reason})")


async def _fetch(http: httpx.AsyncClient, auth: httpx.Auth, url: str, card_timeout: float) -> Any:
    """The JSON at `url` if it looks like a card, else a `_NoCard`."""
    host = str(origin_of(url))
    timeout = with_read_timeout(http, card_timeout)
    with map_exceptions(host):
        async with http.stream("GET", url, headers=_ACCEPT, auth=auth, timeout=timeout) as response:
            if not response.is_success:
                return _refused(url, response)
            try:
                value = await read_json(response, host, _MAX_CARD_BYTES)
            except BadEncoding as error:
                return _NoCard(url, str(error))
            except BadAgentData:
                return _NoCard(url, _what_instead(media_type(response)))
    return value if looks_like_card(value) else _NoCard(url, "it is JSON, but not an agent card")


def _refused(url: str, response: httpx.Response) -> _NoCard:
    status = response.status_code
    if status in (401, 403):
        return _NoCard(
            url,
            f"the server wants other credentials (HTTP {status}); see SLACK_BOT_AGENT__BEARER_TOKEN and"
            " SLACK_BOT_AGENT__HEADER_NAME",
        )
    if status in _REDIRECTS:
        return _NoCard(
            url, f"the server redirects (HTTP {status}), which is not followed; use the final address"
        )
    return _NoCard(url, f"HTTP {status}", is_specific=status not in (400, 404, 405, 410, 501))


def _what_instead(kind: str) -> str:
    if "html" in kind:
        return "a web page is there, not JSON; is a login or another site at this address?"
    return "what is there is not JSON, or too large"
