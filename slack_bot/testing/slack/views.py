"""PURE. Modals, the Home tab, and files on their way in."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from . import blocks as blockkit
from . import payloads
from .state import Json, Refused, StoredMessage, Upload, WorkspaceState, bot_channel, person_of, root_exists

_VIEW = {"type", "title", "submit", "close", "blocks", "private_metadata", "callback_id", "external_id"}
_FLAGS = {"clear_on_close", "notify_on_close", "submit_disabled"}


def open_view(state: WorkspaceState, args: Json, now: float) -> Json:
    """views.open: a new stack of modals."""
    _use_trigger(state, args["trigger_id"], now)
    view = _checked(state, args["view"], "modal")
    for old in _modals(state):
        del state.views[old["id"]]
    return {"view": _keep(state, view, None)}


def push_view(state: WorkspaceState, args: Json, now: float) -> Json:
    """views.push: at most three deep."""
    _use_trigger(state, args["trigger_id"], now)
    view = _checked(state, args["view"], "modal")
    stack = _modals(state)
    if len(stack) >= state.rules.view_stack:
        raise Refused("push_limit_reached")
    return {"view": _keep(state, view, stack[-1] if stack else None)}


def _modals(state: WorkspaceState) -> list[Json]:
    return [view for view in state.views.values() if view["type"] == "modal"]


def update_view(state: WorkspaceState, args: Json, now: float) -> Json:
    """views.update, by view_id or external_id."""
    found = [
        view
        for view in state.views.values()
        if view["id"] == args.get("view_id") or (view.get("external_id") or 0) == args.get("external_id")
    ]
    if not found:
        raise Refused("not_found")
    old = found[0]
    if args.get("hash") and args["hash"] != old["hash"]:
        raise Refused("hash_conflict")
    view = _checked(state, args["view"], old["type"])
    old.update(_filled(state, view, old["id"]))
    return {"view": old}


def publish_view(state: WorkspaceState, args: Json, now: float) -> Json:
    """views.publish: a person's Home tab."""
    person = person_of(state, args["user_id"])
    view = _checked(state, args["view"], "home")
    kept = _filled(state, view, f"home-{person.id}")
    state.views[kept["id"]] = kept
    return {"view": kept}


def _use_trigger(state: WorkspaceState, trigger: str, now: float) -> None:
    at = state.triggers.pop(trigger, None)
    if at is None:
        raise Refused("invalid_trigger_id")
    if now - at > state.rules.trigger_life:
        raise Refused("expired_trigger_id")


def _checked(state: WorkspaceState, view: Json, kind: str) -> Json:
    blocks, private = view.get("blocks"), view.get("private_metadata", "")
    if view.get("type") != kind or set(view) - _VIEW - _FLAGS:
        raise Refused("invalid_arguments", f"not a {kind} view")
    if not isinstance(blocks, list):
        raise Refused("invalid_arguments", "missing required field: blocks")
    if not isinstance(private, str) or len(private) > 3_000:
        raise Refused("invalid_arguments", "private_metadata is text of at most 3000 characters")
    blockkit.check(state, blocks, surface="view")
    if kind == "modal":
        _label(view, "title", required=True)
        _label(view, "submit", required=any(block["type"] == "input" for block in blocks))
        _label(view, "close", required=False)
    return view


def _label(view: Json, name: str, *, required: bool) -> None:
    label: Any = view.get(name)
    if label is None and not required:
        return
    words = label.get("text") if isinstance(label, dict) and label.get("type") == "plain_text" else None
    if not isinstance(words, str) or not 1 <= len(words) <= 24:
        raise Refused("invalid_arguments", f"{name} must be plain_text of 1 to 24 characters")


def _filled(state: WorkspaceState, view: Json, view_id: str) -> Json:
    blocks = blockkit.with_ids(state, view["blocks"])
    digest = hashlib.sha256(json.dumps(view, sort_keys=True).encode()).hexdigest()[:8]
    return {
        "private_metadata": "",
        "callback_id": "",
        **view,
        "id": view_id,
        "team_id": state.team,
        "app_id": state.bot.app_id,
        "bot_id": state.bot.bot_id,
        "blocks": blocks,
        "hash": digest,
        "state": {"values": {}},
    }


def _keep(state: WorkspaceState, view: Json, below: Json | None) -> Json:
    kept = _filled(state, view, state.next_id("V"))
    kept["previous_view_id"] = below["id"] if below else None
    kept["root_view_id"] = below["root_view_id"] if below else kept["id"]
    state.views[kept["id"]] = kept
    return kept


def upload_url(state: WorkspaceState, args: Json, now: float) -> Json:
    """files.getUploadURLExternal."""
    if args["length"] <= 0:
        raise Refused("missing_argument", "length must be more than 0")
    file_id = state.next_id("F")
    state.uploads[file_id] = Upload(file_id, args["filename"], args["length"])
    return {"upload_url": f"{state.file_base}/upload/{file_id}", "file_id": file_id}


def receive(state: WorkspaceState, file_id: str, content: bytes) -> int:
    """The bytes of an announced file. Returns the HTTP status of the answer.

    Nobody asked for that address: 404. Other than the announced number of bytes: 400, because whoever counted
    characters instead would find out here.
    """
    upload = state.uploads.get(file_id)
    if upload is None:
        return 404
    if len(content) != upload.length:
        return 400
    upload.content = content
    return 200


def complete_upload(state: WorkspaceState, args: Json, now: float) -> Json:
    """files.completeUploadExternal: the files appear as a message of the app, if a channel is named."""
    files = []
    for item in args["files"]:
        known = state.uploads.get(item.get("id", "")) if isinstance(item, dict) else None
        if known is None or known.content is None:
            raise Refused("file_not_found")
        title = item.get("title") or known.name
        files.append({"id": known.id, "name": known.name, "title": title, "size": known.length})
    if args.get("channel_id"):
        channel = bot_channel(state, args["channel_id"])
        root = root_exists(state, channel, args["thread_ts"]) if args.get("thread_ts") else None
        sent = StoredMessage(
            channel.id, state.next_ts(now), state.bot.user_id, state.team, thread_ts=root, by_app=True
        )
        sent.body, sent.files = args.get("initial_comment") or "", files
        state.add(sent)
        payloads.message(state, sent, now)
    return {"files": files}


METHODS = {
    "views.open": open_view,
    "views.push": push_view,
    "views.update": update_view,
    "views.publish": publish_view,
    "files.getUploadURLExternal": upload_url,
    "files.completeUploadExternal": complete_upload,
}
