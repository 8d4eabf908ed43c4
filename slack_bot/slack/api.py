"""The one door to Slack's Web API: wait for a slot, call, classify what came of it, tell the watcher.

slack_sdk's own retry repeats a write whose connection broke after it was sent, which doubles text; it is off
here. What is repeated is only what surely was not applied (`ScriptedFault.LATER`). Everything else is for
the caller,
who knows what the message should read. Nobody outside this file sees an exception of slack_sdk or aiohttp.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from ..clock import Clock
from ..observe.facts import Observer, SlackCalled
from ..settings.models import SlackSettings
from .faults import Fault, fault_of
from .missing_scopes import MISSING_SCOPE, MissingScopes
from .rate_limiter.governor import CallRequest, Priority, priority_of
from .rate_limiter.local import READS, Permit, RateLimiter

_log = logging.getLogger(__name__)

_LEVELS = {Fault.WRONG_CALL: logging.ERROR, Fault.STOPPED: logging.INFO, Fault.SEALED: logging.INFO}
"""Our bug is an error; that a stream ended, by a human's Stop or by its age, is nothing to warn of."""

_FORMS = frozenset({"files.getUploadURLExternal", "files.completeUploadExternal"})
"""Methods that write and take no JSON body either: slack_sdk sends them as forms."""

_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 15.0  # seconds between attempts where Slack names no time

_UNREADABLE = (ValueError, AttributeError, RecursionError)
"""What slack_sdk makes of a body that it cannot read: no text, JSON that is no object, or too deep."""

_LIMITED = frozenset({"ratelimited", "rate_limited", "http_429"})
_SHOWS = frozenset({"chat.startStream", "chat.appendStream", "chat.update", "chat.postMessage"})


@dataclass(frozen=True, slots=True)
class CallOk:
    """Slack said ok. `data` is the body of its answer."""

    data: Mapping[str, Any]

    @property
    def ts(self) -> str:
        """The message the call was about, "" where the answer names none."""
        return str(self.data.get("ts") or "")


@dataclass(frozen=True, slots=True)
class CallFailed:
    """The call failed for good. `error` is Slack's name for it, or ours (see `faults.classify`).

    `retry_after` is the pause in seconds that Slack asked for, if it did. `in_doubt`: it was made more than
    once, and an earlier attempt had no answer, so it may have been applied for all that. `needed`: the scope
    that is missing, where that is the error.
    """

    fault: Fault
    error: str
    retry_after: float | None = None
    in_doubt: bool = False
    needed: str = ""

    @property
    def is_final(self) -> bool:
        """Slack has refused it: the same call would be refused again."""
        return self.fault not in (Fault.LATER, Fault.UNKNOWN)


def new_web_client(settings: SlackSettings, session: aiohttp.ClientSession | None = None) -> AsyncWebClient:
    """The Web API client of the whole bot: no retries of its own, all calls on one shared `session`."""
    token = settings.bot_token
    return AsyncWebClient(
        token=None if token is None else token.get_secret_value(),
        base_url=settings.api_url,
        timeout=settings.timeout,  # type: ignore[arg-type]  # an int in the SDK's hint; used as a float
        session=session,
        retry_handlers=[],
    )


class SlackApi:
    """Calls Web API methods. Safe to share; `for_turn` gives a copy that names the turn it calls for.

    `retry_timeout` is the most seconds one call waits, in all, for limits and outages to pass; its turn among
    the bot's own calls, which `gate` gives, it waits for as long as that takes. `write_timeout` is the most
    seconds for a call that writes; None: the client's.
    """

    def __init__(
        self,
        client: AsyncWebClient,
        clock: Clock,
        observer: Observer,
        retry_timeout: float,
        *,
        gate: RateLimiter | None = None,
        turn: str = "",
        write_timeout: float | None = None,
        scopes: MissingScopes | None = None,
    ) -> None:
        self._client, self._clock, self._observer = client, clock, observer
        self._retry_later, self._gate, self._turn = retry_timeout, gate, turn
        self._write_timeout = write_timeout
        self._scopes = scopes or MissingScopes()
        self._reserved: dict[str, Permit] = {}
        self._shown_at = 0.0

    def for_turn(self, turn: str) -> SlackApi:
        """The same door, for the turn named `turn`, with reservations of its own."""
        return SlackApi(
            self._client,
            self._clock,
            self._observer,
            self._retry_later,
            gate=self._gate,
            turn=turn,
            write_timeout=self._write_timeout,
            scopes=self._scopes,
        )

    def reserve(
        self,
        method: str,
        channel: str = "",
        rank: Priority | None = None,
        wake: Callable[[], None] | None = None,
    ) -> bool:
        """Wait for the slot of this turn's next call of `method`, without making it yet.

        True: it may be made at once. False: `wake` is called when it may; asking again meanwhile only changes
        the rank and who is woken. One method at a time: what was reserved for another is given back.
        """
        if self._gate is None:
            return True
        if method not in self._reserved:
            self.give_back()
            want = self._want(method, channel, rank, self._retry_later)
            self._reserved[method] = self._gate.reserve(want, wake)
        else:
            self._reserved[method].move(priority_of(method) if rank is None else rank, wake)
        return self._reserved[method].is_settled

    def give_back(self) -> None:
        """What was reserved will not be used."""
        while self._reserved:
            self._reserved.popitem()[1].give_back()

    async def call(
        self, method: str, args: Mapping[str, object], *, patience: float | None = None
    ) -> CallOk | CallFailed:
        """Call `method`, again while Slack says later. Never raises for what Slack or the network does.

        `patience` is the most seconds to wait for that, in all; None: the setting. What was refused before
        for want of a scope is refused here, and Slack is not asked again.
        """
        if self._scopes.refuses(method, _channel(args)):
            self.give_back()
            return CallFailed(Fault.NOT_HERE, MISSING_SCOPE)
        left = self._retry_later if patience is None else patience
        block, pause = left, _FIRST_PAUSE
        while True:
            slot = self._slot(method, args, block, again=pause > _FIRST_PAUSE)
            if slot is not None and (blocked := await slot.wait(block)) is not None:
                return CallFailed(Fault.LATER, "ratelimited", blocked)
            result = await self._attempt(method, args, slot)
            if isinstance(result, CallOk) or result.fault is not Fault.LATER:
                return result
            asked = pause if result.retry_after is None else result.retry_after
            is_limit = slot is not None and result.error in _LIMITED
            if slot is not None and is_limit:
                slot.refused(asked)
            if asked > left:
                return result
            if not is_limit:
                await asyncio.sleep(asked)
            left, block, pause = left - asked, left, min(2 * pause, _LONGEST_PAUSE)

    def _slot(
        self, method: str, args: Mapping[str, object], patience: float, *, again: bool
    ) -> Permit | None:
        """The slot this turn has reserved, or a new place in the line."""
        if self._gate is None:
            return None
        slot = self._reserved.pop(method, None)
        if slot is not None:
            slot.move(priority_of(method))
            return slot
        want = self._want(method, _channel(args), None, patience)
        return self._gate.reserve(replace(want, again=again))

    def _want(self, method: str, channel: str, rank: Priority | None, patience: float) -> CallRequest:
        return CallRequest(
            number=0,
            method=method,
            rank=priority_of(method) if rank is None else rank,
            asked_at=0.0,
            unseen_since=self._shown_at,
            patience=patience,
            channel=channel,
        )

    async def _attempt(
        self, method: str, args: Mapping[str, object], slot: Permit | None
    ) -> CallOk | CallFailed:
        if slot is not None:
            slot.use()
        began = self._clock.monotonic()
        try:
            result = await self._outcome(self._send(method, args), is_read=method in READS)
        except asyncio.CancelledError:
            now = self._clock.monotonic()
            self._observer(SlackCalled(now, self._turn, method, args, False, "given_up", now - began))
            raise
        now = self._clock.monotonic()
        error_name = None if isinstance(result, CallOk) else result.error
        self._observer(
            SlackCalled(now, self._turn, method, args, error_name is None, error_name, now - began)
        )
        if isinstance(result, CallFailed):
            if result.error == MISSING_SCOPE:
                self._scopes.note(method, _channel(args))
            self._tell(method, result)
        elif method in _SHOWS:
            self._shown_at = now
        return result

    async def _outcome(
        self, sending: Coroutine[Any, Any, Mapping[str, Any]], *, is_read: bool
    ) -> CallOk | CallFailed:
        """What came of a request, in our words."""
        limit = self._client.timeout if is_read or self._write_timeout is None else self._write_timeout
        try:
            async with asyncio.timeout(limit):
                return CallOk(await sending)
        except SlackApiError as error:
            return _refused(error)
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError):
            return CallFailed(Fault.LATER, "connect_failed")
        except TimeoutError:
            return CallFailed(Fault.UNKNOWN, "timeout")
        except (aiohttp.ClientError, OSError):
            return CallFailed(Fault.UNKNOWN, "connection_lost")
        except _UNREADABLE:  # last: a certificate that is refused is a ValueError too
            return CallFailed(Fault.UNKNOWN, "unreadable")

    async def upload(self, url: str, content: bytes) -> CallOk | CallFailed:
        """Send a file's bytes to the address that Slack gave for them. May be repeated: nothing shows yet."""
        began = self._clock.monotonic()
        result = await self._outcome(self._send_file(url, content), is_read=True)
        now, error = self._clock.monotonic(), None if isinstance(result, CallOk) else result.error
        told = {"bytes": len(content)}
        self._observer(SlackCalled(now, self._turn, "upload", told, error is None, error, now - began))
        return result

    async def _send_file(self, url: str, content: bytes) -> Mapping[str, Any]:
        sent = await self._client._upload_file(  # the one step of an upload that has no public method
            url=url,
            data=content,
            logger=_log,
            timeout=self._client.timeout,
            proxy=self._client.proxy,
            ssl=None,
        )
        if sent.status != HTTPStatus.OK:
            message = f"the upload was answered with {sent.status}"
            raise SlackApiError(message, sent)  # type: ignore[no-untyped-call]  # the SDK gives it no types
        return {}

    async def _send(self, method: str, args: Mapping[str, object]) -> Mapping[str, Any]:
        given = {name: value for name, value in args.items() if value is not None}
        if method in READS or method in _FORMS:
            given = {name: _as_form(value) for name, value in given.items()}
            verb = "GET" if method in READS else "POST"
            answer = await self._client.api_call(method, http_verb=verb, params=given)
        else:
            answer = await self._client.api_call(method, json=given)
        return answer.data if isinstance(answer.data, dict) else {}

    def _tell(self, method: str, failed: CallFailed) -> None:
        if failed.error == MISSING_SCOPE:
            _log.warning(
                "%s is refused because the Slack app lacks the scope %s, and is not tried again: add it in"
                " your Slack app settings, install the app again and start the bot again, turn %s",
                method,
                failed.needed or "for it",
                self._turn or "-",
            )
            return
        _log.log(
            _LEVELS.get(failed.fault, logging.WARNING),
            "%s failed: %s (%s), turn %s",
            method,
            failed.error,
            failed.fault,
            self._turn or "-",
        )


def _channel(args: Mapping[str, object]) -> str:
    """The conversation that a call is about, "" where it names none."""
    return str(args.get("channel") or args.get("channel_id") or "")


def _as_form(value: object) -> object:
    """A value as a form carries it: lists and objects as JSON."""
    return json.dumps(value) if isinstance(value, list | dict) else value


def _refused(error: SlackApiError) -> CallFailed:
    """What Slack's answer says. It is the SDK's response, or aiohttp's where the body was not JSON."""
    answer = error.response
    status = int(getattr(answer, "status_code", 0) or getattr(answer, "status", 0))
    body = getattr(answer, "data", None)
    name = body.get("error") if isinstance(body, dict) else None
    name = name if isinstance(name, str) else ""
    after = _seconds(getattr(answer, "headers", {}).get("Retry-After"))
    fallback = "unreadable" if status < 400 else f"http_{status}"
    needed = body.get("needed") if isinstance(body, dict) else None
    said = needed if isinstance(needed, str) else ""
    return CallFailed(fault_of(status, name), name or fallback, after, needed=said)


def _seconds(value: object) -> float | None:
    try:
        return max(0.0, float(str(value)))
    except ValueError:
        return None
