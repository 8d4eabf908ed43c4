"""How feedback is written into the file."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from slack_bot.store.contracts import Ages
from slack_bot.store.sqlite import open_sqlite
from slack_bot.turn.feedback import FeedbackRecord


async def test_what_an_older_version_wrote_is_read(tmp_path: Path) -> None:
    file = tmp_path / "store.sqlite"
    store = await open_sqlite(file, Ages())
    await store.close()
    with closing(sqlite3.connect(file)) as writer, writer:
        writer.execute("DROP INDEX feedback_by_due")
        writer.execute("ALTER TABLE feedback DROP COLUMN data")
        writer.execute("ALTER TABLE feedback DROP COLUMN due")
        row = ("turn", 'U"1', "negative", 1.5)
        writer.execute("INSERT INTO feedback (turn, user, value, at) VALUES (?, ?, ?, ?)", row)
        writer.execute("PRAGMA user_version = 7")
    writer.close()
    store = await open_sqlite(file, Ages())
    before = await store.change_feedback("turn", 'U"1', lambda _: None)
    await store.close()
    assert before == FeedbackRecord("turn", 'U"1', "negative", 1.5)
