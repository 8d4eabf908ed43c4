"""A store's URL becomes an open store."""

from __future__ import annotations

from pathlib import Path

from ..errors import SettingsError
from .contracts import Store
from .memory import MemoryStore

_SQLITE = "sqlite:///"


async def open_store(url: str, dedupe_hours: float) -> Store:
    """Open the store that `url` names: `sqlite:///relative`, `sqlite:////absolute` or `memory://`.

    SettingsError for another URL or a directory, StoreError if the store cannot be opened.
    """
    if url == "memory://":
        return MemoryStore(dedupe_hours)
    if not url.startswith(_SQLITE) or url == _SQLITE:
        raise SettingsError(
            f"SLACK_BOT_STORE__URL is {url!r}; write sqlite:///file.sqlite, sqlite:////path/file.sqlite"
            " or memory://."
        )
    from .sqlite import open_sqlite

    return await open_sqlite(_file_of(url), dedupe_hours)


def _file_of(url: str) -> Path:
    file = Path(url.removeprefix(_SQLITE))
    if file.is_dir():
        raise SettingsError(
            f"SLACK_BOT_STORE__URL is {url!r}, which is a directory; name a file in it:"
            f" {url.rstrip('/')}/slack_bot.sqlite."
        )
    return file
