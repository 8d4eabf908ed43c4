"""`slack-bot conform`: does an agent's answer get into Slack as it should? A suite of cases says so.

The suite `caipe` asks the four questions and makes the 22 checks of the CAIPE project's own suite, here on
the bot as it ships. `extended` adds what that suite does not look at. A suite of your own is a JSON file
(`cases`).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from ...a2a.wire.origins import bare
from ...clock import loop_clock
from ...errors import UnreadableInput
from ...settings.load import load
from ...testing.tape.tape import Recording, Tape, read_tape
from ..capture.agent_address import settings_for
from ..capture.reachability import card_of
from ..capture.redaction import Redactor
from ..interruption import told_if_interrupted
from ..output_file import OutputFile, check_distinct
from ..replay.replay import accept_any_script
from .case_runner import Asker, LiveAsker, examine
from .cases import Suite, joined_suite, read_suite
from .findings import Examination, Examined, as_json
from .junit import as_junit
from .report import as_markdown, duration, file_name
from .tally import Tally

BUILT_IN: Mapping[str, tuple[str, ...]] = {"caipe": ("caipe",), "extended": ("caipe", "extended")}
"""The suites that ship with the project, and the files that make them up."""

_OURS = "Playground agent"
_MORE = (
    "note: these are the CAIPE suite's questions and checks; whether an answer came live, whole and once:"
    " --suite extended\n"
)


def main(args: argparse.Namespace, reference: Callable[[str | None], Asker]) -> int:
    """The verb. `args`: url, suite, only, mode, limit, report, json, junit, repeat, verbose.

    Returns the exit status.

    Raises UnreadableInput for wrong usage and for files that cannot be read or written, BotError where there
    is no agent to ask.
    """
    if args.repeat < 1:
        raise UnreadableInput("--repeat wants a number of runs, 1 at least")
    if args.limit <= 0:
        raise UnreadableInput("--limit wants a number of seconds, more than 0")
    if args.url and args.mode:
        raise UnreadableInput("--mode is the playground agent's; leave it out with --url")
    suite, tapes = open_suite(args.suite)
    suite = _chosen(suite, args.only)
    asker = _live(args.url, args.limit) if args.url else reference(args.mode)
    _check_chosen(suite, args.only, asker)
    started = loop_clock().wall()
    report = file_name(started) if args.report == "" else args.report
    check_distinct(report, args.junit or None)
    accept_any_script()
    masks = asker.masks if isinstance(asker, LiveAsker) else Redactor()
    inputs = [args.suite, *(str(Path(args.suite).parent / tape) for tape in tapes)]
    with ExitStack() as files:
        outs = [
            (files.enter_context(OutputFile(name, inputs)), make)
            for name, make in ((report, as_markdown), (args.junit, as_junit))
            if name
        ]
        tally = Tally(args.verbose, sys.stderr)
        with told_if_interrupted(lambda: tally.stopped() + (", no report was written" if outs else "")):
            found = examine_all(suite, tapes, asker, args.repeat, tally, started)
        if args.suite == "caipe":
            sys.stderr.write(_MORE)
        for out, make in outs:
            out.text(masks.text(make(found)))
            sys.stderr.write(f"-> {out.path}\n")
    sys.stdout.write(masks.text(json.dumps(as_json(found)) + "\n" if args.json else summary(found)))
    return 0 if found.verdict == "PASS" else 1


def open_suite(name: str) -> tuple[Suite, dict[str, Tape | Recording]]:
    """The suite that `name` names, or the file it is the path of, and the tapes that its cases play.

    Raises UnreadableInput for what cannot be read, and for a name that neither is.
    """
    if name in BUILT_IN:
        folder = resources.files(__package__) / "suites"
        parts = [_read_suite(folder / f"{part}.json", f"{part}.json") for part in BUILT_IN[name]]
        suite = joined_suite(name, parts)
    else:
        path = Path(name)
        if not path.exists():
            raise UnreadableInput(f"{name}: no such file; there are the suites {' and '.join(BUILT_IN)}")
        folder, suite = path.parent, _read_suite(path, name)
    tapes = dict.fromkeys(case.tape for case in suite.cases if case.tape is not None)
    return suite, {tape: read_tape(_bytes(folder / tape, tape), tape) for tape in tapes}


def examine_all(
    suite: Suite,
    tapes: Mapping[str, Tape | Recording],
    asker: Asker,
    repeat: int = 1,
    tally: Tally | None = None,
    started: float = 0.0,
) -> Examination:
    """Put all cases of `suite` to `asker`, each `repeat` times."""
    tally = tally or Tally()
    refused = [(case.name, why) for case in suite.cases if (why := asker.refusal(case)) is not None]
    cases = [case for case in suite.cases if case.name not in dict(refused)]
    tally.begin(len(cases) * repeat)
    examined = []
    for case in cases:
        runs = []
        for _ in range(repeat):
            tally.asking(case)
            runs.append(examine(case, asker, tapes))
        examined.append(Examined(case, tuple(runs)))
        tally.examined(examined[-1])
    seconds = sum(run.seconds for each in examined for run in each.runs)
    return Examination(suite.name, asker.name, started, seconds, tuple(examined), tuple(refused))


def summary(found: Examination) -> str:
    """What is printed: a line a case, the checks that failed, the verdict."""
    return "\n".join(_summary(found)) + "\n"


def _summary(found: Examination) -> Iterator[str]:
    wide = max((len(each.case.name) for each in found.cases), default=0)
    for each in found.cases:
        applied = [finding for finding in each.findings if finding.ok is not None]
        count = f"{sum(finding.ok is True for finding in applied)}/{len(applied)}"
        yield f"{each.verdict:5} {each.case.name:{wide}}  {count:>5}  {duration(each.seconds):>7}"
        if each.shown.error:
            yield f"      {each.shown.error}"
            continue
        for finding in each.findings:
            if finding.ok is False:
                rate = f" [{finding.rate}]" if finding.runs > 1 else ""
                yield f"      {finding.wanted.check.name}: {finding.detail}{rate}"
    for why in dict.fromkeys(why for _, why in found.skipped):
        names = [name for name, because in found.skipped if because == why]
        yield f"left out: {len(names)} (such as {names[0]}): {why}"
    idle = f", {found.idle} did not apply" if found.idle else ""
    total = found.passed + found.failed
    yield f"{found.passed} of {total} checks passed{idle}: {found.verdict} ({found.target})"


def _chosen(suite: Suite, only: Sequence[str]) -> Suite:
    """The suite with only the cases that were named."""
    names = [case.name for case in suite.cases]
    for name in only:
        if name not in names:
            raise UnreadableInput(f"--only {name}: the suite has no such case; there are: {', '.join(names)}")
    return replace(suite, cases=tuple(case for case in suite.cases if not only or case.name in only))


def _check_chosen(suite: Suite, only: Sequence[str], asker: Asker) -> None:
    """Whoever names a case wants it put: one that cannot be is told of at once."""
    for case in suite.cases:
        if case.name in only and (why := asker.refusal(case)) is not None:
            raise UnreadableInput(f"--only {case.name}: {why}, so it cannot be put to {asker.name}")


def _read_suite(path: Traversable, name: str) -> Suite:
    try:
        return read_suite(_bytes(path, name).decode("utf-8-sig"), name)
    except UnicodeDecodeError as error:
        raise UnreadableInput(f"{name}: not UTF-8 text") from error


def _bytes(path: Traversable, name: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UnreadableInput(f"{name}: {error.strerror or 'cannot be read'}") from error


def _live(url: str, limit: float) -> LiveAsker:
    """The agent at `url`, once it has shown its card. Raises BotError where there is none."""
    settings, note = settings_for(url, load())
    if note:
        sys.stderr.write(f"note: {note}\n")
    name = asyncio.run(card_of(settings, "--url")).name
    return LiveAsker(bare(url).partition("?")[0], settings, is_ours=name == _OURS, limit=limit)
