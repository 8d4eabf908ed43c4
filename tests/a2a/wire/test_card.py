from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.a2a.wire.card import (
    AgentCard,
    CardPolicy,
    Interface,
    Scheme,
    base_of,
    card_urls,
    is_card_url,
    looks_like_card,
    resolve,
)
from slack_bot.errors import CardError

URL = "https://agent.example/"
AT = "https://agent.example/.well-known/agent-card.json"
RULES = CardPolicy(URL)


def v10(*interfaces: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"name": "A", "supportedInterfaces": list(interfaces), "capabilities": {"streaming": True}, **more}


def face(
    version: str | None = "1.0", url: str = URL, binding: str = "JSONRPC", **more: Any
) -> dict[str, Any]:
    found = {"url": url, "protocolBinding": binding, **more}
    return found if version is None else found | {"protocolVersion": version}


def v03(**more: Any) -> dict[str, Any]:
    return {"name": "A", "url": URL, "protocolVersion": "0.3.0", "capabilities": {"streaming": True}, **more}


def refused(card: Any, rules: CardPolicy = RULES) -> str:
    with pytest.raises(CardError) as caught:
        resolve(card, AT, rules)
    said = str(caught.value)
    assert "\n" not in said
    assert caught.value.safe == CardError.safe
    return said


# --- where the card is --------------------------------------------------------------------------------------


def test_both_well_known_places_below_the_base() -> None:
    assert card_urls("https://user:pw@agent.example/a/b/") == (
        "https://agent.example/a/b/.well-known/agent-card.json",
        "https://agent.example/a/b/.well-known/agent.json",
        "https://agent.example/a/b/",
    )
    assert card_urls("https://agent.example?assistant_id=7")[0] == f"{AT}?assistant_id=7"


@pytest.mark.parametrize(
    ("url", "base"),
    [
        (f"{AT}?assistant_id=7", URL),
        ("https://agent.example/a/x/.well-known/agent.json", "https://agent.example/a/x/"),
        ("https://agent.example/cards/mine.json", "https://agent.example/cards/"),
    ],
)
def test_a_full_card_url(url: str, base: str) -> None:
    assert is_card_url(url)
    assert card_urls(url) == (url,)
    assert base_of(url) == base


def test_a_base_is_kept_as_it_is() -> None:
    assert not is_card_url("https://agent.example/a?b=c")
    assert base_of("https://agent.example/a?b=c") == "https://agent.example/a?b=c"


def test_what_looks_like_a_card() -> None:
    assert looks_like_card({"url": "x"})
    assert looks_like_card({"supportedInterfaces": []})
    assert looks_like_card({"name": "A", "skills": []})
    assert not looks_like_card({"name": "A"})
    assert not looks_like_card(["url"])


# --- which interface ----------------------------------------------------------------------------------------


def test_a_card_of_0_3() -> None:
    card = resolve(v03(), AT, RULES)
    assert card.interfaces == (Interface(URL, "0.3"),)
    assert card.streaming is True
    assert card.name == "A"
    assert card.on("0.3") == Interface(URL, "0.3")
    assert card.on("1.0") == Interface(URL, "1.0")


def test_a_card_of_1_0_with_a_tenant() -> None:
    card = resolve(v10(face("1.0", tenant="acme"), capabilities={}), AT, RULES)
    assert card.interfaces == (Interface(URL, "1.0", "acme"),)
    assert card.streaming is None


def test_1_0_is_taken_before_0_3_wherever_they_stand() -> None:
    card = resolve(v10(face("0.3", URL + "old"), face("1.0", URL + "new")), AT, RULES)
    assert card.interfaces == (Interface(URL + "new", "1.0"), Interface(URL + "old", "0.3"))
    assert card.on("0.3").url == URL + "old"


def test_the_union_of_both_cards() -> None:
    card = resolve(v10(face("1.0"), url=URL + "old", protocolVersion="0.3"), AT, RULES)
    assert card.interfaces == (Interface(URL, "1.0"), Interface(URL + "old", "0.3"))


def test_a_stray_url_beside_interfaces_is_not_an_interface() -> None:
    assert resolve(v10(face("1.0"), url="https://elsewhere.example/"), AT, RULES).interfaces == (
        Interface(URL, "1.0"),
    )


@pytest.mark.parametrize(
    ("version", "wire"), [("1.0", "1.0"), ("v1", "1.0"), ("0.2.5", "0.3"), (None, "1.0"), ("2.0", "1.0")]
)
def test_versions_of_an_interface(version: str | None, wire: str) -> None:
    assert resolve(v10(face(version)), AT, RULES).interfaces[0].wire == wire


def test_a_flat_card_may_announce_1_0_or_nothing() -> None:
    assert resolve(v03(protocolVersion="1.0"), AT, RULES).interfaces[0].wire == "1.0"
    assert resolve({"name": "A", "url": URL}, AT, RULES).interfaces[0].wire == "0.3"


def test_json_rpc_among_additional_interfaces() -> None:
    card = v03(
        preferredTransport="HTTP+JSON",
        additionalInterfaces=[
            {"url": URL + "grpc", "transport": "GRPC"},
            {"url": URL + "rpc", "transport": "JSONRPC"},
            {"transport": "JSONRPC"},
        ],
    )
    assert resolve(card, AT, RULES).interfaces == (Interface(URL + "rpc", "0.3"),)


def test_a_relative_address_is_below_the_card() -> None:
    assert resolve(v03(url="/a2a"), AT, RULES).interfaces[0].url == "https://agent.example/a2a"


def test_the_wire_can_be_told() -> None:
    both = v10(face("1.0", URL + "new"), face("0.3", URL + "old"))
    assert resolve(both, AT, CardPolicy(URL, wire="0.3")).interfaces == (Interface(URL + "old", "0.3"),)
    assert resolve(v03(), AT, CardPolicy(URL, wire="1.0")).interfaces == (Interface(URL, "1.0"),)


def test_the_configured_address_can_be_preferred() -> None:
    card = v10(face("1.0", "http://0.0.0.0:8000/", tenant="t"))
    assert resolve(card, AT, CardPolicy(AT, use_configured_url=True)).interfaces == (
        Interface(URL, "1.0", "t"),
    )


def test_an_odd_alternative_is_left_out() -> None:
    card = v10(face("1.0"), face("0.3", "http://0.0.0.0/"), face("0.3", "https://[bad/"))
    assert resolve(card, AT, RULES).interfaces == (Interface(URL, "1.0"),)


# --- what cannot be used ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url", ["http://0.0.0.0:8000/", "http://localhost:8000", "http://127.0.0.1/", "http://[::]/"]
)
def test_an_address_of_the_agents_own_machine(url: str) -> None:
    said = refused(v03(url=url))
    assert "only its own machine can use" in said
    assert "SLACK_BOT_AGENT__USE_CONFIGURED_URL=true" in said


@pytest.mark.parametrize("url", ["https://elsewhere.example/", "https://agent.example:8443/"])
def test_another_server_must_be_allowed(url: str) -> None:
    assert "SLACK_BOT_AGENT__ALLOWED_HOSTS" in refused(v03(url=url))
    allowed = CardPolicy(URL, allowed_hosts=("elsewhere.example", "agent.example:8443"))
    assert resolve(v03(url=url), AT, allowed).interfaces[0].url == url


def test_plain_http_is_no_substitute_for_https() -> None:
    assert "plain http" in refused(v03(url="http://agent.example/"))


@pytest.mark.parametrize("url", ["grpc://agent.example", "http://[bad", "mailto:a@b"])
def test_an_address_that_is_none(url: str) -> None:
    assert "not http or https" in refused(v03(url=url))


def test_a_card_without_json_rpc() -> None:
    assert "offers GRPC only" in refused(v10(face("1.0", binding="GRPC")))
    assert "offers GRPC and HTTP+JSON only" in refused(v10(face(binding="HTTP+JSON"), face(binding="GRPC")))
    assert "offers HTTP+JSON only" in refused(v03(preferredTransport="HTTP+JSON"))


def test_a_card_without_an_address() -> None:
    assert "lacks an address" in refused({"name": "A", "skills": []})
    assert "lacks an address" in refused(v10({"protocolBinding": "JSONRPC"}))


@pytest.mark.parametrize("card", [None, [], "x", {}, {"detail": "Not found"}])
def test_json_that_is_no_card(card: Any) -> None:
    assert "not an agent card" in refused(card)


def test_required_extensions() -> None:
    extensions = [{"uri": "urn:x", "required": True}, {"uri": "urn:y"}]
    card = v03(capabilities={"streaming": False, "extensions": extensions})
    said = refused(card)
    assert "urn:x" in said
    assert "SLACK_BOT_AGENT__EXTENSIONS" in said
    assert resolve(card, AT, CardPolicy(URL, extensions=("urn:x",))).streaming is False


# --- authentication -----------------------------------------------------------------------------------------


def auth(card: dict[str, Any]) -> tuple[tuple[Scheme, ...], ...]:
    return resolve(card, AT, RULES).auth


def test_authentication_of_0_3() -> None:
    schemes = {
        "k": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
        "q": {"type": "apiKey", "in": "query", "name": "key"},
        "b": {"type": "http", "scheme": "Bearer"},
        "u": {"type": "http", "scheme": "basic"},
        "o": {"type": "oauth2", "flows": {}},
        "d": {"type": "openIdConnect"},
        "m": {"type": "mutualTLS"},
        "x": {"type": "new"},
    }
    security = [{name: []} for name in schemes] + [{"b": [], "k": []}, {"unsaid": []}]
    key = Scheme("header", "X-API-Key")
    assert auth(v03(securitySchemes=schemes, security=security)) == (
        (key,),
        (Scheme("other", "key"),),
        (Scheme("bearer"),),
        (Scheme("basic"),),
        (Scheme("oauth2"),),
        (Scheme("openid"),),
        (Scheme("mtls"),),
        (Scheme("other"),),
        (Scheme("bearer"), key),
        (Scheme("other", "unsaid"),),
    )
    assert str(key) == "header X-API-Key"


def test_authentication_of_1_0() -> None:
    schemes = {
        "k": {"apiKeySecurityScheme": {"location": "header", "name": "X-API-Key"}},
        "b": {"httpAuthSecurityScheme": {"scheme": "Bearer"}},
        "o": {"oauth2SecurityScheme": {"flows": {}}},
        "d": {"openIdConnectSecurityScheme": {}},
        "m": {"mtlsSecurityScheme": {}},
    }
    wanted = [{"schemes": {name: {"list": []}}} for name in schemes]
    assert auth(v10(face(), securitySchemes=schemes, securityRequirements=wanted)) == (
        (Scheme("header", "X-API-Key"),),
        (Scheme("bearer"),),
        (Scheme("oauth2"),),
        (Scheme("openid"),),
        (Scheme("mtls"),),
    )


def test_no_authentication() -> None:
    assert auth(v03()) == ()
    assert auth(v03(security=[{}])) == ((),)


# --- anything -----------------------------------------------------------------------------------------------

_WORDS = """
    name url supportedInterfaces additionalInterfaces protocolBinding protocolVersion transport tenant
    skills preferredTransport capabilities streaming extensions uri required securitySchemes security
    schemes securityRequirements type in httpAuthSecurityScheme scheme
"""
_KEYS = st.sampled_from(_WORDS.split())
_LEAVES = (
    st.none() | st.booleans() | st.integers() | st.sampled_from(["JSONRPC", URL, "http://[x", "1.0", "http"])
)
_JSON = st.recursive(
    _LEAVES | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=6),
    max_leaves=25,
)


@given(_JSON)
def test_any_json_is_a_card_or_an_error_of_ours(value: Any) -> None:
    json.dumps(value)
    try:
        card = resolve(value, AT, RULES)
    except CardError:
        return
    assert isinstance(card, AgentCard)
    assert card.interfaces
