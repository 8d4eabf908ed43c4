"""The emulated workspace in memory: a stand-in for the aiohttp session that slack_sdk calls through.

So the whole Web API client runs as it does against Slack, on a virtual clock and without a socket:

    client = AsyncWebClient(token=BOT_TOKEN, session=SlackSession(workspace, clock))
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from aiohttp import FormData

from ..clock import Clock
from .workspace import Answer, Workspace

_BEARER = "Bearer "


class SlackResponse:
    """The part of aiohttp's response that slack_sdk reads."""

    def __init__(self, answer: Answer, content_type: str = "application/json") -> None:
        self.status = answer.status
        self.headers = {"Content-Type": content_type, **answer.headers}
        self.content_type = content_type
        self._raw = json.dumps(answer.body, ensure_ascii=False).encode()

    async def json(self, **_: Any) -> Any:
        """The body, decoded."""
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

    def request(self, method: str, url: str, **options: Any) -> _Request:
        """A request to any Web API method or upload address, whatever its host."""
        del method  # Slack takes GET and POST alike
        return _Request(self, str(url), options)

    def post(self, url: str, **options: Any) -> _Request:
        """As `request`."""
        return self.request("POST", url, **options)

    async def close(self) -> None:
        """No more calls."""
        self.closed = True

    async def perform(self, url: str, options: Mapping[str, Any]) -> SlackResponse:
        """Make the call. `TimeoutError` after `timeout` where the workspace never answers."""
        await asyncio.sleep(self._latency)
        path = urlsplit(url).path
        if "/upload/" in path:
            return self._upload(path.rpartition("/")[2], options)
        answer = self.workspace.call(
            path.rpartition("/")[2],
            _arguments(url, options),
            now=self._clock.wall(),
            token=_token(options),
            is_json=options.get("json") is not None,
        )
        if not answer.answered:
            await asyncio.sleep(self._timeout)
            raise TimeoutError
        return SlackResponse(answer)

    def _upload(self, file_id: str, options: Mapping[str, Any]) -> SlackResponse:
        data = options.get("data")
        known = self.workspace.receive_file(file_id, len(data) if isinstance(data, bytes) else 0)
        return SlackResponse(Answer({"ok": known}, 200 if known else 404), "text/plain")


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
