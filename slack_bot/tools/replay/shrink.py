"""`slack-bot replay FILE --shrink -o OUT`: the smallest tape that still shows what is wrong.

That is a line in which the thread differs from the one that was kept (`--golden DIR`), or else the first
promise that the bot breaks on this tape: a check of `conform`.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from ...errors import UnreadableInput
from ...testing.tape.tape import Tape, write_tape
from ..conform.checks import CHECKS
from ..conform.measures import Measures, measure
from ..files import OutputFile, open_capture, taped
from ..scrub import texts_in
from ..sent import visible_chars
from ..terminal import LiveLine
from ..turn_log import TurnLog
from .golden import first_change, folder_of, golden, kept, name_of
from .replay import read_scenario_file, replayed
from .scenario import Scenario, as_captured

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
_WORD = re.compile(r"\s*\S+\s*")

T = TypeVar("T")
Shows: TypeAlias = Callable[[Tape], bool]


@dataclass(frozen=True, slots=True)
class Difference:
    """What is to stay. `shows` asks it of a tape."""

    description: str
    shows: Shows


def main(args: argparse.Namespace) -> int:
    """The verb. `args`: files (one), output, golden, scenario, key. Returns 0, also if nothing is wrong."""
    path = Path(args.files[0])
    known = None if args.golden is None else folder_of(args.golden) / name_of(path, args.key)
    smaller = OutputFile(args.output, [args.files[0], args.scenario, None if known is None else str(known)])
    capture = open_capture(path, args.key)
    around = as_captured(read_scenario_file(args.scenario), capture)
    tape = taped(capture)
    if known is None:
        found = broken_promise(tape, around)
    else:
        found = changed_line(tape, around, kept(known), path.name)
    if found is None:
        sys.stdout.write("nothing is wrong with this tape; no smaller one was written\n")
        return 0
    with smaller as out:
        sys.stdout.write(f"kept: {found.description}\n")
        sys.stdout.flush()
        line = LiveLine(sys.stderr)
        search = Search(found.shows, report=partial(show_progress, line))
        try:
            small = shrink(tape, search)
        finally:
            line.wipe()
        out.text(write_tape(small))
    end = ", not the smallest: the search was ended before" if search.is_over else ""
    sys.stdout.write(f"{size_of(tape)} -> {size_of(small)}{end}\n-> {args.output}\n")
    if args.scenario:
        sys.stdout.write(f"It shows it with --scenario {args.scenario}.\n")
    return 0


def broken_promise(tape: Tape, around: Scenario) -> Difference | None:
    """The first promise that is broken on this tape, None if all are kept."""
    seen = _measured(tape, around)
    judged = ((CHECKS[name], CHECKS[name].judge(seen)) for name in PROMISES)
    check, result = next(((each, found) for each, found in judged if found.ok is False), (None, None))
    if check is None or result is None:
        return None

    def shows(smaller: Tape) -> bool:
        """Also the turns must end as before, or something else went wrong."""
        now = _measured(smaller, around)
        return now.outcomes == seen.outcomes and check.judge(now).ok is False

    return Difference(f"{check.name} fails ({result.detail})", shows)


def changed_line(tape: Tape, around: Scenario, before: str | None, name: str) -> Difference | None:
    """The first line in which the thread differs from the one that was kept; None if it does not.

    Raises UnreadableInput where a smaller tape could not show it.
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
    wanted = visible_chars(line)
    if wanted not in visible_chars(words_of(tape)):
        raise UnreadableInput(f"{name}: a line is missing that no event of the tape brings: {line}")

    def lacks(smaller: Tape) -> bool:
        return wanted in visible_chars(words_of(smaller)) and wanted not in visible_chars(
            _thread(smaller, around)
        )

    return Difference(f"a line that the agent sends is not in the thread any more: {line}", lacks)


def _measured(tape: Tape, around: Scenario) -> Measures:
    return measure(replayed(tape, around, log=TurnLog(keeps_events=True)))


def _thread(tape: Tape, around: Scenario) -> str:
    return golden(replayed(tape, around))


def show_progress(line: LiveLine, search: Search) -> None:
    """How far `search` is."""
    said = f"{search.asked:,} replays, {size_of(search.best)} left"
    line.show(said, is_due=search.asked % _LINE_EVERY == 0)


# -- the search ----------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Search:
    """Asks `shows` of one smaller tape after the other, `most` times; `report` gets the progress."""

    shows: Shows
    most: int = MOST
    report: Callable[[Search], None] = lambda search: None
    asked: int = 0
    best: Tape = field(default_factory=lambda: Tape({}, ()))

    @property
    def is_over(self) -> bool:
        """As many tapes were tried as may be, or a human ended it."""
        return self.asked >= self.most

    def tries(self, tape: Tape) -> bool:
        """`tape`, which brings something, still shows it, and is the best by now."""
        brought = (part for each in tape.moments for part in (each.event, each.error, each.raw))
        if self.is_over or all(part is None for part in brought):
            return False
        self.asked += 1
        found = self.shows(tape)
        if found:
            self.best = tape
        self.report(self)
        return found


def shrink(tape: Tape, search: Search) -> Tape:
    """The smallest tape that `search` finds; Ctrl-C ends it early. `tape` itself shows what is wanted."""
    search.best = tape
    try:
        moments = minimal(tape.moments, lambda kept: search.tries(Tape(tape.head, tuple(kept))))
        fewer = Tape(tape.head, tuple(moments))
        words = [(n, word) for n, text in enumerate(_texts(fewer)) for word in _WORD.findall(text)]
        minimal(words, lambda kept: search.tries(_with_words(fewer, kept)))
    except KeyboardInterrupt:
        search.most = search.asked
    return search.best


def minimal(items: Sequence[T], shows: Callable[[Sequence[T]], bool]) -> list[T]:
    """`items` without all that can be left out so that `shows` stays true of the rest."""
    kept, size = list(items), max(1, len(items) // 2)
    while kept:
        start, before = 0, len(kept)
        while start < len(kept):
            fewer = [*kept[:start], *kept[start + size :]]
            if shows(fewer):
                kept = fewer
            else:
                start += size
        if size == 1 and len(kept) == before:
            break
        size = max(1, size // 2)
    return kept


def size_of(tape: Tape) -> str:
    """How large a tape is, in words."""
    return f"{len(tape.moments):,} moments with {len(words_of(tape)):,} characters"


def words_of(tape: Tape) -> str:
    """All text of a tape's events, one after the other."""
    return "".join(_texts(tape))


def _texts(tape: Tape) -> list[str]:
    return [text for moment in tape.moments for text in texts_in(moment.event)]


def _with_words(tape: Tape, words: Sequence[tuple[int, str]]) -> Tape:
    texts = [""] * len(_texts(tape))
    for number, word in words:
        texts[number] += word
    left = iter(texts)
    moments = (replace(moment, event=_with_texts(moment.event, left)) for moment in tape.moments)
    return Tape(tape.head, tuple(moments))


def _with_texts(value: Any, texts: Iterator[str]) -> Any:
    """`value` with other `texts`, in the order of `texts_in`."""
    if isinstance(value, list):
        return [_with_texts(inner, texts) for inner in value]
    if not isinstance(value, dict):
        return value
    return {
        name: next(texts) if name == "text" and isinstance(inner, str) else _with_texts(inner, texts)
        for name, inner in value.items()
    }
