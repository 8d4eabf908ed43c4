"""The file of a SQLite store: opens it, brings it to the newest format, and runs calls in one thread.

Each call is one transaction, so a call that is cancelled is done whole or not at all.
"""

import asyncio
import json
import logging
import os
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar

from ..errors import StoreError, StoreForeign
from .collection import name_of
from .private_file import inode_of, make_private, unusable, unwritable

_log = logging.getLogger(__name__)

MEMORY = Path(":memory:")  # SQLite's name for no file: the store is lost with the process
# file n turns version n - 1 into version n
_STEPS = ("schema.sql", *(f"schema_{number}.sql" for number in range(2, 10)))
VERSION = len(_STEPS)
_BUSY_SECONDS = 5.0
_WAL_PAGES = 100
"""The write-ahead log is copied into the file at this number of pages (4 kB each), to limit its size on
disk.
"""
_NOT_WRITTEN = frozenset(
    {
        *(sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_IOERR_WRITE),
        *(sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_TRUNCATE, sqlite3.SQLITE_IOERR_SHMSIZE),
    }
)

_T = TypeVar("_T")


class SqliteFile:
    """The base of all parts of a `SqliteStore`.

    `lock`: the descriptor of the lock file, closed with the store.
    """

    def __init__(self, path: Path, lock: int | None) -> None:
        self.is_durable = path != MEMORY
        self._path, self._lock = path, lock
        self._thread = ThreadPoolExecutor(1, "store")
        self._connection: sqlite3.Connection | None = None
        self._inode = 0

    async def _run(self, work: Callable[[sqlite3.Connection], _T], *, reads: bool = False) -> _T:
        """Run `work` in one transaction, in the store's thread. Raises StoreError.

        `reads`: it changes nothing, so it need not wait for another process that writes.
        """
        return await self._in_thread(partial(self._transact, work, "BEGIN" if reads else "BEGIN IMMEDIATE"))

    async def _in_thread(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        if self._connection is None:
            raise StoreError(f"The store {self._path} is closed.")
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, self._connection)

    def _transact(
        self, work: Callable[[sqlite3.Connection], _T], begin: str, connection: sqlite3.Connection
    ) -> _T:
        if self.is_durable and inode_of(self._path) != self._inode:
            raise StoreError(f"The store {self._path} was removed or replaced while the bot was using it.")
        with as_store_errors(self._path), connection:
            connection.execute(begin)
            return work(connection)

    async def _write(self, statement: str, *values: object) -> int:
        """Run one statement. Returns how many rows it changed."""
        return await self._run(lambda connection: connection.execute(statement, values).rowcount)

    async def _read(self, query: str, *values: object) -> list[Any]:
        return await self._run(lambda connection: connection.execute(query, values).fetchall(), reads=True)

    async def open(self, *, is_guest: bool = False) -> None:
        """Open or create the file, and bring it to `VERSION`. Raises StoreError.

        `is_guest`: another process holds the file, so the file must have this version already.
        """
        connect = partial(self._connect, is_guest=is_guest)
        self._connection = await asyncio.get_running_loop().run_in_executor(self._thread, connect)

    def _connect(self, *, is_guest: bool) -> sqlite3.Connection:
        with as_store_errors(self._path), ExitStack() as on_failure:
            self._prepare_file()
            connection = sqlite3.connect(self._path, timeout=_BUSY_SECONDS, isolation_level=None)
            on_failure.callback(connection.close)
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA secure_delete = ON")  # what is removed is overwritten
            version = format_of(connection, self._path)
            if version < VERSION and is_guest:
                raise StoreError(
                    f"The store {self._path} is used by an older version of the bot (format {version}, this"
                    f" one writes {VERSION}); start the bot again with this version first."
                )
            self._prepare_format(connection, version)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(f"PRAGMA wal_autocheckpoint = {_WAL_PAGES}")
            on_failure.pop_all()
            return connection

    def _prepare_file(self) -> None:
        if self.is_durable:
            if problem := unusable(self._path):
                raise StoreError(f"The store cannot be opened: {problem}.")
            self._inode = make_private(self._path)

    def _prepare_format(self, connection: sqlite3.Connection, version: int) -> None:
        if version < VERSION:
            if version:
                _log.info("the store %s is brought to format %d", self._path, VERSION)
            room = resources.files(__package__)
            connection.create_function("record_key", -1, lambda *parts: name_of(parts))
            connection.create_function("json_text", 1, json.dumps)
            steps = "\n".join((room / name).read_text(encoding="utf-8") for name in _STEPS[version:])
            connection.executescript(f"BEGIN IMMEDIATE;\n{steps}\nPRAGMA user_version = {VERSION};\nCOMMIT;")

    async def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await asyncio.get_running_loop().run_in_executor(self._thread, connection.close)
        self._thread.shutdown(wait=False)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def format_of(connection: sqlite3.Connection, path: Path) -> int:
    """The version of the file's format, 0 for a new file. Raises StoreError if the file cannot be used."""
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version > VERSION:
        raise StoreForeign(
            f"The store {path} was written by a newer version of the bot (format {version}, this one knows"
            f" {VERSION}); install that version or name another file in SLACK_BOT_STORE__URL."
        )
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if bool(version) != bool(tables) or (tables and not tables & {"accepted", "turns"}):
        raise StoreForeign(
            f"The file {path} belongs to another program; name another file in SLACK_BOT_STORE__URL."
        )
    return version


@contextmanager
def as_store_errors(path: Path) -> Iterator[None]:
    """Turn errors of SQLite and of the system into StoreError with a remedy."""
    try:
        yield
    except (sqlite3.DatabaseError, OSError, ValueError) as error:
        code = getattr(error, "sqlite_errorcode", None)
        problem = f"cannot be used ({getattr(error, 'strerror', None) or error})"
        if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
            problem = "is damaged or is not a SQLite file; name another one, or move it away"
        elif code == sqlite3.SQLITE_BUSY:
            problem = "is locked by another program; end what has it open"
        elif code in _NOT_WRITTEN:
            problem = f"cannot be written ({error}): {unwritable(path)}"
        kind = StoreForeign if code == sqlite3.SQLITE_NOTADB else StoreError
        raise kind(f"The store {path} (SLACK_BOT_STORE__URL) {problem}.") from error
