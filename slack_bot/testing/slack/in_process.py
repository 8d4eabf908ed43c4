"""The emulated workspace in memory: a stand-in for the aiohttp session that slack_sdk calls through.

So the whole Web API client runs as it does against Slack, on a virtual clock and without a socket:

    client = AsyncWebClient(token=BOT_TOKEN, session=SlackSession(workspace, clock))
"""

import asyncio
import errno
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from aiohttp import (
    ClientConnectorError,
    ClientResponseError,
    ContentTypeError,
    FormData,
    RequestInfo,
    ServerDisconnectedError,
)
from aiohttp.client_reqrep import ConnectionKey
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from ...clock import Clock
from .files import file_of_path
from .streams import next_end
from .teams import EmulatedTeams
from .workspace import CallAnswer, Workspace

PAGE = "<!DOCTYPE html><title>Something is broken</title>"
"""What a proxy in front of Slack answers when Slack does not."""
_PAGE_TYPE = "text/html"
_UPLOAD, _RESPONSE = "/upload/", "/response/"
_MARGIN = 0.001  # seconds: a timer may ring a moment before its time


class Line:
    """The time between app and workspace: calls that are late, and a timer for the stream that ends next."""

    def __init__(self, workspace: Workspace, clock: Clock) -> None:
        self._workspace, self._clock = workspace, clock
        self._timer: asyncio.TimerHandle | None = None

    async def carry(self, answer: CallAnswer) -> CallAnswer:
        """The answer to a call, once the call has arrived."""
        if answer.arrive is not None:
            await asyncio.sleep(answer.delay)
            answer = answer.arrive(self._clock.wall())
        self.arm()
        return answer

    def arm(self) -> None:
        self.cancel()
        end = next_end(self._workspace.state)
        if end is not None:
            wait = max(0.0, end - self._clock.wall()) + _MARGIN
            self._timer = asyncio.get_running_loop().call_later(wait, self._ring)

    def cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _ring(self) -> None:
        self._workspace.pass_time(self._clock.wall())
        self.arm()


class SlackResponse:
    """The part of aiohttp's response that slack_sdk reads."""

    def __init__(self, answer: CallAnswer, url: str, content_type: str = "application/json") -> None:
        if answer.content is not None:
            content_type = answer.content_type
        self.content_type = _PAGE_TYPE if answer.is_page else content_type
        self.status = answer.status
        self.headers = CIMultiDict({"Content-Type": self.content_type, **answer.headers})
        self._url = URL(url)
        said = PAGE if answer.is_page else json.dumps(answer.body, ensure_ascii=False)
        is_file = answer.content is not None and not answer.is_page
        self._body = answer.content or b"" if is_file else said.encode()

    async def json(self, **_: Any) -> Any:
        """The body, decoded. aiohttp's `ContentTypeError` where it is a page."""
        if self.content_type == _PAGE_TYPE:
            raise ContentTypeError(self._request, (), status=self.status, message="unexpected mimetype")
        return json.loads(self._body)

    def raise_for_status(self) -> None:
        """Raise aiohttp's `ClientResponseError` from 400 on."""
        if self.status >= HTTPStatus.BAD_REQUEST:
            raise ClientResponseError(self._request, (), status=self.status)

    @property
    def _request(self) -> RequestInfo:
        return RequestInfo(self._url, "POST", CIMultiDictProxy(CIMultiDict()), self._url)

    async def text(self, **_: Any) -> str:
        return self._body.decode()

    async def read(self) -> bytes:
        return self._body

    @property
    def content(self) -> "SlackResponse":
        """What the body is read from piece by piece."""
        return self

    async def iter_chunked(self, size: int) -> AsyncIterator[bytes]:
        for at in range(0, len(self._body), size):
            yield self._body[at : at + size]


class SlackSession:
    """A workspace behind the interface of `aiohttp.ClientSession`, as far as slack_sdk uses it.

    `timeout`: seconds that a caller waits for an answer that never comes. `latency`: what every call takes.
    `others`: more workspaces of the same app.
    """

    def __init__(
        self,
        workspace: Workspace,
        clock: Clock,
        *,
        others: Sequence[Workspace] = (),
        timeout: float = 30.0,
        latency: float = 0.0,
    ) -> None:
        self.workspace, self._teams = workspace, EmulatedTeams([workspace, *others])
        self.closed = False
        self._clock, self._timeout, self._latency = clock, timeout, latency
        self._lines = {each.state.team: Line(each, clock) for each in self._teams}

    def request(self, method: str, url: str, **options: Any) -> AbstractAsyncContextManager[SlackResponse]:
        """A request to any Web API method or address of a file, whatever its host and HTTP method."""
        return self._performed(str(url), options)

    def get(self, url: str, **options: Any) -> AbstractAsyncContextManager[SlackResponse]:
        return self.request("GET", url, **options)

    def post(self, url: str, **options: Any) -> AbstractAsyncContextManager[SlackResponse]:
        return self.request("POST", url, **options)

    async def close(self) -> None:
        for line in self._lines.values():
            line.cancel()
        self.closed = True

    @asynccontextmanager
    async def _performed(self, url: str, options: Mapping[str, Any]) -> AsyncIterator[SlackResponse]:
        yield await self.perform(url, options)

    async def perform(self, url: str, options: Mapping[str, Any]) -> SlackResponse:
        """Make the call. Raises what aiohttp would where no answer comes."""
        await asyncio.sleep(self._latency)
        parts = urlsplit(url)
        name = parts.path.rpartition("/")[2]
        is_upload = _UPLOAD in parts.path
        token = bearer(options.get("headers") or {})
        if is_upload:
            data = options.get("data")
            workspace = self._teams.with_file(name)
            answer = workspace.receive_file(name, data if isinstance(data, bytes) else b"")
        elif _RESPONSE in parts.path:
            workspace = self._teams.with_response(name)
            answer = workspace.respond(name, options["json"], now=self._clock.wall())
        elif (file_id := file_of_path(parts.path)) is not None:
            workspace = self._teams.with_file(file_id)
            answer = workspace.download(file_id, token=token)
        else:
            given, workspace = _arguments(parts.query, options), self._teams.of(token)
            now, is_json = self._clock.wall(), options.get("json") is not None
            answer = workspace.call(name, given, now=now, token=token, is_json=is_json)
        answer = await self._lines[workspace.state.team].carry(answer)
        if answer.silence == "cut":
            raise ServerDisconnectedError
        if answer.silence == "connect":
            key = ConnectionKey(
                parts.hostname or "", parts.port, parts.scheme == "https", True, None, None, None
            )
            raise ClientConnectorError(key, ConnectionRefusedError(errno.ECONNREFUSED, "refused"))
        if answer.silence:
            await asyncio.sleep(self._timeout)
            raise TimeoutError
        await asyncio.sleep(answer.delay)
        return SlackResponse(answer, url, "text/plain" if is_upload else "application/json")


def bearer(headers: Mapping[str, Any]) -> str | None:
    """The token in an Authorization header."""
    given = next((str(value) for name, value in headers.items() if name.lower() == "authorization"), "")
    return given.removeprefix("Bearer ") if given.startswith("Bearer ") else None


def _arguments(query: str, options: Mapping[str, Any]) -> dict[str, Any]:
    if options.get("json") is not None:
        decoded: dict[str, Any] = json.loads(json.dumps(options["json"]))
        return decoded
    args: dict[str, Any] = dict(parse_qsl(query, keep_blank_values=True))
    for part in (options.get("params"), options.get("data")):
        if isinstance(part, FormData):
            raise TypeError("the in-memory workspace takes no multipart forms")
        args |= {name: _as_form(value) for name, value in (part or {}).items() if value is not None}
    return args


def _as_form(value: Any) -> str:
    if isinstance(value, bool):
        return "1" if value else "0"
    return value if isinstance(value, str) else json.dumps(value)
