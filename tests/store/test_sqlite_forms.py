"""Its contract is run by `test_sqlite.py`: here only that the store has it as a part."""

from __future__ import annotations

from slack_bot.store.sqlite import SqliteStore
from slack_bot.store.sqlite_forms import SqliteForms


def test_the_store_keeps_forms_in_this_way() -> None:
    assert issubclass(SqliteStore, SqliteForms)
