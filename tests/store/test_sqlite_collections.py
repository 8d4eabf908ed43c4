"""The file of each format before becomes one of records; and the index of people follows the records."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from importlib import resources
from pathlib import Path

import pytest

import slack_bot.store
from slack_bot.app import COLLECTIONS
from slack_bot.errors import StoreOutdated
from slack_bot.store.collection import Ages
from slack_bot.store.knowledge import FORMS
from slack_bot.store.sqlite import open_sqlite
from slack_bot.store.sqlite_file import VERSION
from slack_bot.store.stores import open_admin
from slack_bot.turn.feedback import FeedbackRecord
from tests.loaded_program import loaded_python

from . import subjects
from .contract import opened
from .recorded import check_all, write_sqlite

LAST = resources.files(slack_bot.store) / f"schema_{VERSION}.sql"
STATEMENTS = [each for each in LAST.read_text("utf-8").split(";\n") if each.strip()]
OPEN_AND_DIE = """
import asyncio, os, signal, sys
from pathlib import Path
from slack_bot.store import sqlite_file
from slack_bot.store.collection import Ages, name_of
from slack_bot.store.sqlite import open_sqlite

def die(parts):
    if parts == ("die",):
        os.kill(os.getpid(), signal.SIGKILL)
    return name_of(parts)

sqlite_file.name_of = die
sqlite_file._STEPS = (*sqlite_file._STEPS[:-1], sys.argv[2])
asyncio.run(open_sqlite(Path(sys.argv[1]), Ages()))
"""


def write_older(file: Path, version: int, *rows: str) -> None:
    names = ["schema.sql", *(f"schema_{number}.sql" for number in range(2, version + 1))]
    with closing(sqlite3.connect(file)) as writer:
        for name in names:
            writer.executescript((resources.files(slack_bot.store) / name).read_text("utf-8"))
        writer.executescript("".join(f"{each};" for each in rows) + f"PRAGMA user_version = {version};")


def open_and_die(file: Path, steps: Path) -> int:
    return subprocess.run([*loaded_python(), "-c", OPEN_AND_DIE, file, steps], check=False).returncode


def rows_of(file: Path, query: str) -> Sequence[object]:
    with closing(sqlite3.connect(file)) as reader:
        return reader.execute(query).fetchall()


async def test_all_that_format_8_held_is_there(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    write_sqlite(file := tmp_path / "store.sqlite")
    caplog.set_level("INFO")
    for _ in range(2):
        store = await open_sqlite(file, Ages(), collections=COLLECTIONS)
        await check_all(store)
        await store.close()
    assert caplog.messages == [f"the store {file} is brought to format {VERSION}"]


@pytest.mark.parametrize("version", range(2, 9))
async def test_a_file_of_each_format_before_is_taken_over(version: int, tmp_path: Path) -> None:
    names = ("conversations", "feedback", "profiles") if version > 2 else ("contexts", "presses", "lore")
    write_older(
        file := tmp_path / "store.sqlite",
        version,
        f"INSERT INTO {names[0]} (agent, team, channel, thread, context_id, waits, at)"
        " VALUES ('a', 'T1', 'C1', '1', 'ctx', '{\"U1\": \"t\"}', 1.0)",
        f"INSERT INTO {names[1]} (turn, user, value, at) VALUES ('T1:C1:1.0', 'U1', 'positive', 5.0)"
        if version < 8
        else "INSERT INTO feedback (turn, user, value, at, data) VALUES ('T1:C1:1.0', 'U1', 'positive', 5.0,"
        ' \'{"turn": "T1:C1:1.0", "user": "U1", "value": "positive", "at": 5.0}\')',
        f"INSERT INTO {names[2]} VALUES ('a', 'wire', '1.0', 1.0)",
    )
    store = await open_sqlite(file, Ages())
    known = await subjects.conversation(store, "a", replace(opened("").thread, ts="1"))
    assert (known.context_id, dict(known.waits)) == ("ctx", {"U1": "t"})
    said = await subjects.change_feedback(store, "T1:C1:1.0", "U1", lambda _: None)
    assert said == FeedbackRecord("T1:C1:1.0", "U1", "positive", 5.0)
    assert await subjects.profile(store, "a") == {"wire": "1.0"}
    await store.close()
    assert rows_of(file, "PRAGMA user_version") == [(VERSION,)]


@pytest.mark.parametrize("done", range(len(STATEMENTS) + 1))
async def test_a_process_that_is_killed_in_the_middle_leaves_the_file_as_it_was(
    done: int, tmp_path: Path
) -> None:
    write_sqlite(file := tmp_path / "store.sqlite")
    before = rows_of(file, "SELECT name, sql FROM sqlite_master ORDER BY name")
    steps = tmp_path / "steps.sql"
    steps.write_text(";\n".join([*STATEMENTS[:done], "SELECT record_key('die')", ""]), "utf-8")
    assert open_and_die(file, steps) == -signal.SIGKILL
    assert rows_of(file, "SELECT name, sql FROM sqlite_master ORDER BY name") == before
    assert rows_of(file, "PRAGMA user_version") == [(VERSION - 1,)]
    store = await open_sqlite(file, Ages())
    await check_all(store)
    await store.close()


async def test_a_verb_of_an_operator_does_not_bring_the_file_to_another_format(tmp_path: Path) -> None:
    write_sqlite(file := tmp_path / "store.sqlite")
    with pytest.raises(StoreOutdated, match=r"start the bot once"):
        async with open_admin(subjects.options(f"sqlite:///{file}")):
            pass
    assert rows_of(file, "PRAGMA user_version") == [(VERSION - 1,)]


async def test_the_records_of_a_thread_are_found_without_reading_all(tmp_path: Path) -> None:
    """SQLite's own choice is the primary key, which reads the whole collection."""
    file, steps = tmp_path / "store.sqlite", list[str]()
    store = await open_sqlite(file, Ages())
    await store._run(lambda connection: connection.set_trace_callback(steps.append))
    await subjects.forms_in(store, opened("").thread)
    await store.close()
    (query,) = [each for each in steps if each.startswith("SELECT")]
    (plan,) = rows_of(file, f"EXPLAIN QUERY PLAN {query}")
    assert "records_by_thread (collection=? AND team=? AND channel=? AND thread=?)" in str(plan)


async def test_who_is_looked_for_follows_the_records_and_goes_with_them(tmp_path: Path) -> None:
    file = tmp_path / "store.sqlite"
    store = await open_sqlite(file, Ages(), collections=COLLECTIONS)
    people = "SELECT key, user, team FROM people ORDER BY key, user"
    await subjects.open_form(store, opened("h1", 1.0))
    await subjects.open_form(store, opened("h2", 2.0))
    assert rows_of(file, people) == [('["h1"]', "U1", "T1"), ('["h2"]', "U1", "T1")]
    await subjects.take_form(store, "h1", "key", "U2", 3.0)
    assert [each for each in rows_of(file, people)][:2] == [('["h1"]', "U1", "T1"), ('["h1"]', "U2", "T1")]
    await store.remove(FORMS, ("h2",))
    await store.remove_old(1.0 + 7 * 86_400)
    assert rows_of(file, people) == rows_of(file, "SELECT * FROM records") == []
    await store.close()
