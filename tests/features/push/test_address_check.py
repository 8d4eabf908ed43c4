"""What `doctor` says of the address at which agents post."""

from __future__ import annotations

import pytest

from slack_bot.features.push.address_check import check
from slack_bot.testing.harness import bot_settings


@pytest.mark.parametrize(
    ("url", "states"),
    [
        (None, []),
        ("https://localhost/bot", ["ok"]),
        ("http://localhost:3001", ["warning"]),
        ("https://nowhere.invalid", ["failed"]),
    ],
)
async def test_the_address_is_known_and_has_tls(url: str | None, states: list[str]) -> None:
    settings = bot_settings({} if url is None else {"push.public_url": url})
    found = [each async for each in check(settings)]
    assert [each.check for each in found] == ["push address"] * len(states)
    assert [str(each.state) for each in found] == states
