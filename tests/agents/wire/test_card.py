from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.agents.wire.auth import Credentials
from slack_bot.agents.wire.calls import Interface
from slack_bot.agents.wire.card import AgentCard, base_of, card_urls, fetch_card, resolve
from slack_bot.agents.wire.transport import new_http
from slack_bot.errors import AgentUnreachable, CardError, ForeignBinding, UnusableCard
from slack_bot.settings.models import AgentSettings
from slack_bot.testing import virtual_clock
from slack_bot.testing.harness import CHANNEL, run_bot
from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.text.words import AGENT_NOT_THERE, AGENT_UNREACHABLE, AGENT_UNUSABLE
from tests.agents.memory_server import JSON, Body, Server, json_reply, reply

URL = "https://agent.example/"
AT = "https://agent.example/.well-known/agent-card.json"
RULES = AgentSettings(url=URL)


def v10(*interfaces: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"name": "A", "supportedInterfaces": list(interfaces), "capabilities": {"streaming": True}, **more}


def face(
    version: str | None = "1.0", url: str = URL, binding: str = "JSONRPC", **more: Any
) -> dict[str, Any]:
    found = {"url": url, "protocolBinding": binding, **more}
    return found if version is None else found | {"protocolVersion": version}


def v03(**more: Any) -> dict[str, Any]:
    return {"name": "A", "url": URL, "protocolVersion": "0.3.0", "capabilities": {"streaming": True}, **more}


def refused(card: Any, rules: AgentSettings = RULES) -> str:
    with pytest.raises(CardError) as caught:
        resolve(card, AT, rules)
    said = str(caught.value)
    assert "\n" not in said
    assert isinstance(caught.value, UnusableCard), "no waiting mends it"
    assert (caught.value.safe == UnusableCard.safe) is not isinstance(caught.value, ForeignBinding)
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
        (f"{AT}?assistant_id=7", f"{URL}?assistant_id=7"),
        ("https://agent.example/a/x/.well-known/agent.json", "https://agent.example/a/x/"),
        ("https://agent.example/cards/mine.json", "https://agent.example/cards/"),
    ],
)
def test_a_full_card_url(url: str, base: str) -> None:
    assert card_urls(url) == (url,)
    assert base_of(url) == base


def test_a_base_is_kept_as_it_is() -> None:
    assert base_of("https://agent.example/a?b=c") == "https://agent.example/a?b=c"


# --- which interface ----------------------------------------------------------------------------------------


def test_a_card_of_0_3() -> None:
    card = resolve(v03(), AT, RULES)
    assert card.interfaces == (Interface(URL, "0.3"),)
    assert card.streaming is True
    assert card.push is False
    assert card.name == "A"


def test_a_card_of_1_0_with_a_tenant() -> None:
    card = resolve(v10(face("1.0", tenant="acme"), capabilities={}), AT, RULES)
    assert card.interfaces == (Interface(URL, "1.0", "acme"),)
    assert card.streaming is None


def test_1_0_is_taken_before_0_3_wherever_they_stand() -> None:
    card = resolve(v10(face("0.3", URL + "old"), face("1.0", URL + "new")), AT, RULES)
    assert card.interfaces == (Interface(URL + "new", "1.0"), Interface(URL + "old", "0.3"))


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


def test_additional_interfaces_of_0_3_are_in_no_order_so_json_rpc_comes_first() -> None:
    card = v03(
        preferredTransport="GRPC",
        additionalInterfaces=[
            {"url": URL + "rest", "transport": "HTTP+JSON"},
            {"url": URL + "rpc", "transport": "JSONRPC"},
            {"transport": "JSONRPC"},
        ],
    )
    rpc, rest = Interface(URL + "rpc", "0.3"), Interface(URL + "rest", "0.3", binding="HTTP+JSON")
    assert resolve(card, AT, RULES).interfaces == (rpc, rest)
    preferred = resolve(card | {"preferredTransport": "HTTP+JSON"}, AT, RULES).interfaces
    assert preferred == (Interface(URL, "0.3", binding="HTTP+JSON"), rpc, rest)


def test_the_interfaces_of_1_0_are_taken_in_the_card_s_order() -> None:
    card = v10(face("1.0", URL + "rest", "HTTP+JSON"), face("1.0", URL + "rpc"))
    rest, rpc = Interface(URL + "rest", "1.0", binding="HTTP+JSON"), Interface(URL + "rpc", "1.0")
    assert resolve(card, AT, RULES).interfaces == (rest, rpc)
    told = AgentSettings(url=URL, binding="JSONRPC")
    assert resolve(card, AT, told).interfaces == (rpc,)
    assert resolve(v10(face("1.0", binding="HTTP+JSON")), AT, told).interfaces == (Interface(URL, "1.0"),)


def test_a_relative_address_is_below_the_card() -> None:
    assert resolve(v03(url="/a2a"), AT, RULES).interfaces[0].url == "https://agent.example/a2a"


def test_the_wire_can_be_told() -> None:
    both = v10(face("1.0", URL + "new"), face("0.3", URL + "old"))
    old, new = (AgentSettings(url=URL, protocol_version=wire) for wire in ("0.3", "1.0"))
    assert resolve(both, AT, old).interfaces == (Interface(URL + "old", "0.3"),)
    assert resolve(v03(), AT, new).interfaces == (Interface(URL, "1.0"),)


def test_the_configured_address_can_be_preferred() -> None:
    card = v10(face("1.0", "http://0.0.0.0:8000/", tenant="t"))
    assert resolve(card, AT, AgentSettings(url=AT, use_configured_url=True)).interfaces == (
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
    allowed = AgentSettings(url=URL, allowed_hosts=("elsewhere.example", "agent.example:8443"))
    assert resolve(v03(url=url), AT, allowed).interfaces[0].url == url


def test_plain_http_is_no_substitute_for_https() -> None:
    assert "plain http" in refused(v03(url="http://agent.example/"))


@pytest.mark.parametrize("url", ["grpc://agent.example", "http://[bad", "mailto:a@b"])
def test_an_address_that_is_none(url: str) -> None:
    assert "not http or https" in refused(v03(url=url))


def test_a_card_of_other_bindings_only() -> None:
    assert "offers GRPC only" in refused(v10(face("1.0", binding="GRPC")))
    assert "offers GRPC and SLIM only" in refused(v10(face(binding="SLIM"), face(binding="GRPC")))
    assert "offers GRPC only" in refused(v03(preferredTransport="GRPC"))


def test_a_card_without_an_address() -> None:
    assert "let it name the agent's address" in refused({"name": "A", "skills": []})
    assert "let it name the agent's address" in refused(v10({"protocolBinding": "JSONRPC"}))


def test_required_extensions() -> None:
    extensions = [{"uri": "urn:x", "required": True}, {"uri": "urn:y"}]
    card = v03(capabilities={"streaming": False, "extensions": extensions, "pushNotifications": True})
    said = refused(card)
    assert "urn:x" in said
    assert "SLACK_BOT_AGENT__EXTENSIONS" in said
    found = resolve(card, AT, AgentSettings(url=URL, extensions=("urn:x",)))
    assert (found.streaming, found.push) == (False, True)


# --- authentication -----------------------------------------------------------------------------------------


def auth(card: dict[str, Any]) -> tuple[tuple[str, ...], ...]:
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
    key = "header X-API-Key"
    assert auth(v03(securitySchemes=schemes, security=security)) == (
        (key,),
        ("query key",),
        ("bearer",),
        ("basic",),
        ("oauth2",),
        ("openid",),
        ("mtls",),
        ("other",),
        ("bearer", key),
        ("other unsaid",),
    )


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
        ("header X-API-Key",),
        ("bearer",),
        ("oauth2",),
        ("openid",),
        ("mtls",),
    )


def test_the_addresses_of_schemes_by_which_people_sign_in() -> None:
    flow = {"authorizationUrl": "https://a.b/auth", "tokenUrl": "https://a.b/token", "scopes": {}}
    old = {
        "o": {"type": "oauth2", "flows": {"authorizationCode": flow}},
        "d": {"type": "openIdConnect", "openIdConnectUrl": "https://a.b/.well-known/openid-configuration"},
        "b": {"type": "http", "scheme": "Bearer"},
    }
    new = {
        "o": {"oauth2SecurityScheme": {"oauth2MetadataUrl": "https://a.b/m", "flows": {"deviceCode": flow}}},
        "d": {"openIdConnectSecurityScheme": {"openIdConnectUrl": 5}},
    }
    assert resolve(v03(securitySchemes=old), AT, RULES).sign_ins == {
        "o": ("https://a.b/token", "https://a.b/auth"),
        "d": ("https://a.b/.well-known/openid-configuration",),
    }
    assert resolve(v10(face(), securitySchemes=new), AT, RULES).sign_ins == {
        "o": ("https://a.b/m", "https://a.b/token", "https://a.b/auth"),
        "d": (),
    }


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
    if not isinstance(value, dict):
        return
    try:
        card = resolve(value, AT, RULES)
    except CardError:
        return
    assert isinstance(card, AgentCard)
    assert card.interfaces


# --- where it is found --------------------------------------------------------------------------------------

PLACE = "https://agent.example/x"
CARD = {"name": "A", "url": PLACE, "protocolVersion": "0.3.0", "capabilities": {"streaming": True}}
HTML = {"content-type": "text/html"}


async def fetch(answer: Callable[[str], Any], url: str = PLACE, **settings: Any) -> tuple[AgentCard, Server]:
    """Look for a card on a server that answers by the path (and query) asked for."""
    server = Server(lambda request: answer(request.url.raw_path.decode()))
    found = AgentSettings(url=url, **settings)
    async with new_http(found, server) as http:
        return await fetch_card(http, Credentials(found), found), server


def only_at(*paths: str) -> Callable[[str], httpx.Response]:
    return lambda path: json_reply(CARD) if path in paths else reply(b"nothing", status=404)


async def failing(answer: Callable[[str], Any], url: str = PLACE, **settings: Any) -> str:
    with pytest.raises(CardError) as caught:
        await fetch(answer, url, **settings)
    said = str(caught.value)
    assert "\n" not in said
    return said


@pytest.mark.parametrize(
    ("url", "path"),
    [
        (PLACE, "/x/.well-known/agent-card.json"),
        (PLACE, "/x/.well-known/agent.json"),
        (PLACE, "/x"),
        ("https://agent.example/y/.well-known/agent-card.json?id=7", "/y/.well-known/agent-card.json?id=7"),
        ("https://agent.example/cards/mine.json", "/cards/mine.json"),
    ],
)
async def test_where_a_card_is_found(url: str, path: str) -> None:
    card, server = await fetch(only_at(path), url)
    assert card.interfaces == (Interface(PLACE, "0.3"),)
    assert server.asked[-1].url.raw_path.decode() == path
    assert all(each.method == "GET" for each in server.asked)


async def test_the_newer_place_is_asked_first() -> None:
    _, server = await fetch(lambda _: json_reply(CARD))
    assert [each.url.path for each in server.asked] == ["/x/.well-known/agent-card.json"]


async def test_a_web_page_in_one_place_does_not_hide_the_card_in_another() -> None:
    def answer(path: str) -> httpx.Response:
        return json_reply(CARD) if path.endswith("/agent.json") else reply(b"<html>", headers=HTML)

    card, _ = await fetch(answer)
    assert card.interfaces[0].url == PLACE


async def test_credentials_are_sent() -> None:
    _, server = await fetch(only_at("/x/.well-known/agent-card.json"), bearer_token="secret")
    assert server.asked[0].headers["authorization"] == "Bearer secret"


async def test_nothing_there() -> None:
    said = await failing(only_at())
    assert said.startswith("no agent card at https://agent.example/x or below its /.well-known/ (HTTP 404)")
    assert "A2A_AGENT_URL" in said
    assert "no agent card at https://agent.example/a.json (HTTP 404)" in await failing(
        only_at(), "https://agent.example/a.json"
    )


@pytest.mark.parametrize(
    ("response", "words"),
    [
        (lambda: reply(b"<html>", headers=HTML), "is no agent card: a web page; A2A_AGENT_URL must be"),
        (lambda: reply(b"hello", headers={"content-type": "text/plain"}), "not JSON"),
        (lambda: reply(b"{", headers=JSON), "not JSON"),
        (lambda: reply(*[b" " * 100_000] * 11, headers=JSON), "too large"),
        (lambda: json_reply(["a"]), "is no agent card: it is JSON of something else; A2A_AGENT_URL must be"),
        (
            lambda: json_reply({"detail": "x"}),
            "is no agent card: it is JSON of something else; A2A_AGENT_URL",
        ),
        (lambda: reply(status=401), "SLACK_BOT_AGENT__BEARER_TOKEN"),
        (lambda: reply(status=403), "HTTP 403"),
        (lambda: reply(status=302, headers={"location": "/login"}), "redirects (HTTP 302)"),
        (lambda: reply(status=502), "HTTP 502"),
    ],
)
async def test_something_else_is_there(response: Callable[[], httpx.Response], words: str) -> None:
    said = await failing(lambda _: response())
    assert words in said
    assert "https://agent.example/x/.well-known/agent-card.json" in said


@pytest.mark.parametrize(
    ("response", "words"),
    [
        (lambda: reply(status=404), AGENT_NOT_THERE),
        (lambda: reply(b"<html>", headers=HTML), AGENT_NOT_THERE),
        (lambda: json_reply({"detail": "x"}), AGENT_NOT_THERE),
        (lambda: reply(status=302, headers={"location": "/login"}), AGENT_UNUSABLE),
        (lambda: json_reply({"name": "x", "skills": []}), AGENT_UNUSABLE),
        (lambda: reply(status=503), AGENT_UNREACHABLE),
        (lambda: reply(status=429), AGENT_UNREACHABLE),
    ],
)
@on_virtual_time
async def test_readers_learn_whether_to_wait_or_to_tell_the_operator_and_no_detail(
    response: Callable[[], httpx.Response], words: str
) -> None:
    async with run_bot(through=lambda _: httpx.MockTransport(lambda request: response())) as bot:
        root = await bot.ask("why?")
        await bot.idle()
        said, *_ = bot.workspace.thread(CHANNEL, root)[-1].extras
        assert said.startswith(words)
        assert not re.search(r"HTTP|JSON|card|A2A|example", said)


async def test_the_more_telling_place_is_told() -> None:
    def answer(path: str) -> httpx.Response:
        return reply(status=401) if path.endswith("/agent.json") else reply(status=404)

    assert "no credentials are set" in await failing(answer)


async def test_nobody_answers() -> None:
    with pytest.raises(AgentUnreachable, match="cannot be reached"):
        await fetch(lambda _: httpx.ConnectError("refused"))


async def test_a_connection_that_breaks() -> None:
    assert "cannot be read" in await failing(lambda _: httpx.ReadError("cut"))


def test_a_server_that_is_too_slow() -> None:
    async def run() -> float:
        def slow(_: str) -> httpx.Response:
            return httpx.Response(200, headers=JSON, stream=Body([(0, b"{")], ended=1000))

        assert "within 10 s" in await failing(slow)
        return asyncio.get_running_loop().time()

    assert virtual_clock.run(run()) == 10.0


async def test_a_card_that_cannot_be_used() -> None:
    wrong = json.loads(json.dumps(CARD)) | {"url": "http://0.0.0.0:8000"}
    assert "USE_CONFIGURED_URL" in await failing(lambda _: json_reply(wrong))
    card, _ = await fetch(lambda _: json_reply(wrong), use_configured_url=True)
    assert card.interfaces[0].url == PLACE
