"""The store in one file: SQLite, no server, one process.

`synchronous=FULL`: a question that was accepted is acknowledged to Slack, which will not send it again
(delivery.md 8). Every method but the removal of old keys is one statement, and so atomic.
"""

import json
import os
import sqlite3
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from importlib import resources
from pathlib import Path
from typing import Any

import aiosqlite

from ..errors import SettingsError, StoreError
from ..turn.record import ThreadKey
from .contracts import Conversation, Store

_URL = "sqlite:///"
_MEMORY = Path(":memory:")  # SQLite's name for no file: the store is lost with the process
_STEPS = ("schema.sql", "schema_2.sql")  # file n turns version n - 1 into version n
VERSION = len(_STEPS)
_BUSY_SECONDS = 5.0
_KEYS_AT_ONCE = 100
"""SQLite copies every page that it changes to its journal: fewer keys need less free space."""


class SqliteStore(Store):
    """A store in one file. Use `open_sqlite`."""

    def __init__(self, connection: aiosqlite.Connection, path: Path, dedupe_hours: float) -> None:
        self._connection, self._path = connection, path
        self._keep = dedupe_hours * 3600
        self._is_closed = False

    async def _write(self, statement: str, *values: object) -> int:
        """Run one statement. Returns how many rows it changed."""
        async with _as_store_errors(self._path), self._connection.execute(statement, values) as cursor:
            return cursor.rowcount

    async def _read(self, query: str, *values: object) -> list[Any]:
        async with _as_store_errors(self._path):
            return list(await self._connection.execute_fetchall(query, values))

    async def accept(self, key: str, now: float) -> bool:
        statement = (
            "INSERT INTO accepted (key, at) VALUES (?1, ?2)"
            " ON CONFLICT (key) DO UPDATE SET at = excluded.at WHERE accepted.at <= excluded.at - ?3"
        )
        return await self._write(statement, key, now, self._keep) > 0

    async def release(self, key: str) -> None:
        await self._write("DELETE FROM accepted WHERE key = ?", key)

    async def remove_old(self, now: float) -> None:
        statement = (
            "DELETE FROM accepted WHERE key IN"
            " (SELECT key FROM accepted WHERE at <= ?1 - ?2 ORDER BY at LIMIT ?3)"
        )
        while await self._write(statement, now, self._keep, _KEYS_AT_ONCE) == _KEYS_AT_ONCE:
            pass

    async def conversation(self, agent: str, thread: ThreadKey) -> Conversation:
        found = await self._read(
            "SELECT context_id, waits FROM contexts"
            " WHERE agent = ? AND team = ? AND channel = ? AND thread = ?",
            *(agent, thread.team, thread.channel, thread.ts),
        )
        return Conversation(found[0][0], json.loads(found[0][1])) if found else Conversation()

    async def save_conversation(
        self, agent: str, thread: ThreadKey, conversation: Conversation, now: float
    ) -> None:
        await self._write(
            "INSERT OR REPLACE INTO contexts (agent, team, channel, thread, context_id, waits, at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            *(agent, thread.team, thread.channel, thread.ts),
            *(conversation.context_id, json.dumps(dict(conversation.waits)), now),
        )

    async def save_feedback(self, turn: str, user: str, value: str, now: float) -> bool:
        statement = (
            "INSERT INTO presses (turn, user, value, at) VALUES (?, ?, ?, ?)"
            " ON CONFLICT (turn, user) DO UPDATE SET value = excluded.value, at = excluded.at"
            " WHERE presses.value <> excluded.value"
        )
        return await self._write(statement, turn, user, value, now) > 0

    async def profile(self, agent: str) -> dict[str, str]:
        return dict(await self._read("SELECT name, value FROM lore WHERE agent = ?", agent))

    async def save_fact(self, agent: str, name: str, value: str, now: float) -> None:
        statement = "INSERT OR REPLACE INTO lore (agent, name, value, at) VALUES (?, ?, ?, ?)"
        await self._write(statement, agent, name, value, now)

    async def close(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            await self._connection.close()


async def open_store(url: str, dedupe_hours: float) -> Store:
    """Open the store that `url` names: `sqlite:///relative`, `sqlite:////absolute` or `memory://`.

    SettingsError for another URL or a directory, StoreError if the store cannot be opened.
    """
    if url == "memory://":
        return await open_sqlite(_MEMORY, dedupe_hours)
    if not url.startswith(_URL) or url == _URL:
        raise SettingsError(
            f"SLACK_BOT_STORE__URL is {url!r}; write sqlite:///file.sqlite, sqlite:////path/file.sqlite"
            " or memory://."
        )
    return await open_sqlite(_file_of(url), dedupe_hours)


def _file_of(url: str) -> Path:
    file = Path(url.removeprefix(_URL))
    if file.is_dir():
        raise SettingsError(
            f"SLACK_BOT_STORE__URL is {url!r}, which is a directory; name a file in it:"
            f" {url.rstrip('/')}/slack_bot.sqlite."
        )
    return file


async def open_sqlite(path: Path, dedupe_hours: float) -> SqliteStore:
    """Open the file at `path`, or create it. Raises StoreError."""
    async with _as_store_errors(path), AsyncExitStack() as on_failure:
        if path != _MEMORY and (problem := _unusable(path)):
            raise StoreError(f"The store cannot be opened: {problem}.")
        # When aiosqlite cannot open a file, its thread outlives the loop. So try without it first.
        sqlite3.connect(path).close()
        connection = await aiosqlite.connect(path, isolation_level=None, timeout=_BUSY_SECONDS)
        on_failure.push_async_callback(connection.close)
        await connection.execute("PRAGMA synchronous = FULL")
        await _migrate(connection, path)
        on_failure.pop_all()
    return SqliteStore(connection, path, dedupe_hours)


def _unusable(path: Path) -> str | None:
    """Why nothing can be written at `path`, which SQLite says only at the first write, and the remedy."""
    folder, elsewhere = path.parent, "name a file elsewhere in SLACK_BOT_STORE__URL"
    if not folder.is_dir():
        return f"the directory {folder} does not exist; create it, or {elsewhere}"
    if os.statvfs(folder).f_flag & os.ST_RDONLY:
        return f"the directory {folder} is on a read-only file system; mount a volume there, or {elsewhere}"
    for place, need in ((folder, os.W_OK | os.X_OK), (path, os.R_OK | os.W_OK)):
        if place.exists() and not os.access(place, need, effective_ids=True):
            user, owner = os.geteuid(), place.stat().st_uid
            if user == owner:
                return f"{place} may not be written; change its mode (chmod u+rwX {place}), or {elsewhere}"
            return (
                f"{place} belongs to user {owner}, and the bot runs as user {user}, who may not write there;"
                f" change the owner (chown {user}, also in a Docker volume), or {elsewhere}"
            )
    return None


async def _migrate(connection: aiosqlite.Connection, path: Path) -> None:
    """Bring the file to VERSION in one transaction."""
    found = list(await connection.execute_fetchall("PRAGMA user_version"))
    version = int(found[0][0])
    if version > VERSION:
        raise StoreError(
            f"The store {path} was written by a newer version of the bot (format {version}, this one knows"
            f" {VERSION}); install that version or name another file in SLACK_BOT_STORE__URL."
        )
    if version < VERSION:
        room = resources.files(__package__)
        steps = "\n".join((room / name).read_text(encoding="utf-8") for name in _STEPS[version:])
        await connection.executescript(
            f"BEGIN IMMEDIATE;\n{steps}\nPRAGMA user_version = {VERSION};\nCOMMIT;"
        )


@asynccontextmanager
async def _as_store_errors(path: Path) -> AsyncIterator[None]:
    try:
        yield
    except (sqlite3.DatabaseError, OSError, ValueError) as error:
        code = getattr(error, "sqlite_errorcode", None)
        problem = f"cannot be used ({error})"
        if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
            problem = "is damaged or is not a SQLite file; move it away and start again"
        raise StoreError(f"The store {path} (SLACK_BOT_STORE__URL) {problem}.") from error
