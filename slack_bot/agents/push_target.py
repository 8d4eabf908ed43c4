"""PURE. Where an agent posts that there is news of a task, and the secret by which its posts are known."""

import hashlib
import re
import secrets
from dataclasses import dataclass
from typing import Self

PUSH_PATH = "/a2a/push/"
PUSH_ID = re.compile(r"[A-Za-z0-9_-]{22}")
"""128 bits."""
_ID_BYTES, _SECRET_BYTES = 16, 32


@dataclass(frozen=True, slots=True)
class PushTarget:
    """The address for one task. Of the secret only the hash is kept."""

    push_id: str
    url: str
    secret: str

    @classmethod
    def new(cls, public_url: str) -> Self:
        push_id = secrets.token_urlsafe(_ID_BYTES)
        return cls(push_id, push_url(public_url, push_id), secrets.token_urlsafe(_SECRET_BYTES))

    @property
    def secret_hash(self) -> str:
        return hash_secret(self.secret)


def push_url(public_url: str, push_id: str) -> str:
    """The address to post to."""
    return f"{public_url.rstrip('/')}{PUSH_PATH}{push_id}"


def hash_secret(secret: str) -> str:
    """SHA-256 in hex. The secrets are random, so that no salt is needed."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
