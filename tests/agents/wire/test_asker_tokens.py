"""The tokens of people: signed for each call, or exchanged at a real authorization server."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from slack_bot.agents.wire.asker_tokens import AskerTokens, PeopleTokens
from slack_bot.clock import Clock, system_clock
from slack_bot.errors import AskerRefused, AskerUnavailable
from slack_bot.settings.identity import IdentitySettings
from slack_bot.settings.models import AgentSettings
from slack_bot.turn.people import AskingPerson, ProvenPerson
from tests.authorization_server import SECRET, TokenServer, authorization_server
from tests.people_keys import identity_settings, let_exchange, public_of

ANN, BOB, EVE = AskingPerson("T1", "U1"), AskingPerson("T1", "U2"), AskingPerson("T1", "U3")
AGENT = "https://agent.example/"


class Directory:
    """Vouches for all but guests."""

    def __init__(self, *guests: AskingPerson) -> None:
        self.guests = {*guests}

    async def proven(self, person: AskingPerson) -> ProvenPerson:
        if person in self.guests:
            raise AskerRefused("a guest", safe="You are a guest.")
        return ProvenPerson(person, "", AskingPerson("T1", "U0BOT"))


@pytest.fixture(scope="module")
def running() -> Iterator[TokenServer]:
    with authorization_server() as server:
        yield server


@pytest.fixture
def identity(tmp_path: Path) -> IdentitySettings:
    return identity_settings(tmp_path)


@pytest.fixture
def server(running: TokenServer, identity: IdentitySettings) -> TokenServer:
    let_exchange(running, identity, "U1", "U2")
    return running


def exchange(
    server: TokenServer, identity: IdentitySettings, clock: Clock | None = None, **other: Any
) -> AskerTokens:
    found = {
        "token_url": f"{server.url}/token",
        "id": "bot",
        "secret": SECRET,
        "audience": "the-agent",
        **other,
    }
    settings = AgentSettings.model_validate(
        {"url": AGENT, "identity": "exchange", "exchange": {**found, **other}}
    )
    made = PeopleTokens(identity, Directory(EVE), clock or system_clock()).for_agent(settings)
    assert made is not None
    return made


async def test_a_signed_token_is_for_the_agent_s_own_address_without_its_login(
    identity: IdentitySettings,
) -> None:
    settings = AgentSettings(url="https://user:password@agent.example/", identity="signed")
    made = PeopleTokens(identity, Directory(), system_clock()).for_agent(settings)
    assert made is not None
    first, second = await made.of(ANN).token(), await made.of(ANN).token()
    from joserfc import jwt

    read = [jwt.decode(each, public_of(identity), algorithms=["ES256"]).claims for each in (first, second)]
    assert [(each["aud"], each["sub"]) for each in read] == [(AGENT, "slack:T1:U1")] * 2
    assert read[0]["jti"] != read[1]["jti"]
    assert await made.of(ANN).renewed(first) is None


async def test_an_agent_that_is_told_nothing_needs_no_key() -> None:
    nobody = PeopleTokens(IdentitySettings(keys=("/nowhere",)), Directory(), system_clock())
    assert nobody.for_agent(AgentSettings(url=AGENT)) is None


async def test_without_a_person_or_for_a_guest_there_is_no_token_and_nothing_is_asked(
    server: TokenServer, identity: IdentitySettings
) -> None:
    made = exchange(server, identity)
    for asker in (None, EVE):
        with pytest.raises(AskerRefused):
            await made.of(asker).token()
    assert server.asked() == []


async def test_an_exchanged_token_is_of_one_person_and_is_kept(
    server: TokenServer, identity: IdentitySettings
) -> None:
    made = exchange(server, identity, resource="https://agent.example/api", scope="ask")
    tokens = await asyncio.gather(*(made.of(each).token() for each in (ANN, ANN, BOB)))
    assert tokens[0] == tokens[1] != tokens[2]
    assert [(await server.about(each))["sub"] for each in tokens[1:]] == ["slack:T1:U1", "slack:T1:U2"]
    asked = [each["form"] for each in server.asked()]
    assert len(asked) == 2
    assert [(each["audience"], each["resource"]) for each in asked] == [
        ("the-agent", "https://agent.example/api")
    ] * 2
    assert await made.of(ANN).token() == tokens[0]
    assert len(server.asked()) == 2


async def test_the_issuer_s_metadata_may_name_the_server(
    server: TokenServer, identity: IdentitySettings
) -> None:
    made = exchange(server, identity, token_url=None, issuer=server.url, id=None, secret=None)
    with pytest.raises(AskerRefused) as refused:  # it wants to know the client
        await made.of(ANN).token()
    assert "client id or its proof" in str(refused.value)
    made = exchange(server, identity, token_url=None, issuer=server.url)
    assert (await server.about(await made.of(ANN).token()))["sub"] == "slack:T1:U1"


async def test_a_token_is_renewed_after_four_fifths_of_its_life_for_its_person_alone(
    server: TokenServer, identity: IdentitySettings
) -> None:
    server.change(expires_in=1)
    made = exchange(server, identity)
    first = await made.of(ANN).token()
    other = await made.of(BOB).token()
    await asyncio.sleep(0.85)  # of the server's own second
    await made.of(ANN).token()
    while len(server.asked()) < 3:  # noqa: ASYNC110  the server is another process
        await asyncio.sleep(0.01)
    forms = [each["form"] for each in server.asked()]
    assert len({each["subject_token"] for each in forms}) == 3
    while (second := await made.of(ANN).token()) == first:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    assert {(await server.about(each))["sub"] for each in (second,)} == {"slack:T1:U1"}
    assert other != second


async def test_after_a_refusal_there_is_one_new_token(
    server: TokenServer, identity: IdentitySettings
) -> None:
    made = exchange(server, identity)
    first = await made.of(ANN).token()
    made.of(ANN).accept(first)
    second = await made.of(ANN).renewed(first)
    assert second not in (None, first)


@pytest.mark.parametrize(
    ("changes", "kind", "words"),
    [
        ({"people": []}, AskerRefused, "does not accept the token that the bot signed for this person"),
        (
            {"trusted": {"issuer": "https://other.example", "keys": {"keys": []}}},
            AskerRefused,
            "let it trust",
        ),
        ({"clients": {}}, AskerRefused, "does not accept the bot's client id or its proof"),
        ({"audiences": ["other"]}, AskerRefused, "correct SLACK_BOT_AGENT__EXCHANGE__AUDIENCE"),
        ({"fault": "down"}, AskerUnavailable, "gives no token now (HTTP 503"),
        ({"fault": "html"}, AskerUnavailable, "something that is no token"),
        ({"fault": "redirect"}, AskerRefused, "redirects"),
    ],
)
async def test_a_failure_names_its_cause_and_never_the_token(
    server: TokenServer,
    identity: IdentitySettings,
    changes: dict[str, Any],
    kind: type[Exception],
    words: str,
) -> None:
    server.change(**changes)
    with pytest.raises(kind) as failed:
        await exchange(server, identity).of(ANN).token()
    assert words in str(failed.value)
    for form in (each.get("form", {}) for each in server.asked()):
        assert form.get("subject_token", "nothing") not in str(failed.value)
    assert not failed.value.is_lasting  # type: ignore[attr-defined]


async def test_an_away_server_says_so_within_its_time(identity: IdentitySettings) -> None:
    settings = AgentSettings.model_validate(
        {"url": AGENT, "identity": "exchange", "exchange": {"token_url": "http://127.0.0.1:9/token"}}
    )
    made = PeopleTokens(identity, Directory(), system_clock()).for_agent(settings)
    assert made is not None
    with pytest.raises(AskerUnavailable) as failed:
        await made.of(ANN).token()
    assert failed.value.safe.startswith("I could not get a token for you")
