"""Collections in a SQLite file: one table of records, and one that finds the records of a person."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Sequence
from typing import Any

from ..turn.record import ThreadKey
from .adapters import read, write
from .collection import (
    Ages,
    Change,
    Collection,
    CollectionStore,
    KeptPerson,
    Key,
    R,
    Revision,
    key_of,
    name_of,
)
from .sqlite_file import SqliteFile, as_store_errors

_FOUND = "SELECT key, data FROM records WHERE collection = ?"


class SqliteCollections(SqliteFile, CollectionStore):
    """The collections of a `SqliteStore`."""

    collections: Sequence[Collection[Any]]

    async def get(self, collection: Collection[R], key: Key) -> R | None:
        return await self._run(lambda connection: find(connection, collection, key), reads=True)

    async def change(self, collection: Collection[R], key: Key, revise: Change[R], now: float) -> Revision[R]:
        def work(connection: sqlite3.Connection) -> Revision[R]:
            before = find(connection, collection, key)
            after = revise(before)
            if after is None:
                return Revision(before, before)
            if after != before:
                put(connection, collection, key, after, now)
            elif collection.since is None:
                renew = "UPDATE records SET at = ? WHERE collection = ? AND key = ?"
                connection.execute(renew, (now, collection.name, name_of(key)))
            return Revision(before, after)

        return await self._run(work)

    async def remove(self, collection: Collection[R], *keys: Key) -> None:
        def work(connection: sqlite3.Connection) -> None:
            for key in keys:
                drop(connection, collection, key)

        if keys:
            await self._run(work)

    async def in_thread(self, collection: Collection[R], thread: ThreadKey) -> list[R]:
        # without statistics SQLite takes the primary key, and reads the whole collection
        there = (
            "SELECT key, data FROM records INDEXED BY records_by_thread"
            " WHERE collection = ? AND team = ? AND channel = ? AND thread = ?"
        )
        return await self._in_order(collection, there, *thread.parts)

    async def of_person(self, collection: Collection[R], person: KeptPerson) -> list[R]:
        theirs = f"{_FOUND} AND key IN (SELECT key FROM people WHERE (collection, user, team) = (?, ?, ?))"
        return await self._in_order(collection, theirs, collection.name, *person)

    async def due(self, collection: Collection[R], now: float, most: int) -> list[R]:
        rows = await self._read(
            f"{_FOUND} AND due <= ? ORDER BY due, key LIMIT ?", collection.name, now, most
        )
        return [record for _, record in self._records(collection, rows)]

    async def hold(self, collection: Collection[R], key: Key) -> bool:
        return True

    async def records(self, collection: Collection[R]) -> AsyncIterator[tuple[Key, R]]:
        """All records of a collection, in the order of their keys. Raises StoreError."""
        for each in self._records(collection, await self._read(f"{_FOUND} ORDER BY key", collection.name)):
            yield each

    async def _in_order(self, collection: Collection[R], query: str, *values: object) -> list[R]:
        entries = self._records(collection, await self._read(query, collection.name, *values))
        return [record for _, record in sorted(entries, key=lambda each: collection.order(*each))]

    def _records(self, collection: Collection[R], rows: list[Any]) -> list[tuple[Key, R]]:
        with as_store_errors(self._path):
            return [(key_of(name), read(collection, data)) for name, data in rows]

    async def _remove_old_records(self, ages: Ages, now: float) -> None:
        for collection in self.collections:
            if collection.age is not None:
                old = collection.name, now - collection.age(ages)
                await self._run(lambda connection, old=old: _drop_old(connection, *old))  # type: ignore[misc]


def find(connection: sqlite3.Connection, collection: Collection[R], key: Key) -> R | None:
    """Read a record inside a transaction; None if there is none. Raises ValueError if it cannot be read."""
    row = connection.execute(f"{_FOUND} AND key = ?", (collection.name, name_of(key))).fetchone()
    return None if row is None else read(collection, row[1])


def put(connection: sqlite3.Connection, collection: Collection[R], key: Key, record: R, now: float) -> None:
    """Store a record inside a transaction."""
    thread = collection.thread_of(key, record)
    place = (None, None, None) if thread is None else thread.parts
    since, due = (
        collection.since(record) if collection.since else now,
        collection.due(record) if collection.due else None,
    )
    row = collection.name, name_of(key), *place, since, due, write(collection, record)
    connection.execute("INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
    if collection.by_person:
        connection.execute("DELETE FROM people WHERE collection = ? AND key = ?", row[:2])
        people = {(*row[:2], each.user, each.team) for each in collection.people_of(key, record)}
        connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", people)


def drop(connection: sqlite3.Connection, collection: Collection[R], key: Key) -> None:
    """Remove a record inside a transaction."""
    for table in ("records", "people"):
        row_key = collection.name, name_of(key)
        connection.execute(f"DELETE FROM {table} WHERE collection = ? AND key = ?", row_key)


def _drop_old(connection: sqlite3.Connection, name: str, until: float) -> None:
    old = "collection = ? AND key IN (SELECT key FROM records WHERE collection = ? AND at <= ?)"
    for table in ("people", "records"):
        connection.execute(f"DELETE FROM {table} WHERE {old}", (name, name, until))
