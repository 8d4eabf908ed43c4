"""A store's file that cannot be used is named with the remedy."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from slack_bot.errors import SettingsError, StoreError
from slack_bot.store.collection import Ages
from slack_bot.store.private_file import unwritable
from slack_bot.store.sqlite import file_of, open_sqlite
from tests.closed_folder import NOBODY, closed_folder

from .small_disk import fill, make_read_only, small_disk


@contextmanager
def another_user() -> Iterator[Path]:
    """A directory of root's, while this process is nobody. Skipped where the process is not root."""
    if os.geteuid() != 0:
        pytest.skip("only root can become somebody else")
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        os.seteuid(NOBODY)
        try:
            yield Path(name)
        finally:
            os.seteuid(0)


async def test_a_directory_of_another_user_is_named_with_the_remedy() -> None:
    with another_user() as directory:
        with pytest.raises(StoreError) as caught:
            await open_sqlite(directory / "store.sqlite", Ages())
        assert str(caught.value) == (
            f"The store cannot be opened: {directory} belongs to user 0, and the bot runs as user {NOBODY},"
            f" who may not write there; change the owner (chown {NOBODY}, also in a Docker volume), or name"
            " a file elsewhere in SLACK_BOT_STORE__URL."
        )


async def test_a_file_of_another_user_is_named_with_the_remedy() -> None:
    with another_user() as directory:
        os.seteuid(0)
        await (await open_sqlite(directory / "store.sqlite", Ages())).close()
        directory.chmod(0o777)
        os.seteuid(NOBODY)
        with pytest.raises(StoreError, match=rf"store\.sqlite belongs to user 0, .*chown {NOBODY}"):
            await open_sqlite(directory / "store.sqlite", Ages())


async def test_a_file_whose_mode_forbids_writing_is_named_with_the_remedy() -> None:
    with another_user() as directory:
        os.seteuid(0)
        file = directory / "store.sqlite"
        await (await open_sqlite(file, Ages())).close()
        directory.chmod(0o777)
        os.chown(file, NOBODY, -1)
        file.chmod(0o444)
        os.seteuid(NOBODY)
        with pytest.raises(StoreError, match=r"may not be written; change its mode \(chmod u\+rwX"):
            await open_sqlite(file, Ages())


async def test_a_directory_that_may_not_be_entered_is_one_sentence() -> None:
    with another_user() as directory:
        os.seteuid(0)
        directory.chmod(0o700)
        os.seteuid(NOBODY)
        with pytest.raises(StoreError, match="Permission denied"):
            await open_sqlite(directory / "inner" / "store.sqlite", Ages())


def test_a_store_where_one_may_not_look_is_one_sentence_with_the_remedy() -> None:
    """Not "does not exist; create it"."""
    refused = pytest.raises(SettingsError, match=r"may not look \(Permission denied\); open the directories")
    with closed_folder() as closed, refused:
        file_of(f"sqlite:///{closed}/store.sqlite")


async def test_a_read_only_file_system_is_named_with_the_remedy(tmp_path: Path) -> None:
    with small_disk(tmp_path) as disk:
        await (await open_sqlite(disk / "store.sqlite", Ages())).close()
        make_read_only(disk)
        with pytest.raises(StoreError, match="is on a read-only file system; mount a volume there, or name"):
            await open_sqlite(disk / "store.sqlite", Ages())


async def test_a_missing_directory_is_named_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"directory .*nowhere does not exist; create it, or name a file"):
        await open_sqlite(tmp_path / "nowhere" / "store.sqlite", Ages())


def test_why_an_open_file_cannot_be_written_any_more(tmp_path: Path) -> None:
    with small_disk(tmp_path) as disk:
        file = disk / "store.sqlite"
        assert "is not full" in unwritable(file)
        fill(disk, leave=4096)
        assert unwritable(file) == "is the disk full? Make room there"
        make_read_only(disk)
        assert "is on a read-only file system; mount a volume there" in unwritable(file)
