from __future__ import annotations

from pathlib import Path

import pytest

from slack_bot.errors import SettingsError, StoreError
from slack_bot.store.factory import open_store
from slack_bot.store.memory import MemoryStore
from slack_bot.store.sqlite import SqliteStore


async def test_memory() -> None:
    assert isinstance(await open_store("memory://", 24.0), MemoryStore)


async def test_an_absolute_file(tmp_path: Path) -> None:
    store = await open_store(f"sqlite:///{tmp_path}/bot.sqlite", 24.0)
    assert isinstance(store, SqliteStore)
    await store.close()
    assert (tmp_path / "bot.sqlite").exists()


async def test_a_relative_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    await (await open_store("sqlite:///bot.sqlite", 24.0)).close()
    assert (tmp_path / "bot.sqlite").exists()


@pytest.mark.parametrize("url", ["", "sqlite:///", "sqlite://bot.sqlite", "redis://localhost", "bot.sqlite"])
async def test_another_url_names_the_setting(url: str) -> None:
    with pytest.raises(SettingsError, match="SLACK_BOT_STORE__URL"):
        await open_store(url, 24.0)


async def test_a_missing_directory(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="create it"):
        await open_store(f"sqlite:///{tmp_path}/nowhere/bot.sqlite", 24.0)


@pytest.mark.parametrize("end", ["", "/"])
async def test_a_directory_is_said_to_be_one_and_a_file_in_it_proposed(tmp_path: Path, end: str) -> None:
    with pytest.raises(SettingsError) as caught:
        await open_store(f"sqlite:///{tmp_path}{end}", 24.0)
    proposed = f"sqlite:///{tmp_path}/slack_bot.sqlite"
    assert str(caught.value) == (
        f"SLACK_BOT_STORE__URL is 'sqlite:///{tmp_path}{end}', which is a directory;"
        f" name a file in it: {proposed}."
    )
    await (await open_store(proposed, 24.0)).close()
