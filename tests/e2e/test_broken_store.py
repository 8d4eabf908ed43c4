"""The store breaks under a bot that answers: the answer is finished, new questions are not acknowledged."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path

import pytest

from slack_bot.app import run
from slack_bot.clock import system_clock
from slack_bot.errors import StoreError
from slack_bot.observe.health import STORE_FAILED
from slack_bot.store import sqlite, sqlite_file
from slack_bot.store.collection import Ages
from slack_bot.testing.agent.scripted import ScriptedAgent, serve_scripted
from slack_bot.testing.harness import CHANNEL, bot_on_network, bot_settings, emulated, wait_until
from slack_bot.testing.overrides import with_overrides
from slack_bot.testing.slack.server import SlackServer
from slack_bot.testing.slack.workspace import Workspace
from slack_bot.testing.tape.builders import answer
from tests.log_watch import log_watch
from tests.store.small_disk import fail, make_immutable, make_read_only, mount_again, small_disk, small_ext4

LINES = "".join(f"Line {number} of the answer has some words.\n" for number in range(1, 13)).rstrip()
PAGE = 4096
GARBAGE = b"\xaa"

Breaking = Callable[[Path], AbstractContextManager[None]]


@contextmanager
def full(file: Path) -> Iterator[None]:
    filler = file.parent / "filler"
    with filler.open("wb", buffering=0) as writing, suppress(OSError):
        while True:
            writing.write(bytes(PAGE))  # until there is no room: the bot writes, too
    yield
    filler.unlink()


@contextmanager
def locked(file: Path) -> Iterator[None]:
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


@contextmanager
def corrupted(file: Path) -> Iterator[None]:
    """Everything behind the first page, where the bot reads it again, because somebody else wrote."""
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        other.execute("INSERT INTO records (collection, key, data) VALUES ('another', '[]', '')")
        with file.open("r+b") as damaged:
            damaged.seek(PAGE)
            damaged.write(GARBAGE * (file.stat().st_size - PAGE))
        yield
    assert file.read_bytes()[PAGE : 2 * PAGE] == GARBAGE * PAGE


@contextmanager
def removed(file: Path) -> Iterator[None]:
    file.unlink()
    yield
    assert not file.exists()


@contextmanager
def read_only(file: Path) -> Iterator[None]:
    before = file.read_bytes()
    fail(file.parent)
    yield
    assert file.read_bytes() == before


@contextmanager
def immutable(file: Path) -> Iterator[None]:
    files = [each for each in file.parent.glob("bot.sqlite*") if not each.name.endswith("-shm")]
    before = [each.read_bytes() for each in files]
    make_immutable(files)
    yield
    assert [each.read_bytes() for each in files] == before
    make_immutable(files, is_so=False)


def answers(workspace: Workspace, root: str) -> list[str]:
    return [" ".join(each.text.split()) for each in workspace.thread(CHANNEL, root) if each.is_bot]


@pytest.mark.parametrize(
    ("breaking", "sentence", "recovers"),
    [
        (full, r"cannot be written .*is the disk full\? Make room there", True),
        (locked, "is locked by another program; end what has it open", True),
        (
            corrupted,
            "is damaged or is not a SQLite file; name another one, or move it away",
            False,
        ),
        (removed, "was removed or replaced while the bot was using it", False),
    ],
)
async def test_a_store_that_breaks_under_a_running_answer(
    breaking: Breaking, sentence: str, recovers: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_file, "_BUSY_SECONDS", 0.1)
    on = small_ext4 if breaking in (read_only, immutable) else small_disk
    with on(tmp_path) as disk, log_watch() as log:
        file, tapes = disk / "bot.sqlite", (answer(LINES, seconds=2.0), answer("Works.", seconds=0.1))
        options = {"store.url": f"sqlite:///{file}", "max_failures": 1_000, "checkpoint_interval": 0.1}
        async with bot_on_network(*tapes, http=True, **options) as (workspace, face, app):

            def ask() -> str:
                return workspace.say("U1", CHANNEL, f"<@{workspace.bot.user_id}> hi", now=time.time())

            first = ask()
            await wait_until(lambda: answers(workspace, first), workspace)
            await face.settle()
            with breaking(file):
                second = ask()
                await face.settle()
                await app.threads.idle()
                assert {each.payload["event"]["ts"] for each in face.lost} == {second}
                assert app.health.body()["checks"]["store"] == STORE_FAILED
                assert answers(workspace, first) == [" ".join(LINES.split())]
            assert answers(workspace, second) == []
            assert workspace.open_streams() == []
            third = ask()
            await face.settle()
            await app.threads.idle()
            assert (answers(workspace, third) == ["Works."]) is recovers
            assert (app.health.body()["checks"]["store"] == "ok") is recovers
        said = [line for line in log.messages if "a question was not accepted" in line]
        assert said
        assert all(re.search(sentence, line) for line in said), said


@pytest.mark.slow
async def test_a_bot_whose_disk_breaks_ends_after_its_answer_and_goes_on_when_the_disk_is_mounted_again(
    tmp_path: Path,
) -> None:
    workspace, clock, often = Workspace(), system_clock(), (0.0, *(0.3 for _ in range(200)))
    workspace.add_channel(CHANNEL)
    agent = ScriptedAgent(answer(LINES, seconds=3.0), answer("Works.", seconds=0.1))
    slack = SlackServer(workspace, clock, ack_timeout=1.0, retry_delays=often)

    def ask() -> str:
        return workspace.say("U1", CHANNEL, f"<@{workspace.bot.user_id}> hi", now=clock.wall())

    with small_ext4(tmp_path) as disk:
        async with serve_scripted(agent) as agent_url, slack:
            settings = emulated(bot_settings({}, agent_url), slack.api_url)
            settings = with_overrides(settings, {"store.url": f"sqlite:///{disk}/bot.sqlite"})
            running = asyncio.create_task(run(settings))
            await slack.sockets.connected()
            first = ask()
            await wait_until(lambda: answers(workspace, first), workspace)
            fail(disk)
            others = [ask() for _ in range(3)]
            with pytest.raises(StoreError, match=r"its disk is not full.*started again and opens the store"):
                await asyncio.wait_for(running, 60)
            whole = [" ".join(LINES.split())]
            assert answers(workspace, first) == whole
            assert len(agent.questions) == 1
            mount_again(disk)
            running = asyncio.create_task(run(settings))

            def are_answered() -> bool:
                assert not running.done(), running.exception()
                return all(answers(workspace, each) == ["Works."] for each in others)

            await wait_until(are_answered, workspace)
            await slack.settle()
            os.kill(os.getpid(), signal.SIGTERM)
            await asyncio.wait_for(running, 60)
            assert slack.lost == []
            assert workspace.open_streams() == []
            assert answers(workspace, first) == whole
            assert len(agent.questions) == 1 + len(others)


async def empty(file: Path) -> None:
    await (await sqlite.open_sqlite(file, Ages())).close()


def newer(file: Path) -> None:
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute(f"PRAGMA user_version = {sqlite_file.VERSION + 1}")


def foreign(file: Path) -> None:
    file.write_text("Dear diary. " * 500)


def on_read_only_disk(file: Path) -> None:
    make_read_only(file.parent)


@pytest.mark.parametrize(
    ("breaking", "sentence"),
    [
        (newer, "was written by a newer version of the bot .*install that version or name another file"),
        (foreign, "is damaged or is not a SQLite file; name another one, or move it away"),
        (on_read_only_disk, "is on a read-only file system; mount a volume there, or name a file elsewhere"),
    ],
)
async def test_a_bot_does_not_start_with_such_a_file_and_leaves_it_as_it_is(
    breaking: Callable[[Path], None], sentence: str, tmp_path: Path
) -> None:
    with small_disk(tmp_path) as disk:
        file = disk / "bot.sqlite"
        await empty(file)
        breaking(file)
        before = file.read_bytes()
        with pytest.raises(StoreError, match=sentence):
            await run(with_overrides(bot_settings(), {"store.url": f"sqlite:///{file}"}))
        assert file.read_bytes() == before
        assert {each.name for each in disk.iterdir()} <= {"bot.sqlite", "bot.sqlite.lock"}
