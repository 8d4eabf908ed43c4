"""PURE. What happens to a call on its way in and out: fault, token, scope, rate, arguments, the method.

A fault whose name says what became of the stream makes it so: after `message_not_in_streaming_state` the
stream is sealed, after `msg_too_long` it takes nothing more, after `stopped_by_user` somebody stopped it.
"""

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from . import chat, conversations, files, streams, views
from .faults import CallAnswer, FaultScript, ScriptedFault
from .rules import CUSTOMIZE, LOOK, METHODS, Buckets
from .state import Json, Refused, WorkspaceState

_HANDLERS: Mapping[str, Callable[[WorkspaceState, Json], Json]] = {
    **chat.METHODS,
    **conversations.METHODS,
    **files.METHODS,
    **streams.METHODS,
    **views.METHODS,
}
_OTHER_TOKENS = {"apps.connections.open": "app", "apps.manifest.export": "config"}
_OTHER_SCOPES = {"app": frozenset({"connections:write"}), "config": frozenset[str]()}
"""Of the app-level and the configuration token; no manifest names them."""


@dataclass(frozen=True, slots=True)
class SlackCall:
    """A call that was made. `error`: also `timeout`, `cut`, `connect` or `http`, for what was no answer.

    `applied`: it had its effect, whatever was answered. `limited`: it came too often.
    """

    now: float
    method: str
    args: Mapping[str, Any]
    ok: bool
    error: str | None
    applied: bool
    limited: bool = False


class CallPipeline:
    """The way in for every call of one workspace. `tokens`: what each token is, `bot`, `app`,
    `config` or `revoked`.
    """

    def __init__(self, state: WorkspaceState, tokens: Mapping[str, str], faults: FaultScript) -> None:
        self.calls: list[SlackCall] = []
        self._state, self._tokens, self._faults = state, tokens, faults
        self._buckets = Buckets(state.rules.rates)
        self._refusals: dict[str, int] = {}

    def call(
        self, method: str, args: Mapping[str, Any], now: float, token: str | None, is_json: bool
    ) -> CallAnswer:
        fault = self._faults.next(method)
        if fault is not None and fault.delay and not fault.applied:
            return late(fault, lambda at: self._make(None, method, args, at, token, is_json))
        return self._make(fault, method, args, now, token, is_json)

    def _make(
        self,
        fault: ScriptedFault | None,
        method: str,
        args: Mapping[str, Any],
        now: float,
        token: str | None,
        is_json: bool,
    ) -> CallAnswer:
        streams.pass_time(self._state, now)
        is_applied = fault is None or fault.applied
        own = self._answer(method, args, token, is_json) if is_applied else None
        answer = outcome(own, fault)
        if not answer.is_page:
            answer = replace(answer, headers={**self._scopes(method, args, token), **answer.headers})
        if fault is not None:
            self._suffer(fault, method, args)
        given = {name: value for name, value in args.items() if name != "token"}
        body = own.body if own is not None else {"ok": False}
        limited = body.get("error") in ("ratelimited", "rate_limited")
        ok, error = bool(answer.body["ok"]), answer.body.get("error")
        self.calls.append(SlackCall(now, method, given, ok, error, bool(body["ok"]), limited))
        return answer

    def _answer(self, method: str, args: Mapping[str, Any], token: str | None, is_json: bool) -> CallAnswer:
        try:
            self._check_token(method, args, token)
            if pause := self._buckets.take(method, _place(args), self._state.now):
                return self._too_often(method, pause)
            if method not in _HANDLERS:
                raise Refused("unknown_method", method)
            given = read(method, args, is_json)
            return CallAnswer({"ok": True, **_HANDLERS[method](self._state, given)})
        except Refused as refused:
            body: Json = {"ok": False, "error": refused.error, **refused.fields}
            if refused.detail:
                body["response_metadata"] = {"messages": [f"[ERROR] {refused.detail}"]}
            return CallAnswer(body)

    def _check_token(self, method: str, args: Mapping[str, Any], token: str | None) -> None:
        if not token:
            raise Refused("not_authed")
        kind = self._tokens.get(token)
        if kind is None or kind == "revoked":
            raise Refused("token_revoked" if kind else "invalid_auth")
        if kind != _OTHER_TOKENS.get(method, "bot"):
            raise Refused("not_allowed_token_type")
        accepted, granted = self._accepted(method, args), self._granted(kind)
        if accepted and not granted & set(accepted):
            raise Refused("missing_scope", fields={"needed": _listed(accepted), "provided": _listed(granted)})
        if method in METHODS and LOOK & args.keys() and CUSTOMIZE not in granted:
            raise Refused("missing_scope", fields={"needed": CUSTOMIZE, "provided": _listed(granted)})

    def is_of_bot(self, token: str | None) -> bool:
        """Whether this is the bot's token."""
        return self._tokens.get(token or "") == "bot"

    def _granted(self, kind: str) -> frozenset[str]:
        return _OTHER_SCOPES.get(kind, self._state.manifest.scopes)

    def _accepted(self, method: str, args: Mapping[str, Any]) -> Collection[str]:
        channel = self._state.channels.get(_place(args))
        return METHODS[method].accepts(channel.kind if channel else None) if method in METHODS else ()

    def _scopes(self, method: str, args: Mapping[str, Any], token: str | None) -> Mapping[str, str]:
        """The headers that every answer has: the token's scopes, and those the method accepts."""
        kind = self._tokens.get(token or "")
        if kind is None or method not in METHODS:
            return {}
        headers = {"x-oauth-scopes": _listed(self._granted(kind))}
        accepted = _listed(self._accepted(method, args))
        return {**headers, "x-accepted-oauth-scopes": accepted} if accepted else headers

    def _too_often(self, method: str, pause: int) -> CallAnswer:
        """By HTTP, and for streams every second time in the body alone (facts: Slack 1.5)."""
        before = self._refusals[method] = self._refusals.get(method, 0) + 1
        form = self._state.rules.word("rate.form", "both") if method in streams.METHODS else "http"
        if form == "body" or (form == "both" and before % 2 == 0):
            return CallAnswer({"ok": False, "error": "rate_limited"})
        return CallAnswer({"ok": False, "error": "ratelimited"}, 429, {"Retry-After": str(pause)})

    def _suffer(self, fault: ScriptedFault, method: str, args: Mapping[str, Any]) -> None:
        ts = str(args.get("ts", ""))
        message = self._state.open_streams.get(ts) if method in streams.METHODS else None
        if message is None:
            return
        if fault.error == "msg_too_long":
            message.full = True
        elif fault.error == "message_not_in_streaming_state":
            streams.seal_expired(self._state, message)
        elif fault.error == "stopped_by_user":
            message.stopped_by = message.recipient or "USLACK"
            streams.seal(self._state, message)


def late(fault: ScriptedFault, arrive: Callable[[float], CallAnswer]) -> CallAnswer:
    """The caller waits for a call that has not arrived yet."""
    return CallAnswer({"ok": False}, delay=fault.delay, arrive=arrive)


def outcome(own: CallAnswer | None, fault: ScriptedFault | None) -> CallAnswer:
    """What the caller sees of Slack's `own` answer (None: the call was not applied).

    A fault does not hide that the call was wrong.
    """
    if fault is None or (own is not None and fault.delay):
        assert own is not None
        return own if fault is None else replace(own, delay=fault.delay)
    seen = fault.answer
    return seen if own is None or seen.silence or seen.is_page or own.body["ok"] else own


def _place(args: Mapping[str, Any]) -> str:
    return str(args.get("channel") or args.get("channel_id") or "")


def _listed(scopes: Collection[str]) -> str:
    return ",".join(sorted(scopes))


# ---- arguments, out of a form or out of JSON

_MALFORMED = {
    "blocks": "invalid_blocks_format",
    "chunks": "invalid_chunks",
    "metadata": "invalid_metadata_format",
}
_EVERYWHERE = {"token", "team_id"}
_FLAGS = {"1": True, "true": True, "True": True, "0": False, "false": False, "False": False}


def read(method: str, given: Mapping[str, Any], is_json: bool) -> dict[str, Any]:
    """The arguments of a call, each of its kind; those not given are missing. Raises `Refused`."""
    known = METHODS[method]
    if is_json and known.form_only and given:
        raise Refused("invalid_arguments", f"{method} takes no JSON body")
    args = {}
    for name, value in given.items():
        if name in _EVERYWHERE or value is None:
            continue
        if name not in known.arguments:
            raise Refused("invalid_arguments", f"unknown argument: {name}")
        args[name] = _value(name, known.arguments[name], value)
    for name in known.required:
        if name not in args:
            raise Refused("invalid_arguments", f"missing required field: {name}")
    return args


def _value(name: str, kind: str, value: Any) -> Any:
    match kind, value:
        case "str", str():
            return value
        case "int", int() if not isinstance(value, bool):
            return value
        case "int", str() if value.isascii() and value.isdigit():
            return int(value)
        case "bool", str() | bool() | int() if str(value) in _FLAGS:
            return _FLAGS[str(value)]
    wrong = _MALFORMED.get(name, "invalid_arguments")
    if kind in ("list", "dict"):
        if isinstance(value, str):
            try:
                value = json.loads(value)
            except (ValueError, RecursionError):
                raise Refused(wrong, f"not JSON: {name}") from None
        if isinstance(value, list if kind == "list" else dict):
            return value
    what = {"str": "a string", "int": "a number", "bool": "true or false", "list": "an array"}
    raise Refused(wrong, f"must be {what.get(kind, 'an object')}: {name}")
