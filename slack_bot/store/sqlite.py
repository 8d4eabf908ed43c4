"""The store in one file: SQLite, no server, one process.

`synchronous=FULL`: a question that was accepted is acknowledged to Slack, which will not send it again
(delivery.md 8). The bot holds a lock beside the file as long as it runs.
"""

import asyncio
import fcntl
import json
import logging
import os
import sqlite3
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

from ..errors import SettingsError, StoreError, StoreInUse
from ..paths import kind_of
from ..turn.outbound import OutboundRecord, accepted
from ..turn.progress import TurnRecord
from ..turn.quotes import ThreadMessage
from ..turn.record import ThreadKey
from ..turn.thread_state import ThreadState
from .adapters import MESSAGE, OUTBOUND, OVERHEARD, THREAD, TURN
from .contracts import APART, Ages, ChangeThread, Conversation, KeptEvent, Store
from .private_file import PRIVATE, unusable
from .sole import SoleProcess
from .sqlite_feedback import SqliteFeedback
from .sqlite_file import MEMORY, as_store_errors
from .sqlite_forms import SqliteForms

_log = logging.getLogger(__name__)

URL = "sqlite:///"
_KEYS_AT_ONCE = 100
"""SQLite copies every page that it changes to its journal: fewer keys need less free space."""
_LOCK_SECONDS = 0.2  # between two looks at a lock that another process holds


class SqliteStore(SqliteFeedback, SqliteForms, SoleProcess, Store):
    """A store in one file. Use `open_sqlite`."""

    def __init__(self, path: Path, ages: Ages, lock: int | None) -> None:
        super().__init__(path, lock)
        self._ages = ages

    async def accept(self, turn: TurnRecord) -> bool:
        question, thread = turn.question, turn.question.thread
        statement = (
            "INSERT INTO turns (key, team, channel, thread, user, accepted_at, data)"
            " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (key) DO UPDATE"
            " SET (team, channel, thread, user) = (?2, ?3, ?4, ?5),"
            " accepted_at = ?6, ended_at = NULL, data = ?7"
            " WHERE turns.accepted_at <= ?8"
        )
        oldest = self._ages.begin(turn.accepted_at).accepted
        place = turn.key, thread.team, thread.channel, thread.ts, question.user
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

        found = await self._run(work, reads=True)
        with as_store_errors(self._path):
            return [
                replace(TURN.validate_json(data), messages=tuple(map(MESSAGE.validate_json, messages)))
                for data, messages in found
            ]

    async def watched(self, push_id: str) -> TurnRecord | None:
        condition = "ended_at IS NULL AND json_extract(data, '$.push_id') = ?"
        return next(iter(await self._turns(condition, push_id)), None)

    async def messages_in(self, thread: ThreadKey) -> frozenset[str]:
        found = await self._read(
            "SELECT ts FROM messages JOIN turns ON turn = key WHERE team = ? AND channel = ? AND thread = ?",
            *(thread.team, thread.channel, thread.ts),
        )
        return frozenset(ts for (ts,) in found)

    async def active_threads(self, since: float) -> list[tuple[ThreadKey, str]]:
        # SQLite takes `data` from the row with the largest `accepted_at`
        found = await self._read(
            "SELECT team, channel, thread, json_extract(data, '$.question.ts'), max(accepted_at) AS latest"
            " FROM turns WHERE accepted_at >= ? AND data IS NOT NULL"
            " GROUP BY team, channel, thread ORDER BY latest DESC",
            since,
        )
        return [(ThreadKey(team, channel, thread), ts) for team, channel, thread, ts, _ in found]

    async def remove_old(self, now: float) -> None:
        oldest = self._ages.begin(now)
        old = (
            "SELECT key FROM turns WHERE accepted_at <= ?1 AND ended_at <= ?2 ORDER BY accepted_at LIMIT"
            f" {_KEYS_AT_ONCE}"
        )
        limits = oldest.accepted, oldest.turns

        threads = f"(team, channel, thread) IN (SELECT team, channel, thread FROM turns WHERE key IN ({old}))"

        def work(connection: sqlite3.Connection) -> int:
            # a thread that is in use has the same context all the time
            connection.execute(f"UPDATE conversations SET at = ?2 WHERE at < ?2 AND {threads}", limits)
            for table in ("messages", "events"):
                connection.execute(f"DELETE FROM {table} WHERE turn IN ({old})", limits)
            return connection.execute(f"DELETE FROM turns WHERE key IN ({old})", limits).rowcount

        while await self._run(work) == _KEYS_AT_ONCE:
            pass
        await self._write(
            "DELETE FROM conversations WHERE at <= ? AND (team, channel, thread) NOT IN"
            " (SELECT team, channel, thread FROM turns)",
            oldest.conversations,
        )
        await self._write("DELETE FROM threads WHERE at <= ?", oldest.conversations)
        await self._write("DELETE FROM feedback WHERE at <= ?", oldest.feedback)
        await self._write("DELETE FROM outbound WHERE ended_at <= ?", oldest.turns)
        await self._write("DELETE FROM overheard WHERE at <= ?", oldest.overheard)
        await self._write("DELETE FROM forms WHERE at <= ?", oldest.forms)

    async def conversation(self, agent: str, thread: ThreadKey) -> Conversation:
        found = await self._read(
            "SELECT context_id, waits, heard FROM conversations"
            " WHERE agent = ? AND team = ? AND channel = ? AND thread = ?",
            *(agent, thread.team, thread.channel, thread.ts),
        )
        if not found:
            return Conversation()
        context_id, waits, heard = found[0]
        return Conversation(context_id, json.loads(waits), tuple(json.loads(heard)))

    async def save_conversation(
        self, agent: str, thread: ThreadKey, conversation: Conversation, now: float
    ) -> None:
        await self._write(
            "INSERT OR REPLACE INTO conversations"
            " (agent, team, channel, thread, context_id, waits, heard, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            *(agent, thread.team, thread.channel, thread.ts, conversation.context_id),
            *(json.dumps(dict(conversation.waits)), json.dumps(conversation.heard), now),
        )

    async def overhear(
        self, thread: ThreadKey, message: ThreadMessage, most: int, now: float, *, is_change: bool = False
    ) -> None:
        place, there = (thread.team, thread.channel, thread.ts), "(team, channel, thread) = (?1, ?2, ?3)"
        row = *place, message.ts, message.author, float(message.ts), OVERHEARD.dump_json(message).decode()
        newest = f"SELECT ts FROM overheard WHERE {there} ORDER BY at DESC LIMIT ?4"
        old = f"DELETE FROM overheard WHERE {there} AND ts NOT IN ({newest})"

        def work(connection: sqlite3.Connection) -> None:
            known = "REPLACE" if is_change else "IGNORE"
            connection.execute(f"INSERT OR {known} INTO overheard VALUES (?, ?, ?, ?, ?, ?, ?)", row)
            connection.execute(old, (*place, most))

        await self._run(work)

    async def overheard(self, thread: ThreadKey) -> list[ThreadMessage]:
        query = "SELECT data FROM overheard WHERE (team, channel, thread) = (?, ?, ?)"
        return await self._records(OVERHEARD, query, thread.team, thread.channel, thread.ts)

    async def thread_state(self, thread: ThreadKey) -> ThreadState | None:
        return await self._run(lambda connection: _thread_state(connection, thread))

    async def change_thread_state(
        self, thread: ThreadKey, change: ChangeThread, now: float
    ) -> ThreadState | None:
        def work(connection: sqlite3.Connection) -> ThreadState | None:
            before = _thread_state(connection, thread)
            after = change(before)
            if after is not None and after != before:
                values = thread.team, thread.channel, thread.ts, after.asker, now
                data = THREAD.dump_json(after).decode()
                connection.execute(
                    "INSERT OR REPLACE INTO threads VALUES (?, ?, ?, ?, ?, ?)", (*values, data)
                )
            return before

        return await self._run(work)

    async def profile(self, agent: str) -> dict[str, str]:
        return dict(await self._read("SELECT name, value FROM profiles WHERE agent = ?", agent))

    async def save_fact(self, agent: str, name: str, value: str, now: float) -> None:
        statement = "INSERT OR REPLACE INTO profiles (agent, name, value, at) VALUES (?, ?, ?, ?)"
        await self._write(statement, agent, name, value, now)

    async def accept_outbound(self, new: OutboundRecord) -> OutboundRecord:
        def work(connection: sqlite3.Connection) -> str:
            found = connection.execute("SELECT data FROM outbound WHERE key = ?", (new.key,)).fetchone()
            stored = accepted(OUTBOUND.validate_json(found[0]) if found else None, new)
            _put_outbound(connection, stored)
            return OUTBOUND.dump_json(stored).decode()

        return OUTBOUND.validate_json(await self._run(work))

    async def save_outbound(self, record: OutboundRecord) -> None:
        await self._run(lambda connection: _put_outbound(connection, record))

    async def outbound(self, key: str) -> OutboundRecord | None:
        found = await self._records(OUTBOUND, "SELECT data FROM outbound WHERE key = ?", key)
        return next(iter(found), None)

    async def unfinished_outbound(self) -> list[OutboundRecord]:
        query = "SELECT data FROM outbound WHERE ended_at IS NULL ORDER BY accepted_at"
        return await self._records(OUTBOUND, query)

    async def save_events(self, *events: KeptEvent) -> None:
        rows = [(each.turn, each.at, each.data) for each in events]
        statement = (
            "INSERT INTO events SELECT ?1, ?2, ?3"
            " WHERE EXISTS (SELECT 1 FROM turns WHERE key = ?1 AND data IS NOT NULL)"
        )
        await self._run(lambda connection: connection.executemany(statement, rows))

    async def events(self, turn: str) -> list[KeptEvent]:
        found = await self._read("SELECT turn, at, data FROM events WHERE turn = ? ORDER BY rowid", turn)
        return [KeptEvent(*each) for each in found]


async def open_store(url: str, ages: Ages, wait: float) -> Store:
    """Open the store that `url` names: `sqlite:///relative`, `sqlite:////absolute` or `memory://`.

    Another process that holds it gets `wait` seconds to end. SettingsError for another URL or a directory,
    StoreError if the store cannot be opened.
    """
    path = file_of(url)
    return await open_sqlite(path, ages, None if path == MEMORY else await _lock(path, wait))


async def join_store(url: str, ages: Ages) -> tuple[Store, bool]:
    """The store that `url` names, and whether this process holds it, not another. Raises as `open_store`."""
    try:
        return await open_store(url, ages, 0.0), True
    except StoreInUse:
        return await open_sqlite(file_of(url), ages, is_guest=True), False


async def is_held(url: str) -> bool:
    """Whether another process holds the store. Raises StoreError."""
    try:
        lock = await _lock(file_of(url), 0.0)
    except StoreInUse:
        return True
    if lock is not None:
        os.close(lock)
    return False


async def _lock(path: Path, wait: float) -> int | None:
    """The lock of the file at `path`. StoreError if another process holds it for `wait` seconds."""
    if unusable(path):
        return None  # opening it says why
    held = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE)
    looks = max(1, round(wait / _LOCK_SECONDS))
    for look in range(looks + 1):
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return held
        except BlockingIOError:
            if look == 0:
                _log.info("another process has the store open: waiting up to %g s for its end", wait)
            if look < looks:
                await asyncio.sleep(_LOCK_SECONDS)
        except OSError as error:
            os.close(held)
            raise StoreError(
                f"The file system of {path} cannot lock files ({error.strerror}); name a file on a local disk"
                " in SLACK_BOT_STORE__URL."
            ) from error
    os.close(held)
    raise StoreInUse(
        f"Another process has the store {path} open, and did not end within {wait:g} s: stop it, or name"
        " another file in SLACK_BOT_STORE__URL."
    )


def file_of(url: str) -> Path:
    """The file that `url` names, or SQLite's name for none.

    SettingsError for another URL, for a directory, and where this process may not look.
    """
    if url == "memory://":
        return MEMORY
    if not url.startswith(URL) or url == URL:
        raise SettingsError(
            f"SLACK_BOT_STORE__URL is {url!r}; write sqlite:///file.sqlite, sqlite:////path/file.sqlite,"
            " redis://host:6379/0 or memory://."
        )
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
    path: Path, ages: Ages, lock: int | None = None, *, is_guest: bool = False
) -> SqliteStore:
    """Open the file at `path`, or create it. `lock` is closed with the store. Raises StoreError."""
    store = SqliteStore(path, ages, lock)
    async with AsyncExitStack() as on_failure:
        on_failure.push_async_callback(store.close)
        await store.open(is_guest=is_guest)
        on_failure.pop_all()
    return store


def _thread_state(connection: sqlite3.Connection, thread: ThreadKey) -> ThreadState | None:
    query = "SELECT data FROM threads WHERE team = ? AND channel = ? AND thread = ?"
    found = connection.execute(query, (thread.team, thread.channel, thread.ts)).fetchone()
    return None if found is None else THREAD.validate_json(found[0])


def _put_outbound(connection: sqlite3.Connection, record: OutboundRecord) -> None:
    values = record.key, record.message.user, record.accepted_at, record.ended_at
    statement = (
        "INSERT OR REPLACE INTO outbound (key, user, accepted_at, ended_at, data) VALUES (?, ?, ?, ?, ?)"
    )
    connection.execute(statement, (*values, OUTBOUND.dump_json(record).decode()))


def _json(turn: TurnRecord) -> str:
    return TURN.dump_json(turn, exclude=APART).decode()
