"""Fetches a file from an address that an agent named, if that can harm no one.

The bot connects to exactly the machine that was checked, so a name that leads elsewhere a moment later
changes nothing. A proxy of the environment is not used, because it would look the name up again. No token and
no cookie is sent.
"""

import asyncio
import logging
import socket
import zlib
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress
from http import HTTPStatus
from typing import TypeAlias

from ..http_client import (
    URL,
    AsyncBaseTransport,
    AsyncHTTPTransport,
    ConnectError,
    HTTPError,
    InvalidURL,
    Request,
    Response,
)
from ..settings.web import WebSettings
from ..text.words import (
    LINK_CUT_OFF,
    LINK_LATE,
    LINK_NOT_FETCHED,
    LINK_NOT_PUBLIC,
    LINK_OF_NO_KIND,
    LINK_OF_OTHER_KIND,
    LINK_PACKED,
    LINK_REDIRECTS_TOO_OFTEN,
    LINK_REFUSED,
    LINK_TO_NO_HOST,
    LINK_TOO_LARGE,
    LINK_UNREACHABLE,
)
from .addresses import NotFetched, WebAddress, WebFile, is_public, read_address, redirected

_log = logging.getLogger(__name__)

Resolve: TypeAlias = Callable[[str, int], Awaitable[Collection[str]]]
"""Returns the IP addresses of a host. Raises OSError."""
_MOST_MACHINES = 3  # of a host that are tried, where no connection comes about
_AUTO = zlib.MAX_WBITS | 32  # gzip and zlib, by their heads
_PAGE = "text/html"
_HEADERS = {"Accept": "*/*", "Accept-Encoding": "identity", "User-Agent": "slack-bot"}
_PACKED = frozenset({"gzip", "x-gzip", "deflate"})
_MOVED = frozenset({301, 302, 303, 307, 308})


class _Refused(Exception):
    """Ends a fetch. Its text follows "because"."""


async def fetch_file(settings: WebSettings, url: str, kinds: Collection[str] = ()) -> WebFile | NotFetched:
    """Fetch over the network; see `WebFetcher.fetch`."""
    return await WebFetcher(settings).fetch(url, kinds)


class WebFetcher:
    """Fetches files as the settings allow.

    `resolve` and `new_transport` replace the network, for replays and tests.
    """

    def __init__(
        self,
        settings: WebSettings,
        resolve: Resolve | None = None,
        new_transport: Callable[[], AsyncBaseTransport] | None = None,
    ) -> None:
        self._settings, self._resolve = settings, resolve or _resolved
        self._new_transport = new_transport or AsyncHTTPTransport

    async def fetch(self, url: str, kinds: Collection[str] = ()) -> WebFile | NotFetched:
        """Fetch the file at `url`. Returns NotFetched for any failure and never raises.

        `kinds`: how the accepted media types begin; if empty, everything but a web page is accepted.
        """
        try:
            async with asyncio.timeout(self._settings.fetch_timeout):
                return await self._follow(url, kinds)
        except _Refused as refusal:
            reason = str(refusal)
        except TimeoutError:
            reason = LINK_LATE.format(self._settings.fetch_timeout)
        except (HTTPError, InvalidURL, OSError, zlib.error) as error:
            _log.info("a file that an agent named was not fetched: %s", type(error).__name__)
            reason = LINK_CUT_OFF
        return NotFetched(LINK_NOT_FETCHED.format(reason))

    async def _follow(self, url: str, kinds: Collection[str]) -> WebFile:
        allowed = self._settings.fetch_hosts
        address = read_address(url, allowed)
        for _ in range(self._settings.max_redirects + 1):
            if isinstance(address, str):
                raise _Refused(address)
            result = await self._at(address, kinds)
            if isinstance(result, WebFile):
                return result
            address = redirected(address, result, allowed)
        raise _Refused(LINK_REDIRECTS_TOO_OFTEN.format(self._settings.max_redirects))

    async def _at(self, address: WebAddress, kinds: Collection[str]) -> WebFile | str:
        """The file at `address`, or the address to which it redirects.

        Each request has a connection of its own.
        """
        machines = list(dict.fromkeys(await self._resolve(address.host, address.port)))
        if not machines:
            raise _Refused(LINK_TO_NO_HOST)
        if not all(map(is_public, machines)):
            raise _Refused(LINK_NOT_PUBLIC.format(address.place))
        for machine in machines[:_MOST_MACHINES]:
            with suppress(ConnectError):
                return await self._asked(address, machine, kinds)
        raise _Refused(LINK_UNREACHABLE)

    async def _asked(self, address: WebAddress, machine: str, kinds: Collection[str]) -> WebFile | str:
        """Ask one machine by its IP address. Its certificate must still be that of the host."""
        url = URL(scheme="https", host=machine, port=address.port, raw_path=address.target.encode())
        host = f"[{address.place}]" if ":" in address.host else address.place
        extensions = {"sni_hostname": address.host}
        request = Request("GET", url, headers={"Host": host, **_HEADERS}, extensions=extensions)
        async with self._new_transport() as transport:
            response = await transport.handle_async_request(request)
            try:
                if response.status_code in _MOVED and "location" in response.headers:
                    return str(response.headers["location"])
                return await self._read(response, kinds)
            finally:
                await response.aclose()

    async def _read(self, response: Response, kinds: Collection[str]) -> WebFile:
        if response.status_code != HTTPStatus.OK:
            raise _Refused(LINK_REFUSED.format(response.status_code))
        media_type = str(response.headers.get("content-type", "")).partition(";")[0].strip().lower()
        if not media_type.startswith(tuple(kinds)) if kinds else media_type == _PAGE:
            raise _Refused(LINK_OF_OTHER_KIND.format(media_type or LINK_OF_NO_KIND))
        most = self._settings.max_bytes
        too_large = _Refused(LINK_TOO_LARGE.format(most))
        declared_size = response.headers.get("content-length", "")
        if declared_size.isdigit() and int(declared_size) > most:
            raise too_large
        body = bytearray()
        async for piece in response.stream:  # type: ignore[union-attr]  # a transport's is asynchronous
            body += piece
            if len(body) > most:
                raise too_large
        packing = response.headers.get("content-encoding", "identity").strip().lower()
        if packing in ("", "identity"):
            return WebFile(bytes(body), media_type)
        if packing not in _PACKED:
            raise _Refused(LINK_PACKED)
        content = await asyncio.to_thread(_unpacked, bytes(body), most)
        if content is None:
            raise too_large
        return WebFile(content, media_type)


def _unpacked(body: bytes, most: int) -> bytes | None:
    """Unpack a body: some servers send files compressed, asked or not. None if the content is larger than
    `most`.

    Raises zlib.error if it is not compressed.
    """
    decompressor = zlib.decompressobj(_AUTO)
    content = decompressor.decompress(body, most + 1)
    if len(content) <= most and not decompressor.eof:
        raise zlib.error("cut off")
    return content if len(content) <= most else None


async def _resolved(host: str, port: int) -> list[str]:
    loop = asyncio.get_running_loop()
    addresses = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(where[0]) for *_, where in addresses]
