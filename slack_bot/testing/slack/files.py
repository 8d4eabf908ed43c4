"""PURE. Files that people share, and how the app gets them (facts: Slack 10).

Without the token, or without the scope `files:read`, Slack answers with its login page and status 200.
"""

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal
from urllib.parse import quote

from ...turn.files import CANVAS
from .faults import CallAnswer
from .state import Json, Person, Refused, Upload, WorkspaceState

FILES_PATH = "/files-pri/"
LOGIN_PAGE = b"<!DOCTYPE html><html><head><title>Sign in | Slack</title></head><body></body></html>"
_SCOPE = "files:read"
_KINDS = {
    "csv": "text/csv", "gif": "image/gif", "html": "text/html", "jpg": "image/jpeg",
    "json": "application/json", "log": "text/plain", "md": "text/markdown", "pdf": "application/pdf",
    "png": "image/png", "py": "text/x-python", "txt": "text/plain", "zip": "application/zip",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class PersonFile:
    """A file that a person shares. `mimetype` "": by its name.

    `link`: it lies there, and Slack knows only the address. `is_stub`: it is of another organisation, so
    messages name nothing but its id, as long as `files.info` was not asked. `is_deleted`: its tombstone is
    left. `moved_to`: Slack sends whoever fetches it on to this address.
    """

    name: str
    content: bytes = b""
    mimetype: str = ""
    mode: Literal["hosted", "snippet"] = "hosted"
    link: str = ""
    is_stub: bool = False
    is_deleted: bool = False
    moved_to: str = ""


def share(state: WorkspaceState, file: PersonFile, by: Person) -> Json:
    """`by` shares `file`. Returns it as the message shows it."""
    kept = Upload(state.next_id("F"), file.name, len(file.content), file.content, _json(file), file.moved_to)
    state.uploads[kept.id] = kept
    when = int(state.now)
    assert kept.shown is not None
    kept.shown |= {"id": kept.id, "created": when, "timestamp": when, "user": by.id, "user_team": by.team}
    if not file.link:
        address = f"{state.file_base}{FILES_PATH}{state.team}-{kept.id}"
        kept.shown["url_private"] = f"{address}/{quote(file.name)}"
        kept.shown["url_private_download"] = f"{address}/download/{quote(file.name)}"
    if file.is_deleted:
        kept.content, kept.shown = None, {"id": kept.id, "mode": "tombstone"}
    if file.is_stub:
        return {"id": kept.id, "mode": "file_access", "file_access": "check_file_info", "created": when}
    return dict(kept.shown)


def _json(file: PersonFile) -> Json:
    ending = PurePosixPath(file.name).suffix[1:].lower()
    kind = file.mimetype or _KINDS.get(ending, "application/octet-stream")
    shown: Json = {
        "name": file.name,
        "title": file.name,
        "mimetype": kind,
        "filetype": ending or "binary",
        "size": len(file.content),
        "mode": "external" if file.link else file.mode,
        "is_external": bool(file.link),
        "file_access": "visible",
    }
    return {**shown, "url_private": file.link} if file.link else shown


def download(state: WorkspaceState, file_id: str, *, is_signed_in: bool) -> CallAnswer:
    """What the address of a file answers."""
    kept = state.uploads.get(file_id)
    if not is_signed_in or _SCOPE not in state.manifest.scopes:
        return CallAnswer({"ok": True}, content=LOGIN_PAGE, content_type="text/html")
    if kept is None or kept.content is None:
        return CallAnswer({"ok": False}, 404, content=b"not found", content_type="text/plain")
    if kept.moved_to:
        return CallAnswer({"ok": True}, 302, {"Location": kept.moved_to}, content=b"")
    kind = str((kept.shown or {}).get("mimetype", "application/octet-stream"))
    kind = "text/html" if kind == CANVAS else kind
    return CallAnswer({"ok": True}, content=kept.content, content_type=kind)


def file_of_path(path: str) -> str | None:
    """The id of the file that an address is of; None: it is of none."""
    _, found, rest = path.partition(FILES_PATH)
    return rest.split("/")[0].rpartition("-")[2] if found else None


def _info(state: WorkspaceState, args: Json) -> Json:
    kept = state.uploads.get(args["file"])
    if kept is None or kept.shown is None:
        raise Refused("file_not_found")
    if kept.content is None:
        raise Refused("file_deleted")
    return {"file": dict(kept.shown), "comments": []}


def _delete(state: WorkspaceState, args: Json) -> Json:
    """Its messages stay, without it."""
    if state.uploads.pop(args["file"], None) is None:
        raise Refused("file_not_found")
    for channel in state.messages.values():
        for message in channel.values():
            if any(file["id"] == args["file"] for file in message.files):
                message.files = [file for file in message.files if file["id"] != args["file"]]
                state.changed(message.channel, message.root)
    return {}


METHODS = {"files.delete": _delete, "files.info": _info}
