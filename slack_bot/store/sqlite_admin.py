"""The SQLite store for an operator: show it, copy it, export or erase a person's data.

The bot may run meanwhile: SQLite's write-ahead log lets another process read, and write for a moment.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path

from ..errors import StoreError, StoreInUse, StoreMissing, StoreOutdated
from ..paths import kind_of
from ..turn.progress import TurnRecord
from ..turn.record import ThreadKey
from .collection import Collection, Key, R, name_of
from .contracts import Count, Store, StoreAdmin, StoreSummary
from .personal import counts_of
from .private_file import inode_of, unusable
from .sqlite import SqliteStore, file_of, lock_file, open_sqlite
from .sqlite_collections import drop, find, put
from .sqlite_file import MEMORY, VERSION, as_store_errors
from .stores import Calls, JoinedStore, StoreOptions

_OF_PERSON = "user = ? AND team = coalesce(?, team)"
_RUNNING = "ended_at IS NULL AND data IS NOT NULL"


class SqliteAdmin(SqliteStore, StoreAdmin):
    """A SQLite store that must exist already. Use `open_admin`."""

    def _prepare_file(self) -> None:
        if problem := unusable(self._path):
            raise StoreError(f"The store cannot be opened: {problem}.")
        if kind_of(self._path) != "file":
            raise StoreMissing(
                f"There is no store at {self._path}; name the bot's file in SLACK_BOT_STORE__URL, or start"
                " the bot, which makes it."
            )
        self._inode = inode_of(self._path)

    def _prepare_format(self, connection: sqlite3.Connection, version: int) -> None:
        if version != VERSION:
            raise StoreOutdated(
                f"The store {self._path} was written by an older version of the bot (format {version}, this"
                f" one writes {VERSION}); start the bot once, which brings it up to date."
            )

    async def summary(self) -> StoreSummary:
        turns = (
            "SELECT CASE WHEN data IS NULL THEN 'keys only' ELSE json_extract(data, '$.stage') END AS kind,"
            " count(*), min(accepted_at), max(accepted_at) FROM turns GROUP BY kind ORDER BY kind"
        )
        counts = [Count(f"turns: {kind}", *rest) for kind, *rest in await self._read(turns)]
        counts += [
            Count(*each)
            for each in await self._read("SELECT 'events', count(*), min(at), max(at) FROM events")
        ]
        counts += await counts_of(self)
        log = self._path.with_name(f"{self._path.name}-wal")
        size = sum(each.stat().st_size for each in (self._path, log) if each.exists())
        return StoreSummary(str(self._path), VERSION, size, tuple(counts), tuple(await self.unfinished()))

    async def keys(self) -> list[str]:
        rows = await self._read("SELECT key FROM turns WHERE data IS NOT NULL ORDER BY accepted_at, rowid")
        return [key for (key,) in rows]

    async def count(self, collection: Collection[R]) -> Count:
        query = "SELECT count(*), min(at), max(at) FROM records WHERE collection = ?"
        (row,) = await self._read(query, collection.name)
        return Count(collection.name, *row)

    async def turns_of(self, user: str, team: str | None) -> list[TurnRecord]:
        return await self._turns(_OF_PERSON, user, team)

    async def erase_turns(self, user: str, team: str | None) -> tuple[int, list[str]]:
        return await self._run(lambda connection: _erase_turns(connection, user, team))

    async def erase_record(self, collection: Collection[R], key: Key, user: str) -> list[str] | None:
        return await self._run(lambda connection: _erase_record(connection, collection, key, user))

    async def finish_erasure(self, user: str, team: str | None) -> None:
        """Empty the write-ahead log, which still holds what was erased."""

        def truncate(connection: sqlite3.Connection) -> None:  # no transaction may be open
            with as_store_errors(self._path):
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

        await self._in_thread(truncate)

    async def backup(self, target: Path, *, overwrite: bool) -> None:
        """Write a copy that shows one moment and that only this user may read. Raises StoreError."""
        await self._in_thread(lambda opened: _copy(opened, self._path, target, overwrite=overwrite))


def _erase_turns(connection: sqlite3.Connection, user: str, team: str | None) -> tuple[int, list[str]]:
    def run(statement: str) -> sqlite3.Cursor:
        return connection.execute(statement, (user, team))

    running = run(f"SELECT key FROM turns WHERE {_RUNNING} AND {_OF_PERSON} ORDER BY accepted_at").fetchall()
    ended = f"{_OF_PERSON} AND ended_at IS NOT NULL"
    for table in ("messages", "events"):
        run(f"DELETE FROM {table} WHERE turn IN (SELECT key FROM turns WHERE {ended})")
    # it is old as soon as it need not be known any more that its question was accepted
    nothing = "team = '', channel = '', thread = '', user = '', ended_at = 0, data = NULL"
    return run(f"UPDATE turns SET {nothing} WHERE {ended}").rowcount, [key for (key,) in running]


def _erase_record(
    connection: sqlite3.Connection, collection: Collection[R], key: Key, user: str
) -> list[str] | None:
    record = find(connection, collection, key)
    if record is None:
        return None
    thread = collection.thread_of_turns(key, record)
    if running := _running_in(connection, thread) if thread is not None else []:
        return running
    remainder = collection.without(record, user)
    if remainder == record:
        return list(key)
    if remainder is None:
        drop(connection, collection, key)
    else:
        query = "SELECT at FROM records WHERE collection = ? AND key = ?"
        (at,) = connection.execute(query, (collection.name, name_of(key))).fetchone()
        put(connection, collection, key, remainder, at)
    return None


def _running_in(connection: sqlite3.Connection, thread: ThreadKey) -> list[str]:
    there = f"SELECT key FROM turns WHERE {_RUNNING} AND (team, channel, thread) = (?, ?, ?)"
    return [key for (key,) in connection.execute(there, thread.parts)]


def _copy(connection: sqlite3.Connection, path: Path, target: Path, *, overwrite: bool) -> None:
    if target.exists() and (not overwrite or target.samefile(path)):
        remedy = "give another file" if target.samefile(path) else "give another file, or --force"
        raise StoreError(f"The file {target} exists; {remedy}.")
    try:
        with ExitStack() as on_end:
            handle, name = tempfile.mkstemp(prefix=f"{target.name}.", dir=target.parent)  # mode 0600
            on_end.callback(os.close, handle)
            part = Path(name)
            on_end.callback(part.unlink, missing_ok=True)
            with closing(sqlite3.connect(part, isolation_level=None)) as copy:
                connection.backup(copy)
                copy.execute("PRAGMA journal_mode = DELETE")  # one file is all of it
            os.fsync(handle)
            if overwrite:
                part.replace(target)
            else:
                target.hardlink_to(part)  # fails if it is there by now
    except (sqlite3.Error, OSError) as error:
        reason = getattr(error, "strerror", None) or error
        raise StoreError(f"The copy {target} was not written ({reason}); {path} is as it was.") from error


class SqliteOpener:
    """Opens stores in files and in memory."""

    def place(self, url: str) -> str:
        return str(file_of(url))

    async def open(self, options: StoreOptions, calls: Calls) -> Store:
        path = file_of(options.url)
        lock = None if path == MEMORY else await lock_file(path, options.lock_wait)
        return await open_sqlite(path, options.ages, lock, collections=options.collections)

    async def join(self, options: StoreOptions) -> JoinedStore:
        path, has_bot = file_of(options.url), partial(self.is_held, options.url)
        try:
            lock = await lock_file(path, 0.0)
        except StoreInUse:
            store = await open_sqlite(path, options.ages, collections=options.collections, is_guest=True)
            return JoinedStore(store, False, has_bot)
        store = await open_sqlite(path, options.ages, lock, collections=options.collections)
        return JoinedStore(store, True, has_bot)

    def admin(self, options: StoreOptions) -> SqliteAdmin:
        return SqliteAdmin(file_of(options.url), options.ages, options.collections, None)

    async def is_held(self, url: str) -> bool:
        path = file_of(url)
        try:
            lock = await lock_file(path, 0.0)
        except StoreInUse:
            return True
        if lock is not None:
            os.close(lock)
        return False


OPENER = SqliteOpener()
