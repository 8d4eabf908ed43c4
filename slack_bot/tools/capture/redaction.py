"""PURE. Takes secrets out of what a capture writes: the settings' values, and what looks like a token.

In JSON a secret becomes `MASK`; in raw bytes, and where a stream has cut it in pieces, as many asterisks.
"""

import json
import math
import re
from collections import deque
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
        known = [re.escape(spelling) for each in worth for spelling in _spellings(each)]
        pattern = "|".join([*known, *_TOKENS])
        self._text, self._raw = re.compile(pattern, re.DOTALL), re.compile(pattern.encode(), re.DOTALL)

    def text(self, text: str) -> str:
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
    spelled = {secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}
    return sorted(spelled, key=len, reverse=True)


class StreamRedactor:
    """Takes out secrets that a stream cut in pieces. Push rows, get back those that may be written.

    A row waits while its text ends like the beginning of a secret.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        self._secrets = tuple({each for each in secrets if len(each) >= _SHORTEST})
        self._held: deque[tuple[Json, list[Json]]] = deque()

    def push(self, row: Json) -> list[Json]:
        """The rows that may be written now, in order. The texts in `row` may be changed, later too."""
        self._held.append((row, list(_parts(row.get("event")))))
        parts = [part for _, parts in self._held for part in parts]
        text = masked = "".join(part["text"] for part in parts)
        for secret in self._secrets:
            masked = masked.replace(secret, "*" * len(secret))
        at = 0
        for part in parts if masked != text else ():
            part["text"] = masked[at : at + len(part["text"])]
            at += len(part["text"])
        beginnings = (secret[:size] for secret in self._secrets for size in range(1, len(secret)))
        waiting = max((len(each) for each in beginnings if masked.endswith(each)), default=0)
        return self._take(len(masked) - waiting)

    def end(self) -> list[Json]:
        return self._take(math.inf)

    def _take(self, safe: float) -> list[Json]:
        """The rows whose text ends before `safe`, counted in the characters of all that are held."""
        ready: list[Json] = []
        while self._held:
            safe -= sum(len(part["text"]) for part in self._held[0][1])
            if safe < 0:
                break
            ready.append(self._held.popleft()[0])
        return ready


def _parts(value: Any) -> Iterator[Json]:
    if isinstance(value, dict):
        if isinstance(value.get("text"), str):
            yield value
        for each in value.values():
            yield from _parts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _parts(each)
