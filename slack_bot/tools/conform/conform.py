"""`slack-bot conform`: does an agent's answer get into Slack as it should? A suite of cases says so.

The suite `caipe` has the four questions and the 22 checks of the CAIPE project's own suite, `extended` adds
what that one does not look at.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from ...a2a.wire.origins import bare
from ...clock import loop_clock
from ...errors import UnreadableInput
from ...settings.load import load
from ..capture.agent_address import card_of, settings_for
from ..interruption import told_if_interrupted
from ..output_file import OutputFile, check_distinct
from ..replay.replay import accept_any_script
from .case_runner import LiveTarget, Target, run_suite
from .cases import Suite, open_suite
from .reports import SuiteProgress, as_json, as_junit, as_markdown, as_table, as_text, file_name

_OUR_AGENT = "Playground agent"
_MORE = (
    "note: these are the CAIPE suite's questions and checks; whether an answer came live, whole and once:"
    " --suite extended\n"
)


def main(args: argparse.Namespace, reference: Callable[[str | None], Target]) -> int:
    """The verb. `args`: url, suite, only, mode, limit, report, json, junit, repeat, verbose.

    `reference` makes the playground's agent in a mode. Raises UnreadableInput for wrong usage and for
    files, BotError where there is no agent to ask.
    """
    _check_usage(args)
    suite, tapes = open_suite(args.suite)
    suite = _selected(suite, args.only)
    target = _live(args.url, args.limit) if args.url else reference(args.mode)
    _check_selected(suite, args.only, target)
    started = loop_clock().wall()
    report = file_name(started) if args.report == "" else args.report
    check_distinct(report, args.junit or None)
    accept_any_script()
    masks = target.masks
    inputs = [args.suite, *(str(Path(args.suite).parent / tape) for tape in tapes)]
    with ExitStack() as files:
        outputs = [
            (files.enter_context(OutputFile(name, inputs)), form)
            for name, form in ((report, as_markdown), (args.junit, as_junit))
            if name
        ]
        progress = SuiteProgress(sys.stderr, verbose=args.verbose)
        no_report = ", no report was written" if outputs else ""
        with told_if_interrupted(lambda: progress.position + no_report), progress:
            result = run_suite(suite, tapes, target, args.repeat, progress, started)
        if args.suite == "caipe":
            sys.stderr.write(_MORE)
        for output, form in outputs:
            output.text(masks.text(form(result)))
            sys.stderr.write(f"-> {output.path}\n")
    if not args.json and sys.stdout.isatty():
        Console().print(as_table(result, masks))
    else:
        sys.stdout.write(masks.text(json.dumps(as_json(result)) + "\n" if args.json else as_text(result)))
    return 0 if result.verdict == "PASS" else 1


def _check_usage(args: argparse.Namespace) -> None:
    if args.repeat < 1:
        raise UnreadableInput("--repeat wants a number of runs, 1 at least")
    if args.limit <= 0:
        raise UnreadableInput("--limit wants a number of seconds, more than 0")
    if args.url and args.mode:
        raise UnreadableInput("--mode is the playground agent's; leave it out with --url")


def _selected(suite: Suite, only: Sequence[str]) -> Suite:
    """The suite with only the cases that were named."""
    names = [case.name for case in suite.cases]
    for name in only:
        if name not in names:
            raise UnreadableInput(f"--only {name}: the suite has no such case; there are: {', '.join(names)}")
    return replace(suite, cases=tuple(case for case in suite.cases if not only or case.name in only))


def _check_selected(suite: Suite, only: Sequence[str], target: Target) -> None:
    """A case that was named is not skipped silently."""
    for case in suite.cases:
        if case.name in only and (why := target.refusal(case)) is not None:
            raise UnreadableInput(f"--only {case.name}: {why}, so it cannot be put to {target.name}")


def _live(url: str, limit: float) -> LiveTarget:
    """The agent at `url`, once it has shown its card. Raises BotError where there is none."""
    settings, note = settings_for(url, load())
    if note:
        sys.stderr.write(f"note: {note}\n")
    name = asyncio.run(card_of(settings, "--url")).name
    return LiveTarget(bare(url).partition("?")[0], settings, is_ours=name == _OUR_AGENT, limit=limit)
