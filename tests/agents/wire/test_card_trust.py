from __future__ import annotations

from typing import Any

import pytest

from slack_bot.agents.wire.card import resolve
from slack_bot.agents.wire.card_trust import CardFacts, card_address
from slack_bot.settings.models import AgentSettings

URL = "https://agent.example/"
KEY = {"type": "apiKey", "in": "header", "name": "X-Key"}
OAUTH = {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": "https://login.example/t"}}}


def facts(*urls: str, schemes: dict[str, Any] | None = None, needs: Any = (), **face: Any) -> CardFacts:
    faces = [{"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0", **face} for url in urls]
    card = {"supportedInterfaces": faces, "securitySchemes": schemes or {}, "security": list(needs)}
    settings = AgentSettings(url=URL, allowed_hosts=("other.example", "third.example", "agent.example:80"))
    return CardFacts.of(resolve(card, URL, settings))


BEFORE = facts(f"{URL}a", f"{URL}b", schemes={"k": KEY}, needs=[{"k": []}])


@pytest.mark.parametrize(
    "later",
    [
        facts(f"{URL}b", f"{URL}a", schemes={"k": KEY}, needs=[{"k": []}]),
        facts(f"{URL}a", schemes={"k": KEY}, needs=[{"k": []}]),
        facts(f"{URL}a", f"{URL}c", f"{URL}b", schemes={"k": KEY}, needs=[{"k": []}]),
        facts(f"{URL}a", f"{URL}b", schemes={"other": KEY}, needs=[{"other": []}]),
        facts("https://AGENT.example/a", f"{URL}b", schemes={"k": KEY}, needs=[{"k": []}]),
    ],
    ids=["another order", "one fewer", "one more there", "another name of the scheme", "capitals"],
)
def test_what_changes_nothing(later: CardFacts) -> None:
    assert BEFORE.changes_to(later) == ""


@pytest.mark.parametrize(
    ("later", "said"),
    [
        (facts(f"{URL}c"), f"the address ({URL}a, {URL}b -> {URL}c)"),
        (
            facts("https://other.example/a", f"{URL}a"),
            f"the address ({URL}a, {URL}b -> {URL}a, https://other.example/a)",
        ),
        (facts(f"{URL}a?x=secret"), f"{URL}a, {URL}b -> {URL}a?query-"),
        (facts(f"{URL}a", tenant="t"), f"-> {URL}a (tenant t))"),
        (facts(f"{URL}a"), "the security (header X-Key, wants header X-Key -> wants no login)"),
        (
            facts(f"{URL}a", schemes={"k": KEY, "o": OAUTH}, needs=[{"k": []}]),
            "-> header X-Key, oauth2 https://login.example/t, wants header X-Key)",
        ),
        (facts(f"{URL}a", schemes={"k": KEY}, needs=[{"k": []}, {}]), "wants header X-Key or no login)"),
    ],
)
def test_what_an_operator_must_know(later: CardFacts, said: str) -> None:
    assert said in BEFORE.changes_to(later)
    assert "secret" not in BEFORE.changes_to(later)
    assert later.fingerprint != BEFORE.fingerprint


def test_https_in_place_of_http_is_another_address() -> None:
    old, new = facts("http://agent.example:80/"), facts("https://agent.example/")
    assert old.changes_to(new) == "the address (http://agent.example:80/ -> https://agent.example/)"


def test_it_is_kept_as_text() -> None:
    assert CardFacts.parse(BEFORE.text) == BEFORE
    for text in ("", "{}", "[", "[1]", '"x"', "[" * 100_000):
        assert CardFacts.parse(text) is None


def test_the_address_of_a_card_has_no_secret() -> None:
    found = card_address("https://me:secret@Agent.example/x?key=secret#y")
    assert found.startswith("https://agent.example/x?query-") and "secret" not in found
    assert found != card_address("https://agent.example/x?key=other")
    assert card_address("https://agent.example") == "https://agent.example/"
