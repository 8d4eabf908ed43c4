from __future__ import annotations

import base64
import copy
import hmac
import json
from pathlib import Path
from typing import Any

import pytest
from a2a.server.request_handlers.response_helpers import agent_card_to_dict
from a2a.types import AgentCard
from google.protobuf.json_format import ParseDict
from hypothesis import given
from hypothesis import strategies as st
from joserfc.jwk import OKPKey
from joserfc.jws import JWSRegistry

from slack_bot.agents.wire.card_keys import read_card_keys, verify_card
from slack_bot.errors import CardUntrusted, SettingsError
from tests.card_signer import sign_by, signed
from tests.signing_keys import KeyPair

from .test_signed_card import FULL, JSON, paths

FOUND_AT = "https://a.example/card"
RSA, EC, OTHER = KeyPair("RSA", "r1"), KeyPair("EC", "e1"), KeyPair("EC", "e2")
RECORDED = Path(__file__).parents[2] / "captures" / "cards" / "a2asdk0326_signed.json"


def card() -> AgentCard:
    return ParseDict(FULL, AgentCard())


def published(card: AgentCard) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(agent_card_to_dict(card)))
    return found


def written(folder: Path, *pairs: KeyPair) -> str:
    file = folder / "keys.json"
    file.write_text(json.dumps({"keys": [pair.public["keys"][0] for pair in pairs]}))
    return str(file)


def refusal(card: dict[str, Any], path: str) -> str:
    with pytest.raises(CardUntrusted) as caught:
        verify_card(card, FOUND_AT, path)
    return str(caught.value)


@pytest.mark.parametrize("pair", [RSA, EC], ids=["RS256", "ES256"])
def test_a_signed_card(tmp_path: Path, pair: KeyPair) -> None:
    found = verify_card(published(signed(card(), pair)), FOUND_AT, written(tmp_path, OTHER, pair))
    assert found.key == pair.key.kid
    assert found.card["name"] == "A" and "url" not in found.card


def test_a_card_of_a2a_sdk_03(tmp_path: Path) -> None:
    recorded = json.loads(RECORDED.read_text("utf-8"))
    file = tmp_path / "keys.json"
    file.write_text(json.dumps({"keys": recorded["keys"]}))
    found = verify_card(recorded["card"], FOUND_AT, str(file))
    assert (found.key, found.card["url"]) == ("recorded", "http://127.0.0.1:9/a2a")
    assert found.card["security"] == [{"key": []}]
    for path in paths({name: each for name, each in recorded["card"].items() if name != "signatures"}):
        if (
            path[0] == "security"
            or path[-1] == "type"
            or path[0] in ("protocolVersion", "preferredTransport")
        ):
            continue  # not signed, and not used as it is said
        changed = copy.deepcopy(recorded["card"])
        place = changed
        for step in path[:-1]:
            place = place[step]
        if place[path[-1]] not in ("", []):
            place[path[-1]] = "another"
            refusal(changed, str(file))


def base64url(text: bytes) -> bytes:
    return base64.urlsafe_b64encode(text).rstrip(b"=")


def by_hand(found: dict[str, Any], pair: KeyPair, payload: bytes, **header: Any) -> dict[str, Any]:
    """Signed as a signer of another kind does."""
    head = base64url(json.dumps({"alg": "ES256", **header}).encode())
    signature = JWSRegistry.algorithms["ES256"].sign(head + b"." + base64url(payload), pair.key)
    return {
        **found,
        "signatures": [{"protected": head.decode(), "signature": base64url(signature).decode()}],
    }


def test_a_card_that_is_signed_as_it_is_sent(tmp_path: Path) -> None:
    sent = {"name": "A", "url": "https://a.example/", "skills": [], "mine": {"n": 1}}
    payload = b'{"mine":{"n":1},"name":"A","skills":[],"url":"https://a.example/"}'
    found = verify_card(by_hand(sent, EC, payload), FOUND_AT, written(tmp_path, EC))
    assert found.card == sent


def test_a_card_that_is_signed_without_false(tmp_path: Path) -> None:
    """8.4.3 of A2A 1.0 to the letter."""
    sent = {"name": "A", "capabilities": {"streaming": False, "pushNotifications": True}, "skills": []}
    payload = b'{"capabilities":{"pushNotifications":true},"name":"A"}'
    found = verify_card(by_hand(sent, EC, payload), FOUND_AT, written(tmp_path, EC))
    assert found.card == {"name": "A", "capabilities": {"pushNotifications": True}}


def test_one_good_signature_of_several_is_enough(tmp_path: Path) -> None:
    found = published(signed(signed(card(), OTHER), EC))
    found["signatures"][:0] = [7, {}, {"protected": "!", "signature": "!"}]
    assert verify_card(found, FOUND_AT, written(tmp_path, EC)).key == "e1"


def test_keys_without_a_name_are_all_tried(tmp_path: Path) -> None:
    file = tmp_path / "keys.pem"
    file.write_bytes(b"".join(pair.key.as_pem(private=False) for pair in (RSA, OTHER, EC)))
    assert verify_card(published(signed(card(), EC)), FOUND_AT, str(file)).key == EC.key.thumbprint()
    nameless = published(signed(card(), EC, kid=""))
    assert verify_card(nameless, FOUND_AT, written(tmp_path, OTHER, EC)).key == "e1"


def test_a_name_is_matched_where_the_key_has_one(tmp_path: Path) -> None:
    said = refusal(published(signed(card(), EC, kid="e2")), written(tmp_path, EC))
    assert "is signed with e2, and SLACK_BOT_AGENT__CARD_KEYS has e1" in said


def test_what_is_refused(tmp_path: Path) -> None:
    keys = written(tmp_path, EC)
    assert (
        refusal(published(card()), keys)
        == f"the agent card at {FOUND_AT} is not signed, and SLACK_BOT_AGENT__CARD_KEYS has e1; let the agent"
        " sign it, or unset SLACK_BOT_AGENT__CARD_KEYS"
    )
    said = refusal(published(signed(card(), OTHER)), keys)
    assert "is signed with e2, and SLACK_BOT_AGENT__CARD_KEYS has e1: the key is another one" in said
    changed = signed(card(), EC)
    changed.name = "B"
    assert "was changed after it was signed with e1" in refusal(published(changed), keys)
    impostor = KeyPair("EC", "e1")
    assert "or another key of that name signed it" in refusal(published(signed(card(), impostor)), keys)


def test_algorithms_that_prove_nothing(tmp_path: Path) -> None:
    keys = written(tmp_path, EC)
    nothing = published(sign_by(card(), None, {"kid": "e1", "alg": "none", "jku": None, "typ": None}))
    assert "by nothing that can be read, which proves nothing" in refusal(
        nothing, keys
    )  # its signature is ""
    nothing["signatures"][0]["signature"] = "AAAA"
    assert "is signed with e1 by none, which proves nothing here" in refusal(nothing, keys)
    public = EC.key.as_pem(private=False)
    head, payload = (base64url(each) for each in (b'{"alg":"HS256","kid":"e1"}', b'{"name":"A"}'))
    tag = base64url(hmac.digest(public, head + b"." + payload, "sha256"))
    forged = {"name": "A", "signatures": [{"protected": head.decode(), "signature": tag.decode()}]}
    assert "by HS256, which proves nothing here" in refusal(forged, keys)


def test_a_header_that_wants_more_is_refused(tmp_path: Path) -> None:
    found = by_hand({"name": "A"}, EC, b'{"name":"A"}', crit=["exp"], exp=1)
    assert "which proves nothing here" in refusal(found, written(tmp_path, EC))


def test_a_key_is_good_for_its_own_algorithm_alone(tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    file.write_text(json.dumps(RSA.public["keys"][0] | {"alg": "PS256"}))
    assert "by RS256, which proves nothing here" in refusal(published(signed(card(), RSA)), str(file))
    assert verify_card(published(signed(card(), RSA, alg="PS256")), FOUND_AT, str(file)).key == "r1"


@pytest.mark.filterwarnings("ignore:EdDSA is deprecated")
def test_ed25519(tmp_path: Path) -> None:
    key = OKPKey.generate_key("Ed25519", {"kid": "o1"})
    file = tmp_path / "keys.json"
    file.write_text(json.dumps({"keys": [key.as_dict(private=False)]}))
    told: Any = {"kid": "o1", "alg": "EdDSA"}
    found = published(sign_by(card(), key.as_pem(private=True), told))
    assert verify_card(found, FOUND_AT, str(file)).key == "o1"


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> str:
    return written(tmp_path_factory.mktemp("keys"), EC)


@given(st.sampled_from(sorted(paths(FULL), key=str)), JSON)
def test_a_changed_card_is_refused_or_says_the_same(keys: str, path: tuple[Any, ...], value: Any) -> None:
    """But which of its signed schemes it needs."""
    sent = published(signed(card(), EC))
    changed = copy.deepcopy(sent)
    place: Any = changed
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    try:
        found = verify_card(changed, FOUND_AT, keys)
    except CardUntrusted:
        return
    before = verify_card(sent, FOUND_AT, keys).card
    assert {**found.card, "securityRequirements": 0} == {**before, "securityRequirements": 0}


def test_a_card_without_a_canonical_form(tmp_path: Path) -> None:
    found = {**published(signed(card(), EC)), "n": 2**70}
    assert "has no canonical form" in refusal(found, written(tmp_path, EC))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "cannot be read (No such file or directory)"),
        ("", "holds no public key as PEM or JWKS"),
        ("{}", "holds no public key as PEM or JWKS"),
        ('{"keys": []}', "holds no public key as PEM or JWKS"),
        ('{"keys": [{"kty": "oct", "k": "AAAA"}]}', "holds something that is no public key of RSA"),
        ('{"keys": [{"kty": "EC"}]}', "holds something that is no public key of RSA"),
        (
            "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----",
            "holds something that is no public key",
        ),
        (EC.key.as_pem(private=True).decode(), "holds a private key"),
        (json.dumps(EC.key.as_dict(private=True)), "holds a private key"),
        (json.dumps({"keys": EC.public["keys"] * 101}), "holds more than 100 keys"),
        ('{"keys": [' * 5000, "holds no public key as PEM or JWKS"),
    ],
)
def test_a_file_that_cannot_be_used(tmp_path: Path, content: str | None, said: str) -> None:
    file = tmp_path / "keys"
    if content is not None:
        file.write_text(content)
    with pytest.raises(SettingsError) as caught:
        read_card_keys(str(file))
    assert said in str(caught.value) and "SLACK_BOT_AGENT__CARD_KEYS" in str(caught.value)


def test_a_key_for_encryption_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    file.write_text(json.dumps({"keys": [EC.public["keys"][0] | {"use": "enc"}, *OTHER.public["keys"]]}))
    assert [key.name for key in read_card_keys(str(file))] == ["e2"]
