"""PURE. Secrets that an agent's stream cut in pieces: no piece holds one, and all of them together would.

A row of a tape waits while its text ends as a secret begins. When the secret is there, its characters become
asterisks in whichever rows they stand; when it is not, the rows go on as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ...testing.tape.json_file import Json

_SHORTEST = 4


class StreamRedactor:
    """Push rows; get back, in their order, those that hold no part of a secret any more."""

    def __init__(self, secrets: Iterable[str]) -> None:
        self._secrets = tuple({each for each in secrets if len(each) >= _SHORTEST})
        self._held: list[tuple[Json, list[Json]]] = []

    def push(self, row: Json) -> list[Json]:
        """The rows that may be written now. The texts in `row` may be changed, later too."""
        self._held.append((row, list(_parts(row.get("event")))))
        parts = [part for _, parts in self._held for part in parts]
        joined = "".join(part["text"] for part in parts)
        masked = self._masked(joined)
        if masked != joined:
            at = 0
            for part in parts:
                size = len(part["text"])
                part["text"] = masked[at : at + size]
                at += size
        return self._ready(len(masked) - self._begun(masked))

    def end(self) -> list[Json]:
        """All rows that are left: nothing more comes."""
        held, self._held = self._held, []
        return [row for row, _ in held]

    def _ready(self, safe: int) -> list[Json]:
        """The rows whose text ends before `safe`, counted in the characters of all that are held."""
        at, count = 0, 0
        for _, parts in self._held:
            at += sum(len(part["text"]) for part in parts)
            if at > safe:
                break
            count += 1
        ready, self._held = self._held[:count], self._held[count:]
        return [row for row, _ in ready]

    def _masked(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "*" * len(secret))
        return text

    def _begun(self, text: str) -> int:
        """How many characters at the end of `text` may be the beginning of a secret."""
        return max((_overlap(text, secret) for secret in self._secrets), default=0)


def _overlap(text: str, secret: str) -> int:
    most = min(len(text), len(secret) - 1)
    return next((size for size in range(most, 0, -1) if text.endswith(secret[:size])), 0)


def _parts(value: Any) -> Iterator[Json]:
    """Every part with a text in an event, in order."""
    if isinstance(value, dict):
        if isinstance(value.get("text"), str):
            yield value
        for each in value.values():
            yield from _parts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _parts(each)
