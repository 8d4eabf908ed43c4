"""The tokens that say who asks, read by a library that did not write them."""

from __future__ import annotations

import json
from pathlib import Path

import jwt
import pytest

from slack_bot.agents.wire.person_signer import LIFE, PersonSigner, public_keys, signing_keys
from slack_bot.errors import SettingsError
from slack_bot.settings.identity import IdentitySettings
from slack_bot.testing.virtual_clock import new_clock, on_virtual_time
from slack_bot.turn.people import AskingPerson, ProvenPerson
from tests.people_keys import ISSUER, identity_settings
from tests.signing_keys import KeyPair

ANN = ProvenPerson(AskingPerson("T1", "U1"), "ann@example.org", AskingPerson("T1", "U0BOT"))
AGENT = "https://agent.example/"


@on_virtual_time
async def test_a_token_names_the_person_the_bot_and_one_agent_for_five_minutes(tmp_path: Path) -> None:
    settings, clock = identity_settings(tmp_path), new_clock()
    signer = PersonSigner(settings, clock)
    token = signer.sign(ANN, AGENT)
    (public,) = jwt.PyJWKSet(public_keys(signing_keys(settings))["keys"]).keys
    assert jwt.get_unverified_header(token) == {"alg": "ES256", "typ": "JWT", "kid": public.key_id}
    claims = jwt.decode(
        token, public, ["ES256"], audience=AGENT, issuer=ISSUER, options={"verify_exp": False}
    )
    now = int(clock.wall())
    assert claims.pop("jti")
    assert claims == {
        "iss": ISSUER,
        "aud": AGENT,
        "sub": "slack:T1:U1",
        "act": {"sub": "slack:T1:U0BOT"},
        "email": "ann@example.org",
        "iat": now,
        "exp": now + LIFE,
    }
    assert LIFE == 300


@on_virtual_time
async def test_no_two_tokens_are_alike_and_an_unknown_address_is_left_out(tmp_path: Path) -> None:
    settings = identity_settings(tmp_path)
    signer = PersonSigner(settings, new_clock())
    (public,) = jwt.PyJWKSet(public_keys(signing_keys(settings))["keys"]).keys
    tokens = [signer.sign(ProvenPerson(ANN.person, "", ANN.bot), AGENT) for _ in range(2)]
    read = [
        jwt.decode(each, public, ["ES256"], audience=AGENT, options={"verify_exp": False}) for each in tokens
    ]
    assert read[0]["jti"] != read[1]["jti"]
    assert "email" not in read[0]


@on_virtual_time
async def test_the_first_of_two_keys_signs_and_both_are_public(tmp_path: Path) -> None:
    settings = identity_settings(tmp_path, keys=2)
    signer = PersonSigner(settings, new_clock())
    names = [each["kid"] for each in public_keys(signing_keys(settings))["keys"]]
    assert len(set(names)) == 2
    assert jwt.get_unverified_header(signer.sign(ANN, AGENT))["kid"] == names[0]
    turned = settings.model_copy(update={"keys": settings.keys[::-1]})
    assert [each["kid"] for each in public_keys(signing_keys(turned))["keys"]] == names[::-1]


def test_nothing_private_is_published_whatever_the_file_says(tmp_path: Path) -> None:
    pair = KeyPair("EC", "old-name")
    jwk = {**pair.key.as_dict(private=True), "x-note": "secret words", "use": "enc"}
    (file := tmp_path / "key.jwk").write_text(json.dumps(jwk), encoding="utf-8")
    settings = IdentitySettings(issuer=ISSUER, keys=(str(file),))
    (public,) = public_keys(signing_keys(settings))["keys"]
    assert sorted(public) == ["alg", "crv", "kid", "kty", "use", "x", "y"]
    assert public["use"] == "sig" and public["kid"] != "old-name"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "holds no private EC key on the curve P-256; make one: openssl ecparam"),
        ("[1]", "holds no private EC key"),
        ("RSA", "holds no private EC key"),
        ("public", "holds no private EC key"),
        (None, "cannot be read (No such file or directory); correct SLACK_BOT_IDENTITY__KEYS"),
    ],
)
def test_a_key_that_cannot_be_used_is_one_sentence(
    tmp_path: Path, content: str | None, sentence: str
) -> None:
    file = tmp_path / "key.pem"
    if content == "RSA":
        KeyPair("RSA").write_pem(file)
    elif content == "public":
        file.write_text(json.dumps(KeyPair("EC").key.as_dict(private=False)), encoding="utf-8")
    elif content is not None:
        file.write_text(content, encoding="utf-8")
    with pytest.raises(SettingsError) as refused:
        signing_keys(IdentitySettings(issuer=ISSUER, keys=(str(file),)))
    assert sentence in str(refused.value) and "\n" not in str(refused.value)
