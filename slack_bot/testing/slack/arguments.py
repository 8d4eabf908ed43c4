"""PURE. Which arguments each method takes, and how they are read from a form or from JSON.

A word of the table is `name`, `name!` (required), `name:kind` or `name:kind!`. Kinds: str (the default), int,
bool, list, dict. Slack ignores arguments it does not know; we refuse them, because they are always a mistake.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .state import Refused

_MESSAGE = "text markdown_text blocks:list attachments:list metadata:dict parse link_names:bool"
_LOOK = "icon_emoji icon_url username"
_STREAM = "markdown_text chunks:list"
_PAGE = "cursor latest oldest inclusive:bool limit:int include_all_metadata:bool"
_TABLE = {
    "agents.sessions.setStatus": f"channel_id! thread_ts status! title initiator_user_id {_LOOK}",
    "apps.connections.open": "",
    "assistant.threads.setStatus": f"channel_id! thread_ts! status! loading_messages:list {_LOOK}",
    "assistant.threads.setSuggestedPrompts": "channel_id! prompts:list! thread_ts title",
    "assistant.threads.setTitle": "channel_id! thread_ts! title!",
    "auth.test": "",
    "chat.appendStream": f"channel! ts! {_STREAM}",
    "chat.delete": "channel! ts! as_user:bool",
    "chat.postEphemeral": f"channel! user! thread_ts as_user:bool {_MESSAGE} {_LOOK}",
    "chat.postMessage": "channel! thread_ts reply_broadcast:bool unfurl_links:bool unfurl_media:bool"
    f" mrkdwn:bool as_user:bool {_MESSAGE} {_LOOK}",
    "chat.startStream": "channel! thread_ts recipient_user_id recipient_team_id task_display_mode"
    f" {_STREAM} {_LOOK}",
    "chat.stopStream": f"channel! ts! blocks:list metadata:dict session_status {_STREAM}",
    "chat.update": f"channel! ts! as_user:bool reply_broadcast:bool file_ids:list {_MESSAGE}",
    "conversations.history": f"channel! {_PAGE}",
    "conversations.info": "channel! include_locale:bool include_num_members:bool",
    "conversations.open": "channel users prevent_creation:bool return_im:bool",
    "conversations.replies": f"channel! ts! {_PAGE}",
    "files.completeUploadExternal": "files:list! channel_id channels thread_ts initial_comment blocks:list",
    "files.getUploadURLExternal": "filename! length:int! alt_txt snippet_type",
    "reactions.add": "channel! timestamp! name!",
    "reactions.remove": "channel timestamp name! file file_comment",
    "users.info": "user! include_locale:bool",
    "views.open": "trigger_id! view:dict! interactivity_pointer",
    "views.publish": "user_id! view:dict! hash",
    "views.push": "trigger_id! view:dict! interactivity_pointer",
    "views.update": "view:dict! view_id external_id hash",
}
# These methods read, and Slack takes no JSON body for them (facts: Slack 7).
FORM_ONLY = frozenset(
    {
        "conversations.history",
        "conversations.info",
        "conversations.replies",
        "files.getUploadURLExternal",
        "users.info",
    }
)
_MALFORMED = {
    "blocks": "invalid_blocks_format",
    "chunks": "invalid_chunks",
    "metadata": "invalid_metadata_format",
}
_EVERYWHERE = {"token", "team_id"}


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a method."""

    name: str
    kind: str
    required: bool


def _parse(words: str) -> dict[str, Argument]:
    arguments = {}
    for word in words.split():
        name, _, kind = word.rstrip("!").partition(":")
        arguments[name] = Argument(name, kind or "str", word.endswith("!"))
    return arguments


ARGUMENTS = {method: _parse(words) for method, words in _TABLE.items()}


def read(method: str, given: Mapping[str, Any], is_json: bool) -> dict[str, Any]:
    """The arguments of a call, each of its kind; those not given are missing. Raises `Refused`."""
    if is_json and method in FORM_ONLY and given:
        raise Refused("invalid_arguments", f"{method} takes no JSON body")
    known = ARGUMENTS[method]
    args = {}
    for name, value in given.items():
        if name in _EVERYWHERE or value is None:
            continue
        if name not in known:
            raise Refused("invalid_arguments", f"unknown argument: {name}")
        args[name] = _KINDS[known[name].kind](name, value)
    for argument in known.values():
        if argument.required and argument.name not in args:
            raise Refused("invalid_arguments", f"missing required field: {argument.name}")
    return args


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise Refused("invalid_arguments", f"must be a string: {name}")
    return value


def _number(name: str, value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and value.isascii() and value.isdigit():
        return int(value)
    raise Refused("invalid_arguments", f"must be a number: {name}")


_FLAGS = {"1": True, "true": True, "True": True, "0": False, "false": False, "False": False}


def _flag(name: str, value: Any) -> bool:
    flag = _FLAGS.get(str(value)) if isinstance(value, str | bool | int) else None
    if flag is None:
        raise Refused("invalid_arguments", f"must be true or false: {name}")
    return flag


def _structure(name: str, value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        raise Refused(_MALFORMED.get(name, "invalid_arguments"), f"not JSON: {name}") from None


def _list(name: str, value: Any) -> list[Any]:
    items = _structure(name, value)
    if not isinstance(items, list):
        raise Refused(_MALFORMED.get(name, "invalid_arguments"), f"must be an array: {name}")
    return items


def _dict(name: str, value: Any) -> dict[str, Any]:
    pairs = _structure(name, value)
    if not isinstance(pairs, dict):
        raise Refused(_MALFORMED.get(name, "invalid_arguments"), f"must be an object: {name}")
    return pairs


_KINDS = {"str": _text, "int": _number, "bool": _flag, "list": _list, "dict": _dict}
