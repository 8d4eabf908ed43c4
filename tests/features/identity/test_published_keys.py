"""The keys that agents read, and the example of the guide, which checks a token with them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from slack_bot.agents.wire.person_signer import PersonSigner
from slack_bot.clock import system_clock
from slack_bot.features.identity.published_keys import KEYS_PATH
from slack_bot.settings.identity import IdentitySettings
from slack_bot.testing.harness import bot_on_network
from slack_bot.turn.people import AskingPerson, ProvenPerson
from tests.people_keys import identity_overrides

GUIDE = Path(__file__).parents[3] / "docs" / "agents.md"
ANN = ProvenPerson(AskingPerson("T1", "U1"), "", AskingPerson("T1", "U0BOT"))
AGENT = "https://agent.example.com"


def example() -> dict[str, Any]:
    """What the guide's lines define."""
    section = GUIDE.read_text(encoding="utf-8").partition("\n## Who asks\n")[2]
    code = re.search(r"```python\n(.*?)```", section, re.DOTALL)
    assert code is not None
    names: dict[str, Any] = {}
    exec(code[1], names)
    return names


async def test_an_agent_checks_who_asks_with_the_published_keys(tmp_path: Path) -> None:
    overrides = identity_overrides(tmp_path)
    async with bot_on_network(http=True, **overrides) as (_, _, app):
        url = f"http://127.0.0.1:{app.settings.slack.http_port}{KEYS_PATH}"
        async with aiohttp.ClientSession() as session:
            async with session.get(url) as response:
                assert (response.status, response.content_type) == (200, "application/json")
                keys = KeySet.import_key_set(await response.json())
            async with session.post(url) as response:
                assert response.status == 405
    names, identity = example(), app.settings.identity
    mine = identity.model_copy(update={"issuer": names["ISSUER"]})

    def token(settings: IdentitySettings = mine, audience: str = AGENT) -> str:
        return f"Bearer {PersonSigner(settings, system_clock()).sign(ANN, audience)}"

    assert names["who_asks"](token(), keys) == "slack:T1:U1"
    (other := tmp_path / "other").mkdir()
    stranger = mine.model_copy(update={"keys": identity_overrides(other)["identity.keys"]})
    for bad in (token(audience="https://other.example"), token(identity), token(stranger), "Bearer x", ""):
        with pytest.raises((JoseError, ValueError)):
            names["who_asks"](bad, keys)


async def test_without_keys_there_is_no_such_address() -> None:
    async with bot_on_network(http=True) as (_, _, app), aiohttp.ClientSession() as session:
        url = f"http://127.0.0.1:{app.settings.slack.http_port}{KEYS_PATH}"
        async with session.get(url) as response:
            assert response.status == 404


async def test_socket_mode_works_without_a_port_for_them(tmp_path: Path) -> None:
    async with bot_on_network(**identity_overrides(tmp_path)) as (_, face, _):
        assert face.lost == []
