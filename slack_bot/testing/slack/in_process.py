"""The emulated workspace in memory: a stand-in for the aiohttp session that slack_sdk calls through.

So the whole Web API client runs as it does against Slack, on a virtual clock and without a socket:

    client = AsyncWebClient(token=BOT_TOKEN, session=SlackSession(workspace, clock))
"""

from __future__ import annotations

import asyncio
import errno
import json
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from aiohttp import (
    ClientConnectorError,
    ContentTypeError,
    FormData,
    RequestInfo,
    ServerDisconnectedError,
)
from aiohttp.client_reqrep import ConnectionKey
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from ...clock import Clock
from .expiry import Expiry
from .workspace import CallAnswer, Workspace

PAGE = "<!DOCTYPE html><title>Something is broken</title>"
"""What a proxy in front of Slack answers when Slack does not."""
_PAGE_TYPE = "text/html"
_UPLOAD = "/upload/"
_BEARER = "Bearer "


class SlackResponse:
    """The part of aiohttp's response that slack_sdk reads."""

    def __init__(self, answer: CallAnswer, url: str, content_type: str = "application/json") -> None:
        self.content_type = _PAGE_TYPE if answer.is_page else content_type
        self.status = answer.status
        self.headers = CIMultiDict({"Content-Type": self.content_type, **answer.headers})
        self._url = URL(url)
        self._raw = PAGE.encode() if answer.is_page else json.dumps(answer.body, ensure_ascii=False).encode()

    async def json(self, **_: Any) -> Any:
        """The body, decoded. aiohttp's `ContentTypeError` where it is a page."""
        if self.content_type == _PAGE_TYPE:
            request = RequestInfo(self._url, "POST", CIMultiDictProxy(CIMultiDict()), self._url)
            raise ContentTypeError(request, (), status=self.status, message="unexpected mimetype")
        return json.loads(self._raw)

    async def text(self, **_: Any) -> str:
        """The body as text."""
        return self._raw.decode()

    async def read(self) -> bytes:
        """The body as bytes."""
        return self._raw


class _Request(AbstractAsyncContextManager[SlackResponse]):
    """What `session.request(...)` gives: the call is made when it is entered."""

    def __init__(self, session: SlackSession, url: str, options: Mapping[str, Any]) -> None:
        self._session = session
        self._url = url
        self._options = options

    async def __aenter__(self) -> SlackResponse:
        return await self._session.perform(self._url, self._options)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None


class SlackSession:
    """A workspace behind the interface of `aiohttp.ClientSession`, as far as slack_sdk uses it.

    `timeout` is how long a caller waits, in seconds of the event loop, for an answer that never comes;
    `latency` how long every other call takes.
    """

    def __init__(
        self, workspace: Workspace, clock: Clock, *, timeout: float = 30.0, latency: float = 0.0
    ) -> None:
        self.workspace = workspace
        self.closed = False
        self._clock = clock
        self._timeout = timeout
        self._latency = latency
        self._expiry = Expiry(workspace, clock)

    def request(self, method: str, url: str, **options: Any) -> _Request:
        """A request to any Web API method or upload address, whatever its host."""
        del method  # Slack takes GET and POST alike
        return _Request(self, str(url), options)

    def post(self, url: str, **options: Any) -> _Request:
        """As `request`."""
        return self.request("POST", url, **options)

    async def close(self) -> None:
        """No more calls."""
        self._expiry.cancel()
        self.closed = True

    async def perform(self, url: str, options: Mapping[str, Any]) -> SlackResponse:
        """Make the call. `TimeoutError` after `timeout` where the workspace never answers; aiohttp's errors
        where the connection breaks.
        """
        await asyncio.sleep(self._latency)
        answer = self._make(url, options, arrived=False)
        if answer.postponed:
            await asyncio.sleep(answer.delay)
            answer = self._make(url, options, arrived=True)
        self._expiry.arm()
        if answer.broken:
            raise _broken(url, answer)
        if not answer.answered:
            await asyncio.sleep(self._timeout)
            raise TimeoutError
        await asyncio.sleep(answer.delay)
        is_upload = _UPLOAD in urlsplit(url).path
        return SlackResponse(answer, url, "text/plain" if is_upload else "application/json")

    def _make(self, url: str, options: Mapping[str, Any], *, arrived: bool) -> CallAnswer:
        path = urlsplit(url).path
        name = path.rpartition("/")[2]
        if _UPLOAD in path:
            data = options.get("data")
            content = data if isinstance(data, bytes) else b""
            return self.workspace.receive_file(name, content, arrived=arrived)
        return self.workspace.call(
            name,
            _arguments(url, options),
            now=self._clock.wall(),
            token=_token(options),
            is_json=options.get("json") is not None,
            arrived=arrived,
        )


def _broken(url: str, answer: CallAnswer) -> Exception:
    if answer.broken == "cut":
        return ServerDisconnectedError()
    at = urlsplit(url)
    key = ConnectionKey(at.hostname or "", at.port, at.scheme == "https", True, None, None, None)
    return ClientConnectorError(key, ConnectionRefusedError(errno.ECONNREFUSED, "refused"))


def _token(options: Mapping[str, Any]) -> str | None:
    headers = {name.lower(): value for name, value in (options.get("headers") or {}).items()}
    given = str(headers.get("authorization", ""))
    return given.removeprefix(_BEARER) if given.startswith(_BEARER) else None


def _arguments(url: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Query, form and JSON together, as Slack sees them: what is not JSON arrives as strings."""
    if options.get("json") is not None:
        decoded: dict[str, Any] = json.loads(json.dumps(options["json"]))
        return decoded
    args: dict[str, Any] = dict(parse_qsl(urlsplit(url).query, keep_blank_values=True))
    for part in (options.get("params"), options.get("data")):
        if isinstance(part, FormData):
            raise TypeError("the in-memory workspace takes no multipart forms")
        args |= {name: _as_form(value) for name, value in (part or {}).items() if value is not None}
    return args


def _as_form(value: Any) -> str:
    if isinstance(value, bool):
        return "1" if value else "0"
    return value if isinstance(value, str) else json.dumps(value)
