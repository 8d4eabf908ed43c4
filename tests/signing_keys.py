"""Key pairs for tests: the private key in a file, the public one as a server keeps it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from joserfc import jwt
from joserfc.jwk import ECKey, RSAKey


class KeyPair:
    """`name` is its `kid`."""

    def __init__(self, kind: str = "RSA", name: str = "k1") -> None:
        parameters: Any = {"kid": name}
        self.key = (
            RSAKey.generate_key(2048, parameters)
            if kind == "RSA"
            else ECKey.generate_key("P-256", parameters)
        )

    @property
    def public(self) -> dict[str, Any]:
        """A set with the public key alone."""
        return {"keys": [self.key.as_dict(private=False)]}

    def write_pem(self, file: Path) -> Path:
        file.write_bytes(self.key.as_pem(private=True))
        return file

    def write_jwk(self, file: Path) -> Path:
        file.write_text(json.dumps(self.key.as_dict(private=True)))
        return file

    def sign(self, **claims: Any) -> str:
        return jwt.encode({"alg": "RS256", "kid": self.key.kid}, claims, self.key)
