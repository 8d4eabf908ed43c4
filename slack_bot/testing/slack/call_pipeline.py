"""PURE. What happens to a call on its way in and out: a scripted fault, the token, the rate, the rule itself.

A fault whose name says what became of the stream makes it so: after `message_not_in_streaming_state` the
stream is sealed, after `msg_too_long` it takes nothing more, after `stopped_by_user` somebody stopped it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from . import arguments, manifest, streams
from .faults import FaultScript, ScriptedFault
from .rules import STREAMING, Buckets, RateLimitHit
from .state import Json, Refused, WorkspaceState

Handler = Callable[[WorkspaceState, Json, float], Json]


@dataclass(frozen=True, slots=True)
class CallAnswer:
    """What a call comes back with.

    `answered` False: the caller never hears of it. `broken`: the connection breaks ("cut") or never comes
    about ("connect"). `delay`: seconds until the answer comes. `postponed`: the call has not arrived yet;
    make it again after `delay` with `arrived=True`. `is_page`: the body is not JSON.
    """

    body: Json
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    answered: bool = True
    broken: Literal["", "cut", "connect"] = ""
    delay: float = 0.0
    postponed: bool = False
    is_page: bool = False


@dataclass(frozen=True, slots=True)
class SlackCall:
    """A call that was made, for inspection. `args` are as given; `error` is `timeout` for one never answered,
    `cut` or `connect` for a broken connection, `http` for a page instead of an answer.

    `applied` tells whether it had its effect, whatever was answered. `limited`: it came too often.
    """

    now: float
    method: str
    args: Mapping[str, Any]
    ok: bool
    error: str | None
    applied: bool
    limited: bool = False


class CallPipeline:
    """The way in for every call of one workspace. `tokens`: what each token is, `bot` or `app`."""

    def __init__(
        self,
        state: WorkspaceState,
        handlers: Mapping[str, Handler],
        tokens: Mapping[str, str],
        faults: FaultScript,
    ) -> None:
        self.calls: list[SlackCall] = []
        self._state, self._handlers, self._tokens, self._faults = state, handlers, tokens, faults
        self._buckets = Buckets(state.rules.rates)

    def call(
        self,
        method: str,
        args: Mapping[str, Any],
        *,
        now: float,
        token: str | None,
        is_json: bool = False,
        arrived: bool = False,
    ) -> CallAnswer:
        """A call of `method`. `arrived`: its delay is over, so no fault is in its way any more."""
        self._state.now = max(self._state.now, now)
        streams.expire(self._state, now)
        fault = None if arrived else self._faults.next(method)
        if fault is not None and not fault.applied:
            own, answer = None, unapplied(fault)
        else:
            own = self._answer(method, args, now, token, is_json)
            answer = outcome(own, fault)
        if not answer.is_page:
            answer = replace(answer, headers={**self._scopes(method, args, token), **answer.headers})
        if fault is not None:
            self._suffer(fault, method, args, now)
        if not answer.postponed:
            self._note(method, args, now, answer, own)
        return answer

    def _note(
        self, method: str, args: Mapping[str, Any], now: float, answer: CallAnswer, own: CallAnswer | None
    ) -> None:
        given = {name: value for name, value in args.items() if name != "token"}
        ok, error = bool(answer.body["ok"]), answer.body.get("error")
        applied = own is not None and bool(own.body["ok"])
        limited = own is not None and own.body.get("error") in ("ratelimited", "rate_limited")
        self.calls.append(SlackCall(now, method, given, ok, error, applied, limited))

    def _answer(
        self, method: str, args: Mapping[str, Any], now: float, token: str | None, is_json: bool
    ) -> CallAnswer:
        """What Slack itself says."""
        try:
            self._authorize(method, token)
            self._check_scope(method, args, token)
            if (limited := self._buckets.take(method, _place(args), now)) is not None:
                return _too_often(limited)
            handler = self._handlers.get(method)
            if handler is None:
                raise Refused("unknown_method", method)
            given = arguments.read(method, args, is_json)
            return CallAnswer({"ok": True, **handler(self._state, given, now)})
        except Refused as refused:
            body: Json = {"ok": False, "error": refused.error, **refused.fields}
            if refused.detail:
                body["response_metadata"] = {"messages": [f"[ERROR] {refused.detail}"]}
            return CallAnswer(body)

    def _authorize(self, method: str, token: str | None) -> None:
        if not token:
            raise Refused("not_authed")
        kind = self._tokens.get(token)
        if kind is None:
            raise Refused("invalid_auth")
        if (kind == "app") != (method == "apps.connections.open"):
            raise Refused("not_allowed_token_type")

    def _granted(self, token: str | None) -> frozenset[str]:
        kind = self._tokens.get(token or "")
        return manifest.APP_SCOPES if kind == "app" else self._state.manifest.scopes

    def _accepted(self, method: str, args: Mapping[str, Any]) -> Collection[str]:
        channel = self._state.channels.get(_place(args))
        return manifest.accepted(method, None if channel is None else channel.kind)

    def _check_scope(self, method: str, args: Mapping[str, Any], token: str | None) -> None:
        if method not in self._handlers:
            return
        granted, accepted = self._granted(token), self._accepted(method, args)
        if accepted and not granted & set(accepted):
            fields = {"needed": manifest.listed(accepted), "provided": manifest.listed(granted)}
            raise Refused("missing_scope", fields=fields)

    def _scopes(self, method: str, args: Mapping[str, Any], token: str | None) -> Mapping[str, str]:
        """What every answer of Slack's tells about scopes: the token's, and those the method accepts."""
        if self._tokens.get(token or "") is None or method not in self._handlers:
            return {}
        accepted = manifest.listed(self._accepted(method, args))
        headers = {"x-oauth-scopes": manifest.listed(self._granted(token))}
        return {**headers, "x-accepted-oauth-scopes": accepted} if accepted else headers

    def _suffer(self, fault: ScriptedFault, method: str, args: Mapping[str, Any], now: float) -> None:
        """The stream that a fault speaks of is as the fault says."""
        ts = str(args.get("ts", ""))
        message = self._state.open_streams.get(ts) if method in STREAMING else None
        if message is None:
            return
        if fault.error == "msg_too_long":
            message.full = True
        elif fault.error == "message_not_in_streaming_state":
            streams.seal_expired(self._state, message, now)
        elif fault.error == "stopped_by_user":
            message.stopped_by = message.recipient or "USLACK"
            streams.seal(self._state, message, now)


def unapplied(fault: ScriptedFault) -> CallAnswer:
    """What the caller sees of a call that `fault` kept from being applied, or from arriving in time."""
    return CallAnswer({"ok": False}, delay=fault.delay, postponed=True) if fault.delay else _faulty(fault)


def outcome(own: CallAnswer, fault: ScriptedFault | None) -> CallAnswer:
    """What the caller sees of Slack's `own` answer. A fault does not hide that the call was wrong."""
    if fault is None:
        return own
    if fault.delay:
        return CallAnswer(own.body, own.status, own.headers, delay=fault.delay)
    hides = fault.silent or fault.broken or fault.is_page
    return _faulty(fault) if hides or own.body["ok"] else own


def _faulty(fault: ScriptedFault) -> CallAnswer:
    return CallAnswer(
        {"ok": False, "error": fault.error},
        fault.status,
        fault.headers,
        answered=not (fault.silent or fault.broken),
        broken=fault.broken,
        is_page=fault.is_page,
    )


def _too_often(limited: RateLimitHit) -> CallAnswer:
    if limited.in_band:
        return CallAnswer({"ok": False, "error": "rate_limited"})
    headers = {"Retry-After": str(limited.retry_after)}
    return CallAnswer({"ok": False, "error": "ratelimited"}, 429, headers)


def _place(args: Mapping[str, Any]) -> str:
    return str(args.get("channel") or args.get("channel_id") or "")
