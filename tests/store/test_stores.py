"""What an address opens."""

from __future__ import annotations

import pytest

from slack_bot.errors import SettingsError
from slack_bot.store.redis_admin import OPENER as REDIS
from slack_bot.store.sqlite_admin import OPENER as SQLITE
from slack_bot.store.stores import open_admin, opener_of

from . import subjects


def test_an_address_names_its_store() -> None:
    assert opener_of("sqlite:///bot.sqlite") is opener_of("memory://") is SQLITE
    assert opener_of("redis://h") is opener_of("rediss://h:1/0") is REDIS
    assert REDIS.place("redis://user:secret@host:7/1") == "redis://host:7"


async def test_what_is_gone_with_its_process_is_nothing_for_an_operator() -> None:
    with pytest.raises(SettingsError, match=r"memory://, which is gone when the bot's process ends"):
        async with open_admin(subjects.options("memory://")):
            pass
