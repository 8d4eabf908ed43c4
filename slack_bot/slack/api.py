"""The one door to Slack's Web API: wait for a slot, call, classify what came of it, tell the watcher.

slack_sdk's own retry repeats a write whose connection broke after it was sent, which doubles text; it is off
here. What is repeated is only what surely was not applied (`Fault.LATER`). Everything else is for the caller,
who knows what the message should read. Nobody outside this file sees an exception of slack_sdk or aiohttp.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from ..clock import Clock
from ..observe.facts import SlackCalled, Watcher
from ..sections import SlackSettings
from .faults import Fault, fault_of

_log = logging.getLogger(__name__)

_READS = frozenset({"conversations.replies", "conversations.history", "conversations.info", "users.info"})
"""Read methods refuse JSON bodies: their arguments go into the address (facts: Slack 7)."""

_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 15.0  # seconds between attempts where Slack names no time

Gate = Callable[[str], Awaitable[None]]
"""Awaited with the method's name before each attempt: where the governor will stand."""


@dataclass(frozen=True, slots=True)
class Done:
    """Slack said ok. `data` is the body of its answer."""

    data: Mapping[str, Any]

    @property
    def ts(self) -> str:
        """The message the call was about, "" where the answer names none."""
        return str(self.data.get("ts") or "")


@dataclass(frozen=True, slots=True)
class Failed:
    """The call failed for good. `error` is Slack's name for it, or ours (see `faults.classify`).

    `retry_after` is the pause in seconds that Slack asked for, if it did.
    """

    fault: Fault
    error: str
    retry_after: float | None = None


def new_web_client(settings: SlackSettings, session: aiohttp.ClientSession | None = None) -> AsyncWebClient:
    """The Web API client of the whole bot: no retries of its own, all calls on one shared `session`."""
    token = settings.bot_token
    return AsyncWebClient(
        token=None if token is None else token.get_secret_value(),
        base_url=settings.api_url,
        timeout=settings.slack_timeout,  # type: ignore[arg-type]  # an int in the SDK's hint; used as a float
        session=session,
        retry_handlers=[],
    )


class SlackApi:
    """Calls Web API methods. Safe to share; `for_turn` gives a copy that names the turn it calls for.

    `retry_later` is the most seconds one call waits, in all, for limits and outages to pass.
    """

    def __init__(
        self,
        client: AsyncWebClient,
        clock: Clock,
        watcher: Watcher,
        retry_later: float,
        *,
        gate: Gate | None = None,
        turn: str = "",
    ) -> None:
        self._client, self._clock, self._watcher = client, clock, watcher
        self._retry_later, self._gate, self._turn = retry_later, gate, turn

    def for_turn(self, turn: str) -> SlackApi:
        """The same door, for the turn named `turn`."""
        return SlackApi(
            self._client, self._clock, self._watcher, self._retry_later, gate=self._gate, turn=turn
        )

    async def call(
        self, method: str, args: Mapping[str, object], *, patience: float | None = None
    ) -> Done | Failed:
        """Call `method`, again while Slack says later. Never raises for what Slack or the network does.

        `patience` is the most seconds to wait for that, in all; None: the setting.
        """
        wait_for = self._retry_later if patience is None else patience
        waited, pause = 0.0, _FIRST_PAUSE
        while True:
            if self._gate is not None:
                await self._gate(method)
            result = await self._attempt(method, args)
            if isinstance(result, Done) or result.fault is not Fault.LATER:
                return result
            asked = pause if result.retry_after is None else result.retry_after
            if waited + asked > wait_for:
                return result
            await asyncio.sleep(asked)
            waited, pause = waited + asked, min(2 * pause, _LONGEST_PAUSE)

    async def _attempt(self, method: str, args: Mapping[str, object]) -> Done | Failed:
        began = self._clock.monotonic()
        try:
            async with asyncio.timeout(self._client.timeout):
                result: Done | Failed = Done(await self._send(method, args))
        except SlackApiError as error:
            result = _refused(error)
        except aiohttp.ClientConnectorError:
            result = Failed(Fault.LATER, "connect_failed")
        except aiohttp.ConnectionTimeoutError:
            result = Failed(Fault.LATER, "connect_failed")
        except TimeoutError:
            result = Failed(Fault.UNKNOWN, "timeout")
        except (aiohttp.ClientError, OSError):
            result = Failed(Fault.UNKNOWN, "connection_lost")
        now = self._clock.monotonic()
        error_name = None if isinstance(result, Done) else result.error
        self._watcher(SlackCalled(now, self._turn, method, args, error_name is None, error_name, now - began))
        if isinstance(result, Failed):
            self._tell(method, result)
        return result

    async def _send(self, method: str, args: Mapping[str, object]) -> Mapping[str, Any]:
        given = {name: value for name, value in args.items() if value is not None}
        if method in _READS:
            answer = await self._client.api_call(method, http_verb="GET", params=given)
        else:
            answer = await self._client.api_call(method, json=given)
        return answer.data if isinstance(answer.data, dict) else {}

    def _tell(self, method: str, failed: Failed) -> None:
        _log.log(
            logging.ERROR if failed.fault is Fault.WRONG_CALL else logging.WARNING,
            "%s failed: %s (%s), turn %s",
            method,
            failed.error,
            failed.fault,
            self._turn or "-",
        )


def _refused(error: SlackApiError) -> Failed:
    """What Slack's answer says. It is the SDK's response, or aiohttp's where the body was not JSON."""
    answer = error.response
    status = int(getattr(answer, "status_code", 0) or getattr(answer, "status", 0))
    body = getattr(answer, "data", None)
    name = body.get("error") if isinstance(body, dict) else None
    name = name if isinstance(name, str) else ""
    after = _seconds(getattr(answer, "headers", {}).get("Retry-After"))
    fallback = "unreadable" if status < 400 else f"http_{status}"
    return Failed(fault_of(status, name), name or fallback, after)


def _seconds(value: object) -> float | None:
    try:
        return max(0.0, float(str(value)))
    except ValueError:
        return None
