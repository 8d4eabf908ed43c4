"""Encrypts what features keep of tokens: AES-GCM, bound to the person and the agent that they belong to."""

from __future__ import annotations

import base64
import binascii
import json
import secrets
from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

KEY_BYTES = 32
_NONCE_BYTES = 12  # NIST SP 800-38D, 5.2.1.1


class Vault:
    """Encrypts with the first key, and decrypts with each."""

    def __init__(self, secret_keys: Sequence[bytes]) -> None:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        self._ciphers: dict[str, AESGCM] = {_name_of(key): AESGCM(key) for key in secret_keys}
        self._first = _name_of(secret_keys[0])

    def seal(self, text: str, *about: str) -> str:
        """Encrypt `text`, so that it can be read only together with the same `about`."""
        nonce = secrets.token_bytes(_NONCE_BYTES)
        sealed = nonce + self._ciphers[self._first].encrypt(nonce, text.encode(), _bound(about))
        return f"{self._first}.{base64.urlsafe_b64encode(sealed).decode()}"

    def is_current(self, sealed: str) -> bool:
        """Whether it was encrypted with the first key."""
        return sealed.startswith(f"{self._first}.")

    def read(self, sealed: str, *about: str) -> str | None:
        """Decrypt. None: no key fits, or it was changed, or it belongs to another person."""
        from cryptography.exceptions import InvalidTag

        name, text = sealed.partition(".")[::2]
        if (cipher := self._ciphers.get(name)) is None:
            return None
        try:
            raw = base64.urlsafe_b64decode(text)
            return cipher.decrypt(raw[:_NONCE_BYTES], raw[_NONCE_BYTES:], _bound(about)).decode()
        except (InvalidTag, binascii.Error, ValueError):
            return None


def _name_of(key: bytes) -> str:
    return sha256(b"slack-bot key name" + key).hexdigest()[:8]


def _bound(about: Sequence[str]) -> bytes:
    return json.dumps(about).encode()
