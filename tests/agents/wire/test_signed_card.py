from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from a2a.server.request_handlers.response_helpers import agent_card_to_dict
from a2a.types import AgentCard, AgentInterface
from a2a.utils._jcs import canonicalize
from a2a.utils.signing import _canonicalize_agent_card
from google.protobuf.json_format import ParseDict
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.agents.wire.signed_card import canonical, signed_forms

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)
RFC_8785 = {  # its appendix B, and its example of an order of keys
    "0": -0.0,
    "5e-324": 5e-324,
    "1.7976931348623157e+308": 1.7976931348623157e308,
    "9007199254740992": 9007199254740992.0,
    "295147905179352830000": 295147905179352825856.0,
    "9.999999999999997e+22": 9.999999999999997e22,
    "1e+23": 1e23,
    "1e+21": 1e21,
    "999999999999999900000": 999999999999999868928.0,
    "0.000001": 0.000001,
    "1e-7": 1e-7,
    "333333333.33333325": 333333333.33333325,
}
FULL = {
    "name": "A",
    "description": "",
    "version": "1",
    "supportedInterfaces": [
        {"url": "https://a.example/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0", "tenant": "t"}
    ],
    "provider": {"url": "https://p.example", "organization": "P"},
    "capabilities": {
        "streaming": False,
        "pushNotifications": True,
        "extensions": [{"uri": "urn:x", "required": True, "params": {"n": 1.5, "deep": {"x": ["y", 3]}}}],
    },
    "securitySchemes": {
        "key": {"apiKeySecurityScheme": {"location": "header", "name": "X-Key"}},
        "http": {"httpAuthSecurityScheme": {"scheme": "Bearer", "bearerFormat": "JWT"}},
        "o": {
            "oauth2SecurityScheme": {
                "flows": {
                    "authorizationCode": {
                        "authorizationUrl": "https://i.example/a",
                        "tokenUrl": "https://i.example/t",
                        "scopes": {"ask": "to ask"},
                        "pkceRequired": True,
                    }
                },
                "oauth2MetadataUrl": "https://i.example/m",
            }
        },
        "d": {"openIdConnectSecurityScheme": {"openIdConnectUrl": "https://i.example/d"}},
        "m": {"mtlsSecurityScheme": {"description": "a certificate"}},
    },
    "securityRequirements": [{"schemes": {"key": {}, "o": {"list": ["ask"]}}}],
    "defaultInputModes": ["text/plain"],
    "defaultOutputModes": ["text/plain"],
    "skills": [
        {
            "id": "s",
            "name": "S",
            "description": "d",
            "tags": ["t"],
            "examples": ["e"],
            "inputModes": ["text/plain"],
            "outputModes": ["text/plain"],
            "securityRequirements": [{"schemes": {"o": {"list": ["ask"]}}}],
        }
    ],
    "iconUrl": "https://a.example/i",
    "documentationUrl": "https://a.example/d",
}


@given(JSON)
def test_it_is_written_as_another_implementation_writes_it(value: Any) -> None:
    assert canonical(value) == canonicalize(value).encode()


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_so_is_each_number(value: float) -> None:
    assert canonical(value) == canonicalize(value).encode()
    assert float(canonical(value)) == value


@pytest.mark.parametrize("text", RFC_8785)
def test_the_numbers_of_the_standard(text: str) -> None:
    assert canonical(RFC_8785[text]) == text.encode()


def test_keys_stand_in_the_order_of_utf_16() -> None:
    keys = ["\u20ac", "\r", "\ufb33", "1", "\U0001f600", "\u0080", "\u00f6"]
    order = ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]
    assert list(json.loads(canonical(dict.fromkeys(keys)))) == order


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 2**53, "\ud800", {"\ud800": 1}, nested(101)])
def test_what_has_no_canonical_form(value: Any) -> None:
    with pytest.raises(ValueError):
        canonical(value)
    with pytest.raises(ValueError):
        list(signed_forms({"name": value}))


def payloads(card: dict[str, Any]) -> list[bytes]:
    return [form.payload for form in signed_forms(card)]


def test_what_a_server_of_a2a_sdk_publishes_has_what_its_signer_signs() -> None:
    """It puts the fields of 0.3 among those of 1.0."""
    card = ParseDict(FULL, AgentCard())
    card.supported_interfaces.append(
        AgentInterface(url="https://a.example/", protocol_binding="JSONRPC", protocol_version="0.3")
    )
    published = agent_card_to_dict(card)
    assert published["url"] == "https://a.example/"
    assert _canonicalize_agent_card(card).encode() in payloads(published)
    for form in signed_forms(published):
        if form.payload == _canonicalize_agent_card(card).encode():
            assert "url" not in form.card


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Of all that stands in it."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*path, key)
        yield from paths(inner, (*path, key))


@given(st.sampled_from(sorted(paths(FULL), key=str)), JSON)
def test_what_is_changed_leaves_another_form_or_the_same_card(path: tuple[Any, ...], value: Any) -> None:
    """But which of its signed schemes a card needs: that has no value to sign."""
    forms = {form.payload: form.card for form in signed_forms(FULL)}
    changed = copy.deepcopy(FULL)
    place: Any = changed
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    for form in signed_forms(changed):
        if form.payload in forms:
            before = forms[form.payload]
            assert {**form.card, "securityRequirements": 0} == {**before, "securityRequirements": 0}


@given(st.randoms())
def test_the_order_of_keys_changes_nothing(random: Any) -> None:
    def shuffled(value: Any) -> Any:
        if isinstance(value, list):
            return [shuffled(each) for each in value]
        if not isinstance(value, dict):
            return value
        names = list(value)
        random.shuffle(names)
        return {name: shuffled(value[name]) for name in names}

    assert payloads(shuffled(FULL)) == payloads(FULL)


def test_schemes_that_are_not_signed_cannot_be_needed() -> None:
    added = {**FULL, "securityRequirements": [{"schemes": {"mine": {}}}, {"schemes": {"key": {}}}]}
    small = next(form for n, form in enumerate(signed_forms(added)) if n == 1)
    assert small.card["securityRequirements"] == [{"schemes": {"key": {}}}]


def test_a_card_of_a2a_sdk_03_is_signed_without_its_defaults() -> None:
    file = Path(__file__).parents[2] / "captures" / "cards" / "a2asdk0326_signed.json"
    last = list(signed_forms(json.loads(file.read_text("utf-8"))["card"]))[-1]
    assert b"protocolVersion" not in last.payload and b"\\ud83e" in last.payload
    assert last.card["securitySchemes"]["key"]["type"] == "apiKey"
