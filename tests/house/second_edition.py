"""Threads with controls that the second edition of the bot posted, with the store that it left behind.

`second_edition.json` was made by that edition (`python -m tests.house.second_edition`) and is never made
again: it stands for what is in people's threads when a bot is updated.
"""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from slack_bot.testing.harness import CHANNEL, BotHarness
from slack_bot.testing.slack.state import StoredMessage
from slack_bot.testing.tape.builders import answer, failure
from slack_bot.testing.tape.tape import Tape
from slack_bot.testing.virtual_clock import on_virtual_time
from tests.form_tapes import ONE, SECRET, SIX, approval, asking
from tests.house.scenes import SLOW, TWO, Stage

FILE = Path(__file__).with_name("second_edition.json")


@dataclass
class Left:
    """What the second edition left: the rows of its store as SQL, and the messages of the channel."""

    store: str
    messages: list[StoredMessage]

    def restore(self, path: Path) -> None:
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.executescript(self.store)

    @property
    def root(self) -> str:
        return self.messages[0].ts


LEFT = TypeAdapter(dict[str, Left])


async def asked(bot: BotHarness) -> None:
    await bot.ask("hi")
    await bot.idle()


async def followed(bot: BotHarness) -> None:
    root = await bot.ask("hi")
    await bot.idle()
    await bot.say("and this, without a mention?", thread_ts=root)
    await bot.idle()


CASES: dict[str, tuple[Callable[[BotHarness], Awaitable[None]], Tape, dict[str, object]]] = {
    "an answer": (asked, answer("Hello."), {}),
    "a failure": (asked, failure("it is broken"), {}),
    "a followed thread": (followed, answer("Hello."), {}),
    "a choice": (asked, asking(ONE, "Where?"), {}),
    "inputs": (asked, asking(TWO), {}),
    "a form": (asked, asking(SIX, "Some things are missing."), {}),
    "a secret": (asked, asking(SECRET, "A token is missing."), {}),
    "an approval": (asked, approval("approve", "edit", "reject", note="soon"), {}),
    "a watched task": (asked, SLOW, {"cut_after": 2}),
}


def record(name: str) -> Left:
    prepare, tape, options = CASES[name]
    with tempfile.TemporaryDirectory() as folder:
        stage = Stage(Path(folder))

        @on_virtual_time
        async def story() -> None:
            async with stage.bot(tape, **options) as bot:
                await prepare(bot)
                bot.life.end_now()

        story()
        with closing(sqlite3.connect(stage.path)) as connection, connection:
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            dump = "\n".join([*connection.iterdump(), f"PRAGMA user_version = {version};"])
        return Left(dump, list(stage.bots[-1].workspace.state.messages[CHANNEL].values()))


def left(name: str) -> Left:
    return LEFT.validate_json(FILE.read_bytes())[name]


if __name__ == "__main__":
    kept = LEFT.dump_python({name: record(name) for name in CASES}, mode="json")
    FILE.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", "utf-8")
