"""Checks the JSON Web Tokens with which agents sign their posts, if the operator configured the keys.

A token may not choose its key (`jku` is ignored) or its algorithm: whoever could choose them could sign in
any name (RFC 8725, 3.1 and 3.10).
"""

import asyncio
import hashlib
import json
import logging
from collections import OrderedDict
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import aiohttp

from ...clock import Clock
from ...errors import SettingsError
from ...settings.push import PushSettings

log = logging.getLogger(__name__)

_ALGORITHMS = ("RS256", "ES256")
_CLAIMS = ("iss", "aud", "exp", "iat", "jti")
_TOLERANCE = 60.0  # seconds by which clocks may differ
_MOST_SEEN = 10_000
"""How many tokens are remembered, so that each is accepted once.

A repeated one would only be one more hint.
"""
_READ_PAUSE = 60.0
"""Seconds between two readings of the keys at least, because any sender can name an unknown key."""
_READ_TIMEOUT = aiohttp.ClientTimeout(total=10.0)
_MOST_BYTES = 1024 * 1024
_UNREADABLE = (ValueError, KeyError, TypeError, AttributeError, RecursionError)


class JwtVerifier:
    """Checks tokens with the keys of `settings.jwks`."""

    def __init__(self, settings: PushSettings, clock: Clock) -> None:
        self._settings, self._clock = settings, clock
        self._keys: dict[str | None, Any] = {}
        self._read_at = float("-inf")
        self._reading = asyncio.Lock()
        self._seen: OrderedDict[bytes, None] = OrderedDict()

    async def check(self) -> None:
        """Read the keys. Raises SettingsError if the extra is not installed or a key file is bad.

        If the keys are at an address that fails, this is only logged.
        """
        if find_spec("jwt") is None:
            raise SettingsError("SLACK_BOT_PUSH__JWKS needs PyJWT: install the bot with its extra `jwt`")
        if problem := await self._read():
            if "://" not in (self._settings.jwks or ""):
                raise SettingsError(problem)
            log.warning("%s", problem)

    async def is_valid(self, token: str, audience: str) -> bool:
        """Whether a known key signed `token` for this audience, and it is valid now and used for the first
        time.
        """
        claims = await self._claims(token, audience)
        if claims is None or not self._is_current(claims):
            return False
        name = hashlib.sha256(str(claims["jti"]).encode("utf-8", "surrogatepass")).digest()
        if name in self._seen:
            return False
        self._seen[name] = None
        if len(self._seen) > _MOST_SEEN:
            self._seen.popitem(last=False)
        return True

    async def _claims(self, token: str, audience: str) -> dict[str, Any] | None:
        """The claims of a token with a good signature, else None. The times are not checked here."""
        import jwt

        options: Any = {
            "require": list(_CLAIMS),
            **dict.fromkeys(("verify_exp", "verify_iat", "verify_nbf"), False),  # by our own clock
            "enforce_minimum_key_length": True,
        }
        try:
            key = await self._key(jwt.get_unverified_header(token).get("kid"))
            if key is None:
                return None
            claims: dict[str, Any] = jwt.decode(
                token,
                key,
                algorithms=[key.algorithm_name],
                audience=audience,
                issuer=self._settings.jwt_issuer,
                options=options,
            )
            return claims
        except (jwt.PyJWTError, ValueError, RecursionError):
            return None

    def _is_current(self, claims: dict[str, Any]) -> bool:
        now, times = self._clock.wall(), [claims["iat"], claims.get("nbf", 0), claims["exp"]]
        if not all(isinstance(each, int | float) for each in times):
            return False
        issued, begins, ends = times
        return bool(max(issued, begins) - _TOLERANCE <= now < ends + _TOLERANCE)

    async def _key(self, name: str | None) -> Any:
        """The key of that name, or None. Unknown and old keys are read again first."""
        async with self._reading:
            age = self._clock.monotonic() - self._read_at
            is_due = age > self._settings.jwks_ttl or (name not in self._keys and age > _READ_PAUSE)
            if is_due and (problem := await self._read()):
                log.warning("the keys are kept as they are: %s", problem)
        return self._keys.get(name)

    async def _read(self) -> str:
        """Read the keys. Returns "", or why that failed; then the old keys stay."""
        import jwt

        self._read_at, source = self._clock.monotonic(), self._settings.jwks or ""
        try:
            key_set = json.loads(await (_download(source) if "://" in source else _file(source)))
            keys = jwt.PyJWKSet(key_set["keys"] if isinstance(key_set, dict) else []).keys
        except (OSError, aiohttp.ClientError, TimeoutError) as error:
            return f"SLACK_BOT_PUSH__JWKS ({source}) cannot be read: {type(error).__name__}"
        except (*_UNREADABLE, jwt.PyJWTError):
            keys = []
        usable = {key.key_id: key for key in keys if key.algorithm_name in _ALGORITHMS}
        if not usable:
            return f"SLACK_BOT_PUSH__JWKS ({source}) has no key for {' or '.join(_ALGORITHMS)}: give a JWKS"
        self._keys = usable
        return ""


async def _file(path: str) -> bytes:
    return await asyncio.to_thread(Path(path).read_bytes)


async def _download(url: str) -> bytes:
    """The content at this address, without redirects, up to `_MOST_BYTES`."""
    async with (
        aiohttp.ClientSession(timeout=_READ_TIMEOUT, trust_env=True) as session,
        session.get(url, allow_redirects=False) as response,
    ):
        response.raise_for_status()
        body = await response.content.read(_MOST_BYTES)
        while not response.content.at_eof() and len(body) < _MOST_BYTES:
            body += await response.content.read(_MOST_BYTES - len(body))
        return body
