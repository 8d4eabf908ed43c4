"""Builds the request for a token, which proves who the bot is, with Authlib (extra `oauth`).

Client credentials: RFC 6749 4.4. Exchange of a person's token: RFC 8693. A signed statement in place of a
secret: RFC 7523 2.2; in place of a grant (Google service accounts): 2.1. The certificate of the connection:
RFC 8705 2.
"""

import base64
import hashlib
import re
import ssl
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from authlib.common.urls import add_params_to_qs
from authlib.oauth2.auth import ClientAuth
from authlib.oauth2.rfc6749.parameters import prepare_token_request
from authlib.oauth2.rfc7523 import JWTBearerClientAssertion, JWTBearerGrant, PrivateKeyJWT
from authlib.oauth2.rfc7523.assertion import sign_jwt_bearer_assertion
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, RSAKey

from ...errors import TokenRefused
from ...settings.identity import ExchangeSettings, TokenServerSettings
from ...settings.models import ClientSettings
from ...turn.json_values import Object, object_of, read_json, text_of
from .tokens import read_token

_Key: TypeAlias = RSAKey | ECKey

_HEADERS = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
_LIFE = 300  # seconds of a signed statement: Entra takes no more than ten minutes
_MOST_BYTES = 256 * 1024
_PRIVATE_KEY = re.compile(r"-----BEGIN ([A-Z ]*PRIVATE KEY)-----.+?-----END \1-----", re.DOTALL)
_CERTIFICATE = re.compile(r"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)


@dataclass(frozen=True, slots=True)
class TokenRequest:
    """A POST for a token.

    `secrets`: parts that must not be logged. `is_signed`: it depends on this machine's clock.
    """

    headers: dict[str, str] = field(repr=False)
    body: str = field(repr=False)
    secrets: tuple[str, ...] = field(repr=False)
    is_signed: bool = False


def token_request(client: ClientSettings, token_url: str, now: float) -> TokenRequest:
    """Build the request. `now`: seconds since 1970.

    Raises TokenRefused or TokenUnavailable if a key or a file cannot be used.
    """
    if client.grant == "jwt_bearer":
        assertion = _signed_grant(client, token_url, int(now))
        body = prepare_token_request(JWTBearerGrant.GRANT_TYPE, assertion=assertion)
        return TokenRequest(dict(_HEADERS), body, (assertion,), is_signed=True)
    body = prepare_token_request("client_credentials", scope=client.scope, audience=client.audience)
    method = {"tls_client_auth": "none"}.get(client.method, client.method)
    return proven_request(client, method, token_url, now, body)


def exchange_request(exchange: ExchangeSettings, token_url: str, now: float, subject: str) -> TokenRequest:
    """Build the request that exchanges `subject`, a token of ours for a person (RFC 8693 2.1).

    Raises as `token_request`.
    """
    audience, resource = exchange.audience, exchange.resource
    body = prepare_token_request(
        "urn:ietf:params:oauth:grant-type:token-exchange",
        subject_token=subject,
        subject_token_type="urn:ietf:params:oauth:token-type:jwt",
        **({"scope": exchange.scope} if exchange.scope else {}),
        **({"audience": audience} if audience else {}),
        **({"resource": resource} if resource else {}),
    )
    has_proof = exchange.secret is not None or exchange.method != "auto"
    has_assertion = exchange.assertion_file is not None or exchange.private_key is not None
    method = exchange.method if has_proof or has_assertion else "none"
    request = proven_request(exchange, method, token_url, now, body)
    return replace(request, secrets=(*request.secrets, subject), is_signed=True)


def proven_request(
    server: TokenServerSettings, method: str, token_url: str, now: float, body: str
) -> TokenRequest:
    """The request with a proof of who the bot is."""
    if method in ("auto", "private_key_jwt") and (server.assertion_file or server.private_key):
        is_signed = server.assertion_file is None
        assertion = _assertion(server, token_url, int(now))
        proof = {
            "client_id": server.id,  # Entra wants it too
            "client_assertion_type": JWTBearerClientAssertion.CLIENT_ASSERTION_TYPE,
            "client_assertion": assertion,
        }
        return TokenRequest(dict(_HEADERS), add_params_to_qs(body, proof), (assertion,), is_signed)
    if server.id is None:
        return TokenRequest(dict(_HEADERS), body, ())
    secret = "" if server.secret is None else server.secret.get_secret_value()
    auth = ClientAuth(
        server.id, _in_header(secret, server), "client_secret_basic" if method == "auto" else method
    )
    _, headers, body = auth.prepare("POST", token_url, dict(_HEADERS), body)
    return TokenRequest(headers, body, (secret,))


def _in_header(secret: str, server: TokenServerSettings) -> str:
    if not (secret.isascii() and secret.isprintable()):
        raise TokenRefused(
            f"{server.variables}SECRET has a character that no server secret has (RFC 6749, A.2)"
        )
    return secret


def _assertion(server: TokenServerSettings, token_url: str, now: int) -> str:
    """The statement that proves who the bot is: read from a file, or signed here."""
    if server.assertion_file is not None:
        return read_token(server.assertion_file, f"{server.variables}ASSERTION_FILE")
    key, header = _signing(server)
    method = PrivateKeyJWT(claims={"iat": now, "exp": now + _LIFE}, headers=header, alg=header["alg"])
    return str(method.sign(ClientAuth(server.id, key), token_url))


def _signed_grant(client: ClientSettings, token_url: str, now: int) -> str:
    key, header = _signing(client)
    claims = {"scope": client.scope, "target_audience": client.audience}
    assertion = sign_jwt_bearer_assertion(
        key,
        issuer=client.id,
        audience=token_url,
        issued_at=now,
        expires_in=_LIFE,
        claims={name: value for name, value in claims.items() if value},
        header=header,
    )
    return str(assertion)


def _signing(server: TokenServerSettings) -> tuple[_Key, dict[str, str]]:
    """The private key, and the header of the statements that it signs."""
    setting = f"{server.variables}PRIVATE_KEY"
    try:
        with Path(server.private_key or "").open("rb") as file:
            text = file.read(_MOST_BYTES).decode("utf-8", "replace")
    except OSError as error:
        raise TokenRefused(
            f"{server.private_key} cannot be read ({error.strerror}); correct {setting}, or the owner and"
            " mode of that file"
        ) from error
    key = _key_in(text)
    if key is None:
        raise TokenRefused(
            f"{server.private_key} holds no private key that can be read; {setting} names a file with an RSA"
            " or EC key without a password, as PEM or JWK"
        )
    usual = "RS256" if isinstance(key, RSAKey) else "ES256"
    algorithm = usual if server.algorithm == "auto" else server.algorithm
    if (algorithm == "ES256") != (usual == "ES256"):
        raise TokenRefused(
            f"the key in {server.private_key} cannot sign with {algorithm}; correct"
            f" {server.variables}ALGORITHM"
        )
    header = {"alg": algorithm, "typ": "JWT"}
    if name := server.key_id or text_of(_json_in(text).get("private_key_id")):
        header["kid"] = name
    if (certificate := _CERTIFICATE.search(text)) is not None:
        thumbprint = hashlib.sha256(ssl.PEM_cert_to_DER_cert(certificate.group())).digest()
        header["x5t#S256"] = base64.urlsafe_b64encode(thumbprint).decode().rstrip("=")
    return key, header


def _json_in(text: str) -> Object:
    try:
        return object_of(read_json(text))
    except (ValueError, RecursionError):
        return {}


def _key_in(text: str) -> _Key | None:
    """Read a private key: PEM, JWK, or inside the file of a Google service account."""
    key_json = _json_in(text)
    if (pem := _PRIVATE_KEY.search(text_of(key_json.get("private_key")) or text)) is not None:
        source: Any = pem.group()
    elif key_json:
        source = dict(key_json)
    else:
        return None
    for kind in (RSAKey, ECKey):
        try:
            key = kind.import_key(source)
        except (JoseError, ValueError, TypeError, KeyError):
            continue
        if key.is_private:
            return key
    return None
