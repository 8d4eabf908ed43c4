"""Gets the bytes of a file from Slack, which wants the bot's token: no other host may see it
(facts: Slack 10).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from urllib.parse import SplitResult, urljoin, urlsplit

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

_SLACK = "slack.com"
_MOST_REDIRECTS = 3
_PIECE = 64 * 1024
_MOVED = frozenset({301, 302, 303, 307, 308})

FOREIGN = "not_slacks_address"
"""The error of an address that is not one of Slack's."""
TOO_LARGE = "too_large"
"""The error of a file that is larger than it may be."""


def is_slacks(url: str, api_url: str) -> bool:
    """Whether `url` is an address of Slack's: https below slack.com, or where its API is."""
    try:
        place, api = urlsplit(url), urlsplit(api_url)
        host, own = place.hostname or "", api.hostname or ""
        if place.scheme == "https" and place.port in (None, 443) and _is_below(host, _SLACK):
            return True
        return place.scheme == api.scheme and _port(place) == _port(api) and _is_below(host, own)
    except ValueError:
        return False


def _is_below(host: str, top: str) -> bool:
    return bool(top) and (host == top or host.endswith(f".{top}"))


def _port(place: SplitResult) -> int:
    return place.port or (443 if place.scheme == "https" else 80)


async def download(client: AsyncWebClient, url: str, most: int) -> dict[str, object]:
    """`content` and `content_type` of what is at `url`. The token goes along to the first host only.

    Raises SlackApiError, with one of the errors above, or for a status; and what aiohttp raises.
    """
    session, began = client.session, urlsplit(url).netloc
    assert session is not None
    for _ in range(_MOST_REDIRECTS + 1):
        if not is_slacks(url, client.base_url):
            raise _refused(FOREIGN)
        is_ours = urlsplit(url).netloc == began
        headers = {"Authorization": f"Bearer {client.token}"} if is_ours else {}
        async with session.get(url, headers=headers, allow_redirects=False) as response:
            if response.status in _MOVED:
                url = urljoin(url, response.headers.get("Location", ""))
                continue
            if response.status != HTTPStatus.OK:
                raise _refused("", response.status)
            return {"content": await _read(response, most), "content_type": response.content_type}
    raise _refused(FOREIGN)


async def _read(response: aiohttp.ClientResponse, most: int) -> bytes:
    content = bytearray()
    async for piece in response.content.iter_chunked(_PIECE):
        content += piece
        if len(content) > most:
            raise _refused(TOO_LARGE)
    return bytes(content)


@dataclass(frozen=True, slots=True)
class _Answer:
    """What `SlackApi` reads of a response."""

    status: int
    data: Mapping[str, str]
    headers: Mapping[str, str] = field(default_factory=dict)


def _refused(error: str, status: int = 0) -> SlackApiError:
    answer = _Answer(status, {"error": error})
    return SlackApiError(error, answer)  # type: ignore[no-untyped-call]  # the SDK gives it no types
