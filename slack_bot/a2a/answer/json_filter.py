"""PURE. Takes the answer out of a JSON envelope while the envelope is still being written.

Some supervisors stream the arguments of a `PlatformEngineerResponse`: flags, then `content`, then what they
ask the human. A reader gets `content` as it comes; escapes and surrogate pairs are decoded wherever a delta
cuts them. Text that is no such envelope passes unchanged. An envelope that breaks off keeps its content so
far (facts: CAIPE 6).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from enum import Enum, auto
from typing import Any

FLAGS = ("is_task_complete", "require_user_input", "was_task_successful")
KEYS = (*FLAGS, "content", "metadata")
_WRAPPERS = ("PlatformEngineerResponse", "ResponseFormat")
_BEGINS = re.compile(r'\s*(?:```(?:json)?\s*)?\{\s*"([^"\\]*)"\s*:')
_MAY_BEGIN = re.compile(
    r'\s*(?:`{1,3}|```j(?:s(?:o(?:n)?)?)?\s*|```\s*)?(?:\{\s*(?:"[^"\\]{0,40}(?:"\s*)?)?)?\Z'
)
_STRUCTURE = re.compile(r'["{}\[\],:]')
_BODY_STOPS = re.compile(r'["\\]')
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", '"': '"', "\\": "\\", "/": "/"}
_HALF = "\ufffd"
_MOST_HELD = 4_000  # characters, nearly all white space; after more it is no envelope


class _State(Enum):
    SNIFF = auto()  # it may be an envelope
    OUTSIDE = auto()  # in the envelope, not in a string
    STRING = auto()  # in a string that is not shown
    CONTENT = auto()  # in the string that is shown
    DONE = auto()  # the envelope is closed
    PLAIN = auto()  # it is no envelope


class JsonContentFilter:
    """One stream of raw text, however it is cut. `known`: it is an envelope, whatever its first key."""

    def __init__(self, *, known: bool = False) -> None:
        self._state = _State.OUTSIDE if known else _State.SNIFF
        self._raw: list[str] = []
        self._held = ""
        self._depth = 0
        self._level = 1
        self._key: list[str] = []
        self._last_key = ""
        self._expects_value = False
        self._high = ""
        self.has_content = False
        self._data: Mapping[str, Any] | None = None

    @property
    def is_envelope(self) -> bool:
        """The text is an envelope."""
        return self._state not in (_State.SNIFF, _State.PLAIN)

    @property
    def is_plain(self) -> bool:
        """The text is no envelope."""
        return self._state is _State.PLAIN

    @property
    def is_closed(self) -> bool:
        """The envelope is complete."""
        return self._state is _State.DONE

    @property
    def data(self) -> Mapping[str, Any] | None:
        """The envelope, once it is closed; None if it is not, or cannot be read."""
        if self.is_closed and self._raw:
            raw, self._raw = "".join(self._raw), []
            self._data = _envelope(raw)
        return self._data

    def feed(self, text: str) -> str:
        """Take the next text; what a reader sees of it."""
        if self._state is _State.PLAIN:
            return text
        if self._state is _State.SNIFF:
            return self._sniff(text)
        return self._read(text)

    def end(self) -> str:
        """Nothing follows: the held plain text, or a replacement for half a surrogate pair."""
        if self._state is _State.SNIFF:
            self._state, held = _State.PLAIN, self._held
            return held
        high, self._high = self._high, ""
        return _HALF if high else ""

    def _sniff(self, text: str) -> str:
        self._held += text
        found = _BEGINS.match(self._held)
        if found is None and len(self._held) <= _MOST_HELD and _MAY_BEGIN.match(self._held):
            return ""
        held, self._held = self._held, ""
        # an example in a fence may well have a field called content; a bare object is meant as an envelope
        is_bare = found is not None and found.group(1) == "content" and "`" not in found.group()
        if found is None or not (is_bare or found.group(1) in (*FLAGS, *_WRAPPERS)):
            self._state = _State.PLAIN
            return held
        self._state = _State.OUTSIDE
        return self._read(held[held.index("{") :])

    def _read(self, text: str) -> str:
        if self._state is _State.DONE:
            return ""
        self._raw.append(text)
        text, self._held = self._held + text, ""
        shown: list[str] = []
        at = 0
        while at < len(text):
            match self._state:
                case _State.OUTSIDE:
                    at = self._outside(text, at)
                case _State.STRING:
                    at = self._string(text, at)
                case _State.CONTENT:
                    at = self._content(text, at, shown)
                case _:
                    break
        return "".join(shown)

    def _outside(self, text: str, at: int) -> int:
        found = _STRUCTURE.search(text, at)
        if found is None:
            return len(text)
        match found.group():
            case '"':
                self._open_string()
            case "{" | "[":
                self._deepen(found.group())
            case "}" | "]":
                self._depth -= 1
                if self._depth == 0:
                    self._state = _State.DONE
            case ":":
                self._expects_value = self._depth == self._level
            case _:
                self._expects_value = False if self._depth == self._level else self._expects_value
        return found.end()

    def _open_string(self) -> None:
        is_here = self._depth == self._level
        if is_here and self._expects_value and self._last_key == "content":
            self._state, self.has_content = _State.CONTENT, True
            return
        self._state, self._key = _State.STRING, []

    def _deepen(self, bracket: str) -> None:
        wraps = bracket == "{" and self._depth == 1 and self._expects_value and self._last_key in _WRAPPERS
        self._depth += 1
        if wraps:
            self._level, self._expects_value = 2, False

    def _string(self, text: str, at: int) -> int:
        """The inside of a key or of a value that is not shown. A key is kept as it is written."""
        found = _BODY_STOPS.search(text, at)
        end = len(text) if found is None else found.start()
        is_key = self._depth == self._level and not self._expects_value
        if is_key:
            self._key.append(text[at:end])
        if found is None:
            return end
        if found.group() == "\\":
            if end + 1 >= len(text):
                self._held = text[end:]
                return len(text)
            return end + 2
        if is_key:
            self._last_key = "".join(self._key)
        self._state = _State.OUTSIDE
        return end + 1

    def _content(self, text: str, at: int, shown: list[str]) -> int:
        found = _BODY_STOPS.search(text, at)
        end = len(text) if found is None else found.start()
        if end > at:
            self._replace_half(shown)
            shown.append(text[at:end])
        if found is None:
            return end
        if found.group() == '"':
            self._replace_half(shown)
            self._state = _State.OUTSIDE
            return end + 1
        size = 6 if text[end + 1 : end + 2] == "u" else 2
        if end + size > len(text):
            self._held = text[end:]
            return len(text)
        self._escape(text[end + 1 : end + size], shown)
        return end + size

    def _escape(self, escape: str, shown: list[str]) -> None:
        if escape[0] != "u":
            self._replace_half(shown)
            shown.append(_ESCAPES.get(escape, escape))
            return
        try:
            char = chr(int(escape[1:], 16))
        except ValueError:
            char = _HALF
        if self._high and "\udc00" <= char <= "\udfff":
            pair = (self._high + char).encode("utf-16", "surrogatepass").decode("utf-16")
            self._high = ""
            shown.append(pair)
            return
        self._replace_half(shown)
        if "\ud800" <= char <= "\udbff":
            self._high = char
        else:
            shown.append(_HALF if "\udc00" <= char <= "\udfff" else char)

    def _replace_half(self, shown: list[str]) -> None:
        """Replace the first half of a pair whose second half did not come."""
        if self._high:
            shown.append(_HALF)
            self._high = ""


def _envelope(raw: str) -> Mapping[str, Any] | None:
    """The object in `raw`, out of its wrapper; None if it cannot be read."""
    try:
        found, _ = json.JSONDecoder(strict=False).raw_decode(raw, raw.index("{"))
    except (ValueError, RecursionError):
        return None
    inner = next((found[name] for name in _WRAPPERS if name in found), found)
    return inner if isinstance(inner, Mapping) else None
