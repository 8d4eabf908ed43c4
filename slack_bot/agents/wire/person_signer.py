"""Signs tokens that say who asks (JSON Web Tokens with ES256), and publishes the keys that check them.

Two keys at a time: a new one is published before it signs, the old one until its last token has ended. `act`
names the bot, which asks for the person (RFC 8693 4.1). Needs the extra `oauth`.
"""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...clock import Clock
from ...errors import SettingsError
from ...settings.identity import IdentitySettings
from ...turn.json_values import object_of, read_json
from ...turn.people import AskingPerson, ProvenPerson

if TYPE_CHECKING:
    from joserfc.jwk import ECKey

LIFE = 300
"""Seconds for which a token is good."""
_KEYS = "SLACK_BOT_IDENTITY__KEYS"
_CURVE = "P-256"
_MOST_BYTES = 64 * 1024


class PersonSigner:
    """Signs with the first key of the settings. SettingsError: a key cannot be used."""

    def __init__(self, settings: IdentitySettings, clock: Clock) -> None:
        self._issuer, self._now = settings.issuer, clock.wall
        self._keys = signing_keys(settings)

    def sign(self, person: ProvenPerson, audience: str) -> str:
        """A token that says to `audience` alone who asks."""
        from joserfc import jwt

        key, now = self._keys[0], int(self._now())
        claims: dict[str, Any] = {
            "iss": self._issuer,
            "aud": audience,
            "sub": _subject(person.person),
            "act": {"sub": _subject(person.bot)},
            "iat": now,
            "exp": now + LIFE,
            "jti": uuid.uuid4().hex,
        }
        if person.email:
            claims["email"] = person.email
        return jwt.encode({"alg": "ES256", "typ": "JWT", "kid": key.kid or ""}, claims, key)


def public_keys(signing: list[ECKey]) -> dict[str, Any]:
    """The public halves as a key set (JWKS)."""
    return {"keys": [{**key.as_dict(private=False), "alg": "ES256", "use": "sig"} for key in signing]}


def signing_keys(settings: IdentitySettings) -> list[ECKey]:
    """The keys of the settings; their thumbprints are their names. Raises SettingsError."""
    return [_key_in(file) for file in settings.keys]


def _key_in(file: str) -> ECKey:
    from joserfc.errors import JoseError
    from joserfc.jwk import ECKey

    try:
        with Path(file).open("rb") as stream:
            text = stream.read(_MOST_BYTES).decode("utf-8", "replace")
    except OSError as error:
        raise SettingsError(
            f"{file} cannot be read ({error.strerror}); correct {_KEYS}, or the owner and mode of that file"
        ) from error
    try:
        source: Any = text if "-----BEGIN" in text else dict(object_of(read_json(text)))
        read = ECKey.import_key(source)
        # again from its numbers alone: what else a file says of a key is not published
        numbers = {name: read.as_dict(private=True)[name] for name in ("kty", "crv", "x", "y", "d")}
        key = ECKey.import_key(numbers)
    except (JoseError, ValueError, TypeError, KeyError, RecursionError):
        key = None
    if key is None or key.curve_name != _CURVE:
        how = f"openssl ecparam -name prime256v1 -genkey -noout -out {file}"
        raise SettingsError(
            f"{file} ({_KEYS}) holds no private EC key on the curve {_CURVE}; make one: {how}"
        )
    key.ensure_kid()
    return key


def _subject(person: AskingPerson) -> str:
    return f"slack:{person.team}:{person.user}"
