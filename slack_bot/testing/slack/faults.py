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

A name is one of Slack's errors that are known here (`error_names`); any other one is refused, because a
misspelt fault would test something else than its author meant. Besides the methods of the Web API, `upload`
names the request that carries a file's bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ...settings.suggestions import nearest
from .arguments import ARGUMENTS

UPLOAD = "upload"
METHODS = frozenset({*ARGUMENTS, UPLOAD})
FORMS = (
    "name, name:SECONDS, name!, error:name, timeout, timeout!, connect, cut, cut!, slow:SECONDS,"
    " slow:SECONDS!, http:STATUS or http:STATUS!"
)
_TIMEOUT, _CUT, _CONNECT, _SLOW, _HTTP = _WORDS = ("timeout", "cut", "connect", "slow", "http")
_ENTRY = re.compile(r"(?P<new>error:)?(?P<name>[a-z][a-z0-9_]*)(?::(?P<number>[0-9]{1,6}))?(?P<applied>!)?")
_DEFAULT_RETRY_AFTER = 1
_TOO_OFTEN = 429


@dataclass(frozen=True, slots=True)
class ScriptedFault:
    """One entry of a script. `number`: seconds or an HTTP status, after the colon."""

    error: str
    applied: bool = False
    number: int | None = None

    @property
    def silent(self) -> bool:
        """The call is never answered."""
        return self.error == _TIMEOUT

    @property
    def broken(self) -> Literal["", "cut", "connect"]:
        """The connection breaks, or never comes about."""
        if self.error == _CUT:
            return "cut"
        return "connect" if self.error == _CONNECT else ""

    @property
    def delay(self) -> float:
        """Seconds by which a slow call is late, 0 for every other one."""
        return float(self.number or 0) if self.error == _SLOW else 0.0

    @property
    def is_page(self) -> bool:
        """Something in front of Slack answers, not in JSON."""
        return self.error == _HTTP

    @property
    def status(self) -> int:
        """The HTTP status: `ratelimited` has its own, `rate_limited` comes in band (facts: Slack 1.5)."""
        if self.is_page:
            return int(self.number or 0)
        return _TOO_OFTEN if self.error == "ratelimited" else 200

    @property
    def headers(self) -> dict[str, str]:
        """Retry-After, where it belongs."""
        if self.is_page or self.delay:
            return {}
        seconds = self.number
        if seconds is None and self.status == _TOO_OFTEN:
            seconds = _DEFAULT_RETRY_AFTER
        return {} if seconds is None else {"Retry-After": str(seconds)}


def parse(entry: str | None) -> ScriptedFault | None:
    """One entry. ValueError, in one sentence, for something that is not one."""
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
    """What is wrong with the name in `entry`; "" if nothing. `is_new`: it is marked as new."""
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
    """What makes no sense about `fault`, "" if it is sound."""
    has_number = fault.number is not None
    if fault.error == _HTTP:
        sound = has_number and 400 <= int(fault.number or 0) <= 599
        return "" if sound else "http takes a status from 400 to 599, as in http:503"
    if fault.error == _SLOW:
        return "" if fault.delay else "slow takes seconds, as in slow:5"
    if fault.error in (_TIMEOUT, _CUT, _CONNECT) and has_number:
        return f"{fault.error} takes no number"
    if fault.error == _CONNECT and fault.applied:
        return "what never reached Slack cannot have been applied; write connect or cut!"
    if has_number and fault.applied:
        return "what Slack wants to see again later was not applied"
    return ""


def method_name(name: str) -> str:
    """`name` as Slack spells it, also where the SDK's spelling is given. ValueError for an unknown one."""
    spelled = name if "." in name else name.replace("_", ".")
    if spelled not in METHODS:
        raise ValueError(f"{name!r} is not a method of the emulated workspace")
    return spelled


class FaultScript:
    """The scripts of all methods. A method may be spelled `chat.appendStream` or `chat_appendStream`.

    ValueError, in one sentence, for a method or an entry that does not exist.
    """

    def __init__(self, scripts: Mapping[str, Sequence[str | None]] | None = None) -> None:
        self._scripts: dict[str, list[ScriptedFault | None]] = {}
        for method, entries in (scripts or {}).items():
            self.set(method, entries)

    def set(self, method: str, entries: Iterable[str | None]) -> None:
        """Replace the script of `method`; an empty one ends its faults."""
        self._scripts[method_name(method)] = [parse(entry) for entry in entries]

    def next(self, method: str) -> ScriptedFault | None:
        """The fault of this call of `method`."""
        script = self._scripts.get(method)
        if not script:
            return None
        return script.pop(0) if len(script) > 1 else script[0]


_ANY_METHOD = """
    access_denied accesslimited account_inactive deprecated_endpoint ekm_access_denied
    enterprise_is_restricted fatal_error internal_error invalid_arg_name invalid_arguments
    invalid_array_arg invalid_auth invalid_charset invalid_form_data invalid_json invalid_post_type
    method_deprecated
    method_not_supported_for_channel_type missing_argument missing_post_type missing_scope no_permission
    not_allowed_token_type not_authed org_login_required rate_limited ratelimited request_timeout
    service_unavailable team_access_not_granted team_added_to_org token_expired token_revoked
    two_factor_setup_required unknown_method
"""
_STREAMS = """
    cannot_provide_both_markdown_text_and_chunks channel_type_not_supported feature_disabled invalid_chunks
    markdown_text_or_chunks_required markdown_text_required message_not_in_streaming_state
    message_not_owned_by_app missing_recipient_team_id missing_recipient_user_id
    not_subscribed_to_message_stream_stopped stopped_by_user streaming_mode_mismatch streaming_state_conflict
"""
_MESSAGES = """
    as_user_not_supported attachment_payload_limit_exceeded block_mismatch cannot_reply_to_message
    cant_broadcast_message cant_delete_message cant_update_message channel_not_found draft_already_deleted
    draft_already_sent draft_has_conflict draft_not_found duplicate_channel_not_found
    duplicate_message_not_found edit_window_closed external_channel_migrating invalid_attachments
    invalid_blocks invalid_blocks_format invalid_metadata_format invalid_metadata_schema invalid_thread_ts
    is_archived is_inactive markdown_text_conflict message_limit_exceeded message_not_found
    messages_tab_disabled messaging_processing_failed metadata_must_be_sent_from_app metadata_too_large
    missing_file_data msg_blocks_too_long msg_blocks_too_many msg_too_long no_dual_broadcast_content_update
    no_text not_in_channel restricted_action restricted_action_non_threadable_channel
    restricted_action_read_only_channel restricted_action_thread_locked restricted_action_thread_only_channel
    slack_connect_canvas_sharing_blocked slack_connect_file_link_sharing_blocked
    slack_connect_lists_sharing_blocked team_not_found too_many_attachments too_many_contact_cards
    update_failed user_not_found user_not_in_channel
"""
_THREADS = """
    invalid_cursor invalid_metadata_filter_keys invalid_status invalid_ts_latest invalid_ts_oldest
    invalid_user_combination list_record_comment_fetch_failed missing_thread_ts not_agent_app not_enough_users
    reserved_username thread_not_found thread_ts_required too_many_users user_disabled user_not_visible
    users_list_not_supplied
"""
_FILES = """
    alt_txt_too_large blocked_file_type channels_limit_exceeded file_deleted file_is_deleted file_not_found
    file_share_limit_reached file_type_not_allowed file_update_failed file_upload_size_restricted
    file_uploads_disabled file_uploads_except_images_disabled invalid_channel max_file_sharing_exceeded
    posting_to_channel_denied slack_connect_blocked_file_type slack_connect_clip_sharing_blocked
    slack_connect_file_upload_sharing_blocked snippet_too_large storage_limit_reached unable_to_share_files
    unknown_snippet_type unknown_subtype
"""
_REACTIONS = """
    already_reacted bad_timestamp invalid_name no_access no_item_specified no_reaction not_reactable
    thread_locked too_many_emoji too_many_reactions
"""
_VIEWS = """
    duplicate_external_id exchanged_trigger_id expired_trigger_id hash_conflict invalid_trigger_id not_found
    push_limit_reached view_too_large
"""

ERROR_NAMES = frozenset(
    " ".join((_ANY_METHOD, _STREAMS, _MESSAGES, _THREADS, _FILES, _REACTIONS, _VIEWS)).split()
)
"""Every name, whichever method answers it."""
