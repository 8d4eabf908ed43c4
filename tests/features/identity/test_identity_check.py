"""What `doctor` finds out about agents that are told who asks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from slack_bot.features.identity.identity_check import check
from slack_bot.testing.harness import bot_settings
from tests.authorization_server import TokenServer
from tests.people_keys import identity_overrides


async def found(**overrides: Any) -> list[tuple[str, str, str]]:
    settings = bot_settings(overrides)
    return [(each.check, str(each.state), f"{each.text}; {each.remedy}") async for each in check(settings)]


async def test_without_keys_there_is_nothing_to_say() -> None:
    assert await found() == []


async def test_the_keys_and_the_server_are_looked_at(tmp_path: Path, server: TokenServer) -> None:
    exchange = {"agent.identity": "exchange", "agent.exchange.issuer": server.url}
    keys, place = await found(**identity_overrides(tmp_path), **exchange)
    assert keys[:2] == ("identity", "ok") and "signs who asks" in keys[2]
    assert place[:2] == ("identity (default)", "ok")
    assert "can be reached" in place[2] and server.asked() == []


async def test_a_key_that_is_gone_and_a_server_that_is_away_have_a_remedy(tmp_path: Path) -> None:
    overrides = identity_overrides(tmp_path)
    away = {"agent.identity": "exchange", "agent.exchange.token_url": "http://127.0.0.1:9/token"}
    _, place = await found(**overrides, **away)
    assert place[:2] == ("identity (default)", "failed")
    assert "127.0.0.1:9 cannot be reached" in place[2] and "see whether the token server runs" in place[2]
    (gone,) = await found(**{**overrides, "identity.keys": ("/nowhere/key.pem",)}, **away)
    assert gone[1] == "failed" and "correct SLACK_BOT_IDENTITY__KEYS" in gone[2]
