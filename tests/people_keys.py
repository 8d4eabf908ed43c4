"""What tests need where the bot signs for people: its keys, and an agent that checks who asks."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from joserfc import jwt
from joserfc.jwk import KeySet

from slack_bot.agents.wire.person_signer import public_keys, signing_keys
from slack_bot.settings.identity import IdentitySettings
from tests.authorization_server import SECRET, TokenServer
from tests.signing_keys import KeyPair

ISSUER = "https://bot.example"
GRANT = "urn:ietf:params:oauth:grant-type:token-exchange"


def identity_settings(folder: Path, keys: int = 1) -> IdentitySettings:
    """Of a bot with so many new keys."""
    files = [str(KeyPair("EC").write_pem(folder / f"key{number}.pem")) for number in range(keys)]
    return IdentitySettings(issuer=ISSUER, keys=tuple(files))


def identity_overrides(folder: Path) -> dict[str, Any]:
    """The same, for a bot of the harness."""
    settings = identity_settings(folder)
    return {"identity.issuer": settings.issuer, "identity.keys": settings.keys}


def let_exchange(server: TokenServer, settings: IdentitySettings, *people: str) -> dict[str, str]:
    """`server` exchanges the tokens of these people. How the bot asks it to, by setting of `exchange`."""
    client = {"secret": SECRET, "grants": [GRANT], "methods": ["client_secret_basic"]}
    server.set_up(
        clients={"bot": client},
        trusted={"issuer": ISSUER, "keys": public_keys(signing_keys(settings))},
        people=[f"slack:T1:{each}" for each in people],
    )
    return {"token_url": f"{server.url}/token", "id": "bot", "secret": SECRET, "audience": "the-agent"}


def public_of(settings: IdentitySettings) -> KeySet:
    """What the agents of this bot know of it."""
    return KeySet.import_key_set(public_keys(signing_keys(settings)))  # type: ignore[arg-type]


@dataclass
class Checker:
    """How an agent at `audience` finds out who asks. Keeps whom it let in, and every token's id."""

    keys: KeySet
    audience: str
    seen: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)

    def claims_of(self, token: str, now: float | None = None) -> dict[str, Any]:
        """Raises JoseError for a token that is not good for this agent."""
        read = jwt.decode(token, self.keys, algorithms=["ES256"])
        wanted: dict[str, Any] = {
            "iss": {"essential": True, "value": ISSUER},
            "aud": {"essential": True, "value": self.audience},
            "exp": {"essential": True},
            "sub": {"essential": True},
        }
        jwt.JWTClaimsRegistry(now=None if now is None else int(now), **wanted).validate(read.claims)
        return dict(read.claims)
