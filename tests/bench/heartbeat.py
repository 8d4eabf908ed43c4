"""`python -m tests.bench.heartbeat [WORD]`: how long a hostile answer keeps the bot's loop from all others.

The bot runs in a process of its own, between an agent and a Slack in this one. In its loop a heartbeat wants
to run every 50 ms; what it comes late by, every other answer of the bot waits too. A case is judged by its
worst beat, without the parsing of the agent's JSON, which is printed apart: one event is parsed in one step.

On a busy machine a beat is late though the bot did nothing. So what counts of a late beat is at most the
processor time that the bot used since the beat before; the wall clock's figure is printed beside it.

WORD: only the cases that have it in their names.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TextIO

from slack_bot.agents.wire import transport
from slack_bot.app import build, serve
from slack_bot.observe.facts import Fact, TurnEnded
from slack_bot.settings.load import load
from slack_bot.turn.json_values import read_json

from . import hostile_answers, hostile_data, hostile_events
from .figures import machine, progress
from .hostile_answers import Case
from .running import deployed

BEAT = 0.05
"""Seconds between two heartbeats."""
LATE_MOST = 0.25
"""Seconds a beat may be late."""
GROWN_MOST = 400.0
"""Megabytes by which the bot's memory may grow. Its events have 16 MiB at most, and JSON grows tenfold."""
CASES = (*hostile_answers.CASES, *hostile_data.CASES, *hostile_events.CASES)
_BOT = "--bot"
_WITHIN = 120.0  # seconds a case may take in all


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a case. `late`: its worst beat, in seconds, as judged; `wall`: by the wall clock.

    `parsing`: the longest step in which JSON was parsed. `took`: seconds from the question to the answer's
    end, None if that did not come; `busy`: seconds of processor time the bot used for it; `grown`: megabytes
    by which its memory grew at most.
    """

    case: str
    late: float
    wall: float
    parsing: float
    took: float | None
    busy: float
    grown: float = 0.0

    @property
    def is_good(self) -> bool:
        """It ended, no beat was later than it may be, and memory grew no more than it may."""
        return self.took is not None and self.late <= LATE_MOST and self.grown <= GROWN_MOST


def main(argv: Sequence[str] | None = None) -> int:
    """Run the cases and print them. 1 if one of them held the loop too long, or did not end."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.heartbeat", description=__doc__)
    parser.add_argument("word", nargs="?", default="", help="only the cases that have it in their names")
    parser.add_argument("--within", type=float, default=_WITHIN, help="seconds a case may take")
    parser.add_argument(_BOT, type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args(argv)
    if given.bot is not None:
        asyncio.run(_bot(given.bot))
        return 0
    print(f"slack_bot on {machine()}")
    print(
        f"{'late':>8} {'by clock':>8} {'parsing':>8} {'took':>8} {'busy':>8} {'grown':>8}   case", flush=True
    )
    results = [_run(case, given.within) for case in CASES if given.word in case.name]
    good = sum(result.is_good for result in results)
    print(
        f"{good} of {len(results)} cases ended with no beat later than {1000 * LATE_MOST:g} ms"
        f" and no more than {GROWN_MOST:g} MB"
    )
    return int(good < len(results))


def _run(case: Case, within: float) -> Result:
    progress(case.name)
    result = asyncio.run(measure(case, within))
    took = "never" if result.took is None else f"{result.took:.1f} s"
    late, wall, parsing = (f"{1000 * each:,.0f} ms" for each in (result.late, result.wall, result.parsing))
    mark = "" if result.is_good else "   <<<"
    needed = f"{result.busy:>6.1f} s {result.grown:>5.0f} MB"
    print(f"{late:>8} {wall:>8} {parsing:>8} {took:>8} {needed}   {case.name}{mark}", flush=True)
    return result


async def measure(case: Case, within: float = _WITHIN) -> Result:
    """Ask once, and see how the bot's heart beats until the answer stands, or for `within` seconds."""
    with tempfile.TemporaryDirectory() as home:
        rows = Path(home) / "beats.jsonl"
        rows.touch()
        async with deployed(case.tape(), command=(__spec__.name, _BOT, str(rows))) as bot:
            asked, before = time.perf_counter(), bot.peak()
            bot.ask(1)
            while not (over := '"closed"' in rows.read_text("ascii")):
                await asyncio.sleep(0.2)
                if time.perf_counter() - asked > within or bot.process.returncode is not None:
                    break
            ended, is_alive = time.perf_counter(), bot.process.returncode is None
            grown = (bot.peak() - before) / 1e6 if is_alive else 0.0
            if not over and is_alive:
                bot.process.send_signal(signal.SIGKILL)
        read = [json.loads(line) for line in rows.read_text("ascii").splitlines()]
    return replace(_result(case.name, read, asked, ended, over=over), grown=grown)


def _result(name: str, rows: Sequence[dict[str, Any]], asked: float, ended: float, *, over: bool) -> Result:
    closed = next((row["closed"] for row in rows if "closed" in row), ended)
    beats = [row for row in rows if "late" in row and row["at"] > asked]
    silent = 0.0 if over else ended - max((row["at"] for row in beats), default=asked)
    own = [min(row["late"], row["busy"]) - row["parsing"] for row in beats]
    return Result(
        name,
        late=max(*own, silent, 0.0),
        wall=max(*(row["late"] for row in beats), silent, 0.0),
        parsing=max((row["longest"] for row in beats), default=0.0),
        took=closed - asked if over else None,
        busy=sum(row["busy"] for row in beats),
    )


# -- in the bot's process


async def _bot(rows: Path) -> None:
    """The bot, as `slack-bot run` builds it, and its heartbeat beside it."""
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    with rows.open("a", encoding="ascii") as out:
        async with await build(load(http=False), observer=lambda fact: _note(out, fact)) as app:
            beating = asyncio.create_task(_beat(out))
            await serve(app, stop)
            beating.cancel()
    os._exit(0)  # what a case left behind needs no tidying up


def _note(out: TextIO, fact: Fact) -> None:
    if isinstance(fact, TurnEnded):
        _write(out, {"closed": time.perf_counter()})


def _write(out: TextIO, row: dict[str, float]) -> None:
    out.write(json.dumps(row) + "\n")
    out.flush()


async def _beat(out: TextIO) -> None:
    parsing = _watch_parsing()
    while True:
        due, used = time.perf_counter() + BEAT, time.thread_time()
        await asyncio.sleep(BEAT)
        now = time.perf_counter()
        _write(
            out,
            {
                "at": now,
                "late": now - due,
                "busy": time.thread_time() - used,
                "parsing": sum(parsing),
                "longest": max(parsing, default=0.0),
            },
        )
        parsing.clear()


def _watch_parsing() -> list[float]:
    """The seconds of each event that is parsed from now on."""
    took: list[float] = []

    def read(text: str) -> Any:
        began = time.thread_time()
        try:
            return read_json(text)
        finally:
            took.append(time.thread_time() - began)

    transport.read_json = read
    return took


if __name__ == "__main__":
    sys.exit(main())
