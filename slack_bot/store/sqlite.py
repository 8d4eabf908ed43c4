"""The store in one file: SQLite, no server, one process.

A question that was accepted is acknowledged to Slack, which will not send it again, so each write is on the
disk when it returns (`synchronous=FULL`; delivery.md 8). The bot holds a lock beside the file while it runs.
"""

import asyncio
import fcntl
import logging
import os
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..errors import SettingsError, StoreError, StoreInUse
from ..paths import kind_of
from ..turn.progress import TurnRecord
from ..turn.record import ThreadKey
from .adapters import MESSAGE, TURN
from .collection import Ages, Collection
from .contracts import APART, KeptEvent, Store
from .private_file import PRIVATE, unusable
from .sole import SoleProcess
from .sqlite_collections import SqliteCollections
from .sqlite_file import MEMORY, as_store_errors

_log = logging.getLogger(__name__)

URL = "sqlite:///"
_KEYS_AT_ONCE = 100
"""Keys removed at once.

SQLite copies each page that it changes to its journal: few keys need little free space.
"""
_LOCK_SECONDS = 0.2  # between two looks at a lock that another process holds


class SqliteStore(SqliteCollections, SoleProcess, Store):
    """A store in one file. Use `open_sqlite`."""

    def __init__(
        self, path: Path, ages: Ages, collections: Sequence[Collection[Any]], lock: int | None
    ) -> None:
        super().__init__(path, lock)
        self._ages, self.collections = ages, collections

    async def accept(self, turn: TurnRecord) -> bool:
        question, thread = turn.question, turn.question.thread
        statement = (
            "INSERT INTO turns (key, team, channel, thread, user, accepted_at, data)"
            " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE"
            " SET team = excluded.team, channel = excluded.channel, thread = excluded.thread,"
            " user = excluded.user, accepted_at = excluded.accepted_at, ended_at = NULL, data = excluded.data"
            " WHERE turns.accepted_at <= ?"
        )
        oldest = turn.accepted_at - self._ages.dedupe
        place = turn.key, *thread.parts, question.user
        return await self._write(statement, *place, turn.accepted_at, _json(turn), oldest) > 0

    async def withdraw(self, key: str) -> None:
        await self._write("DELETE FROM turns WHERE key = ?", key)

    async def save(self, *changes: tuple[TurnRecord, int]) -> None:
        def work(connection: sqlite3.Connection) -> None:
            for turn, unchanged in changes:
                update = "UPDATE turns SET ended_at = ?, data = ? WHERE key = ?"
                if not connection.execute(update, (turn.ended_at, _json(turn), turn.key)).rowcount:
                    continue
                connection.execute(
                    "DELETE FROM messages WHERE turn = ? AND number >= ?", (turn.key, unchanged)
                )
                connection.executemany(
                    "INSERT INTO messages (turn, number, ts, data) VALUES (?, ?, ?, ?)",
                    [
                        (turn.key, number, message.ts, MESSAGE.dump_json(message).decode())
                        for number, message in enumerate(turn.messages[unchanged:], unchanged)
                    ],
                )

        await self._run(work)

    async def turn(self, key: str) -> TurnRecord | None:
        return next(iter(await self._turns("key = ?", key)), None)

    async def unfinished(self) -> list[TurnRecord]:
        return await self._turns("ended_at IS NULL")

    async def accepted_since(self, since: float) -> list[TurnRecord]:
        return await self._turns("accepted_at >= ?", since)

    async def _turns(self, condition: str, *values: object) -> list[TurnRecord]:
        def work(connection: sqlite3.Connection) -> list[tuple[str, list[str]]]:
            query = f"SELECT key, data FROM turns WHERE {condition} AND data IS NOT NULL"
            query += " ORDER BY accepted_at, rowid"
            of_turn = "SELECT data FROM messages WHERE turn = ? ORDER BY number"
            return [
                (data, [each for (each,) in connection.execute(of_turn, (key,))])
                for key, data in connection.execute(query, values).fetchall()
            ]

        rows = await self._run(work, reads=True)
        with as_store_errors(self._path):
            return [
                replace(TURN.validate_json(data), messages=tuple(map(MESSAGE.validate_json, messages)))
                for data, messages in rows
            ]

    async def watched(self, push_id: str) -> TurnRecord | None:
        condition = "ended_at IS NULL AND json_extract(data, '$.push_id') = ?"
        return next(iter(await self._turns(condition, push_id)), None)

    async def messages_in(self, thread: ThreadKey) -> Mapping[str, str]:
        rows = await self._read(
            "SELECT ts, turn FROM messages JOIN turns ON turn = key"
            " WHERE team = ? AND channel = ? AND thread = ?",
            *thread.parts,
        )
        return dict(rows)

    async def active_threads(self, since: float) -> list[tuple[ThreadKey, str]]:
        # SQLite takes `data` from the row with the largest `accepted_at`
        rows = await self._read(
            "SELECT team, channel, thread, json_extract(data, '$.question.ts'), max(accepted_at) AS latest"
            " FROM turns WHERE accepted_at >= ? AND data IS NOT NULL"
            " GROUP BY team, channel, thread ORDER BY latest DESC",
            since,
        )
        return [(ThreadKey(team, channel, thread), ts) for team, channel, thread, ts, _ in rows]

    async def remove_old(self, now: float) -> None:
        old = (
            "SELECT key FROM turns WHERE accepted_at <= ? AND ended_at <= ? ORDER BY accepted_at LIMIT"
            f" {_KEYS_AT_ONCE}"
        )
        limits = now - self._ages.dedupe, now - self._ages.turns

        def work(connection: sqlite3.Connection) -> int:
            for table in ("messages", "events"):
                connection.execute(f"DELETE FROM {table} WHERE turn IN ({old})", limits)
            return connection.execute(f"DELETE FROM turns WHERE key IN ({old})", limits).rowcount

        while await self._run(work) == _KEYS_AT_ONCE:
            pass
        await self._remove_old_records(self._ages, now)

    async def save_events(self, *events: KeptEvent) -> None:
        rows = [(each.turn, each.at, each.data, each.turn) for each in events]
        statement = (
            "INSERT INTO events SELECT ?, ?, ?"
            " WHERE EXISTS (SELECT 1 FROM turns WHERE key = ? AND data IS NOT NULL)"
        )
        await self._run(lambda connection: connection.executemany(statement, rows))

    async def events(self, turn: str) -> list[KeptEvent]:
        rows = await self._read("SELECT turn, at, data FROM events WHERE turn = ? ORDER BY rowid", turn)
        return [KeptEvent(*each) for each in rows]


async def lock_file(path: Path, wait: float) -> int | None:
    """Lock the file at `path`; returns the descriptor of the lock, or None if opening the file will fail.

    Raises StoreError if another process holds the lock for `wait` seconds, or if locks do not work there.
    """
    if path == MEMORY or unusable(path):
        return None  # opening it says why
    try:
        descriptor = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE)
    except OSError:
        return None  # as above
    attempts = max(1, round(wait / _LOCK_SECONDS))
    for attempt in range(attempts + 1):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return descriptor
        except BlockingIOError:
            if attempt == 0:
                _log.info("another process has the store open: waiting up to %g s for its end", wait)
            if attempt < attempts:
                await asyncio.sleep(_LOCK_SECONDS)
        except OSError as error:
            os.close(descriptor)
            raise StoreError(
                f"The file system of {path} cannot lock files ({error.strerror}); name a file on a local disk"
                " in SLACK_BOT_STORE__URL."
            ) from error
    os.close(descriptor)
    raise StoreInUse(
        f"Another process has the store {path} open, and did not end within {wait:g} s: stop it, or name"
        " another file in SLACK_BOT_STORE__URL."
    )


def file_of(url: str) -> Path:
    """The file that `url` names, or `MEMORY`.

    Raises SettingsError if it is a directory, or if this process may not look there.
    """
    if url == "memory://":
        return MEMORY
    file = Path(url.removeprefix(URL))
    try:
        kind = kind_of(file)
    except OSError as error:
        raise SettingsError(
            f"SLACK_BOT_STORE__URL is {url!r}, where user {os.geteuid()}, as whom the bot runs, may not look"
            f" ({error.strerror}); open the directories above it to that user, or name a file elsewhere."
        ) from None
    if kind == "folder":
        raise SettingsError(
            f"SLACK_BOT_STORE__URL is {url!r}, which is a directory; name a file in it:"
            f" {url.rstrip('/')}/slack_bot.sqlite."
        )
    return file


async def open_sqlite(
    path: Path,
    ages: Ages,
    lock: int | None = None,
    *,
    collections: Sequence[Collection[Any]] = (),
    is_guest: bool = False,
) -> SqliteStore:
    """Open or create the file at `path`. Raises StoreError.

    `lock` is closed with the store. `is_guest`: another process holds the file. `collections`: those whose
    old records are removed.
    """
    store = SqliteStore(path, ages, collections, lock)
    async with AsyncExitStack() as on_failure:
        on_failure.push_async_callback(store.close)
        await store.open(is_guest=is_guest)
        on_failure.pop_all()
    return store


def _json(turn: TurnRecord) -> str:
    return TURN.dump_json(turn, exclude=APART).decode()
