"""PURE. What came of a call to Slack. Its error names become classes, and classes what to do, by two tables.

The first question is whether the call was applied: to repeat an append that was doubles the answer, to drop
one that was not loses it (delivery contract, section 5).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ..turn.json_values import object_of, objects_of, text_in
from .blocks import TextForm

MAX_DOUBTS = 4
"""Calls without an answer in one turn after which streaming is given up: an edit can be repeated safely."""


class Fault(StrEnum):
    """What a failed call means."""

    LATER = "later"  # not applied: wait and repeat
    WRONG_CALL = "wrong_call"  # not applied, and it never will be in this form: our bug
    UNKNOWN = "unknown"  # perhaps applied: settle it before anything else goes to that message
    SEALED = "sealed"  # the message takes no more: what is confirmed stays
    FULL = "full"  # the message is as long as it can be
    STILL_OPEN = "still_open"  # stop the stream first, then update or delete
    STOPPED = "stopped"  # the human stopped the stream: no answer text may appear any more
    NOT_HERE = "not_here"  # no streaming in this kind of channel, for the time being
    NOT_THIS_ONE = "not_this_one"  # no streaming for this asker
    NO_WRITING = "no_writing"  # the bot may not write here at all
    GONE = "gone"  # the thread or its message was deleted: end quietly
    DEAD = "dead"  # the token is no longer good


_CLASSES: tuple[tuple[Fault, str], ...] = (
    (Fault.LATER, "ratelimited rate_limited service_unavailable connect_failed"),
    (Fault.WRONG_CALL, "invalid_arguments invalid_chunks no_text streaming_mode_mismatch block_mismatch"),
    (Fault.WRONG_CALL, "markdown_text_required markdown_text_or_chunks_required metadata_too_large"),
    (Fault.WRONG_CALL, "cannot_provide_both_markdown_text_and_chunks"),
    (Fault.WRONG_CALL, "message_not_owned_by_app cant_update_message"),
    (Fault.UNKNOWN, "internal_error fatal_error request_timeout messaging_processing_failed"),
    (Fault.UNKNOWN, "timeout connection_lost unreadable"),
    (Fault.SEALED, "message_not_in_streaming_state"),
    (Fault.FULL, "msg_too_long"),
    (Fault.STILL_OPEN, "streaming_state_conflict cant_delete_message"),
    (Fault.STOPPED, "stopped_by_user"),
    (Fault.NOT_HERE, "channel_type_not_supported method_not_supported_for_channel_type unknown_method"),
    (Fault.NOT_HERE, "feature_disabled missing_scope messages_tab_disabled method_deprecated"),
    (Fault.NOT_THIS_ONE, "user_not_found team_not_found team_access_not_granted"),
    (Fault.NO_WRITING, "is_archived not_in_channel no_permission access_denied ekm_access_denied"),
    (Fault.GONE, "invalid_thread_ts thread_not_found message_not_found channel_not_found"),
    (Fault.DEAD, "invalid_auth not_authed token_expired token_revoked account_inactive"),
)

_NAMES = {name: fault for fault, names in _CLASSES for name in names.split()}

_PREFIXES: tuple[tuple[str, Fault], ...] = (
    ("restricted_action", Fault.NO_WRITING),
    ("missing_recipient_", Fault.NOT_THIS_ONE),
    ("invalid_blocks", Fault.WRONG_CALL),
    ("invalid_metadata_", Fault.WRONG_CALL),
    ("msg_blocks_too_", Fault.WRONG_CALL),
)


def classify(error: str) -> Fault:
    """The class of one of Slack's error names, or of ours: `connect_failed` (nothing was sent), `timeout` and
    `connection_lost` (no answer came), `unreadable` (an answer that is not JSON).

    An unknown name counts as *this call is wrong*: our bug.
    """
    if error in _NAMES:
        return _NAMES[error]
    return next((fault for prefix, fault in _PREFIXES if error.startswith(prefix)), Fault.WRONG_CALL)


_BY_STATUS = {
    404: Fault.NOT_HERE,  # nothing answers at the address of this method
    405: Fault.NOT_HERE,
    408: Fault.UNKNOWN,  # who gave up waiting for the rest of a request may have passed it on
    425: Fault.LATER,  # not processed yet, to be repeated
}
"""What a 4xx without an error name of Slack's means; any other one is a refusal."""


def fault_of(status: int, error: str) -> Fault:
    """The class of an answer with HTTP `status`; `error` is "" where the body had none.

    A 5xx may come from behind the place where the call was applied, whatever name it carries. A 4xx was not
    applied.
    """
    if status == 429:
        return Fault.LATER
    if status >= 500:
        return Fault.UNKNOWN
    if error:
        return classify(error)
    return _BY_STATUS.get(status, Fault.WRONG_CALL) if status >= 400 else Fault.UNKNOWN


NO_ANSWER = frozenset({Fault.UNKNOWN})
NOT_REFUSED = frozenset({Fault.UNKNOWN, Fault.LATER})


@dataclass(frozen=True, slots=True)
class CallOk:
    """Slack said ok, with the body `data`. `is_fallback`: the text alone went, without blocks.

    `form`: the number of the form it took, of several.
    """

    data: Mapping[str, Any]
    is_fallback: bool = False
    form: int = 0

    @property
    def ts(self) -> str:
        """Empty where the answer names no message."""
        return str(self.data.get("ts") or "")

    @property
    def page(self) -> tuple[list[Mapping[str, Any]], str]:
        """The messages of one page, and the cursor of the next one, "" after the last."""
        more = object_of(self.data.get("response_metadata"))
        return objects_of(self.data.get("messages")), text_in(more, "next_cursor")


@dataclass(frozen=True, slots=True)
class CallFailed:
    """The call failed for good. `error` is Slack's name for it, or ours (see `faults.classify`).

    `retry_after` is the pause in seconds that Slack asked for. `in_doubt`: an earlier attempt had no answer.
    `needed`: the scope that is missing.
    """

    fault: Fault
    error: str
    retry_after: float | None = None
    in_doubt: bool = False
    needed: str = ""

    @property
    def is_final(self) -> bool:
        """The same call would be refused again."""
        return self.fault not in NOT_REFUSED


CallResult = CallOk | CallFailed


class SurfaceKind(StrEnum):
    """Where text goes."""

    STREAM = "stream"  # chat.startStream, live
    EDIT = "edit"  # chat.postMessage and chat.update, live, a few seconds behind
    POST = "post"  # chat.postMessage, at the end


class Remedy(StrEnum):
    """What comes next."""

    PLAIN = "plain"  # the same once more, its text only
    SETTLE = "settle"  # find out what the message shows, before anything else goes to it
    NEXT = "next"  # the message takes no more: what is confirmed stays, the rest goes into the next one
    DOWN = "down"  # the next surface, in this turn
    REMEMBER = "remember"  # the next surface, here and for others in this kind of channel, for a while
    STOPPED = "stopped"  # the human stopped it: no answer text appears any more
    TELL = "tell"  # the bot may not write here: the asker gets a direct message, once
    LEAVE = "leave"  # the thread is gone: end quietly
    DEAD = "dead"  # the token is no longer good


AFTER_WRITE: Mapping[Fault, Remedy] = {
    Fault.LATER: Remedy.DOWN,  # it was waited for as long as the settings allow
    Fault.WRONG_CALL: Remedy.PLAIN,
    Fault.UNKNOWN: Remedy.SETTLE,
    Fault.SEALED: Remedy.NEXT,
    Fault.FULL: Remedy.NEXT,
    Fault.STILL_OPEN: Remedy.SETTLE,
    Fault.STOPPED: Remedy.STOPPED,
    Fault.NOT_HERE: Remedy.REMEMBER,
    Fault.NOT_THIS_ONE: Remedy.DOWN,
    Fault.NO_WRITING: Remedy.TELL,
    Fault.GONE: Remedy.LEAVE,
    Fault.DEAD: Remedy.DEAD,
}

FINAL_FAULTS = frozenset({Fault.GONE, Fault.DEAD, Fault.NO_WRITING})
"""Nothing can be written in the thread any more."""

ENDS = frozenset({Remedy.STOPPED, Remedy.TELL, Remedy.LEAVE, Remedy.DEAD})
"""After these nothing more of the answer is written."""


def after_write(fault: Fault, *, opens: bool, is_plain: bool, in_doubt: bool = False) -> Remedy:
    """`opens`: the write would have opened the message. `is_plain`: it was in its plainest form already.
    `in_doubt`: an earlier attempt may have been applied."""
    remedy = AFTER_WRITE[fault]
    if in_doubt and remedy not in ENDS:
        return Remedy.SETTLE
    if remedy is Remedy.PLAIN and is_plain:
        return Remedy.DOWN
    if remedy is Remedy.NEXT and opens:
        return Remedy.DOWN  # a message that takes nothing at all: the next one would not either
    return remedy


class StreamingRefusalCache:
    """What Slack refused lately: surfaces by team and kind of channel, forms of a text by team and method."""

    def __init__(self, seconds: float = 300.0) -> None:
        self._seconds = seconds
        self._until: dict[tuple[str, str, SurfaceKind | TextForm], float] = {}

    def remember(self, team: str, where: str, what: SurfaceKind | TextForm, now: float) -> None:
        """`where` is a kind of channel (the first letter of its id), or a method."""
        self._until[team, where, what] = now + self._seconds

    def refuses(self, team: str, where: str, what: SurfaceKind | TextForm, now: float) -> bool:
        return self._until.get((team, where, what), now) > now

    def best(self, team: str, channel: str, now: float, *, can_stream: bool = True) -> SurfaceKind:
        for kind in (SurfaceKind.STREAM, SurfaceKind.EDIT) if can_stream else (SurfaceKind.EDIT,):
            if not self.refuses(team, channel[:1], kind, now):
                return kind
        return SurfaceKind.POST
