"""PURE. Faults by script: a list for each method, used call by call; its last entry repeats.

    null          no fault
    name          refused with that error of Slack's
    name:N        the same, with Retry-After N (seconds)
    name!         applied, and then answered with that error
    error:name    as name, name:N and name!, for an error that is not known here
    timeout       never applied and never answered
    timeout!      applied and never answered
    connect       no connection comes about: nothing is sent
    cut           the connection breaks before anything is applied
    cut!          applied, and then the connection breaks
    slow:N        the call arrives N seconds late
    slow:N!       applied at once, answered N seconds late
    http:N        HTTP status N (400 to 599) with a page that is not JSON, not applied
    http:N!       the same, applied

An unknown name is refused: a misspelt fault would test something else than its author meant. Besides the
methods of the Web API, `upload` and `download` name the requests that carry a file's bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, cast

from ...settings.names import nearest
from . import rules
from .state import Json

UPLOAD, DOWNLOAD = "upload", "download"
METHODS = frozenset({*rules.METHODS, UPLOAD, DOWNLOAD})
FORMS = (
    "name, name:SECONDS, name!, error:name, timeout, timeout!, connect, cut, cut!, slow:SECONDS,"
    " slow:SECONDS!, http:STATUS or http:STATUS!"
)
_WORDS = ("timeout", "cut", "connect", "slow", "http")
_ENTRY = re.compile(r"(?P<new>error:)?(?P<name>[a-z][a-z0-9_]*)(?::(?P<number>[0-9]{1,6}))?(?P<applied>!)?")
_DEFAULT_RETRY_AFTER = 1

Silence = Literal["", "timeout", "cut", "connect"]


@dataclass(frozen=True, slots=True)
class CallAnswer:
    """What a call comes back with.

    `silence`: why no answer comes, if none does. `delay`: seconds until it comes. `arrive`: the call has not
    arrived yet; after `delay` this makes it, at the time it is given. `is_page`: the body is not JSON.
    `content`: the bytes of a file, which come in place of `body`.
    """

    body: Json
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    silence: Silence = ""
    delay: float = 0.0
    arrive: Callable[[float], CallAnswer] | None = field(default=None, compare=False)
    is_page: bool = False
    content: bytes | None = None
    content_type: str = "application/octet-stream"


@dataclass(frozen=True, slots=True)
class ScriptedFault:
    """One entry of a script. `number`: seconds or an HTTP status, after the colon."""

    error: str
    applied: bool = False
    number: int | None = None

    @property
    def delay(self) -> float:
        return float(self.number or 0) if self.error == "slow" else 0.0

    @property
    def answer(self) -> CallAnswer:
        """What the caller sees. `ratelimited` has a status, `rate_limited` has none (facts: Slack 1.5)."""
        body: Json = {"ok": False, "error": self.error}
        if self.error in ("timeout", "cut", "connect"):
            return CallAnswer(body, silence=cast(Silence, self.error))
        if self.error == "http":
            return CallAnswer(body, int(self.number or 0), is_page=True)
        is_limit = self.error == "ratelimited"
        seconds = _DEFAULT_RETRY_AFTER if is_limit and self.number is None else self.number
        headers = {} if seconds is None else {"Retry-After": str(seconds)}
        return CallAnswer(body, 429 if is_limit else 200, headers)


def parse(entry: str | None) -> ScriptedFault | None:
    """One entry. ValueError for something that is not one."""
    if entry is None:
        return None
    found = _ENTRY.fullmatch(entry) if isinstance(entry, str) else None
    if found is None:
        raise ValueError(f"{entry!r} is not a fault; a fault is written {FORMS}")
    name, number = found["name"], None if found["number"] is None else int(found["number"])
    fault = ScriptedFault(name, found["applied"] is not None, number)
    if problem := _unknown(name, entry, is_new=found["new"] is not None) or _problem(fault):
        raise ValueError(f"{entry!r} is not a fault: {problem}")
    return fault


def _unknown(name: str, entry: str, *, is_new: bool) -> str:
    if is_new:
        return f"{name} is no error of Slack's; leave error: out" if name in _WORDS else ""
    if name in _WORDS or name in ERROR_NAMES:
        return ""
    if name == "error":
        return "error takes a name, as in error:some_new_name"
    near = nearest(name, [*_WORDS, *ERROR_NAMES])
    guess = f" (did you mean {entry.replace(name, near, 1)!r}?)" if near else ""
    return (
        f"it is neither {', '.join(_WORDS[:-1])} or {_WORDS[-1]} nor a known error of Slack's{guess};"
        f" write error:{entry} for one that Slack has added since"
    )


def _problem(fault: ScriptedFault) -> str:
    number = fault.number
    match fault.error:
        case "http":
            return (
                "" if 400 <= (number or 0) <= 599 else "http takes a status from 400 to 599, as in http:503"
            )
        case "slow":
            return "" if number else "slow takes seconds, as in slow:5"
        case "timeout" | "cut" | "connect" if number is not None:
            return f"{fault.error} takes no number"
        case "connect" if fault.applied:
            return "what never reached Slack cannot have been applied; write connect or cut!"
    is_both = number is not None and fault.applied
    return "what Slack wants to see again later was not applied" if is_both else ""


def method_name(name: str) -> str:
    """`name` as Slack spells it, also out of the SDK's spelling. ValueError for an unknown one."""
    spelled = name if "." in name else name.replace("_", ".")
    if spelled not in METHODS:
        raise ValueError(f"{name!r} is not a method of the emulated workspace")
    return spelled


class FaultScript:
    """The scripts of all methods. ValueError for a method or an entry that does not exist."""

    def __init__(self, scripts: Mapping[str, Sequence[str | None]] | None = None) -> None:
        self._scripts: dict[str, list[ScriptedFault | None]] = {}
        for method, entries in (scripts or {}).items():
            self.set(method, entries)

    def set(self, method: str, entries: Iterable[str | None]) -> None:
        """Replace the script of `method`; an empty one ends its faults."""
        self._scripts[method_name(method)] = [parse(entry) for entry in entries]

    def next(self, method: str) -> ScriptedFault | None:
        script = self._scripts.get(method)
        if not script:
            return None
        return script.pop(0) if len(script) > 1 else script[0]


_NAMES = """
    access_denied accesslimited account_inactive already_reacted alt_txt_too_large as_user_not_supported
    attachment_payload_limit_exceeded bad_timestamp block_mismatch blocked_file_type bot_not_found
    cannot_provide_both_markdown_text_and_chunks cannot_reply_to_message cant_broadcast_message
    cant_delete_message cant_update_message channel_not_found channel_type_not_supported
    channels_limit_exceeded deprecated_endpoint draft_already_deleted draft_already_sent
    draft_has_conflict draft_not_found duplicate_channel_not_found duplicate_external_id
    duplicate_message_not_found edit_window_closed ekm_access_denied enterprise_is_restricted
    exchanged_trigger_id expired_trigger_id external_channel_migrating fatal_error feature_disabled
    file_deleted file_is_deleted file_not_found file_share_limit_reached file_type_not_allowed
    file_update_failed file_upload_size_restricted file_uploads_disabled
    file_uploads_except_images_disabled hash_conflict internal_error invalid_app_id
    invalid_arg_name invalid_arguments
    invalid_array_arg invalid_attachments invalid_auth invalid_blocks invalid_blocks_format
    invalid_channel invalid_charset invalid_chunks invalid_cursor invalid_form_data invalid_json
    invalid_metadata_filter_keys invalid_metadata_format invalid_metadata_schema invalid_name invalid_payload
    invalid_post_type invalid_status invalid_thread_ts invalid_trigger_id invalid_ts_latest
    invalid_ts_oldest invalid_user_combination is_archived is_inactive list_record_comment_fetch_failed
    markdown_text_conflict markdown_text_or_chunks_required markdown_text_required
    max_file_sharing_exceeded message_limit_exceeded message_not_found message_not_in_streaming_state
    message_not_owned_by_app messages_tab_disabled messaging_processing_failed
    metadata_must_be_sent_from_app metadata_too_large method_deprecated
    method_not_supported_for_channel_type missing_argument missing_file_data missing_post_type
    missing_recipient_team_id missing_recipient_user_id missing_scope missing_thread_ts
    msg_blocks_too_long msg_blocks_too_many msg_too_long no_access no_dual_broadcast_content_update
    no_item_specified no_permission no_reaction no_such_subteam no_text not_agent_app
    not_allowed_token_type not_authed not_authorized not_enough_users not_found not_in_channel
    not_reactable not_subscribed_to_message_stream_stopped
    org_login_required posting_to_channel_denied push_limit_reached rate_limited ratelimited
    request_timeout reserved_username restricted_action restricted_action_non_threadable_channel
    restricted_action_read_only_channel restricted_action_thread_locked
    restricted_action_thread_only_channel service_unavailable slack_connect_blocked_file_type
    slack_connect_canvas_sharing_blocked slack_connect_clip_sharing_blocked
    slack_connect_file_link_sharing_blocked slack_connect_file_upload_sharing_blocked
    slack_connect_lists_sharing_blocked snippet_too_large stopped_by_user storage_limit_reached
    streaming_mode_mismatch streaming_state_conflict team_access_not_granted team_added_to_org
    team_not_found thread_locked thread_not_found thread_ts_required token_expired token_revoked
    too_many_attachments too_many_contact_cards too_many_emoji too_many_reactions too_many_users
    two_factor_setup_required unable_to_share_files unknown_method unknown_snippet_type unknown_subtype
    update_failed user_disabled user_not_found user_not_in_channel user_not_visible users_not_found
    users_list_not_supplied view_too_large
"""
ERROR_NAMES = frozenset(_NAMES.split())
"""Slack's own error names, whichever method answers them."""
