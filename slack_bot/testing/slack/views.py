"""PURE. Modals, the Home tab, and files on their way in."""

import hashlib
import json
from typing import Any

from . import blocks as blockkit
from . import inputs, payloads
from .state import Json, Refused, Trigger, Upload, WorkspaceState

_SNIPPET = 1_000_000  # bytes
_FIELDS = {
    "type", "title", "submit", "close", "blocks", "private_metadata", "callback_id", "external_id",
    "clear_on_close", "notify_on_close", "submit_disabled",
}  # fmt: skip


def _open_view(state: WorkspaceState, args: Json) -> Json:
    used = _use_trigger(state, args["trigger_id"])
    view = _checked(state, args["view"], "modal")
    for old in modals(state, used.user, used.window):
        close(state, old["id"])
    return _keep(state, view, None, used)


def _push_view(state: WorkspaceState, args: Json) -> Json:
    used = _use_trigger(state, args["trigger_id"])
    view = _checked(state, args["view"], "modal")
    stack = modals(state, used.user, used.window)
    if len(stack) >= state.rules.view_stack:
        raise Refused("push_limit_reached")
    return _keep(state, view, stack[-1] if stack else None, used)


def modals(state: WorkspaceState, user: str, window: str | None = None) -> list[Json]:
    """The modals that a person has open in a window (None: in any), the topmost last."""
    return [
        state.views[name]
        for name, (owner, place) in state.view_owners.items()
        if owner == user and window in (None, place)
    ]


def close(state: WorkspaceState, view_id: str) -> None:
    """A modal is gone."""
    del state.views[view_id]
    state.view_errors.pop(view_id, None)
    user, _ = state.view_owners.pop(view_id)
    state.view_changed(user)


def answered(state: WorkspaceState, view_id: str, answer: Json) -> None:
    """What the app answered to a modal that was sent: nothing closes it. ValueError for what Slack refuses;
    a person reads then that there was a problem."""
    view = state.views[view_id]
    action, (user, window) = answer.get("response_action"), state.view_owners[view_id]
    if action is None or action == "clear":
        for each in [view] if action is None else modals(state, user, window):
            close(state, each["id"])
    elif action == "errors":
        errors, places = answer.get("errors"), {b["block_id"] for b in view["blocks"] if b["type"] == "input"}
        if not isinstance(errors, dict) or not errors or set(errors) - places:
            raise ValueError(f"errors of no input: {errors}")
        if not all(isinstance(words, str) and words for words in errors.values()):
            raise ValueError(f"errors without words: {errors}")
        state.view_errors[view_id] = errors
        state.view_changed(user)
    elif action == "update":
        view.update(_filled(state, _checked(state, answer["view"], "modal"), view_id))
        state.view_changed(user)
    else:
        raise ValueError(f"unknown response_action {action}")


def _update_view(state: WorkspaceState, args: Json) -> Json:
    given_id, external_id = args.get("view_id"), args.get("external_id")
    for old in state.views.values():
        if old["id"] == given_id or (old.get("external_id") or 0) == external_id:
            break
    else:
        raise Refused("not_found")
    if args.get("hash") and args["hash"] != old["hash"]:
        raise Refused("hash_conflict")
    view = _checked(state, args["view"], old["type"])
    old.update(_filled(state, view, old["id"]))
    owner, _ = state.view_owners.get(old["id"], (old["id"].removeprefix("home-"), ""))
    state.view_changed(owner)
    return {"view": old}


def _publish_view(state: WorkspaceState, args: Json) -> Json:
    person = state.person_of(args["user_id"])
    view = _checked(state, args["view"], "home")
    kept = _filled(state, view, f"home-{person.id}")
    kept["root_view_id"] = kept["id"]
    state.views[kept["id"]] = kept
    state.view_changed(person.id)
    return {"view": kept}


def _use_trigger(state: WorkspaceState, trigger: str) -> Trigger:
    used = state.triggers.pop(trigger, None)
    if used is None:
        raise Refused("invalid_trigger_id")
    if state.now - used.at > state.rules.trigger_life:
        state.refuse("press.late", "expired_trigger_id")
    return used


def _checked(state: WorkspaceState, view: Json, kind: str) -> Json:
    blocks, private = view.get("blocks"), view.get("private_metadata", "")
    if view.get("type") != kind or set(view) - _FIELDS:
        raise Refused("invalid_arguments", f"not a {kind} view")
    if not isinstance(blocks, list):
        raise Refused("invalid_arguments", "missing required field: blocks")
    if not isinstance(private, str) or len(private) > 3_000:
        raise Refused("invalid_arguments", "private_metadata is text of at most 3000 characters")
    blockkit.check(state, blocks, surface="view")
    if kind == "modal":
        has_input = any(block["type"] == "input" for block in blocks)
        for name, required in (("title", True), ("submit", has_input), ("close", False)):
            _check_label(view.get(name), name, required)
    return view


def _check_label(label: Any, name: str, required: bool) -> None:
    words = label.get("text") if isinstance(label, dict) and label.get("type") == "plain_text" else None
    is_label = isinstance(words, str) and 1 <= len(words) <= 24
    if not is_label and (label is not None or required):
        raise Refused("invalid_arguments", f"{name} must be plain_text of 1 to 24 characters")


def _filled(state: WorkspaceState, view: Json, view_id: str) -> Json:
    kept = blockkit.with_ids(state, view["blocks"])
    return {
        "private_metadata": "",
        "callback_id": "",
        "external_id": "",
        "clear_on_close": False,
        "notify_on_close": False,
        **view,
        "id": view_id,
        "team_id": state.team,
        "app_installed_team_id": state.team,
        "app_id": state.bot.app_id,
        "bot_id": state.bot.bot_id,
        "blocks": kept,
        "hash": hashlib.sha256(json.dumps(view, sort_keys=True).encode()).hexdigest()[:8],
        "state": {"values": inputs.begun(kept)},
    }


def _keep(state: WorkspaceState, view: Json, below: Json | None, used: Trigger) -> Json:
    kept = _filled(state, view, state.next_id("V"))
    kept["previous_view_id"] = below["id"] if below else None
    kept["root_view_id"] = below["root_view_id"] if below else kept["id"]
    state.views[kept["id"]], state.view_owners[kept["id"]] = kept, (used.user, used.window)
    state.view_changed(used.user)
    return {"view": kept}


def _upload_url(state: WorkspaceState, args: Json) -> Json:
    if args["length"] <= 0:
        state.refuse("file.empty", "missing_argument", "length must be more than 0")
    if args.get("snippet_type") and args["length"] > _SNIPPET:
        raise Refused("invalid_arguments", "a snippet holds at most 1 MB")
    file_id = state.next_id("F")
    state.uploads[file_id] = Upload(file_id, args["filename"], args["length"])
    return {"upload_url": f"{state.file_base}/upload/{file_id}", "file_id": file_id}


def receive(state: WorkspaceState, file_id: str, content: bytes) -> int:
    """The bytes of an announced file. Returns the HTTP status of the answer.

    Other than the announced number of bytes: 400, because whoever counted characters would find out here.
    """
    upload = state.uploads.get(file_id)
    if upload is None:
        return 404
    if len(content) != upload.length and state.rules.word("file.wrong_length", "refused") == "refused":
        return 400
    upload.content = content
    return 200


def _complete_upload(state: WorkspaceState, args: Json) -> Json:
    files = []
    for item in args["files"]:
        known = state.uploads.get(item.get("id", "")) if isinstance(item, dict) else None
        if known is None:
            raise Refused("file_not_found")
        if known.content is None:
            state.refuse("file.unfinished", "file_not_found")
        title = item.get("title") or known.name
        files.append({"id": known.id, "name": known.name, "title": title, "size": known.length})
    named = [args.get("channel_id") or "", *(args.get("channels") or "").split(",")]
    channels = [state.bot_channel(each) for each in dict.fromkeys(map(str.strip, named)) if each]
    comment = args.get("initial_comment") or ""
    root = args.get("thread_ts") if state.rules.holds("file.in_thread") else None
    for sent in [state.new_message(channel, root) for channel in channels]:
        sent.body, sent.files = comment, files
        sent.blocks = [] if comment else blockkit.kept(state, args)
        state.add(sent)
        payloads.message(state, sent)
    return {"files": files}


METHODS = {
    "views.open": _open_view,
    "views.push": _push_view,
    "views.update": _update_view,
    "views.publish": _publish_view,
    "files.getUploadURLExternal": _upload_url,
    "files.completeUploadExternal": _complete_upload,
}
