"""PURE. Takes secrets out of what is kept or written of an agent: JSON values, raw bytes, events in a row.

In a JSON value a secret becomes `MASK`; in raw bytes, and where a stream has cut it in pieces, as many
asterisks, so that every piece keeps its length and a replay its cuts.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from .masking import MASK as MASK
from .masking import SHORTEST_VALUE, SecretFilter, has_secret_value, mask_secrets, spellings

_Row = TypeVar("_Row")
_MOST_HELD = 200  # rows: what waits for longer is written
_SNAPSHOT = (
    16  # characters: a text that begins with the one before, if that is as long, is not the next piece
)


class Redactor:
    """Takes `secrets`, and whatever the table describes, out of texts, JSON values and raw bytes."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self.secrets: tuple[str, ...] = ()
        self._spelled: tuple[str, ...] = ()
        self._as_bytes: tuple[str, ...] = ()
        self.learn(*secrets)

    def learn(self, *secrets: str) -> None:
        """From now on take these out too."""
        found = {each for each in (*self.secrets, *secrets) if len(each) >= SHORTEST_VALUE}
        if len(found) == len(self.secrets):
            return
        worth = sorted(found, key=len, reverse=True)
        self.secrets = tuple(worth)
        self._spelled = spellings(worth)
        self._as_bytes = tuple(each.encode().decode("latin-1") for each in self._spelled)

    def text(self, text: str) -> str:
        return mask_secrets(text, self._spelled)

    def value(self, value: Any) -> Any:
        """A copy of a JSON value without secrets, in its keys as well. Raises RecursionError."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list | tuple):
            return [self.value(each) for each in value]
        if isinstance(value, Mapping):
            return {self.text(str(key)): self._named(str(key), each) for key, each in value.items()}
        return value

    def _named(self, key: str, value: Any) -> Any:
        return MASK if isinstance(value, str) and has_secret_value(key, value) else self.value(value)

    def raw(self, data: bytes) -> bytes:
        """`data` with secrets as asterisks, as long as before."""
        masking = SecretFilter(self._as_bytes, keeps_length=True)
        text = data.decode("latin-1")
        return (masking.push(text) + masking.end()).encode("latin-1")


@dataclass(slots=True)
class _TextStream:
    """The pieces of one text, which come in several events."""

    masking: SecretFilter
    pieces: deque[tuple[dict[str, Any], int]] = field(default_factory=deque)
    decided: str = ""  # for the first of `pieces`
    last: str = ""

    def push(self, part: dict[str, Any]) -> None:
        text = part["text"]
        if len(self.last) >= _SNAPSHOT and text.startswith(self.last):
            self.end()
        self.last = text
        self.pieces.append((part, len(text)))
        self._take(self.masking.push(text))

    def end(self) -> None:
        """What may have become a secret is none, unless it is too much of one to be kept."""
        begun = self.masking.undecided
        rest = self.masking.end()
        is_cut = rest == begun and len(begun) >= _TOO_MUCH and any(map(str.isdigit, begun))
        self._take("*" * len(rest) if is_cut else rest)

    def _take(self, text: str) -> None:
        self.decided += text
        while self.pieces and len(self.decided) >= self.pieces[0][1]:
            part, size = self.pieces.popleft()
            part["text"], self.decided = self.decided[:size], self.decided[size:]


_TOO_MUCH = 10  # characters of what begins as a secret does, where its rest may come elsewhere


class StreamRedactor(Generic[_Row]):
    """Takes out secrets that a stream cut in pieces. Push rows, get back those that may be written, in order.

    The texts of one artifact, or of all that is no artifact, are read as one. A row waits while its text ends
    like the beginning of a secret.
    """

    def __init__(self, masks: Redactor) -> None:
        self._masks, self._secrets = masks, masks.secrets
        self._streams: dict[str, _TextStream] = {}
        self._held: deque[tuple[_Row, list[dict[str, Any]]]] = deque()

    def push(self, row: _Row, event: Any) -> list[_Row]:
        """The rows that may be written now. The texts in `event`, which is of `row`, change, later too."""
        if self._secrets != self._masks.secrets:  # it has learned one
            self._end_streams()
            self._streams.clear()
            self._secrets = self._masks.secrets
        parts: list[dict[str, Any]] = []
        for name, part in _parts(event, ""):
            stream = self._streams.get(name)
            if stream is None:
                masking = SecretFilter(self._secrets, keeps_length=True)
                stream = self._streams[name] = _TextStream(masking)
            parts.append(part)
            stream.push(part)
        self._held.append((row, parts))
        if len(self._held) > _MOST_HELD:
            return self.end()
        return self._take()

    def end(self) -> list[_Row]:
        self._end_streams()
        return self._take()

    def _end_streams(self) -> None:
        for stream in self._streams.values():
            stream.end()

    def _take(self) -> list[_Row]:
        waiting = {id(part) for stream in self._streams.values() for part, _ in stream.pieces}
        ready: list[_Row] = []
        while self._held and not any(id(part) in waiting for part in self._held[0][1]):
            ready.append(self._held.popleft()[0])
        return ready


def _parts(value: Any, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The texts in an event, each with the artifact that it is of."""
    if isinstance(value, dict):
        artifact = value.get("artifactId")
        name = artifact if isinstance(artifact, str) else name
        if isinstance(value.get("text"), str):
            yield name, value
        for each in value.values():
            yield from _parts(each, name)
    elif isinstance(value, list):
        for each in value:
            yield from _parts(each, name)
