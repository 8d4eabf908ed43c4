"""Collections in the file of `sqlite`: one table of records, one of the people that are looked for."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Sequence
from typing import Any

from ..turn.record import ThreadKey
from .adapters import read, write
from .collection import (
    Ages,
    Change,
    Changed,
    Collection,
    CollectionStore,
    KeptPerson,
    Key,
    R,
    key_of,
    name_of,
)
from .sqlite_file import SqliteFile, as_store_errors

_FOUND = "SELECT key, data FROM records WHERE collection = ?"


class SqliteCollections(SqliteFile, CollectionStore):
    """A part of `SqliteStore`."""

    collections: Sequence[Collection[Any]]

    async def get(self, kind: Collection[R], key: Key) -> R | None:
        return await self._run(lambda connection: find(connection, kind, key), reads=True)

    async def change(self, kind: Collection[R], key: Key, change: Change[R], now: float) -> Changed[R]:
        def work(connection: sqlite3.Connection) -> Changed[R]:
            before = find(connection, kind, key)
            after = change(before)
            if after is None:
                return Changed(before, before)
            if after != before:
                put(connection, kind, key, after, now)
            elif kind.since is None:
                renew = "UPDATE records SET at = ? WHERE collection = ? AND key = ?"
                connection.execute(renew, (now, kind.name, name_of(key)))
            return Changed(before, after)

        return await self._run(work)

    async def remove(self, kind: Collection[R], *keys: Key) -> None:
        def work(connection: sqlite3.Connection) -> None:
            for key in keys:
                drop(connection, kind, key)

        if keys:
            await self._run(work)

    async def in_thread(self, kind: Collection[R], thread: ThreadKey) -> list[R]:
        there = f"{_FOUND} AND (team, channel, thread) = (?, ?, ?)"
        return await self._in_order(kind, there, thread.team, thread.channel, thread.ts)

    async def of_person(self, kind: Collection[R], person: KeptPerson) -> list[R]:
        theirs = f"{_FOUND} AND key IN (SELECT key FROM people WHERE (collection, user, team) = (?, ?, ?))"
        return await self._in_order(kind, theirs, kind.name, *person)

    async def due(self, kind: Collection[R], now: float, most: int) -> list[R]:
        rows = await self._read(f"{_FOUND} AND due <= ? ORDER BY due, key LIMIT ?", kind.name, now, most)
        return [record for _, record in self._records(kind, rows)]

    async def hold(self, kind: Collection[R], key: Key) -> bool:
        return True

    async def records(self, kind: Collection[R]) -> AsyncIterator[tuple[Key, R]]:
        """All of a collection, in the order of their keys."""
        for each in self._records(kind, await self._read(f"{_FOUND} ORDER BY key", kind.name)):
            yield each

    async def _in_order(self, kind: Collection[R], query: str, *values: object) -> list[R]:
        found = self._records(kind, await self._read(query, kind.name, *values))
        return [record for _, record in sorted(found, key=lambda each: kind.order(*each))]

    def _records(self, kind: Collection[R], rows: list[Any]) -> list[tuple[Key, R]]:
        with as_store_errors(self._path):
            return [(key_of(name), read(kind, data)) for name, data in rows]

    async def _remove_old_records(self, ages: Ages, now: float) -> None:
        for kind in self.collections:
            if kind.age is not None:
                old = kind.name, now - kind.age(ages)
                await self._run(lambda connection, old=old: _drop_old(connection, *old))  # type: ignore[misc]


def find(connection: sqlite3.Connection, kind: Collection[R], key: Key) -> R | None:
    """A record, in a transaction. Raises ValueError for what cannot be read."""
    found = connection.execute(f"{_FOUND} AND key = ?", (kind.name, name_of(key))).fetchone()
    return None if found is None else read(kind, found[1])


def put(connection: sqlite3.Connection, kind: Collection[R], key: Key, record: R, now: float) -> None:
    """Store a record, in a transaction."""
    thread = kind.thread(key, record) if kind.thread is not None else None
    place = (None, None, None) if thread is None else (thread.team, thread.channel, thread.ts)
    at, due = kind.since(record) if kind.since else now, kind.due(record) if kind.due else None
    row = kind.name, name_of(key), *place, at, due, write(kind, record)
    connection.execute("INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
    if kind.by_person:
        connection.execute("DELETE FROM people WHERE collection = ? AND key = ?", row[:2])
        people = {(*row[:2], each.user, each.team) for each in kind.people_of(key, record)}
        connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", people)


def drop(connection: sqlite3.Connection, kind: Collection[R], key: Key) -> None:
    """Remove a record, in a transaction."""
    for table in ("records", "people"):
        name = kind.name, name_of(key)
        connection.execute(f"DELETE FROM {table} WHERE collection = ? AND key = ?", name)


def _drop_old(connection: sqlite3.Connection, name: str, until: float) -> None:
    old = "collection = ?1 AND key IN (SELECT key FROM records WHERE collection = ?1 AND at <= ?2)"
    for table in ("people", "records"):
        connection.execute(f"DELETE FROM {table} WHERE {old}", (name, until))
