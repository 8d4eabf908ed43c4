"""The contract, and what only a file can do: last, be missing, be damaged."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from slack_bot.app import COLLECTIONS
from slack_bot.errors import SettingsError, StoreError
from slack_bot.observe.outage import Outage
from slack_bot.store.collection import Ages
from slack_bot.store.contracts import KeptEvent, Store
from slack_bot.store.knowledge import AgentContext
from slack_bot.store.sqlite import SqliteStore, open_sqlite
from slack_bot.store.sqlite_admin import OPENER
from slack_bot.store.sqlite_file import VERSION
from slack_bot.store.stores import join_store, open_store
from slack_bot.turn.outbound import OutboundMessage, OutboundRecord
from slack_bot.turn.progress import Stage
from slack_bot.turn.record import ThreadKey

from . import subjects
from .contract import DAY, HOUR, THREAD, AgesContract, StoreContract, pressed, turn
from .small_disk import YESTERDAY_KEYS, add_yesterday_keys, count_keys, fill, make_read_only, small_disk

NOBODY = 65534


class TestSqlite(StoreContract, AgesContract):
    @pytest.fixture
    async def store(self, tmp_path: Path) -> AsyncIterator[Store]:
        opened = await open_sqlite(tmp_path / "store.sqlite", Ages(), collections=COLLECTIONS)
        yield opened
        await opened.close()


async def test_reading_does_not_wait_for_another_process_that_writes(tmp_path: Path) -> None:
    file = tmp_path / "store.sqlite"
    store = await open_sqlite(file, Ages())
    await store.accept(turn("1.0", 1.0))
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert await store.unfinished() == [turn("1.0", 1.0)]
        assert await subjects.profile(store, "agent") == {}
    await store.close()


async def test_everything_is_kept_when_the_file_is_closed_and_opened(tmp_path: Path) -> None:
    file = tmp_path / "store.sqlite"
    first = await open_sqlite(file, Ages())
    await first.accept(turn("1.0", 1.0))
    await subjects.save_conversation(first, "agent", THREAD, AgentContext("ctx", {"U1": "task"}), 1.0)
    await pressed(first, "turn", "U1", "positive", 1.0)
    await subjects.save_fact(first, "agent", "wire", "0.3", 1.0)
    await first.close()

    second = await open_sqlite(file, Ages())
    assert not await second.accept(turn("1.0", 2.0))
    assert await subjects.conversation(second, "agent", THREAD) == AgentContext("ctx", {"U1": "task"})
    assert not await pressed(second, "turn", "U1", "positive", 1.0)
    assert await subjects.profile(second, "agent") == {"wire": "0.3"}
    await second.close()


async def test_a_nearly_full_disk_takes_a_question_and_lets_old_keys_go(tmp_path: Path) -> None:
    with small_disk(tmp_path) as disk:
        file = disk / "store.sqlite"
        store = await open_sqlite(file, Ages())
        add_yesterday_keys(file, now=100 * HOUR)
        fill(disk, leave=1024 * 1024)
        assert await store.accept(turn("1.0", 100 * HOUR))
        assert count_keys(file) == YESTERDAY_KEYS + 1
        await store.remove_old(100 * HOUR)
        assert count_keys(file) == 1
        assert not await store.accept(turn("1.0", 100 * HOUR))
        await store.close()


async def test_a_full_disk_takes_no_question_and_takes_it_when_there_is_room(tmp_path: Path) -> None:
    with small_disk(tmp_path) as disk:
        file = disk / "store.sqlite"
        store = await open_sqlite(file, Ages())
        filler = fill(disk, leave=0)
        with pytest.raises(StoreError, match=r"is the disk full\? Make room there\."):
            await store.accept(turn("1.0", 1.0))
        filler.unlink()
        assert await store.accept(turn("1.0", 2.0))
        await store.close()


async def test_it_may_be_closed_twice(tmp_path: Path) -> None:
    store = await open_sqlite(tmp_path / "store.sqlite", Ages())
    await store.accept(turn("1.0", 1.0))
    await store.close()
    await store.close()
    with closing(sqlite3.connect(tmp_path / "store.sqlite")) as reader, reader:
        assert reader.execute("SELECT key FROM turns").fetchall() == [("T1:C1:1.0",)]
    reader.close()


async def test_a_question_accepted_by_one_connection_is_accepted_for_the_other(tmp_path: Path) -> None:
    one, two = [await open_sqlite(tmp_path / "store.sqlite", Ages()) for _ in range(2)]
    assert await one.accept(turn("1.0", 1.0))
    assert not await two.accept(turn("1.0", 1.0))
    await one.close()
    await two.close()


FIRST_VERSION = """
CREATE TABLE accepted (key TEXT PRIMARY KEY, at REAL NOT NULL) WITHOUT ROWID;
CREATE INDEX accepted_at ON accepted (at);
CREATE TABLE contexts (
    agent TEXT NOT NULL, team TEXT NOT NULL, channel TEXT NOT NULL, thread TEXT NOT NULL,
    context_id TEXT, task_id TEXT, asked_user TEXT, at REAL NOT NULL,
    PRIMARY KEY (agent, team, channel, thread)
) WITHOUT ROWID;
CREATE TABLE presses (
    turn TEXT NOT NULL, user TEXT NOT NULL, value TEXT NOT NULL, at REAL NOT NULL, PRIMARY KEY (turn, user)
) WITHOUT ROWID;
CREATE TABLE lore (
    agent TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, at REAL NOT NULL, PRIMARY KEY (agent, name)
) WITHOUT ROWID;
PRAGMA user_version = 1;
"""  # what the first version of the bot wrote: it never changes


def write_first_version(file: Path, *statements: str) -> None:
    with closing(sqlite3.connect(file)) as writer, writer:
        writer.executescript(FIRST_VERSION + "".join(f"{each};" for each in statements))
    writer.close()


async def test_a_file_of_the_first_version_is_taken_over_without_loss(tmp_path: Path) -> None:
    file = tmp_path / "store.sqlite"
    write_first_version(
        file,
        "INSERT INTO accepted VALUES ('T1:C1:1.0', 1.0)",
        "INSERT INTO contexts VALUES ('agent', 'T1', 'C1', '111.222', 'ctx', 'ta\"sk', 'U1', 1.0)",
        "INSERT INTO contexts VALUES ('agent', 'T1', 'C1', '2.0', 'quiet', NULL, NULL, 2.0)",
        "INSERT INTO contexts VALUES ('other', 'T1', 'C1', '2.0', NULL, NULL, NULL, 3.0)",
        "INSERT INTO presses VALUES ('turn', 'U1', 'positive', 1.0)",
        "INSERT INTO lore VALUES ('agent', 'wire', '0.3', 1.0)",
    )
    for _ in range(2):  # and then it is a file as any other
        store = await open_sqlite(file, Ages())
        known = await subjects.conversation(store, "agent", THREAD)
        assert known == AgentContext("ctx", {"U1": 'ta"sk'})
        assert await subjects.conversation(store, "agent", ThreadKey("T1", "C1", "2.0")) == AgentContext(
            "quiet"
        )
        assert await subjects.conversation(store, "other", ThreadKey("T1", "C1", "2.0")) == AgentContext()
        assert not await store.accept(turn("1.0", 2.0))
        assert not await pressed(store, "turn", "U1", "positive", 1.0)
        assert await subjects.profile(store, "agent") == {"wire": "0.3"}
        ages = "SELECT at FROM records WHERE collection = 'conversations' ORDER BY at"
        assert await store._read(ages) == [(1.0,), (2.0,), (3.0,)]
        assert await store._read("PRAGMA user_version") == [(VERSION,)]
        await store.close()
    assert table_sql(file) == table_sql(await new_file(tmp_path))


async def new_file(folder: Path) -> Path:
    await (await open_sqlite(folder / "new.sqlite", Ages())).close()
    return folder / "new.sqlite"


def table_sql(file: Path) -> list[str]:
    """Tables and columns, however the statements that made them were laid out."""
    with closing(sqlite3.connect(file)) as reader, reader:
        found = reader.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name").fetchall()
    reader.close()
    return ["".join(sql.split()) for (sql,) in found]


async def test_a_file_that_cannot_be_taken_over_stays_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "store.sqlite"
    write_first_version(file, "DROP TABLE contexts")
    before = table_sql(file)
    with pytest.raises(StoreError, match="no such table"):
        await open_sqlite(file, Ages())
    assert table_sql(file) == before
    with closing(sqlite3.connect(file)) as reader, reader:
        assert reader.execute("PRAGMA user_version").fetchone() == (1,)
    reader.close()


async def test_a_write_that_fails_is_a_store_error(tmp_path: Path) -> None:
    file = tmp_path / "store.sqlite"
    store = await open_sqlite(file, Ages())
    with closing(sqlite3.connect(file)) as other, other:
        other.execute("DROP TABLE turns")
    other.close()
    with pytest.raises(StoreError, match="no such table"):
        await store.accept(turn("1.0", 1.0))
    await store.close()


async def test_events_are_removed_with_their_turn(tmp_path: Path) -> None:
    store = await open_sqlite(tmp_path / "store.sqlite", Ages())
    for ts in ("1.0", "2.0"):
        assert await store.accept(turn(ts, 1.0))
        await store.save_events(KeptEvent(f"T1:C1:{ts}", 1.0, "{}"))
    await store.save((replace(turn("1.0", 1.0), stage=Stage.ENDED, ended_at=2.0), 0))
    await store.remove_old(8 * DAY)
    assert await store.events("T1:C1:1.0") == []
    assert len(await store.events("T1:C1:2.0")) == 1
    await store.close()


class TestMemory(StoreContract):
    @pytest.fixture
    async def store(self) -> AsyncIterator[Store]:
        opened = await open_store(subjects.options("memory://"), Outage())
        yield opened
        await opened.close()


async def test_memory_needs_no_directory_that_may_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with small_disk(tmp_path) as disk:
        make_read_only(disk)
        monkeypatch.chdir(disk)
        store = await open_store(subjects.options("memory://"), Outage())
        assert await store.accept(turn("1.0", 1.0))
        await store.close()
        monkeypatch.chdir(tmp_path)


async def test_an_absolute_file(tmp_path: Path) -> None:
    store = await open_store(subjects.options(f"sqlite:///{tmp_path}/bot.sqlite"), Outage())
    assert isinstance(store, SqliteStore)
    await store.close()
    assert (tmp_path / "bot.sqlite").exists()


async def test_a_relative_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    await (await open_store(subjects.options("sqlite:///bot.sqlite"), Outage())).close()
    assert (tmp_path / "bot.sqlite").exists()


async def test_a_missing_directory(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="create it"):
        await open_store(subjects.options(f"sqlite:///{tmp_path}/nowhere/bot.sqlite"), Outage())


@pytest.mark.parametrize("end", ["", "/"])
async def test_a_directory_is_said_to_be_one_and_a_file_in_it_proposed(tmp_path: Path, end: str) -> None:
    with pytest.raises(SettingsError) as caught:
        await open_store(subjects.options(f"sqlite:///{tmp_path}{end}"), Outage())
    proposed = f"sqlite:///{tmp_path}/slack_bot.sqlite"
    assert str(caught.value) == (
        f"SLACK_BOT_STORE__URL is 'sqlite:///{tmp_path}{end}', which is a directory;"
        f" name a file in it: {proposed}."
    )
    await (await open_store(subjects.options(proposed), Outage())).close()


async def test_a_guest_writes_beside_the_process_that_holds_the_file(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/store.sqlite"
    assert not await OPENER.is_held(url)
    first, second = [await join_store(subjects.options(url)) for _ in range(2)]
    assert (first.is_alone, second.is_alone) == (True, False)
    assert await second.has_bot()
    holder, guest = first.store, second.store
    said = OutboundRecord("k", OutboundMessage("hi", channel="C1"), 1.0)
    await subjects.accept_outbound(guest, said)
    assert await subjects.unfinished_outbound(holder) == [said]
    await holder.close()
    assert not await OPENER.is_held(url)
    await guest.close()


async def test_a_guest_of_a_newer_version_changes_nothing_under_the_process_that_holds_the_file(
    tmp_path: Path,
) -> None:
    url, file = f"sqlite:///{tmp_path}/store.sqlite", tmp_path / "store.sqlite"
    holder = (await join_store(subjects.options(url))).store
    with closing(sqlite3.connect(file)) as writer, writer:
        writer.execute(f"PRAGMA user_version = {VERSION - 1}")
    with pytest.raises(StoreError, match="used by an older version of the bot"):
        await join_store(subjects.options(url))
    await holder.close()
    with closing(sqlite3.connect(file)) as reader, reader:
        assert reader.execute("PRAGMA user_version").fetchone() == (VERSION - 1,)
