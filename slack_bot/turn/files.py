"""Files of a question: what Slack says of them, and what the agent is given. Bytes are never stored."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from .json_values import objects_of, text_in

_GONE = frozenset({"tombstone", "hidden_by_limit"})
_UNKNOWN = "application/octet-stream"
_TEXT = "text/plain"
CANVAS = "application/vnd.slack-docs"
"""What Slack says that a canvas is. Its bytes are HTML (agent-slack#19, slackdump#401)."""
# what a file begins with, and where; facts: en.wikipedia.org/wiki/List_of_file_signatures
_SIGNS: tuple[tuple[int, bytes, str], ...] = (
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF87a", "image/gif"),
    (0, b"GIF89a", "image/gif"),
    (8, b"WEBP", "image/webp"),
    (0, b"%PDF-", "application/pdf"),
    (0, b"\x1f\x8b", "application/gzip"),
    (0, b"PK\x03\x04", "application/zip"),
    (0, b"PK\x05\x06", "application/zip"),
)
_ZIP = "application/zip"
_BY_ENDING = {
    "csv": "text/csv", "html": "text/html", "json": "application/json", "md": "text/markdown",
    "svg": "image/svg+xml", "tsv": "text/tab-separated-values", "xml": "application/xml",
    "yaml": "application/yaml", "yml": "application/yaml",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class SlackFile:
    """A file of a message. `url`: where its bytes are; of a `link` where it lies outside Slack.

    A `stub` says no more than its id: Slack must be asked for it. What is `gone` was deleted or hidden.
    """

    id: str
    name: str = ""
    size: int = 0
    media_type: str = ""
    url: str = ""
    kind: Literal["file", "stub", "link", "gone"] = "file"


@dataclass(frozen=True, slots=True)
class GivenFile:
    """A file as the agent gets it: its bytes in base64, or the `url` of one that lies elsewhere."""

    name: str
    media_type: str
    content: str = ""
    url: str = ""


def slack_files(files: object) -> tuple[SlackFile, ...]:
    """The files of a message, as Slack's JSON has them. Never raises."""
    return tuple(file for each in objects_of(files) if (file := slack_file(each)).id)


def slack_file(file: Mapping[str, Any]) -> SlackFile:
    """One of them, or what `files.info` says."""
    said = partial(text_in, file)
    size = file.get("size")
    kind: Literal["file", "stub", "link", "gone"] = "file"
    if said("file_access") == "check_file_info":
        kind = "stub"
    elif said("mode") in _GONE:
        kind = "gone"
    elif file.get("is_external") or said("mode") == "external":
        kind = "link"
    url = said("url_private") if kind == "link" else said("url_private_download") or said("url_private")
    size = size if isinstance(size, int) and size > 0 else 0
    return SlackFile(said("id"), said("name") or said("title"), size, said("mimetype"), url, kind)


def media_type_of(name: str, declared: str, content: bytes) -> str:
    """The media type of a file: what its bytes say, else what was declared, else what its name says."""
    sign = next((kind for at, sign, kind in _SIGNS if content.startswith(sign, at)), "")
    if sign and not (sign == _ZIP and declared.startswith("application/")):  # documents are zip files too
        return sign
    if declared and declared != _UNKNOWN and (not declared.startswith("image/") or "svg" in declared):
        return declared
    ending = name.rpartition(".")[2].lower()
    return _BY_ENDING.get(ending, _TEXT) if is_text(content) else _UNKNOWN


def is_text(content: bytes) -> bool:
    """It is UTF-8 without a NUL."""
    try:
        return "\0" not in content.decode()
    except UnicodeDecodeError:
        return False
