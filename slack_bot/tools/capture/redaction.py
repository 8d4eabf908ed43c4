"""PURE. Takes secrets out of what a capture writes: the settings' values, and what looks like a token.

In JSON a secret becomes `MASK`. In raw bytes it becomes as many asterisks, because there sizes are recorded
too; also where an agent's stream has cut it in pieces.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from ...testing.tape.json_file import Json

MASK = "[secret removed]"
_SHORTEST = 4  # characters: masking a shorter value would tear words apart

_TOKENS = (
    r"xox[a-z]-[A-Za-z0-9-]{10,}",
    r"xapp-[A-Za-z0-9-]{10,}",
    r"gh[oprsu]_[A-Za-z0-9]{36,}",
    r"github_pat_[A-Za-z0-9_]{22,}",
    r"glpat-[A-Za-z0-9_-]{20,}",
    r"sk-[A-Za-z0-9_-]{20,}",
    r"A[KS]IA[A-Z0-9]{16}",
    r"AIza[A-Za-z0-9_-]{35}",
    r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}[A-Za-z0-9_.-]*",
    r"(?<=Bearer )(?=\S*[0-9])[A-Za-z0-9._~+/=-]{20,}",
    r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY.{0,8192}?(?:-----END [A-Z ]{0,30}PRIVATE KEY-----|\Z)",
    r"(?<=://)[^\s/@:\"']+:[^\s/@\"']+(?=@)",
)


class Redactor:
    """Takes `secrets`, and whatever looks like a token, out of texts, JSON values and raw bytes."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        worth = sorted({each for each in secrets if len(each) >= _SHORTEST}, key=len, reverse=True)
        self.secrets = tuple(worth)
        spellings = [spelling for each in worth for spelling in _spellings(each)]
        known = [re.escape(each) for each in spellings]
        self._text = re.compile("|".join([*known, *_TOKENS]), re.DOTALL)
        self._raw = re.compile("|".join([*known, *_TOKENS]).encode(), re.DOTALL)

    def text(self, text: str) -> str:
        """`text` without secrets."""
        return self._text.sub(MASK, text)

    def value(self, value: Any) -> Any:
        """A JSON value without secrets, in its keys as well."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.value(each) for each in value]
        if isinstance(value, dict):
            return {self.text(key): self.value(each) for key, each in value.items()}
        return value

    def raw(self, data: bytes) -> bytes:
        """`data` with secrets as asterisks, as long as before."""
        return self._raw.sub(lambda found: b"*" * len(found.group()), data)


def _spellings(secret: str) -> list[str]:
    """A secret as it is, and as JSON writes it."""
    spelled = {secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}
    return sorted(spelled, key=len, reverse=True)


class StreamRedactor:
    """Takes out secrets that an agent's stream cut in pieces. Push rows, get back those that may be written.

    A row waits while its text ends like the beginning of a secret. When the whole secret is there, its
    characters become asterisks in all rows.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        self._secrets = tuple({each for each in secrets if len(each) >= _SHORTEST})
        self._held: list[tuple[Json, list[Json]]] = []

    def push(self, row: Json) -> list[Json]:
        """The rows that may be written now, in order. The texts in `row` may be changed, later too."""
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
        return self._ready(len(masked) - self._waiting(masked))

    def end(self) -> list[Json]:
        """All other rows: nothing more comes."""
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

    def _waiting(self, text: str) -> int:
        """How many characters at the end of `text` may begin a secret."""
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
