"""`slack-bot trace`: the timeline of a turn, from tapes or live, as a table and as a picture."""

import argparse
import asyncio
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ...clock import system_clock
from ...errors import BotError, UnreadableInput
from ...observe.facts import TurnStarted
from ...settings.load import Settings, load
from ...testing.harness import emulated
from ...testing.overrides import with_overrides
from ...testing.tape.json_file import Json
from ...testing.tape.tape import Recording, Tape
from ...text.redaction import Redactor
from ...turn.events import StreamEnded
from ..capture.agent_address import card_of, check_there, is_address, masks_of, settings_for
from ..files import OutputFile, check_distinct, keep_what_is_there, open_capture
from ..not_understood import tell_unread, unread_events
from ..replay.replay import (
    INTERRUPTED,
    ReplayQuestions,
    observe,
    read_scenario_file,
    replayed,
    tell_assumed,
)
from ..replay.result import Observation
from ..replay.scenario import Scenario
from ..terminal import EXIT_INTERRUPTED, ended_by_ctrl_c, told_if_interrupted
from ..turn_log import Entry, LoggedTurn, TurnLog
from .figures import Timeline, timeline
from .picture import draw
from .table import Table, figures_of, page
from .timeline import TimelineBuilder

ModeObserver = Callable[[Scenario, Settings, TurnLog], Observation]


def main(args: argparse.Namespace, modes: Mapping[str, ModeObserver]) -> int:
    """The verb. `modes`: the reference agent in each of its modes, for `--modes`. Returns the exit status.

    Raises UnreadableInput, and BotError where there is no agent to ask, or one that never said anything.
    """
    if args.modes and len(args.targets) != 1:
        raise UnreadableInput('--modes wants a question: slack-bot trace --modes "what is agntcy"')
    live = is_address(args.targets[0]) and not args.modes
    if not live and not args.modes:
        check_there(*args.targets)
    if live and len(args.targets) != 2:
        raise UnreadableInput("a live trace wants an address and a question: slack-bot trace URL TEXT")
    check_distinct(args.html or None, args.svg or None)
    scenario = read_scenario_file(args.scenario, load() if live or args.modes else None)
    inputs = [*args.targets, args.scenario]
    outs = [(OutputFile(path, inputs), make) for path, make in ((args.html, page), (args.svg, draw)) if path]
    for out, _ in () if args.force else outs:
        keep_what_is_there(Path(out.path))
    with told_if_interrupted(lambda: "the trace ends here" + (", nothing was drawn" if outs else "")):
        if args.modes:
            lines = _modes(args, scenario, modes)
        else:
            lines = [_live(args, scenario)] if live else _taped(args, scenario)
    for out, make in outs:
        with out:
            out.text(make(lines))
        sys.stderr.write(f"-> {out.path}\n")
    if live and lines[0].summary.outcome == INTERRUPTED:
        sys.stderr.write("interrupted; this is what came until then\n")
        return EXIT_INTERRUPTED
    if live and (why := _silence(lines[0])) is not None:
        raise BotError(f"the agent did not answer: {why}; capture keeps what its server says")
    return 0


def trace_capture(capture: Tape | Recording, name: str, scenario: Scenario) -> tuple[Timeline, Json]:
    """The timeline of one capture, and the object of `replay --json`."""
    builder = TimelineBuilder(clean=Redactor().text)
    seen = replayed(capture, scenario, log=TurnLog(builder.take))
    return timeline(name, builder, seen.log, seen.asked_at), seen.result()


def _taped(args: argparse.Namespace, scenario: Scenario) -> list[Timeline]:
    captures = [(path, open_capture(Path(path), args.key, scenario)) for path in args.targets]
    found = []
    for path, capture in captures:
        if len(captures) > 1:
            sys.stdout.write(f"== {path}\n")
        tell_unread(path, unread_events(capture))
        printer = RowPrinter(Redactor(), everything=args.all)
        seen = replayed(capture, scenario, log=TurnLog(printer.take))
        found.append(printer.finish(Path(path).name, seen))
        tell_assumed(path, capture, seen.result())
    return found


def _modes(args: argparse.Namespace, scenario: Scenario, modes: Mapping[str, ModeObserver]) -> list[Timeline]:
    asked, settings, found = _asked(scenario, args.targets[0]), load(), []
    for mode, observe_mode in modes.items():
        sys.stdout.write(f"== {mode}\n")
        printer = RowPrinter(masks_of(settings), everything=args.all)
        found.append(printer.finish(mode, observe_mode(asked, settings, TurnLog(printer.take))))
    return found


def _asked(scenario: Scenario, text: str) -> Scenario:
    if not text.strip():
        raise UnreadableInput("the question is empty; write what to ask the agent")
    return replace(scenario, text=text)


def _live(args: argparse.Namespace, scenario: Scenario) -> Timeline:
    url, text = args.targets
    given = load()
    settings = with_overrides(settings_for(url, given), scenario.settings)
    asked = _asked(scenario, text)
    # without a card the bot would answer in the thread; here it is an error
    asyncio.run(card_of(settings, "URL"))
    printer = RowPrinter(masks_of(given, settings), everything=args.all)
    seen = asyncio.run(_until_ctrl_c(asked, emulated(settings), TurnLog(printer.take)))
    return printer.finish(url, seen)


async def _until_ctrl_c(asked: Scenario, settings: Settings, log: TurnLog) -> Observation:
    with ended_by_ctrl_c() as ended:
        return await observe(asked, settings, system_clock(), log=log, asking=ReplayQuestions(ended=ended))


def _silence(line: Timeline) -> str | None:
    """Why nothing at all came from the agent, not even an error of its own."""
    if line.summary.events:
        return None
    ends = [each.reason for row in line.rows for each in row.decisions if each.event == StreamEnded.__name__]
    why = ends[-1] if ends else "the question was not asked"
    return None if why.startswith("the agent answered with error") else why


_RETURNS = 0.05
"""Seconds that a row waits for calls that began before it."""


class RowPrinter:
    """Builds the timeline of a log, and prints each row as soon as its place is known."""

    def __init__(self, masks: Redactor, *, everything: bool) -> None:
        self._table = Table(shutil.get_terminal_size((160, 24)).columns, everything=everything)
        self._builder = TimelineBuilder(clean=masks.text)
        self._has_reader = True

    def take(self, turn: LoggedTurn, entry: Entry) -> None:
        if isinstance(entry, TurnStarted) and not turn.number:
            self._print(self._table.head())
        self._builder.take(turn, entry)
        self._show(self._builder.since(entry.at) - _RETURNS)

    def finish(self, name: str, seen: Observation) -> Timeline:
        """The timeline; its figures are printed."""
        found = timeline(name, self._builder, seen.log, seen.asked_at)
        self._show()
        self._print([*self._table.end(), "", figures_of(found)])
        return found

    def _show(self, before: float | None = None) -> None:
        for row in self._builder.give(before):
            self._print(self._table.add(row))

    def _print(self, lines: Sequence[str]) -> None:
        """Never raises: what cannot be written stays in the stream, and its last flush fails."""
        if not self._has_reader:
            return
        try:
            sys.stdout.writelines(f"{line}\n" for line in lines)
            sys.stdout.flush()
        except OSError:
            self._has_reader = False
