"""`slack-bot replay FILE --shrink -o OUT`: the smallest tape that still shows what is wrong.

What is wrong is a line in which the thread differs from the one that was kept (`--golden DIR`), or else the
first promise that the bot breaks on this tape: checks of `conform`, asked of the thread. Each smaller tape is
replayed through the whole bot, on virtual time.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TextIO

from ...errors import UnreadableInput
from ...testing.tape.tape import Tape, write_tape
from ..conform.checks import CHECKS, Check
from ..conform.measures import Measures, measure, visible_chars
from ..live_line import LiveLine
from ..open_capture import open_capture, taped
from ..output_file import OutputFile
from ..turn_log import TurnLog
from .golden import first_change, golden
from .golden_files import folder_of, kept, name_of
from .replay import accept_any_script, read_scenario_file, replay, replayed
from .scenario import Scenario, as_captured
from .shrinker import Search, shrink, size_of, words_of

PROMISES = (
    "text_equals_final",
    "nothing_twice",
    "no_narration",
    "no_marker",
    "only_grows",
    "nothing_left_open",
    "no_silence",
)
"""The checks of `conform` that hold of every tape, the gravest first."""
MOST = 3_000
"""Replays after which the search ends with what it has."""

_LINE_EVERY = 100  # replays, where there is no terminal to redraw a line


@dataclass(frozen=True, slots=True)
class Difference:
    """What is to stay. `shows` asks it of a tape."""

    told: str
    shows: Callable[[Tape], bool]


def main(args: argparse.Namespace) -> int:
    """The verb. `args`: files (one), output, golden, scenario, key. Returns 0, also where nothing is wrong.

    Raises UnreadableInput for what cannot be read or written, and where what is wrong cannot be followed.
    """
    path = Path(args.files[0])
    golden = None if args.golden is None else folder_of(args.golden) / name_of(path, args.key)
    smaller = OutputFile(args.output, [args.files[0], args.scenario, None if golden is None else str(golden)])
    capture = open_capture(path, args.key)
    around = as_captured(read_scenario_file(args.scenario), capture)
    accept_any_script()
    tape = taped(capture)
    if golden is None:
        found = broken_promise(tape, around)
    else:
        found = changed_line(tape, around, kept(golden), path.name)
    if found is None:
        sys.stdout.write("nothing is wrong with this tape; no smaller one was written\n")
        return 0
    with smaller as out:
        sys.stdout.write(f"kept: {found.told}\n")
        sys.stdout.flush()
        small, whole = found_smallest(tape, found, ShrinkProgress(sys.stderr))
        out.text(write_tape(small))
    end = "" if whole else ", not the smallest: the search was ended before"
    sys.stdout.write(f"{size_of(tape)} -> {size_of(small)}{end}\n-> {args.output}\n")
    if args.scenario:
        sys.stdout.write(f"It shows it with --scenario {args.scenario}.\n")
    return 0


def found_smallest(
    tape: Tape, wanted: Difference, progress: ShrinkProgress, most: int = MOST
) -> tuple[Tape, bool]:
    """The smallest tape that was found, and whether the search came to its end. Ctrl-C ends it early."""
    search = Search(wanted.shows, most, progress)
    try:
        shrink(tape, search)
    except KeyboardInterrupt:
        return search.best, False
    finally:
        progress.end()
    return search.best, not search.is_over


def broken_promise(tape: Tape, around: Scenario) -> Difference | None:
    """The first promise that is broken on this tape, None if all are kept."""
    seen = _measured(tape, around)
    for check in map(CHECKS.__getitem__, PROMISES):
        verdict = check.judge(seen, {})
        if verdict.ok is False:
            shows = partial(_breaks, check, around, seen.outcomes)
            return Difference(f"{check.name} fails ({verdict.detail})", shows)
    return None


def _breaks(check: Check, around: Scenario, outcomes: tuple[str, ...], tape: Tape) -> bool:
    """As before, and the turns end as before: else it is likely that something else went wrong."""
    seen = _measured(tape, around)
    return seen.outcomes == outcomes and check.judge(seen, {}).ok is False


def changed_line(tape: Tape, around: Scenario, before: str | None, name: str) -> Difference | None:
    """The first line in which the thread differs from the one that was kept; None if it does not.

    Raises UnreadableInput where there is no kept thread, or nothing that a smaller tape could show.
    """
    if before is None:
        raise UnreadableInput(f"{name}: no thread of it was kept; keep one with replay --golden DIR --update")
    now = _thread(tape, around)
    if now == before:
        return None
    change = first_change(before, now)
    if change is None:
        raise UnreadableInput(
            f"{name}: only blank lines or the order differ, which a smaller tape cannot show"
        )
    line, what = change
    if what == "more":
        return Difference(
            f"a line that was not there before: {line}",
            lambda smaller: line in _thread(smaller, around).split("\n"),
        )
    if visible_chars(line) not in visible_chars(words_of(tape)):
        raise UnreadableInput(f"{name}: a line is missing that no event of the tape brings: {line}")

    def lacks(smaller: Tape) -> bool:
        return visible_chars(line) in visible_chars(words_of(smaller)) and visible_chars(
            line
        ) not in visible_chars(_thread(smaller, around))

    return Difference(f"a line that the agent sends is not in the thread any more: {line}", lacks)


def _measured(tape: Tape, around: Scenario) -> Measures:
    seen = replayed(tape, around, log=TurnLog(keeps_events=True))
    return measure(seen.log, seen.thread, seen.asked_at)


def _thread(tape: Tape, around: Scenario) -> str:
    return golden(replay(tape, around), asker=around.user, question=around.text)


class ShrinkProgress:
    """How the search goes, on one line of a terminal, or a line now and then elsewhere."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._line = LiveLine(out)

    def __call__(self, search: Search) -> None:
        """Tell."""
        said = f"{search.asked:,} replays, {size_of(search.best)} left"
        self._line.show(said)
        if not self._line.is_terminal and search.asked % _LINE_EVERY == 0:
            self._out.write(said + "\n")
        self._out.flush()

    def end(self) -> None:
        """The line is not needed any more."""
        self._line.wipe()
