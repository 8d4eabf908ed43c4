"""How far a mention, a chunk, a press and a takeover travel through the bot.

A *room* is a folder of `slack_bot/` or a module directly in it. A *move* is a call in another room (or file)
than the call before it. A *climb* is a call into a room that is before the caller's on the path of a turn
(`PATH`). Files of plain values (`VALUES`) and the lab do not count.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

from slack_bot.testing.harness import CHANNEL, run_bot
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.testing.tape.builders import chunk, status, task
from slack_bot.testing.tape.tape import Moment, Tape
from slack_bot.testing.virtual_clock import on_virtual_time

PACKAGE = f"{Path(__file__).parents[2]}/slack_bot/"
PATH = ("inbound", "threads", "turn", "text", "agents", "slack", "store")
"""The rooms in the order of the path of a turn."""
LAB = ("testing/", "tools/", "playground/")
TEST_STORE = "testing/memory_store.py"
"""It stands for a store of the bot: what it is asked is a part of the way."""
VALUES = {
    "json_values.py",
    "record.py",
    "progress.py",
    "clock.py",
    "channels.py",
    "facts.py",
    "errors.py",
    "store_kinds.py",
}
Function = tuple[str, str]
"""A file of the package and a function in it; a method by its own name."""
Profile = Callable[[FrameType, str, Any], None]


def function_of(frame: FrameType) -> Function | None:
    """The function of the bot that `frame` runs; None: another's, the lab's, or a comprehension."""
    code = frame.f_code
    _, found, path = code.co_filename.partition(PACKAGE)
    if path == TEST_STORE:
        path = "store/of_tests.py"
    if not found or path.startswith(LAB) or code.co_name.startswith("<"):
        return None
    return path, code.co_name


def callers(frame: FrameType) -> Iterator[Function]:
    """The functions of the bot on the stack, the innermost first."""
    above: FrameType | None = frame
    while above is not None:
        if (function := function_of(above)) is not None:
            yield function
        above = above.f_back


def is_begun(frame: FrameType) -> bool:
    """It is called, and does not go on behind an `await` or a `yield`: of that Pythons tell other parts."""
    code, at = frame.f_code.co_code, frame.f_lasti
    return at < 0 or code[at + 1] & 3 == 0  # its instruction is RESUME, whose argument says behind what


@dataclass
class Walk:
    """The calls of the bot's functions while it is the profile function, in order, and how many climb."""

    calls: list[Function] = field(default_factory=list)
    climbs: int = 0

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        if event != "call" or (function := function_of(frame)) is None or is_value(function):
            return
        if not is_begun(frame):
            return
        self.calls.append(function)
        above = [each for each in callers(frame) if not is_value(each)][1:2]
        self.climbs += sum(is_climb(caller[0], function[0]) for caller in above)

    def figures(self) -> dict[str, int]:
        files = [path for path, _ in self.calls]
        rooms = [room_of(path) for path in files]
        return {
            "files": len(set(files)),
            "rooms": len(set(rooms)),
            "moves between files": moves(files),
            "moves between rooms": moves(rooms),
            "climbs": self.climbs,
        }


def room_of(path: str) -> str:
    """The room of a file of the package, by its path in it."""
    return path.partition("/")[0].removesuffix(".py")


def is_value(function: Function) -> bool:
    return function[0].rpartition("/")[2] in VALUES


def is_climb(caller: str, called: str) -> bool:
    here, there = room_of(caller), room_of(called)
    return here in PATH and there in PATH and PATH.index(there) < PATH.index(here)


def moves(places: list[str]) -> int:
    return sum(before != after for before, after in pairwise(places))


@contextmanager
def followed(profile: Profile) -> Iterator[None]:
    """Calls `profile` for what runs meanwhile."""
    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        yield
    finally:
        sys.setprofile(before)


ANSWER = Tape(
    {"wire": "0.3"},
    (
        Moment(0.1, event=task()),
        Moment(0.5, event=chunk("The first line.\n")),
        Moment(5.0, event=chunk("The second line.\n")),
        Moment(9.0, event=status("completed")),
        Moment(9.1, end="closed"),
    ),
)
FAILURE = Tape(
    {"wire": "0.3"},
    (Moment(0.1, event=task()), Moment(0.5, event=status("failed")), Moment(0.6, end="closed")),
)


async def mention(profile: Profile) -> None:
    """A mention, until the agent is asked."""
    async with run_bot(ANSWER) as bot:
        with followed(profile):
            await bot.ask("hi")
            await asyncio.sleep(0.05)
        await bot.idle()


async def one_chunk(profile: Profile) -> None:
    """A chunk that ends a line, in a message that is open, until it is in the thread."""
    async with run_bot(ANSWER) as bot:
        await bot.ask("hi")
        await asyncio.sleep(4.5)
        with followed(profile):
            await asyncio.sleep(1.0)
        assert len(bot.calls("chat.appendStream")) == 1
        await bot.idle()


async def press(profile: Profile) -> None:
    """A press of "Try again", until the agent is asked."""
    async with run_bot(FAILURE, ANSWER) as bot:
        root = await bot.ask("hi")
        await bot.idle()
        message = bot.thread(root)[-1]
        with followed(profile):
            bot.workspace.press("U1", CHANNEL, message.ts, "retry", now=bot.now)
            await bot.deliver()
            await asyncio.sleep(0.02)
        await bot.idle()


async def takeover(profile: Profile) -> None:
    """An answer whose process was killed: from the start of the next process to the end of the answer."""
    async with run_bot(ANSWER, store=MemoryStore(is_durable=True)) as bot:
        root = await bot.ask("hi")
        await asyncio.sleep(2.0)
        bot.life.end_now()
        with followed(profile):
            async with run_bot(after=bot) as next_bot:
                await next_bot.idle()
        assert "The second line." in "".join(next_bot.read(root))


WALKS: dict[str, Callable[[Profile], Coroutine[Any, Any, None]]] = {
    "mention": mention,
    "chunk": one_chunk,
    "press": press,
    "takeover": takeover,
}


def take(name: str) -> Walk:
    """Takes the walk a second time: what is imported late and cached is there then."""
    for _ in range(2):
        walk = Walk()
        on_virtual_time(WALKS[name])(walk)
    return walk
