"""Checks ID tokens (OpenID Connect Core, 3.1.3.7), with joserfc (extra `oauth`)."""

from __future__ import annotations

from typing import Any, cast

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from ...errors import TokenRefused
from ...turn.json_values import Object

_ALGORITHMS = ["RS256", "PS256", "ES256", "EdDSA"]
_SKEW = 60.0  # seconds by which clocks may differ


def claims_of(
    token: str, key_set: Object, *, issuer: str, client_id: str, nonce: str | None, now: float
) -> dict[str, Any]:
    """The claims of a token that one of the issuer's keys signed for us and for this sign-in.

    Raises TokenRefused.
    """
    try:
        claims = dict(
            jwt.decode(token, KeySet.import_key_set(cast("Any", key_set)), algorithms=_ALGORITHMS).claims
        )
    except (JoseError, ValueError, KeyError, TypeError) as error:
        raise TokenRefused(f"the ID token of {issuer} cannot be checked ({type(error).__name__})") from error
    if problem := _problem(claims, issuer, client_id, nonce, now):
        raise TokenRefused(f"the ID token of {issuer} {problem}")
    return claims


def _problem(claims: dict[str, Any], issuer: str, client_id: str, nonce: str | None, now: float) -> str:
    audience = claims.get("aud")
    audiences = audience if isinstance(audience, list) else [audience]
    if claims.get("iss") != issuer:
        return "is of another issuer"
    if client_id not in audiences or claims.get("azp", client_id) != client_id:
        return "is for another client"
    if nonce is not None and claims.get("nonce") != nonce:
        return "is of another sign-in"
    ends = claims.get("exp")
    if not isinstance(ends, int | float) or isinstance(ends, bool) or now > ends + _SKEW:
        return "has expired"
    return "" if claims.get("sub") else "names no subject"
