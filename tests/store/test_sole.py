"""One process has everything: what was left by an earlier one, and no one to tell."""

from __future__ import annotations

from pathlib import Path

import pytest

from slack_bot.errors import StoreError
from slack_bot.store.collection import Ages
from slack_bot.store.sqlite import open_sqlite
from slack_bot.threads.leases import KINDS

from .contract import turn


async def test_what_an_earlier_process_left_is_there_once(tmp_path: Path) -> None:
    first = await open_sqlite(tmp_path / "store.sqlite", Ages())
    assert first.lease == 0
    assert await first.left() == []
    for ts in ("1.0", "2.0"):
        assert await first.accept(turn(ts, 1000.0))
    assert await first.left() == [], "they are its own"
    await first.close()
    second = await open_sqlite(tmp_path / "store.sqlite", Ages())
    assert await second.left() == [turn("1.0", 1000.0), turn("2.0", 1000.0)]
    assert await second.left() == []
    assert await second.signals(KINDS) == []
    await second.close()


async def test_a_failure_leaves_it_to_the_next_try(tmp_path: Path) -> None:
    store = await open_sqlite(tmp_path / "store.sqlite", Ages())
    assert await store.accept(turn("1.0", 1000.0))
    await store.close()
    with pytest.raises(StoreError):
        await store.left()
    again = await open_sqlite(tmp_path / "store.sqlite", Ages())
    assert len(await again.left()) == 1
    await again.close()


async def test_what_came_while_it_was_away_it_looks_for_itself(tmp_path: Path) -> None:
    store = await open_sqlite(tmp_path / "store.sqlite", Ages())
    assert await store.connected(0.0)
    assert not await store.connected(0.0, has_looked=True)
    await store.close()
