"""The contract on a real Redis, and what several replicas need of it."""

from __future__ import annotations

import pytest

from slack_bot.errors import SettingsError
from slack_bot.store.redis import connect


def test_an_address_that_cannot_be_read_is_refused_in_a_sentence() -> None:
    with pytest.raises(SettingsError, match="write redis://host:6379/0"):
        connect("redis://host:port", 1.0)
