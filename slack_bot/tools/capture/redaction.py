"""PURE. Secrets taken out of what a capture writes: the values we know, and what looks like a token.

In JSON they become a word; in raw bytes they become as many asterisks, because there sizes are a record too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

MASK = "[secret removed]"
_SHORTEST = 4  # a shorter value is no secret, and masking it would tear words apart

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
    """Takes `secrets` out of texts, JSON values and raw bytes, and with them whatever looks like one."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        worth = sorted({each for each in secrets if len(each) >= _SHORTEST}, key=len, reverse=True)
        self.secrets = tuple(worth)
        """The values that are known."""
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
