"""Which files are opened and which are left alone, and how it is written."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from slack_bot.errors import StoreError
from slack_bot.store.collection import Ages
from slack_bot.store.sqlite import open_sqlite
from slack_bot.store.sqlite_file import VERSION

from .contract import turn


async def test_a_directory_in_place_of_the_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"\(SLACK_BOT_STORE__URL\) cannot be used \(Is a directory\)\.$"):
        await open_sqlite(tmp_path, Ages())


async def test_a_file_that_is_no_database_is_one_sentence_and_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "store.sqlite"
    file.write_bytes(b"This was somebody's shopping list. " * 100)
    before = file.read_bytes()
    with pytest.raises(
        StoreError,
        match=r"\(SLACK_BOT_STORE__URL\) is damaged or .*; name another one, or move it away\.$",
    ):
        await open_sqlite(file, Ages())
    assert file.read_bytes() == before


async def test_a_file_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "store.sqlite"
    await (await open_sqlite(file, Ages())).close()
    with closing(sqlite3.connect(file)) as writer, writer:
        writer.execute(f"PRAGMA user_version = {VERSION + 1}")
    writer.close()
    with pytest.raises(StoreError, match="written by a newer version"):
        await open_sqlite(file, Ages())


async def test_a_closed_store_says_so(tmp_path: Path) -> None:
    store = await open_sqlite(tmp_path / "store.sqlite", Ages())
    await store.close()
    with pytest.raises(StoreError):
        await store.accept(turn("1.0", 1.0))


async def test_every_write_is_synced_to_the_disk(tmp_path: Path) -> None:
    store = await open_sqlite(tmp_path / "store.sqlite", Ages())
    full = 2
    assert await store._read("PRAGMA synchronous") == [(full,)]
    await store.close()
