"""All calls to Slack's Web API: wait for a permit, call, classify the outcome, report it to the observer.

slack_sdk's own retry repeats a write whose connection broke after it was sent, which doubles text; it is off.
Only what surely was not applied (`Fault.LATER`) is repeated here.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Set
from copy import copy
from functools import partial
from http import HTTPStatus
from typing import Any, TypeVar

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from ..clock import Clock
from ..errors import ADD_SCOPE
from ..observe.facts import Observer, SlackCalled
from ..observe.health import Health, TokenHealth
from ..settings.models import SlackSettings
from ..turn.record import is_direct
from .download import download
from .faults import NO_ANSWER, CallFailed, CallOk, CallResult, Fault, fault_of
from .look import CUSTOMIZE, Look, look_args
from .methods import METHODS, Body, Priority
from .orders import REPEAT_PAUSES, Messages, backoff
from .rate_limiter.governor import CallRequest
from .rate_limiter.local import Permit, RateLimiter
from .refused_parts import CallPart, RefusedParts
from .visibility import REFUSED, has_field, without_field

_log = logging.getLogger(__name__)

MISSING_SCOPE = "missing_scope"
"""Slack's error name where the app lacks a scope."""

_PAGE = 200
_MAX_PAGES = 20

_LEVELS = {Fault.WRONG_CALL: logging.ERROR, Fault.STOPPED: logging.INFO, Fault.SEALED: logging.INFO}
"""A wrong call is our bug. That a stream ended, by a human's stop or by its age, is no reason to warn."""

_AS_WANTED = frozenset({"already_reacted", "no_reaction"})  # another process did it before
_DELETED = frozenset({"message_not_found", "thread_not_found", "invalid_thread_ts"})  # by a person

_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 15.0  # seconds between attempts where Slack names no time

_UNREADABLE = (ValueError, AttributeError, RecursionError)
"""What slack_sdk raises for a body that it cannot read: no text, JSON that is no object, or too deep."""

_LIMITED = frozenset({"ratelimited", "rate_limited", "http_429"})
_LOOK_AGAIN = 0.2  # seconds until the lease is looked at again
_MAX_REFUSALS = 1_000

_T = TypeVar("_T")


def new_web_client(
    settings: SlackSettings, session: aiohttp.ClientSession | None = None, token: str | None = None
) -> AsyncWebClient:
    """No retries of its own, all calls on one `session`. `token`: in place of the one of the settings."""
    if token is None and settings.bot_token is not None:
        token = settings.bot_token.get_secret_value()
    return AsyncWebClient(
        token=token,
        base_url=settings.api_url,
        timeout=settings.timeout,  # type: ignore[arg-type]  # an int in the SDK's hint; used as a float
        session=session,
        retry_handlers=[],
    )


class SlackTransport:
    """Sends one request to Slack, without a permit, and reports it to `observer` as one of `turn`.

    Never raises for what Slack or the network does. `write_timeout`: as of `SlackApi`. `look`: the name and
    picture of its messages, as far as Slack does not refuse them.
    """

    def __init__(
        self,
        client: AsyncWebClient,
        clock: Clock,
        observer: Observer,
        write_timeout: float | None,
        refused_parts: RefusedParts,
        turn: str = "",
        look: Look | None = None,
    ) -> None:
        self._client, self._clock, self._observer = client, clock, observer
        self._write_timeout, self._turn = write_timeout, turn
        self.refused_parts, self._look = refused_parts, look

    def for_turn(self, turn: str, look: Look | None) -> SlackTransport:
        return SlackTransport(
            self._client,
            self._clock,
            self._observer,
            self._write_timeout,
            self.refused_parts,
            turn,
            look,
        )

    async def call(
        self, method: str, args: Mapping[str, object], *, waited: float, attempt: int
    ) -> CallResult:
        """Call `method` of the Web API. `waited` (seconds for a permit) and `attempt` are only reported.

        Where the app may not write under other names, or Slack does not know buttons that only some people
        see, the call is made again at once without them.
        """
        if self._look is None and "blocks" not in args:
            return await self._attempt(method, args, self._send(method, args), waited, attempt)
        once = partial(self._call_once, method, waited=waited, attempt=attempt)
        if CallPart.VISIBILITY in self.refused_parts or not has_field(args):
            return await once(args)
        result = await once(args)
        if not (isinstance(result, CallFailed) and result.error in REFUSED):
            return result
        result = await once(without_field(args))
        if isinstance(result, CallOk):
            self.refused_parts.add(CallPart.VISIBILITY)
            _log.warning(
                "Slack does not take buttons that only some people see: everybody sees them, and who may not"
                " press is told so; not tried until the next start",
                extra={"turn": self._turn or None},
            )
        return result

    async def _call_once(
        self, method: str, args: Mapping[str, object], *, waited: float, attempt: int
    ) -> CallResult:
        if CallPart.VISIBILITY in self.refused_parts:
            args = without_field(args)
        shown = {} if CallPart.NAME in self.refused_parts else look_args(method, self._look)
        if shown:
            looked = {**args, **shown}
            result = await self._attempt(method, looked, self._send(method, looked), waited, attempt)
            if not (isinstance(result, CallFailed) and result.needed == CUSTOMIZE):
                return result
            self.refused_parts.add(CallPart.NAME)
            _log.warning(
                "answers stand under the bot's name, with the agent's below them, because the Slack app lacks"
                " the scope %s; not tried until the next start: %s",
                CUSTOMIZE,
                ADD_SCOPE,
                extra={"turn": self._turn or None},
            )
        return await self._attempt(method, args, self._send(method, args), waited, attempt)

    async def upload(self, url: str, content: bytes) -> CallResult:
        """Send a file's bytes to the address that Slack gave for them. May be repeated: nothing shows yet."""
        return await self._attempt("upload", {"bytes": len(content)}, self._send_file(url, content))

    async def download(self, url: str, most: int) -> CallResult:
        """`content` and `content_type` of a file of Slack's; more than `most` bytes are refused."""
        return await self._attempt("download", {}, download(self._client, url, most))

    async def respond(self, url: str, body: Mapping[str, object]) -> CallResult:
        """Change the message whose button was pressed, or remove it: private ones too (facts: Slack 3.5)."""
        return await self._attempt("response_url", body, self._send_response(url, body))

    async def _attempt(
        self,
        method: str,
        args: Mapping[str, object],
        request: Coroutine[Any, Any, Mapping[str, Any]],
        waited: float = 0.0,
        attempt: int = 1,
    ) -> CallResult:
        began = self._clock.monotonic()
        is_write = method not in ("upload", "download") and METHODS[method].body is not Body.ADDRESS
        limit = (is_write and self._write_timeout) or self._client.timeout
        result: CallResult = CallFailed(Fault.UNKNOWN, "given_up")
        try:
            async with asyncio.timeout(limit):
                result = CallOk(await request)
        except SlackApiError as error:
            result = _refused(error)
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError):
            result = CallFailed(Fault.LATER, "connect_failed")
        except TimeoutError:
            result = CallFailed(Fault.UNKNOWN, "timeout")
        except (aiohttp.ClientError, OSError):
            result = CallFailed(Fault.UNKNOWN, "connection_lost")
        except _UNREADABLE:  # last: a certificate that is refused is a ValueError too
            result = CallFailed(Fault.UNKNOWN, "unreadable")
        finally:
            now = self._clock.monotonic()
            failed = result if isinstance(result, CallFailed) else None
            why, fault, later = (failed.error, failed.fault, failed.retry_after) if failed else (None,) * 3
            what = self._turn, method, args, failed is None, why
            self._observer(SlackCalled(now, *what, now - began, waited, fault, attempt, later))
        return result

    async def _send(self, method: str, args: Mapping[str, object]) -> Mapping[str, Any]:
        given = {name: value for name, value in args.items() if value is not None}
        body = METHODS[method].body
        if body is not Body.JSON:
            given = {
                name: json.dumps(value) if isinstance(value, list | dict) else value
                for name, value in given.items()
            }
            verb = "GET" if body is Body.ADDRESS else "POST"
            answer = await self._client.api_call(method, http_verb=verb, params=given)
        else:
            answer = await self._client.api_call(method, json=given)
        return answer.data if isinstance(answer.data, dict) else {}

    async def _send_file(self, url: str, content: bytes) -> Mapping[str, Any]:
        answer = await self._client._upload_file(  # the one step of an upload that has no public method
            url=url,
            data=content,
            logger=_log,
            timeout=self._client.timeout,
            proxy=self._client.proxy,
            ssl=None,
        )
        if answer.status != HTTPStatus.OK:
            message = f"the upload was answered with {answer.status}"
            raise SlackApiError(message, answer)  # type: ignore[no-untyped-call]  # the SDK gives it no types
        return {}

    async def _send_response(self, url: str, body: Mapping[str, object]) -> Mapping[str, Any]:
        session = self._client.session
        assert session is not None, "the session of all calls"
        async with session.post(url, json=body, proxy=self._client.proxy) as answer:
            answer.raise_for_status()
        return {}


class TurnPermits:
    """The permits of one turn: what it has reserved, and how urgent its calls are.

    `patience`: the most seconds that what is reserved may wait. `priority`: of all its calls; None: the
    method's.
    """

    def __init__(
        self, rate_limiter: RateLimiter, patience: float, turn: str = "", priority: Priority | None = None
    ) -> None:
        self._rate_limiter, self._patience = rate_limiter, patience
        self._turn, self.priority = turn, priority
        self._reserved: dict[str, Permit] = {}
        self._shown_at = 0.0

    def for_turn(self, turn: str, priority: Priority | None) -> TurnPermits:
        return TurnPermits(self._rate_limiter, self._patience, turn, priority)

    def waits_since(self, at: float) -> None:
        """The reader of this turn has seen nothing new since `at` on the clock."""
        self._shown_at = at

    def note_success(self, method: str, at: float) -> None:
        """A call of `method` had success, `at` on the clock."""
        if METHODS[method].shows_text:
            self._shown_at = at

    def reserve(
        self,
        method: str,
        channel: str = "",
        priority: Priority | None = None,
        wake: Callable[[], None] | None = None,
    ) -> bool:
        """Whether this turn may call `method` at once. If not, `wake` is called when it may.

        Asking again only changes the priority and `wake`; what was reserved for another method is given back.
        """
        priority = METHODS[method].priority if priority is None else priority
        permit = self._reserved.get(method)
        if permit is None:
            self.give_back()
            request = CallRequest(method, priority, self._patience, channel, self._shown_at, turn=self._turn)
            permit = self._reserved[method] = self._rate_limiter.reserve(request, wake)
        else:
            permit.move(priority, wake)
        return permit.is_settled

    def give_back(self) -> None:
        while self._reserved:
            self._reserved.popitem()[1].give_back()

    def take(self, method: str, channel: str, patience: float, *, again: bool) -> Permit:
        """What is reserved for `method`, or else a place behind the others. `again`: it was tried before."""
        priority = METHODS[method].priority if self.priority is None else self.priority
        permit = self._reserved.pop(method, None)
        if permit is not None:
            permit.move(priority)
            return permit
        request = CallRequest(method, priority, patience, channel, self._shown_at, again, turn=self._turn)
        return self._rate_limiter.reserve(request)


class MissingScopes:
    """What Slack refused because the app lacks a scope: not tried until the next start, when a new token may
    have it. The scope of `conversations.*` depends on the kind of conversation; only that of direct messages
    shows in the id.
    """

    def __init__(self) -> None:
        self._refused: OrderedDict[tuple[str, str], None] = OrderedDict()

    def add(self, method: str, channel: str) -> None:
        self._refused[self._key(method, channel)] = None
        if len(self._refused) > _MAX_REFUSALS:
            self._refused.popitem(last=False)

    def forbid(self, method: str, channel: str) -> bool:
        return self._key(method, channel) in self._refused

    @staticmethod
    def _key(method: str, channel: str) -> tuple[str, str]:
        where = channel[:1] if is_direct(channel) else channel
        return method, where if method.startswith("conversations.") else ""


class SlackApi:
    """Calls Web API methods. Safe to share; `for_turn` gives a copy that names the turn it calls for.

    `retry_timeout` is the most seconds one call waits in all for limits and outages to pass, without its wait
    for `rate_limiter`. `write_timeout` is the most seconds for a call that writes; None: the client's.
    `log_fields` are the ids that each log line of the turn carries. `identity`: what `auth.test` says.
    """

    def __init__(
        self,
        client: AsyncWebClient,
        clock: Clock,
        observer: Observer,
        retry_timeout: float,
        rate_limiter: RateLimiter,
        write_timeout: float | None = None,
        health: TokenHealth | None = None,
        identity: Callable[[], Awaitable[Mapping[str, Any]]] | None = None,
    ) -> None:
        self.transport = SlackTransport(client, clock, observer, write_timeout, RefusedParts())
        self.permits = TurnPermits(rate_limiter, retry_timeout)
        self.observer, self._identity = observer, identity
        self._clock, self._retry_timeout = clock, retry_timeout
        self._health, self._missing_scopes = health or TokenHealth(Health()), MissingScopes()
        self._team = {"team": self._health.team} if self._health.team else {}
        self.log_fields: dict[str, str | None] = {**self._team}
        self.is_sure: Callable[[], bool] = lambda: True

    def for_turn(
        self,
        turn: str,
        thread_ts: str | None = None,
        priority: Priority | None = None,
        is_sure: Callable[[], bool] = lambda: True,
        look: Look | None = None,
    ) -> SlackApi:
        api = copy(self)
        api.transport, api.permits = (
            self.transport.for_turn(turn, look),
            self.permits.for_turn(turn, priority),
        )
        api.is_sure = is_sure
        api.log_fields = {"turn": turn or None, "thread_ts": thread_ts, **self._team}
        return api

    async def identity(self) -> Mapping[str, Any]:
        """Who the bot is: `bot_user_id`, `bot_id`, `enterprise_id`, `url`. Raises SlackError."""
        return {} if self._identity is None else await self._identity()

    async def call(
        self, method: str, args: Mapping[str, object], *, patience: float | None = None
    ) -> CallResult:
        """Call `method`, again while Slack says later, for `patience` seconds in all; None: the setting.

        Never raises for what Slack or the network does. While `is_sure` says that the thread may be another
        process's, nothing is begun or edited.
        """
        channel = str(args.get("channel") or args.get("channel_id") or "")
        if self._missing_scopes.forbid(method, channel):
            self.permits.give_back()
            return CallFailed(Fault.NOT_HERE, MISSING_SCOPE)
        row, left = METHODS[method], self._retry_timeout if patience is None else patience
        block, attempt = left, 1
        pauses = backoff(_FIRST_PAUSE, _LONGEST_PAUSE)
        while True:
            permit = self.permits.take(method, channel, block, again=attempt > 1)
            if (blocked := await permit.wait(block)) is not None:
                return CallFailed(Fault.LATER, "ratelimited", blocked)
            while row.needs_lease and not self.is_sure():  # noqa: ASYNC110  no event reports it
                await asyncio.sleep(_LOOK_AGAIN)
            permit.use()
            result = await self.transport.call(method, args, waited=permit.waited, attempt=attempt)
            if isinstance(result, CallOk):
                self.permits.note_success(method, self._clock.monotonic())
                self._health.passed()
                return result
            self._note_failed(method, channel, result)
            if result.fault is not Fault.LATER:
                return result
            pause = next(pauses)
            asked = pause if result.retry_after is None else result.retry_after
            is_limit = result.error in _LIMITED
            if is_limit:
                permit.refused(asked)
            if asked > left:
                return result
            if not is_limit:
                await asyncio.sleep(asked)
            left, block, attempt = left - asked, left, attempt + 1

    async def read(
        self, method: str, args: Mapping[str, object], *, patience: float | None = None
    ) -> Messages | CallFailed:
        """All messages that a method of `conversations` gives page by page."""
        found: Messages = []
        args = {**args, "limit": _PAGE, "include_all_metadata": True}
        for _ in range(_MAX_PAGES):
            result = await self.call(method, args, patience=patience)
            if isinstance(result, CallFailed):
                return result
            messages, cursor = result.page
            found += messages
            if not cursor:
                break
            args = {**args, "cursor": cursor}
        return found

    def _note_failed(self, method: str, channel: str, failed: CallFailed) -> None:
        is_quiet = self.permits.priority is Priority.BACKGROUND  # the caller says what it means
        if failed.fault is Fault.DEAD:
            self._health.failed(f"Slack refuses the bot's token ({failed.error}).")
        if failed.error != MISSING_SCOPE:
            is_quiet |= failed.error in _AS_WANTED
            usual = logging.INFO if failed.error in _DELETED else logging.WARNING
            level = logging.DEBUG if is_quiet else _LEVELS.get(failed.fault, usual)
            _log.log(level, "%s failed: %s (%s)", method, failed.error, failed.fault, extra=self.log_fields)
            return
        self._missing_scopes.add(method, channel)
        _log.log(
            logging.DEBUG if is_quiet else logging.WARNING,
            "%s is refused because the Slack app lacks the scope %s, and not tried until the next start: %s",
            method,
            failed.needed or METHODS[method].scope or "for it",
            ADD_SCOPE,
            extra=self.log_fields,
        )


async def repeat_until_answered(
    call: Callable[[], Awaitable[_T | CallFailed]], *, repeat_on: Set[Fault] = NO_ANSWER
) -> _T | CallFailed:
    """Call what changes nothing, at most four times."""
    result = await call()
    for pause in REPEAT_PAUSES:
        if not isinstance(result, CallFailed) or result.fault not in repeat_on:
            break
        await asyncio.sleep(pause)
        result = await call()
    return result


def _refused(error: SlackApiError) -> CallFailed:
    """The answer is the SDK's response, or aiohttp's where the body was not JSON."""
    answer = error.response
    status = int(getattr(answer, "status_code", 0) or getattr(answer, "status", 0))
    data = getattr(answer, "data", None)
    body = data if isinstance(data, dict) else {}
    name, needed = (value if isinstance(value := body.get(key), str) else "" for key in ("error", "needed"))
    fallback = "unreadable" if status < 400 else f"http_{status}"
    try:
        after = max(0.0, float(str(getattr(answer, "headers", {}).get("Retry-After"))))
    except ValueError:
        after = None
    return CallFailed(fault_of(status, name), name or fallback, after, needed=needed)
