"""What people do with the bot, a scene each, always the same: the goldens keep what Slack, the store and the
log got of it. The store is a real SQLite file, so that its rows can be kept, too.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import re
import secrets
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import Any

from slack_bot.store.collection import Ages
from slack_bot.store.sqlite import open_sqlite
from slack_bot.testing.harness import CHANNEL, BotHarness, run_bot
from slack_bot.testing.slack.call_pipeline import SlackCall
from slack_bot.testing.slack.workspace import PersonFile
from slack_bot.testing.tape.builders import answer, chunk, failure, question, status, task
from slack_bot.testing.tape.tape import Moment, Tape
from slack_bot.testing.virtual_clock import WALL_ZERO, on_virtual_time
from slack_bot.turn.outbound import OutboundMessage, OutboundRecord
from tests.form_tapes import ENVS, ONE, SECRET, SIX, approval, asking, form_in, press, submit
from tests.store import subjects

TWO = {
    "type": "object",
    "required": ["name"],
    "properties": {"name": {"title": "Name", "type": "string"}, "env": {"title": "Where", "enum": ENVS}},
}
LONG = answer(
    "\n".join(f"Line {number} of a long answer with some words in it." for number in range(60)), seconds=90
)
VERY_LONG = answer(
    "\n".join(f"Line {number}: " + "many words in it. " * 8 for number in range(150)), seconds=20
)
RICH = answer(
    "# A title\n\nSome **bold** words, [a link](https://example.com) and `code`.\n\n"
    "| name | value |\n|---|---|\n| one | 1 |\n| two | 2 |\n\n```python\nprint('x')\n```\n\nThe end.",
    seconds=6,
)
TOOLS = Tape(
    {"wire": "0.3"},
    (
        Moment(0.1, event=task()),
        Moment(0.5, event=status("working", "Looking into the documents.")),
        Moment(3.0, event=status("working", "Reading what was found.")),
        Moment(6.0, event=chunk("It is all there.\n")),
        Moment(9.0, event=status("completed")),
        Moment(9.1, end="closed"),
    ),
)
SLOW = Tape(
    {"wire": "0.3"},
    (
        Moment(0.1, event=task()),
        Moment(0.5, event=chunk("This is the first line.\n")),
        Moment(7200.0, event=chunk("And this is the rest.")),
        Moment(7200.1, event=status("completed")),
        Moment(7200.2, end="closed"),
    ),
)


class Stage:
    """What a scene plays on: bots one after the other in one workspace, with one store in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "bot.db"
        self.bots: list[BotHarness] = []

    @asynccontextmanager
    async def bot(self, *tapes: Tape, **options: Any) -> AsyncIterator[BotHarness]:
        """The bot; where there was one, its next process."""
        store = await open_sqlite(self.path, Ages(72.0))
        before = self.bots[-1] if self.bots else None
        if before is not None:
            before.store = store
        try:
            async with run_bot(*tapes, store=store, after=before, **options) as bot:
                self.bots.append(bot)
                yield bot
        finally:
            await store.close()

    def calls(self) -> Iterator[str]:
        """The calls of Slack in their order, a line each."""
        return as_lines(self.bots[-1].workspace.calls)

    def rows(self) -> Iterator[str]:
        """What the store holds, a line each row."""
        with closing(sqlite3.connect(self.path)) as connection:
            tables = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
            for (table,) in connection.execute(tables).fetchall():
                rows = connection.execute(f"SELECT * FROM {table}").fetchall()
                yield from sorted(f"{table} {json.dumps(row, ensure_ascii=False)}" for row in rows)


def as_lines(calls: Iterable[SlackCall]) -> Iterator[str]:
    for call in calls:
        args = json.dumps(call.args, sort_keys=True, ensure_ascii=False)
        yield f"{call.now - WALL_ZERO:.3f} {call.method} {call.error or 'ok'} {args}"


Scene = Callable[[Stage], Awaitable[None]]
SCENES: dict[str, Scene] = {}


def scene(play: Scene) -> Scene:
    SCENES[getattr(play, "__name__", "")] = play
    return play


@scene
async def an_answer(stage: Stage) -> None:
    async with stage.bot(RICH, TOOLS) as bot:
        root = await bot.ask("what is new?")
        await bot.idle()
        await bot.ask("and besides?", thread_ts=root)
        await bot.idle()


@scene
async def a_long_answer(stage: Stage) -> None:
    async with stage.bot(VERY_LONG) as bot:
        await bot.ask("all of it, please")
        await bot.idle()


@scene
async def a_failure_and_try_again(stage: Stage) -> None:
    async with stage.bot(failure("it is broken"), answer("It works.")) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        bot.workspace.press("U1", CHANNEL, bot.thread(root)[-1].ts, "retry", now=bot.now)
        await bot.deliver()
        await bot.idle()


@scene
async def a_question_of_the_agent(stage: Stage) -> None:
    async with stage.bot(question("Which environment?"), answer("Done.")) as bot:
        root = await bot.ask("deploy")
        await bot.idle()
        await bot.say("staging", thread_ts=root)
        await bot.idle()


@scene
async def an_approval(stage: Stage) -> None:
    async with stage.bot(approval("approve", "edit", "reject"), answer("Deployed.")) as bot:
        root = await bot.ask("deploy")
        await bot.idle()
        await press(bot, root, "form_approve")
        await bot.idle()


@scene
async def a_choice(stage: Stage) -> None:
    async with stage.bot(asking(ONE, "Where?"), answer("Done.")) as bot:
        root = await bot.ask("deploy")
        await bot.idle()
        await press(bot, root, "form_choose-1")
        await bot.idle()


@scene
async def inputs_in_the_message(stage: Stage) -> None:
    async with stage.bot(asking(TWO), answer("Done.")) as bot:
        root = await bot.ask("deploy")
        await bot.idle()
        ts = form_in(bot, root).ts
        await press(bot, root, "form_send")
        for label, value in (("Name", "Ann"), ("Where", "dev")):
            bot.workspace.fill("U1", CHANNEL, ts, label, value, now=bot.now)
        await press(bot, root, "form_send")
        await bot.idle()


@scene
async def a_form_in_a_modal(stage: Stage) -> None:
    async with stage.bot(asking(SIX, "Some things are missing."), answer("Done.")) as bot:
        root = await bot.ask("deploy")
        await bot.idle()
        await press(bot, root, "form_fill")
        await submit(bot, Your_name="Ann", Where="prod")
        await bot.idle()


@scene
async def a_secret_in_a_modal(stage: Stage) -> None:
    async with stage.bot(asking(SECRET, "A token is missing."), answer("Done.")) as bot:
        root = await bot.ask("deploy")
        await bot.idle()
        await press(bot, root, "form_fill")
        await submit(bot, Token="a-secret-word")
        await bot.idle()


@scene
async def a_rejection(stage: Stage) -> None:
    async with stage.bot(approval(), answer("Not done.")) as bot:
        root = await bot.ask("deploy")
        await bot.idle()
        await press(bot, root, "form_reject")
        await submit(bot, **{"Why?_The_agent_is_told.": "Too late"})
        await bot.idle()


@scene
async def other_arguments(stage: Stage) -> None:
    async with stage.bot(approval("approve", "edit", "reject", note="soon"), answer("Deployed.")) as bot:
        root = await bot.ask("deploy")
        await bot.idle()
        await press(bot, root, "form_edit")
        await submit(bot, **{"Arguments,_as_JSON": '{"env": "dev"}'})
        await bot.idle()


@scene
async def stops(stage: Stage) -> None:
    async with stage.bot(LONG, LONG, LONG) as bot:
        root = await bot.ask("one")
        await asyncio.sleep(8)
        await bot.ask("stop", thread_ts=root)
        await bot.idle()
        await bot.ask("two", thread_ts=root)
        await asyncio.sleep(8)
        bot.workspace.stop("U1", CHANNEL, root, now=bot.now)
        await bot.deliver()
        await bot.idle()


@scene
async def many_questions_in_a_thread(stage: Stage) -> None:
    async with stage.bot(LONG, answer("Two."), answer("Three."), max_waiting=2) as bot:
        root = await bot.ask("one")
        for text in ("two", "three", "four"):
            await asyncio.sleep(1)
            await bot.ask(text, thread_ts=root)
        await bot.ask("stop", thread_ts=root)
        await bot.idle()


@scene
async def an_interruption(stage: Stage) -> None:
    async with stage.bot(LONG, answer("Two."), busy="interrupt") as bot:
        root = await bot.ask("one")
        await asyncio.sleep(8)
        await bot.ask("two", thread_ts=root)
        await bot.idle()


@scene
async def joined_questions(stage: Stage) -> None:
    async with stage.bot(LONG, answer("Two and three."), busy="collect") as bot:
        root = await bot.ask("one")
        await asyncio.sleep(3)
        await bot.ask("two", thread_ts=root)
        await bot.ask("three", thread_ts=root)
        await bot.idle()


@scene
async def edits_and_deletions(stage: Stage) -> None:
    async with stage.bot(LONG, answer("Two."), answer("Three.")) as bot:
        root = await bot.ask("one")
        await asyncio.sleep(2)
        second = await bot.ask("two", thread_ts=root)
        third = await bot.ask("three", thread_ts=root)
        bot.workspace.edit(CHANNEL, second, "<@U0BOT> two, better", now=bot.now)
        bot.workspace.delete(CHANNEL, third, now=bot.now)
        bot.workspace.edit(CHANNEL, root, "<@U0BOT> one, better", now=bot.now)
        await bot.deliver()
        await bot.idle()


@scene
async def feedback(stage: Stage) -> None:
    async with stage.bot(answer("Hello."), public_url=None) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        ts = bot.thread(root)[-1].ts
        bot.workspace.press("U1", CHANNEL, ts, "feedback", now=bot.now, value="positive")
        await bot.deliver()
        bot.workspace.press("U1", CHANNEL, ts, "feedback", now=bot.now, value="negative")
        await bot.deliver()
        bot.workspace.submit("U1", now=bot.now)
        await bot.deliver()
        await bot.idle()


@scene
async def follow_and_stop_listening(stage: Stage) -> None:
    async with stage.bot(answer("One."), answer("Two.")) as bot:
        root = await bot.ask("one")
        await bot.idle()
        await bot.say("two, without a mention", thread_ts=root)
        await bot.idle()
        (offer,) = [seen for seen in bot.thread(root) if seen.ephemeral_for]
        bot.workspace.press("U1", CHANNEL, offer.ts, "stop_listening", now=bot.now)
        await bot.deliver()
        await bot.say("three", thread_ts=root)
        await bot.idle()


@scene
async def the_home_tab(stage: Stage) -> None:
    async with stage.bot(answer("One."), LONG) as bot:
        await bot.ask("one")
        await bot.idle()
        await bot.ask("two")
        await asyncio.sleep(5)
        bot.workspace.open_home("U1", now=bot.now)
        await bot.deliver()
        await asyncio.sleep(1)
        key = (await bot.store.unfinished())[0].key
        bot.workspace.press_in_home("U1", "stop_in_home", key, now=bot.now)
        await bot.deliver()
        await bot.idle()


@scene
async def a_direct_message(stage: Stage) -> None:
    async with stage.bot(answer("Hello.")) as bot:
        direct = bot.workspace.direct("U1")
        await bot.say("hi", channel=direct)
        await bot.idle()


@scene
async def a_file_of_a_person(stage: Stage) -> None:
    async with stage.bot(answer("Three words.")) as bot:
        await bot.ask("what is in it?", PersonFile("note.txt", b"three small words", "text/plain"))
        await bot.idle()


@scene
async def the_conversation_before(stage: Stage) -> None:
    async with stage.bot(answer("It was about lunch.")) as bot:
        root = await bot.say("lunch at one?", user="U2")
        await bot.say("fine with me", thread_ts=root)
        await bot.ask("what is this about?", thread_ts=root)
        await bot.idle()


@scene
async def the_bot_speaks_first(stage: Stage) -> None:
    async with stage.bot(answer("Nothing is new.")) as bot:
        for number, message in enumerate(
            (
                OutboundMessage("All is well.", channel=CHANNEL),
                OutboundMessage("What is new?", channel=CHANNEL, headline="News", is_question=True),
            )
        ):
            await subjects.accept_outbound(bot.store, OutboundRecord(f"key-{number}", message, bot.now))
        run = bot.app.features["outbound"].run
        assert run is not None
        running = asyncio.create_task(run())
        await asyncio.sleep(30)
        running.cancel()
        await asyncio.wait({running})
        await bot.idle()


@scene
async def a_task_that_outlives_its_stream(stage: Stage) -> None:
    async with stage.bot(SLOW, cut_after=2) as bot:
        await bot.ask("hi")
        await bot.idle()
        await asyncio.sleep(3 * 3600.0)
        await bot.idle()


@scene
async def a_kill_in_the_middle(stage: Stage) -> None:
    async with stage.bot(LONG) as bot:
        root = await bot.ask("one")
        await bot.ask("two", thread_ts=root)
        await asyncio.sleep(20)
        bot.life.end_now()
    async with stage.bot() as bot:
        await bot.idle()


@scene
async def a_kill_while_a_form_is_open(stage: Stage) -> None:
    async with stage.bot(asking(SIX, "Some things are missing."), answer("Done.")) as bot:
        root = await bot.ask("deploy")
        await bot.idle()
        bot.life.end_now()
    async with stage.bot() as bot:
        await press(bot, root, "form_fill")
        await submit(bot, Your_name="Ann", Where="prod")
        await bot.idle()


@scene
async def a_restart_in_the_middle(stage: Stage) -> None:
    async with stage.bot(LONG) as bot:
        await bot.ask("one")
        await asyncio.sleep(20)
    async with stage.bot() as bot:
        await bot.idle()


# -- what is kept of it


@contextmanager
def same_tokens() -> Iterator[None]:
    """Tokens and ids that are random otherwise are numbers meanwhile."""
    numbers, before = itertools.count(1), (secrets.token_urlsafe, secrets.token_hex)
    secrets.token_urlsafe = lambda nbytes=None: f"token-{next(numbers)}"
    secrets.token_hex = lambda nbytes=None: f"{next(numbers):016x}"
    try:
        yield
    finally:
        secrets.token_urlsafe, secrets.token_hex = before


def play(name: str, folder: Path) -> Stage:
    """Plays the scene called `name`; its store is in `folder`."""
    stage = Stage(folder)

    @on_virtual_time
    async def story() -> None:
        await SCENES[name](stage)

    with same_tokens():
        story()
    return stage


def controls_of(text: str) -> set[str]:
    """What people press and send, in a text of calls: its names, with the shape of its values."""
    found = re.findall(r'"(action_id|block_id|callback_id|private_metadata|value)": "([^"]*)"', text)
    return {f"{key} {re.sub(r'[0-9]+', '0', value)}" for key, value in found}
