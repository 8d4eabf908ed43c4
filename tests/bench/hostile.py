"""A Slack that fails: calls are refused, delayed, cut or applied without an answer, at the HTTP border.

The emulated workspace stays as it is and keeps its limits; what goes wrong goes wrong between it and the bot,
or in words that the workspace would not say by itself. Everything is drawn from the turn's own `Random`.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from aiohttp.client_reqrep import ConnectionKey

from slack_bot.clock import Clock
from slack_bot.playground.emulated import streams
from slack_bot.playground.inprocess import SlackResponse, SlackSession
from slack_bot.playground.workspace import Answer, Workspace

UPLOAD = "upload"
"""The method's name under which the bytes of a file are sent."""

# as a scenario's faults: `name` refused, `name:N` with Retry-After, `name!` applied and then said; and `cut`,
# `connect`, `http:N`, `timeout`, `slow:N` for the network, `seal` for a stream that Slack has ended itself
_ANYWHERE = """
    ratelimited:3 ratelimited:17 rate_limited rate_limited:2 service_unavailable connect connect
    timeout timeout! internal_error internal_error! fatal_error fatal_error! request_timeout request_timeout!
    http:500 http:500! http:502 http:503 http:503! cut cut! slow:5 slow:12
"""
_BESIDES = {
    "chat.startStream": "invalid_arguments invalid_chunks messaging_processing_failed!"
    " messaging_processing_failed channel_type_not_supported user_not_found nobody_knows_this",
    "chat.appendStream": "seal seal seal msg_too_long msg_too_long invalid_chunks invalid_arguments"
    " messaging_processing_failed! messaging_processing_failed streaming_mode_mismatch nobody_knows_this",
    "chat.stopStream": "seal seal invalid_blocks msg_blocks_too_long messaging_processing_failed!"
    " messaging_processing_failed nobody_knows_this",
    "chat.update": "invalid_blocks block_mismatch messaging_processing_failed!",
    "chat.postMessage": "invalid_blocks messaging_processing_failed! messaging_processing_failed",
    "chat.delete": "cant_delete_message",
    "conversations.replies": "missing_scope",
    "files.completeUploadExternal": "missing_scope",
}
_UPLOADING = ("connect", "timeout", "cut", "cut!", "http:500", "slow:5")


@dataclass(slots=True)
class Weather:
    """What goes wrong. `rate` is the part of calls; `always` has methods that fail with one name each time.

    `is_dead`: the token is refused from now on. `begun`: nothing goes wrong before.
    """

    random: Random
    rate: float = 0.1
    always: Mapping[str, str] = field(default_factory=dict)
    begun: bool = False
    is_dead: bool = False

    def next(self, method: str) -> str | None:
        """What happens to this call of `method`; None: nothing."""
        if not self.begun:
            return None
        if self.is_dead:
            return "token_revoked"
        if method in self.always:
            return self.always[method]
        if self.random.random() >= self.rate:
            return None
        if method == UPLOAD:
            return self.random.choice(_UPLOADING)
        besides = _BESIDES.get(method, "").split()
        # a method's own refusals are fewer than what may befall any call, and nearly as likely
        return self.random.choice(besides if besides and self.random.random() < 0.4 else _ANYWHERE.split())


@dataclass(frozen=True, slots=True)
class Made:
    """A call as it went: when, what was asked for, what befell it, and what the caller was told."""

    at: float
    method: str
    args: Mapping[str, Any]
    mishap: str | None
    told: str


class HostileSession(SlackSession):
    """The in-memory session under a `weather`. `made` are all calls, `files` the bytes sent by address."""

    def __init__(self, workspace: Workspace, clock: Clock, weather: Weather, *, timeout: float) -> None:
        super().__init__(workspace, clock, timeout=timeout, latency=0.05)
        self._weather, self._reading, self._seconds = weather, clock, timeout
        self.made: list[Made] = []
        self.files: dict[str, bytes] = {}

    def count(self) -> Counter[str]:
        """How many calls of each method were made since the weather began."""
        return Counter(call.method for call in self.made)

    async def perform(self, url: str, options: Mapping[str, Any]) -> SlackResponse:
        """As it does, if it may."""
        path = urlsplit(url).path
        method = UPLOAD if "/upload/" in path else path.rpartition("/")[2]
        mishap = self._weather.next(method)
        if not self._weather.begun:
            return await super().perform(url, options)
        at = self._reading.monotonic()
        told = "cancelled"
        try:
            response = await self._befall(mishap, method, url, options)
            told = await _told(response)
        except (aiohttp.ClientError, TimeoutError) as error:
            told = type(error).__name__
            raise
        finally:
            self.made.append(Made(at, method, _args(options), mishap, told))
        if method == UPLOAD and isinstance(data := options.get("data"), bytes):
            self.files[path.rpartition("/")[2]] = data
        return response

    async def _befall(
        self, mishap: str | None, method: str, url: str, options: Mapping[str, Any]
    ) -> SlackResponse:
        if mishap is None:
            return await super().perform(url, options)
        name, _, number = mishap.removesuffix("!").partition(":")
        if name == "seal":
            self._seal()
            return await super().perform(url, options)
        if name == "slow":
            await asyncio.sleep(int(number) / 2)
            response = await super().perform(url, options)
            await asyncio.sleep(int(number) / 2)
            return response
        if mishap.endswith("!"):
            response = await super().perform(url, options)
            if name not in ("timeout", "cut") and not (await response.json()).get("ok", True):
                return response  # what Slack refuses by itself was not applied
        return await self._fail(name, int(number or 0))

    async def _fail(self, name: str, number: int) -> SlackResponse:
        await asyncio.sleep(self._seconds if name == "timeout" else 0.05)
        if (broken := _broken(name)) is not None:
            raise broken
        if name == "http":
            return _Page(Answer({}, number), "text/html")
        return SlackResponse(_refused(name, 429 if name == "ratelimited" else 200, number))

    def _seal(self) -> None:
        """Slack ends every stream that is open, as it does after five minutes."""
        state, now = self.workspace.state, self._reading.wall()
        for ts in self.workspace.open_streams():
            for channel in state.messages.values():
                if ts in channel:
                    streams.seal(state, channel[ts], now)


class _Page(SlackResponse):
    """An answer of something that stands before Slack: no JSON."""

    async def json(self, **_: Any) -> Any:
        raise json.JSONDecodeError("no JSON", "<html>", 0)


def _refused(error: str, status: int, seconds: int) -> Answer:
    headers = {"Retry-After": str(seconds)} if seconds else {}
    return Answer({"ok": False, "error": error}, status, headers)


def _broken(name: str) -> Exception | None:
    """What aiohttp raises where the network fails in this way."""
    match name:
        case "timeout":
            return TimeoutError()
        case "cut":
            return aiohttp.ServerDisconnectedError()
        case "connect":
            key = ConnectionKey("slack.invalid", 443, True, True, None, None, None)
            return aiohttp.ClientConnectorError(key, OSError("connection refused"))
        case _:
            return None


async def _told(response: SlackResponse) -> str:
    if isinstance(response, _Page) or response.status != 200:
        return f"HTTP {response.status}"
    if response.content_type != "application/json":
        return "ok"
    body = await response.json()
    return "ok" if body.get("ok") else str(body.get("error"))


def _args(options: Mapping[str, Any]) -> Mapping[str, Any]:
    found = options.get("json") or options.get("params") or options.get("data")
    return found if isinstance(found, Mapping) else {}
