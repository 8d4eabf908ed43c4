"""What is sent to a token endpoint. That a real one takes it is tested in `test_token_endpoint`."""

from __future__ import annotations

import base64
import hashlib
import json
import ssl
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from joserfc import jwt
from joserfc.jwk import KeySet

from slack_bot.agents.wire.token_request import TokenRequest, token_request
from slack_bot.errors import TokenRefused, TokenUnavailable
from slack_bot.settings.models import ClientSettings
from tests.signing_keys import KeyPair
from tests.tls import new_certificate

URL = "https://tokens.example/token"
NOW = 1_700_000_000.0


def requested(**settings: Any) -> TokenRequest:
    return token_request(ClientSettings(id="bot", **settings), URL, NOW)


def form(request: TokenRequest) -> dict[str, str]:
    return {name: value for name, (value,) in parse_qs(request.body).items()}


def test_a_secret_in_a_header() -> None:
    request = requested(secret="s3cret:+/", scope="a b", audience="agent")
    assert form(request) == {"grant_type": "client_credentials", "scope": "a b", "audience": "agent"}
    assert request.headers["Authorization"] == f"Basic {base64.b64encode(b'bot:s3cret:+/').decode()}"
    assert request.secrets == ("s3cret:+/",)
    assert not request.is_signed
    assert "s3cret" not in repr(request)


def test_a_secret_in_the_body() -> None:
    request = requested(secret="s&=", method="client_secret_post")
    assert form(request) == {
        "grant_type": "client_credentials",
        "client_id": "bot",
        "client_secret": "s&=",
    }
    assert "Authorization" not in request.headers


def test_a_secret_that_is_none() -> None:
    with pytest.raises(TokenRefused, match="SECRET has a character"):
        requested(secret="schlüssel")


def test_the_certificate_of_the_connection() -> None:
    request = requested(method="tls_client_auth")
    assert form(request) == {"grant_type": "client_credentials", "client_id": "bot"}


@pytest.mark.parametrize(
    ("kind", "algorithm", "used"),
    [("RSA", "auto", "RS256"), ("RSA", "PS256", "PS256"), ("EC", "auto", "ES256")],
)
@pytest.mark.parametrize("is_pem", [True, False])
def test_a_signed_statement(kind: str, algorithm: str, used: str, is_pem: bool, tmp_path: Path) -> None:
    pair = KeyPair(kind)
    file = (pair.write_pem if is_pem else pair.write_jwk)(tmp_path / "key")
    request = requested(private_key=str(file), key_id="k1", algorithm=algorithm)
    sent = form(request)
    assert sent["client_id"] == "bot"
    assert sent["client_assertion_type"].endswith(":client-assertion-type:jwt-bearer")
    token = jwt.decode(sent["client_assertion"], KeySet.import_key_set(pair.public), algorithms=[used])
    assert token.header == {"alg": used, "typ": "JWT", "kid": "k1"}
    claims = dict(token.claims)
    assert len(claims.pop("jti")) >= 16
    assert claims == {"iss": "bot", "sub": "bot", "aud": URL, "iat": int(NOW), "exp": int(NOW) + 300}
    assert request.secrets == (sent["client_assertion"],)
    assert request.is_signed


def test_the_thumbprint_of_a_certificate_beside_the_key(tmp_path: Path) -> None:
    both = new_certificate(tmp_path, "bot")
    sent = form(requested(private_key=str(both)))
    head = sent["client_assertion"].partition(".")[0]
    header = json.loads(base64.urlsafe_b64decode(head + "=" * (-len(head) % 4)))
    text = both.read_text()
    der = ssl.PEM_cert_to_DER_cert(text[text.index("-----BEGIN CERTIFICATE") :])
    thumbprint = base64.urlsafe_b64encode(hashlib.sha256(der).digest()).decode().rstrip("=")
    assert header == {"alg": "ES256", "typ": "JWT", "x5t#S256": thumbprint}


def test_the_file_of_a_service_account(tmp_path: Path) -> None:
    pair, file = KeyPair(), tmp_path / "account.json"
    account = {"type": "service_account", "private_key_id": "k1", "client_email": "bot@project"}
    file.write_text(json.dumps({**account, "private_key": pair.key.as_pem(private=True).decode()}))
    request = token_request(
        ClientSettings(id="bot@project", grant="jwt_bearer", private_key=str(file), audience="https://agent"),
        URL,
        NOW,
    )
    sent = form(request)
    assert set(sent) == {"grant_type", "assertion"}
    token = jwt.decode(sent["assertion"], KeySet.import_key_set(pair.public))
    assert token.header["kid"] == "k1"
    claims = dict(token.claims)
    claims.pop("jti")
    times = {"iat": int(NOW), "exp": int(NOW) + 300}
    assert claims == {"iss": "bot@project", "aud": URL, "target_audience": "https://agent", **times}
    assert request.is_signed


def test_a_statement_of_another_issuer(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("a.b.c\n")
    request = requested(assertion_file=str(file), scope="s")
    assert form(request)["client_assertion"] == "a.b.c"
    assert not request.is_signed
    file.unlink()
    with pytest.raises(TokenUnavailable, match="ASSERTION_FILE"):
        requested(assertion_file=str(file))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "cannot be read (No such file or directory); correct SLACK_BOT_AGENT__CLIENT__PRIVATE_KEY"),
        ("", "holds no private key that can be read"),
        ("{}", "holds no private key that can be read"),
        ("[" * 100_000, "holds no private key that can be read"),
        ('{"kty": "oct", "k": "AAAA"}', "holds no private key that can be read"),
        (
            "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
            "holds no private key that can be",
        ),
    ],
)
def test_a_key_that_cannot_be_used(text: str | None, said: str, tmp_path: Path) -> None:
    file = tmp_path / "key"
    if text is not None:
        file.write_text(text)
    with pytest.raises(TokenRefused) as caught:
        requested(private_key=str(file))
    assert said in str(caught.value)


def test_a_public_key_or_one_of_another_kind(tmp_path: Path) -> None:
    file, pair = tmp_path / "key", KeyPair()
    file.write_text(json.dumps(pair.public["keys"][0]))
    with pytest.raises(TokenRefused, match="holds no private key"):
        requested(private_key=str(file))
    pair.write_pem(file)
    with pytest.raises(TokenRefused, match="cannot sign with ES256"):
        requested(private_key=str(file), algorithm="ES256")
