"""Feedback in the file of `sqlite`."""

import sqlite3

from ..turn.feedback import FeedbackRecord
from .adapters import FEEDBACK
from .contracts import ChangeFeedback, FeedbackStore
from .sqlite_file import SqliteFile


class SqliteFeedback(SqliteFile, FeedbackStore):
    """A part of `SqliteStore`."""

    async def change_feedback(self, turn: str, user: str, change: ChangeFeedback) -> FeedbackRecord | None:
        def work(connection: sqlite3.Connection) -> FeedbackRecord | None:
            query = "SELECT data FROM feedback WHERE turn = ? AND user = ?"
            found = connection.execute(query, (turn, user)).fetchone()
            before = FEEDBACK.validate_json(found[0]) if found else None
            after = change(before)
            if after is not None and after != before:
                row = turn, user, after.value, after.at, FEEDBACK.dump_json(after).decode(), after.due
                statement = "INSERT OR REPLACE INTO feedback (turn, user, value, at, data, due)"
                connection.execute(f"{statement} VALUES (?, ?, ?, ?, ?, ?)", row)
            return before

        return await self._run(work)

    async def due_feedback(self, now: float, most: int) -> list[FeedbackRecord]:
        query = "SELECT data FROM feedback WHERE due <= ? ORDER BY due LIMIT ?"
        return await self._records(FEEDBACK, query, now, most)
