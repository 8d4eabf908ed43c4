"""The bot's store, for an operator: look into it, copy it, give out or erase what it holds of a person.

The bot may go on with it: SQLite's write-ahead log lets another process read, and write for a moment.
"""

from __future__ import annotations

import json
import os
import sqlite3
import tempfile
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import SettingsError, StoreError, StoreMissing, StoreOutdated
from ..observe.outage import Outage
from ..paths import kind_of
from ..turn.feedback import FeedbackRecord
from ..turn.record import ThreadKey
from .adapters import FEEDBACK, FORM, OUTBOUND, OVERHEARD, THREAD
from .contracts import (
    MOST_SHOWN,
    Ages,
    Count,
    Erased,
    KeptEvent,
    KeptWait,
    PersonRecords,
    StoreAdmin,
    StoreSummary,
)
from .private_file import inode_of, unusable
from .sqlite import SqliteStore, file_of
from .sqlite_file import VERSION, as_store_errors

if TYPE_CHECKING:
    from .redis_admin import RedisAdmin

_OF_PERSON = "user = ?1 AND (?2 IS NULL OR team = ?2)"
_FEEDBACK_OF = "user = ?1 AND (?2 IS NULL OR substr(turn, 1, length(?2) + 1) = ?2 || ':')"
_FORMS_OF = "?1 IN (user, ended_by) AND (?2 IS NULL OR team = ?2)"
_ASKED_IN = "asker = ?1 AND (?2 IS NULL OR team = ?2)"
_WAITS_FOR = "EXISTS (SELECT 1 FROM json_each(waits) WHERE json_each.key = ?1) AND (?2 IS NULL OR team = ?2)"


class SqliteAdmin(SqliteStore, StoreAdmin):
    """A file that exists. Use `open_admin`."""

    def _prepare_file(self) -> None:
        if kind_of(self._path) != "file":
            raise StoreMissing(
                f"There is no store at {self._path}; name the bot's file in SLACK_BOT_STORE__URL, or start"
                " the bot, which makes it."
            )
        if problem := unusable(self._path):
            raise StoreError(f"The store cannot be opened: {problem}.")
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
        others = " UNION ALL ".join(
            f"SELECT '{table}', count(*), min(at), max(at) FROM {table}"
            for table in ("conversations", "threads", "feedback", "events", "overheard", "forms")
        )
        states = (
            "SELECT CASE WHEN ended_at IS NULL THEN 'waiting'"
            " WHEN json_extract(data, '$.error') IS NULL THEN 'sent' ELSE 'failed' END AS state,"
            " count(*), min(accepted_at), max(accepted_at) FROM outbound GROUP BY state ORDER BY state"
        )
        latest = f"SELECT data FROM outbound ORDER BY accepted_at DESC LIMIT {MOST_SHOWN}"
        counts = [(f"turns: {kind}", *rest) for kind, *rest in await self._read(turns)]
        counts += await self._read(others)
        counts += [(f"outbound: {state}", *rest) for state, *rest in await self._read(states)]
        said = (await self._records(OUTBOUND, latest))[::-1]
        log = self._path.with_name(f"{self._path.name}-wal")
        size = sum(each.stat().st_size for each in (self._path, log) if each.exists())
        found, unfinished = tuple(Count(*each) for each in counts), tuple(await self.unfinished())
        return StoreSummary(str(self._path), VERSION, size, found, unfinished, tuple(said))

    async def keys(self) -> list[str]:
        found = await self._read("SELECT key FROM turns WHERE data IS NOT NULL ORDER BY accepted_at, rowid")
        return [key for (key,) in found]

    async def feedback(self) -> list[FeedbackRecord]:
        return await self._records(FEEDBACK, "SELECT data FROM feedback ORDER BY at, turn, user")

    async def person(self, user: str, team: str | None) -> PersonRecords:
        turns = await self._turns(_OF_PERSON, user, team)
        feedback = f"SELECT data FROM feedback WHERE {_FEEDBACK_OF} ORDER BY at"
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
        asked_in = f"SELECT data FROM threads WHERE {_ASKED_IN}"
        # said to a person directly: it has no workspace
        outbound = "SELECT data FROM outbound WHERE user = ? ORDER BY accepted_at"
        said = f"SELECT data FROM overheard WHERE {_OF_PERSON} ORDER BY at"
        forms = f"SELECT data FROM forms WHERE {_FORMS_OF} ORDER BY at"
        return PersonRecords(
            tuple(turns),
            tuple(await self._records(FEEDBACK, feedback, user, team)),
            tuple(
                KeptWait(agent, ThreadKey(*place), json.loads(waiting)[user])
                for agent, *place, waiting in waits
            ),
            tuple(KeptEvent(*each) for each in events),
            tuple(await self._records(OUTBOUND, outbound, user)),
            tuple(await self._records(THREAD, asked_in, user, team)),
            tuple(await self._records(OVERHEARD, said, user, team)),
            tuple(await self._records(FORM, forms, user, team)),
        )

    async def erase(self, user: str, team: str | None) -> Erased:
        erased = await self._run(lambda connection: _erase(connection, user, team))

        def truncate(connection: sqlite3.Connection) -> None:  # no transaction may be open
            with as_store_errors(self._path):
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

        # what was erased stands in the log until it is moved to the file
        await self._in_thread(truncate)
        return erased

    async def backup(self, target: Path, *, overwrite: bool) -> None:
        """Write a copy, as it is at one moment, that only this user may read. Raises StoreError."""
        await self._in_thread(lambda opened: _copy(opened, self._path, target, overwrite=overwrite))


def _erase(connection: sqlite3.Connection, user: str, team: str | None) -> Erased:
    def run(statement: str, *values: Any) -> int:
        return connection.execute(statement, values or (user, team)).rowcount

    others = f"SELECT team, channel, thread FROM conversations WHERE {_WAITS_FOR}"
    running = connection.execute(
        f"SELECT key, accepted_at FROM turns WHERE ended_at IS NULL AND data IS NOT NULL"
        f" AND (({_OF_PERSON}) OR (team, channel, thread) IN ({others}))"
        " UNION ALL SELECT key, accepted_at FROM outbound WHERE user = ?1 AND ended_at IS NULL"
        " ORDER BY accepted_at",
        (user, team),
    ).fetchall()
    ended = f"{_OF_PERSON} AND ended_at IS NOT NULL"
    for table in ("messages", "events"):
        run(f"DELETE FROM {table} WHERE turn IN (SELECT key FROM turns WHERE {ended})")
    # it is old as soon as it need not be known any more that its question was accepted
    nothing = "team = '', channel = '', thread = '', user = '', ended_at = 0, data = NULL"
    turns = run(f"UPDATE turns SET {nothing} WHERE {ended}")
    outbound = run("DELETE FROM outbound WHERE user = ? AND ended_at IS NOT NULL", user)
    run(f"DELETE FROM threads WHERE {_ASKED_IN}")
    overheard = run(f"DELETE FROM overheard WHERE {_OF_PERSON}")
    forms = run(f"DELETE FROM forms WHERE {_FORMS_OF}")
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
    return Erased(turns, feedback, len(known), outbound, tuple(key for key, _ in running), overheard, forms)


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
async def open_admin(url: str, ages: Ages, patience: float = 2.0) -> AsyncIterator[StoreAdmin]:
    """The store that `url` names, and that exists. `patience`: seconds for each command of Redis.

    Raises StoreError, and SettingsError for an address that has none.
    """
    if url == "memory://":
        raise SettingsError(
            "SLACK_BOT_STORE__URL is memory://, which is gone when the bot's process ends; this verb works"
            " with sqlite:///file.sqlite and redis://host:6379/0."
        )
    is_redis = url.startswith("redis")
    store: RedisAdmin | SqliteAdmin
    store = _redis_admin(url, ages, patience) if is_redis else SqliteAdmin(file_of(url), ages, None)
    try:
        await store.open()
        yield store
    finally:
        await store.close()


def _redis_admin(url: str, ages: Ages, patience: float) -> RedisAdmin:
    from .redis_admin import RedisAdmin
    from .redis_connection import connect

    return RedisAdmin(connect(url), url, ages, 0.0, patience, Outage())
