"""Open forms in the file of `sqlite`."""

import sqlite3

from ..turn.open_form import OpenForm
from ..turn.record import ThreadKey
from .adapters import FORM
from .contracts import FormStore
from .sqlite_file import SqliteFile


class SqliteForms(SqliteFile, FormStore):
    """A part of `SqliteStore`."""

    async def open_form(self, form: OpenForm) -> None:
        def work(connection: sqlite3.Connection) -> None:
            known = _form(connection, form.handle)
            _put(connection, form if known is None else known.put(form))

        await self._run(work)

    async def form(self, handle: str) -> OpenForm | None:
        return await self._run(lambda connection: _form(connection, handle), reads=True)

    async def forms_in(self, thread: ThreadKey) -> list[OpenForm]:
        there = "SELECT data FROM forms WHERE (team, channel, thread) = (?, ?, ?) ORDER BY at, handle"
        return await self._records(FORM, there, thread.team, thread.channel, thread.ts)

    async def open_forms_of(self, user: str, team: str) -> list[OpenForm]:
        theirs = "SELECT data FROM forms WHERE user = ? AND team = ? ORDER BY at, handle"
        return [form for form in await self._records(FORM, theirs, user, team) if form.is_open]

    async def take_form(self, handle: str, by: str, user: str, at: float) -> OpenForm | None:
        def work(connection: sqlite3.Connection) -> OpenForm | None:
            if (known := _form(connection, handle)) is not None:
                known = known.taken(by, user, at)
                _put(connection, known)
            return known

        return await self._run(work)


def _form(connection: sqlite3.Connection, handle: str) -> OpenForm | None:
    found = connection.execute("SELECT data FROM forms WHERE handle = ?", (handle,)).fetchone()
    return None if found is None else FORM.validate_json(found[0])


def _put(connection: sqlite3.Connection, form: OpenForm) -> None:
    thread, people = form.thread, (form.user, form.ended_by)
    row = form.handle, thread.team, thread.channel, thread.ts, *people, form.opened_at
    statement = "INSERT OR REPLACE INTO forms VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
    connection.execute(statement, (*row, FORM.dump_json(form).decode()))
