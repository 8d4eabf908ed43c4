"""`slack-bot replay FILE --shrink -o OUT`: the smallest tape that still shows what is wrong.

What is wrong is a line in which the thread differs from the one that was kept (`--golden DIR`), or else the
first promise that the bot breaks on this tape: checks of `conform`, asked of the thread. Each smaller tape is
replayed through the whole bot, on virtual time.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TextIO, TypeAlias, TypeVar

from ...errors import UnreadableInput
from ...testing.tape.json_file import Json
from ...testing.tape.tape import Moment, Tape, write_tape
from ..conform.checks import CHECKS, Check
from ..conform.measures import Measures, measure, visible_chars
from ..live_line import LiveLine
from ..open_capture import open_capture, taped
from ..output_file import OutputFile
from ..turn_log import TurnLog
from .golden import first_change, folder_of, golden, kept, name_of
from .replay import accept_any_script, read_scenario_file, replay, replayed
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


@dataclass(frozen=True, slots=True)
class Difference:
    """What is to stay. `shows` asks it of a tape."""

    description: str
    shows: Callable[[Tape], bool]


def main(args: argparse.Namespace) -> int:
    """The verb. `args`: files (one), output, golden, scenario, key. Returns 0, also where nothing is wrong.

    Raises UnreadableInput for what cannot be read or written, and where what is wrong cannot be followed.
    """
    path = Path(args.files[0])
    known = None if args.golden is None else folder_of(args.golden) / name_of(path, args.key)
    smaller = OutputFile(args.output, [args.files[0], args.scenario, None if known is None else str(known)])
    capture = open_capture(path, args.key)
    around = as_captured(read_scenario_file(args.scenario), capture)
    accept_any_script()
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
    """The smallest tape found, and whether the search was finished. Ctrl-C ends it early."""
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
    """Also the turns must end as before, or something else went wrong."""
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
    """The progress of the search: a redrawn line of a terminal, or a line now and then."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._line = LiveLine(out)

    def __call__(self, search: Search) -> None:
        """Show the progress."""
        said = f"{search.asked:,} replays, {size_of(search.best)} left"
        self._line.show(said)
        if not self._line.is_terminal and search.asked % _LINE_EVERY == 0:
            self._out.write(said + "\n")
        self._out.flush()

    def end(self) -> None:
        """Wipe the line."""
        self._line.wipe()


T = TypeVar("T")
Shows: TypeAlias = Callable[[Tape], bool]

_WORD = re.compile(r"\s*\S+\s*")


@dataclass(slots=True)
class Search:
    """Asks `shows` of one smaller tape after the other, `most` times; `report` gets the progress.

    Every tape that does not show what is wanted is a reason to keep what was left out.
    """

    shows: Shows
    most: int
    report: Callable[[Search], None] = lambda search: None
    asked: int = 0
    best: Tape = field(default_factory=lambda: Tape({}, ()))

    @property
    def is_over(self) -> bool:
        """As many tapes were tried as may be."""
        return self.asked >= self.most

    def tries(self, tape: Tape) -> bool:
        """`tape` still shows it, and is the best by now."""
        if self.is_over or not _can_be_played(tape):
            return False
        self.asked += 1
        found = self.shows(tape)
        if found:
            self.best = tape
        self.report(self)
        return found


def shrink(tape: Tape, search: Search) -> Tape:
    """The smallest tape that `search` finds. `tape` itself shows what is wanted."""
    search.best = tape
    moments = minimal(tape.moments, lambda kept: search.tries(Tape(tape.head, tuple(kept))))
    fewer = Tape(tape.head, tuple(moments))
    words = list(_words(fewer))
    minimal(words, lambda kept: search.tries(_with_words(fewer, kept)))
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
    texts = sum(len(text) for moment in tape.moments for _, text in texts_of(moment.event))
    return f"{len(tape.moments):,} moments with {texts:,} characters"


def words_of(tape: Tape) -> str:
    """All text of a tape's events, one after the other."""
    return "".join(text for moment in tape.moments for _, text in texts_of(moment.event))


TextPath: TypeAlias = tuple[str | int, ...]
_Word: TypeAlias = tuple[int, TextPath, str]


def texts_of(value: Any, path: TextPath = ()) -> Iterator[tuple[TextPath, str]]:
    """Every value called `text` in an event, with its path."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name == "text" and isinstance(inner, str):
                yield (*path, name), inner
            else:
                yield from texts_of(inner, (*path, name))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from texts_of(inner, (*path, number))


def _words(tape: Tape) -> Iterator[_Word]:
    for number, moment in enumerate(tape.moments):
        for path, text in texts_of(moment.event):
            yield from ((number, path, word) for word in _WORD.findall(text))


def _with_words(tape: Tape, words: Sequence[_Word]) -> Tape:
    """`tape` with these words only; where none is left, the text is empty."""
    texts: dict[tuple[int, TextPath], str] = {}
    for number, path, word in words:
        texts[number, path] = texts.get((number, path), "") + word
    moments = [
        moment
        if moment.event is None
        else replace(moment, event=_with_texts(moment.event, number, texts, ()))
        for number, moment in enumerate(tape.moments)
    ]
    return Tape(tape.head, tuple(moments))


def _with_texts(value: Any, number: int, texts: dict[tuple[int, TextPath], str], path: TextPath) -> Any:
    if isinstance(value, list):
        return [_with_texts(inner, number, texts, (*path, at)) for at, inner in enumerate(value)]
    if not isinstance(value, dict):
        return value
    found: Json = {}
    for name, inner in value.items():
        here = (*path, name)
        is_text = name == "text" and isinstance(inner, str)
        found[name] = texts.get((number, here), "") if is_text else _with_texts(inner, number, texts, here)
    return found


def _can_be_played(tape: Tape) -> bool:
    """A tape must bring something."""
    return any(_brings(moment) for moment in tape.moments)


def _brings(moment: Moment) -> bool:
    return moment.event is not None or moment.error is not None or moment.raw is not None
