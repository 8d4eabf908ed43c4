"""PURE. Files on their way in: announced, sent, and shown in a thread."""

from __future__ import annotations

from . import payloads
from .state import Json, Refused, Upload, WorkspaceState


def _upload_url(state: WorkspaceState, args: Json) -> Json:
    if args["length"] <= 0:
        raise Refused("missing_argument", "length must be more than 0")
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
    if len(content) != upload.length:
        return 400
    upload.content = content
    return 200


def _complete_upload(state: WorkspaceState, args: Json) -> Json:
    files = []
    for item in args["files"]:
        known = state.uploads.get(item.get("id", "")) if isinstance(item, dict) else None
        if known is None or known.content is None:
            raise Refused("file_not_found")
        title = item.get("title") or known.name
        files.append({"id": known.id, "name": known.name, "title": title, "size": known.length})
    if args.get("channel_id"):
        sent = state.new_message(state.bot_channel(args["channel_id"]), args.get("thread_ts"))
        sent.body, sent.files = args.get("initial_comment") or "", files
        state.add(sent)
        payloads.message(state, sent)
    return {"files": files}


METHODS = {
    "files.getUploadURLExternal": _upload_url,
    "files.completeUploadExternal": _complete_upload,
}
