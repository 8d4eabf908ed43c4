"""The address of a store, and what it says of itself."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from slack_bot.settings.store import StoreSettings


@pytest.mark.parametrize(
    ("url", "is_shared"),
    [
        ("sqlite:///file.sqlite", False),
        ("memory://", False),
        ("redis://host:6379/0", True),
        ("redis+sentinel://one:26379,two:26379/name", True),
    ],
)
def test_addresses_and_whether_processes_share_what_is_there(url: str, is_shared: bool) -> None:
    assert StoreSettings(url=url).is_shared is is_shared


@pytest.mark.parametrize("url", ["bot.sqlite", "mysql://x", "", "/var/lib/bot.sqlite"])
def test_what_is_no_address_is_refused_with_the_forms(url: str) -> None:
    with pytest.raises(ValidationError, match=r"write sqlite:///file\.sqlite"):
        StoreSettings(url=url)
