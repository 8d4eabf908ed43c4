"""The keys of agents that sign their posts."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from slack_bot.settings.push import PushSettings


@pytest.mark.parametrize("place", ["keys.json", "/etc/keys.json", "https://agent.example/jwks.json"])
def test_keys_are_a_file_or_an_address_that_nobody_can_change_on_the_way(place: str) -> None:
    assert PushSettings(jwks=place).jwks == place


@pytest.mark.parametrize("place", ["http://agent.example/jwks.json", "ftp://x", "https:// x"])
def test_other_addresses_are_refused(place: str) -> None:
    with pytest.raises(ValidationError, match="begins with https://"):
        PushSettings(jwks=place)
