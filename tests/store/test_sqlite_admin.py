"""What an operator does with the file, with the bot's own connection to it open."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from slack_bot.app import COLLECTIONS
from slack_bot.errors import SettingsError, StoreError
from slack_bot.store.collection import Ages
from slack_bot.store.contracts import Count, KeptEvent, PersonalData, Store, StoreAdmin
from slack_bot.store.knowledge import AgentContext
from slack_bot.store.sqlite import SqliteStore, open_sqlite
from slack_bot.store.sqlite_file import VERSION
from slack_bot.store.stores import open_admin

from . import subjects
from .contract import THREAD, AdminContract, message, turn
from .small_disk import fill, small_disk


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    bot = await open_sqlite(tmp_path / "store.sqlite", Ages(), collections=COLLECTIONS)
    yield bot
    await bot.close()


@pytest.fixture
async def people(store: Store, tmp_path: Path) -> AsyncIterator[StoreAdmin]:
    async with open_admin(subjects.options(f"sqlite:///{tmp_path}/store.sqlite")) as admin:
        yield admin


async def opened(url: str) -> None:
    async with open_admin(subjects.options(url)):
        pass


class TestSqliteAdmin(AdminContract):
    async def test_what_is_erased_is_in_no_file(
        self, store: Store, people: PersonalData, tmp_path: Path
    ) -> None:
        word = "Geheimnis" * 2000  # more than a page
        asked = turn("1.0", 1.0, text=word)
        assert await store.accept(asked)
        await store.save((replace(asked, ended_at=2.0, messages=(message("5.0", word),)), 0))
        assert isinstance(store, SqliteStore)
        await store.save_events(KeptEvent(asked.key, 1.5, word))

        def count() -> int:
            return sum(each.read_bytes().count(b"Geheimnis") for each in tmp_path.iterdir())

        assert count() > 6000
        assert (await subjects.person(people, "U1", None)).events == (KeptEvent(asked.key, 1.5, word),)
        await subjects.erase(people, "U1", None)
        assert count() == 0


async def test_the_summary_names_the_file_and_the_times_of_what_is_in_it(
    store: Store, people: StoreAdmin, tmp_path: Path
) -> None:
    await subjects.save_conversation(store, "agent", THREAD, AgentContext("ctx"), 30.0)
    found = await people.summary()
    assert found.counts == (
        Count("events", 0),
        Count("quoted", 0),
        Count("outbound_series", 0),
        Count("feedback", 0),
        Count("personal_agents", 0),
        Count("agent_choices", 0),
        Count("handovers", 0),
        Count("exchanged_tokens", 0),
        Count("sign_ins", 0),
        Count("signed_in", 0),
        Count("registrations", 0),
        Count("day_usage", 0),
        Count("schedules", 0),
        Count("schedule_runs", 0),
        Count("agent_acts", 0),
        Count("shared_answers", 0),
        Count("conversations", 1, 30.0, 30.0),
        Count("own_conversations", 0),
        Count("overheard", 0),
        Count("forms", 0),
        Count("threads", 0),
        Count("thread_agents", 0),
        Count("profiles", 0),
    )
    assert (found.place, found.format) == (f"{tmp_path}/store.sqlite", VERSION)
    assert found.bytes is not None
    assert found.bytes > 4096


async def test_a_copy_is_whole_private_and_one_file(store: Store, people: StoreAdmin, tmp_path: Path) -> None:
    (copies := tmp_path / "copies").mkdir()
    assert await store.accept(turn("1.0", 1.0))
    await people.backup(copies / "copy.sqlite", overwrite=False)
    assert await store.accept(turn("2.0", 2.0))
    assert [each.name for each in copies.iterdir()] == ["copy.sqlite"]
    assert (copies / "copy.sqlite").stat().st_mode & 0o777 == 0o600
    copy = await open_sqlite(copies / "copy.sqlite", Ages())
    assert await copy.unfinished() == [turn("1.0", 1.0)]
    await copy.close()


async def test_a_copy_overwrites_only_if_it_is_told_to_and_never_the_store(
    store: Store, people: StoreAdmin, tmp_path: Path
) -> None:
    target = tmp_path / "copy.sqlite"
    target.write_text("mine")
    with pytest.raises(StoreError, match=r"copy\.sqlite exists; give another file, or --force\."):
        await people.backup(target, overwrite=False)
    assert target.read_text() == "mine"
    await people.backup(target, overwrite=True)
    assert target.read_bytes().startswith(b"SQLite format 3")
    with pytest.raises(StoreError, match=r"store\.sqlite exists; give another file\."):
        await people.backup(tmp_path / "store.sqlite", overwrite=True)
    assert await store.accept(turn("1.0", 1.0))


async def test_a_copy_that_has_no_room_leaves_nothing(
    store: Store, people: StoreAdmin, tmp_path: Path
) -> None:
    with small_disk(tmp_path) as disk:
        fill(disk, leave=4096)
        with pytest.raises(StoreError, match=r"The copy .* was not written .*is as it was"):
            await people.backup(disk / "copy.sqlite", overwrite=False)
        assert [each.name for each in disk.iterdir()] == ["filler"]


async def test_a_copy_in_no_directory(people: StoreAdmin, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="No such file or directory"):
        await people.backup(tmp_path / "nowhere" / "copy.sqlite", overwrite=False)


async def test_a_missing_file_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="There is no store at"):
        await opened(f"sqlite:///{tmp_path}/store.sqlite")
    assert not any(tmp_path.iterdir())  # noqa: ASYNC240


@pytest.mark.parametrize(
    ("version", "said"),
    [(VERSION + 1, "by a newer version.*install that version"), (1, "start the bot once")],
)
async def test_another_version_is_refused(tmp_path: Path, version: int, said: str) -> None:
    file = tmp_path / "store.sqlite"
    await (await open_sqlite(file, Ages())).close()
    with closing(sqlite3.connect(file)) as other, other:
        other.execute(f"PRAGMA user_version = {version}")
    other.close()
    before = file.read_bytes()
    with pytest.raises(StoreError, match=said):
        await opened(f"sqlite:///{file}")
    assert file.read_bytes() == before


@pytest.mark.parametrize("version", [0, 1, VERSION])
async def test_a_file_of_another_program_is_refused_by_the_bot_too(tmp_path: Path, version: int) -> None:
    file = tmp_path / "store.sqlite"
    with closing(sqlite3.connect(file)) as other, other:
        other.execute("CREATE TABLE photos (name TEXT)")
        other.execute(f"PRAGMA user_version = {version}")
    other.close()
    before = file.read_bytes()
    with pytest.raises(StoreError, match=r"belongs to another program; name another file"):
        await opened(f"sqlite:///{file}")
    with pytest.raises(StoreError, match=r"belongs to another program; name another file"):
        await open_sqlite(file, Ages())
    assert file.read_bytes() == before


async def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "store.sqlite"
    file.write_text("Dear diary. " * 500)
    with pytest.raises(StoreError, match="is damaged or is not a SQLite file"):
        await opened(f"sqlite:///{file}")
    assert file.read_text() == "Dear diary. " * 500


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("memory://", r"works with sqlite:///file\.sqlite and redis://host:6379/0"),
        ("redis://:secret@host:port/0", "write redis://host:6379/0"),
    ],
)
async def test_an_address_without_a_store_is_refused_without_its_password(url: str, said: str) -> None:
    with pytest.raises(SettingsError, match=said) as caught:
        await opened(url)
    assert "secret" not in str(caught.value)
