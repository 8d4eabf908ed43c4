"""PURE. What a file is called and shown as: an agent's word for it is not to be trusted."""

import re
from pathlib import PurePosixPath

from ..turn.files import is_text

_LONGEST = 100  # characters of a name
_BAD = re.compile(r'[\x00-\x1f\x7f<>:"|?*&@!#`]+')
_SPACES = re.compile(r"\s+")
_SNIPPET = 1_000_000  # bytes; Slack: 1 MB
_SIGNS: tuple[tuple[bytes, tuple[str, ...]], ...] = (
    (b"\x89PNG\r\n\x1a\n", ("png",)),
    (b"\xff\xd8\xff", ("jpg", "jpeg")),
    (b"GIF8", ("gif",)),
    (b"%PDF-", ("pdf",)),
    (b"PK\x03\x04", ("zip", "docx", "xlsx", "pptx", "odt", "ods", "odp", "jar", "whl", "epub")),
    (b"\x1f\x8b", ("gz", "tgz")),
    (b"MZ", ("exe", "dll")),
    (b"\x7fELF", ("elf", "so", "bin")),
)
"""How files begin, and their extensions: the first one is added where there is none of them."""
_SIGNED = frozenset({"png", "jpg", "jpeg", "gif", "pdf"})  # a file of these types begins with its sign
_BY_TYPE = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/gif": "gif",
    "image/webp": "webp",
    "image/svg+xml": "svg",
    "application/pdf": "pdf",
    "application/json": "json",
    "application/zip": "zip",
    "text/csv": "csv",
    "text/markdown": "md",
    "text/html": "html",
    "text/plain": "txt",
}
_SNIPPETS = {
    "c": "c", "cpp": "cpp", "cs": "csharp", "css": "css", "diff": "diff", "go": "go", "html": "html",
    "java": "java", "js": "javascript", "json": "json", "kt": "kotlin", "lua": "lua", "php": "php",
    "ps1": "powershell", "py": "python", "r": "r", "rb": "ruby", "rs": "rust", "scala": "scala",
    "sh": "shell", "sql": "sql", "swift": "swift", "ts": "typescript", "xml": "xml", "yaml": "yaml",
    "yml": "yaml",
}  # fmt: skip


def file_name(name: str, mime_type: str, content: bytes) -> str:
    """A name without a path, whose extension says what `content` is."""
    stem = PurePosixPath(name.replace("\\", "/")).name
    stem = _SPACES.sub(" ", _BAD.sub("_", stem)).strip(" .")
    known = _BY_TYPE.get(mime_type.partition(";")[0].strip().lower(), "")
    if not stem:
        stem = f"file.{known}" if known else "file"
    ending = _extension(stem)
    if added := _added(ending, content):
        ending, stem = added, f"{stem}.{added}"
    if len(stem) > _LONGEST:
        tail = f".{ending}" if ending else ""
        stem = stem[: _LONGEST - len(tail)] + tail
    return stem


def _extension(name: str) -> str:
    return PurePosixPath(name).suffix[1:].lower()


def _added(ending: str, content: bytes) -> str:
    """The extension that has to be added; "" where the present one is true, or nothing is known."""
    for sign, names in _SIGNS:
        if content.startswith(sign):
            return "" if ending in names else names[0]
    if ending not in _SIGNED:
        return ""
    return "txt" if is_text(content) else "bin"


def snippet_type(name: str, content: bytes) -> str:
    """Slack's word for code of this kind; "": it is no code, or too long for a snippet."""
    kind = _SNIPPETS.get(_extension(name), "")
    return kind if kind and 0 < len(content) <= _SNIPPET and is_text(content) else ""
