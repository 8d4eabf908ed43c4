"""The file of a store, for an operator: look into it, copy it, give out or erase what it holds of a person.

The bot may go on with it meanwhile: a write-ahead log lets another process read, and write for a moment.
"""

import asyncio
import json
import os
import sqlite3
import tempfile
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import SettingsError, StoreError
from ..turn.progress import TurnRecord
from ..turn.record import ThreadKey
from .contracts import Ages, Erased, KeptEvent, KeptFeedback, KeptWait, PersonalData, PersonRecords
from .private_file import inode_of, unusable
from .sqlite import OUTBOUND, THREAD, URL, VERSION, SqliteStore, as_store_errors, file_of

_OF_PERSON = "user = ?1 AND (?2 IS NULL OR team = ?2)"
_FEEDBACK_OF = "user = ?1 AND (?2 IS NULL OR substr(turn, 1, length(?2) + 1) = ?2 || ':')"
_ASKED_IN = "asker = ?1 AND (?2 IS NULL OR team = ?2)"
_WAITS_FOR = "EXISTS (SELECT 1 FROM json_each(waits) WHERE json_each.key = ?1) AND (?2 IS NULL OR team = ?2)"


@dataclass(frozen=True, slots=True)
class Count:
    """How many of a kind there are, and the times of the oldest and the newest."""

    kind: str
    number: int
    oldest: float | None
    newest: float | None


@dataclass(frozen=True, slots=True)
class StoreSummary:
    """What is in a store. `format` is its version; `bytes` are those of the file and of its log."""

    file: str
    format: int
    bytes: int
    counts: tuple[Count, ...]
    unfinished: tuple[TurnRecord, ...]


class StoreAdmin(SqliteStore, PersonalData):
    """A store that exists. Use `open_admin`."""

    def _prepare_file(self) -> None:
        if not self._path.is_file():
            raise StoreError(
                f"There is no store at {self._path}; name the bot's file in SLACK_BOT_STORE__URL, or start"
                " the bot, which makes it."
            )
        if problem := unusable(self._path):
            raise StoreError(f"The store cannot be opened: {problem}.")
        self._inode = inode_of(self._path)

    def _prepare_format(self, connection: sqlite3.Connection, version: int) -> None:
        if version != VERSION:
            raise StoreError(
                f"The store {self._path} was written by an older version of the bot (format {version}, this"
                f" one writes {VERSION}); start the bot once, which brings it up to date."
            )

    async def summary(self) -> StoreSummary:
        """Counts, and the turns that have not ended."""
        turns = (
            "SELECT CASE WHEN data IS NULL THEN 'keys only' ELSE json_extract(data, '$.stage') END AS kind,"
            " count(*), min(accepted_at), max(accepted_at) FROM turns GROUP BY kind ORDER BY kind"
        )
        others = " UNION ALL ".join(
            f"SELECT '{table}', count(*), min(at), max(at) FROM {table}"
            for table in ("conversations", "threads", "feedback", "events")
        )
        counts = [(f"turns: {kind}", *rest) for kind, *rest in await self._read(turns)]
        counts += await self._read(others)
        log = self._path.with_name(f"{self._path.name}-wal")
        size = sum(each.stat().st_size for each in (self._path, log) if each.exists())
        found = tuple(Count(*each) for each in counts)
        return StoreSummary(str(self._path), VERSION, size, found, tuple(await self.unfinished()))

    async def keys(self) -> list[str]:
        """The keys of all turns, the oldest first."""
        found = await self._read("SELECT key FROM turns WHERE data IS NOT NULL ORDER BY accepted_at, rowid")
        return [key for (key,) in found]

    async def person(self, user: str, team: str | None) -> PersonRecords:
        turns = await self._turns(_OF_PERSON, user, team)
        feedback = await self._read(
            f"SELECT turn, value, at FROM feedback WHERE {_FEEDBACK_OF} ORDER BY at", user, team
        )
        waits = await self._read(
            "SELECT agent, team, channel, thread, waits FROM conversations"
            f" WHERE {_WAITS_FOR} ORDER BY agent, team, channel, thread",
            *(user, team),
        )
        events = await self._read(
            "SELECT turn, at, events.data FROM events JOIN turns ON turn = key"
            f" WHERE {_OF_PERSON} ORDER BY accepted_at, events.rowid",
            *(user, team),
        )
        threads = await self._read(f"SELECT data FROM threads WHERE {_ASKED_IN}", user, team)
        # said to a person directly: it has no workspace
        outbound = await self._read("SELECT data FROM outbound WHERE user = ? ORDER BY accepted_at", user)
        return PersonRecords(
            tuple(turns),
            tuple(KeptFeedback(*each) for each in feedback),
            tuple(
                KeptWait(agent, ThreadKey(*place), json.loads(waiting)[user])
                for agent, *place, waiting in waits
            ),
            tuple(KeptEvent(*each) for each in events),
            tuple([OUTBOUND.validate_json(data) for (data,) in outbound]),
            tuple([THREAD.validate_json(data) for (data,) in threads]),
        )

    async def erase(self, user: str, team: str | None) -> Erased:
        erased = await self._run(lambda connection: _erase(connection, user, team))
        # what was erased stands in the log until it is moved to the file
        await self._outside("PRAGMA wal_checkpoint(TRUNCATE)")
        return erased

    async def backup(self, target: Path, *, overwrite: bool) -> None:
        """Write a copy, as it is at one moment, that only this user may read. Raises StoreError."""

        def work() -> None:
            assert self._connection is not None
            _copy(self._connection, self._path, target, overwrite=overwrite)

        await asyncio.get_running_loop().run_in_executor(self._thread, work)

    async def _outside(self, statement: str) -> None:
        """Run it without a transaction."""

        def work() -> None:
            assert self._connection is not None
            with as_store_errors(self._path):
                self._connection.execute(statement).fetchall()

        await asyncio.get_running_loop().run_in_executor(self._thread, work)


def _erase(connection: sqlite3.Connection, user: str, team: str | None) -> Erased:
    def run(statement: str, *values: Any) -> int:
        return connection.execute(statement, values or (user, team)).rowcount

    others = f"SELECT team, channel, thread FROM conversations WHERE {_WAITS_FOR}"
    running = connection.execute(
        f"SELECT key FROM turns WHERE ended_at IS NULL AND data IS NOT NULL"
        f" AND (({_OF_PERSON}) OR (team, channel, thread) IN ({others})) ORDER BY accepted_at",
        (user, team),
    ).fetchall()
    ended = f"{_OF_PERSON} AND ended_at IS NOT NULL"
    for table in ("messages", "events"):
        run(f"DELETE FROM {table} WHERE turn IN (SELECT key FROM turns WHERE {ended})")
    turns = run(
        f"UPDATE turns SET team = '', channel = '', thread = '', user = '', data = NULL WHERE {ended}"
    )
    run("DELETE FROM outbound WHERE user = ? AND ended_at IS NOT NULL", user)
    run(f"DELETE FROM threads WHERE {_ASKED_IN}")
    feedback = run(f"DELETE FROM feedback WHERE {_FEEDBACK_OF}")
    # a running turn would write back what it knew of its thread
    busy = "SELECT team, channel, thread FROM turns WHERE ended_at IS NULL AND data IS NOT NULL"
    known = connection.execute(
        f"SELECT agent, team, channel, thread, waits FROM conversations WHERE {_WAITS_FOR}"
        f" AND (team, channel, thread) NOT IN ({busy})",
        (user, team),
    ).fetchall()
    for *place, waits in known:
        left = {each: task for each, task in json.loads(waits).items() if each != user}
        run(
            "UPDATE conversations SET waits = ? WHERE agent = ? AND team = ? AND channel = ? AND thread = ?",
            *(json.dumps(left), *place),
        )
    return Erased(turns, feedback, len(known), tuple(key for (key,) in running))


def _copy(source: sqlite3.Connection, path: Path, target: Path, *, overwrite: bool) -> None:
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
                source.backup(copy)
                copy.execute("PRAGMA journal_mode = DELETE")  # one file is all of it
            os.fsync(handle)
            if overwrite:
                part.replace(target)
            else:
                target.hardlink_to(part)  # fails if it is there by now
    except (sqlite3.Error, OSError) as error:
        reason = getattr(error, "strerror", None) or error
        raise StoreError(f"The copy {target} was not written ({reason}); {path} is as it was.") from error


@asynccontextmanager
async def open_admin(url: str) -> AsyncIterator[StoreAdmin]:
    """The store that `url` names, and that exists. Raises StoreError, SettingsError where it has no file."""
    if not url.startswith(URL) or url == URL:
        raise SettingsError(
            f"SLACK_BOT_STORE__URL names no SQLite file ({url.partition(':')[0]}://); this verb works with"
            " sqlite:///file.sqlite only."
        )
    store = StoreAdmin(file_of(url), Ages(), None)
    try:
        await store.open()
        yield store
    finally:
        await store.close()
