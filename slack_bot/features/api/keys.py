"""Keys of programs: how one is made, and which one a request has."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Iterable, Mapping
from hashlib import sha256

from ...settings.api_access import KeyEntry

PREFIX = "sbk_"
"""Keys begin so."""
_BYTES = 32


def new_key() -> str:
    """A key that cannot be guessed."""
    return f"{PREFIX}{secrets.token_urlsafe(_BYTES)}"


def hash_of(key: str) -> str:
    """What the file has of it. A key is random and long, so that its hash needs no salt and no time."""
    return f"sha256:{sha256(key.encode('utf-8', 'replace')).hexdigest()}"


def name_of_key(key: str, known_keys: Mapping[str, KeyEntry]) -> str | None:
    """The name of a key; None: it is not known. Each is compared, in constant time."""
    wanted, found = hash_of(key), None
    for name, entry in known_keys.items():
        if hmac.compare_digest(wanted, entry.hash):
            found = name
    return found


def bearer_in(values: Iterable[str]) -> str:
    """The token of the header Authorization; "" without one, or with several."""
    tokens = [
        token.strip()
        for scheme, _, token in (each.partition(" ") for each in values)
        if scheme.lower() == "bearer"
    ]
    return tokens[0] if len(tokens) == 1 else ""
