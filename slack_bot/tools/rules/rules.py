"""The verb `rules`: chooses probes and a workspace, and prints what came of it."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from ...agents.wire.auth import origin_of
from ...clock import system_clock
from ...errors import UnreadableInput
from ...settings.names import nearest
from ...settings.slack_rules import CATALOGUE
from ..terminal import told_if_interrupted
from . import (
    block_probes,
    card_probes,
    delivery_probes,
    event_probes,
    rate_probes,
    read_probes,
    stream_probes,
    text_probes,
    thread_probes,
)
from .answers import answers_as_json, answers_as_text
from .kept import KEPT, check_place, keep
from .port import PROBES, Probe
from .real import try_answers, try_workspace
from .report import as_json, as_text, summary
from .result import RuleResult
from .trial import trial_of_emulator

PROBING = (
    stream_probes, text_probes, read_probes, card_probes, block_probes, thread_probes, event_probes,
    delivery_probes, rate_probes,
)  # fmt: skip
"""The modules that fill the table of probes."""


QUICK = frozenset(
    {
        *("stream.recipient_user", "stream.recipient_team", "stream.direct", "stream.no_thread"),
        *("stream.mode", "stream.append_after_stop", "stream.update_while_open", "stream.display"),
        *("read.heading", "read.bold", "read.strike", "read.link", "read.escape", "read.bullet"),
        *("read.nested", "read.fence", "read.table", "read.mention", "read.leading_space"),
        *("card.details", "card.hashes", "card.open_after_stop", "plan.open_after_stop", "card.too_long"),
        *("session.available", "session.wrong_state", "file.empty", "file.in_thread", "post.two_texts"),
        *("event.own_post", "event.stream_start", "event.stream_end", "stop.place", "ephemeral.unlisted"),
    }
)
"""What tells most and takes less than a minute."""


def main(args: argparse.Namespace) -> int:
    """The verb. `args`: real, url, channel, user, quick, sandbox, hand, http, yes, only, json, output.

    1 if a rule differs. Raises UnreadableInput for wrong usage, BotError where the workspace cannot be tried.
    """
    _check_usage(args)
    if args.answers:
        answers = try_answers(args)
        told = json.dumps(answers_as_json(answers)) if args.json else "\n".join(answers_as_text(answers))
        sys.stdout.write(f"{told}\n")
        return 1 if any(each.differs for each in answers) else 0
    probes = [each for each in probes_of(args.only) if not args.quick or each.rule in QUICK]
    output = args.output or (KEPT if args.real else None)
    if output is not None:
        check_place(output)
    is_elsewhere = args.real or args.url is not None
    with told_if_interrupted(lambda: "not all rules were tried, and nothing is said of any"):
        results = try_workspace(args, probes) if is_elsewhere else trial_of_emulator(probes)
    if output is not None:
        keep(output, results, system_clock().wall())
        sys.stderr.write(f"-> {output}\n")
    sys.stdout.write(as_json(results) if args.json else "".join([*as_text(results), summary(results)]))
    return status_of(results)


def _check_usage(args: argparse.Namespace) -> None:
    is_elsewhere = args.real or args.url is not None
    if is_elsewhere and not (args.channel and args.user):
        raise UnreadableInput("--real and --url write somewhere: give --channel C... and --user U...")
    alone = {"--channel": args.channel, "--user": args.user, "--sandbox": args.sandbox, "--hand": args.hand}
    alone |= {"--answers": args.answers}
    alone |= {"--http": args.http is not None, "--yes": args.yes}
    for name, is_given in alone.items():
        if is_given and not is_elsewhere:
            raise UnreadableInput(f"{name} belongs to --real or --url; the emulated workspace needs none")
    if args.answers and (args.quick or args.sandbox or args.hand or args.output):
        raise UnreadableInput(
            "--answers plays answers and tries no rules; leave --quick, --sandbox, --hand and -o out"
        )
    if args.url is not None and origin_of(args.url) is None:
        raise UnreadableInput(f"--url is {args.url!r}; give an address, as http://127.0.0.1:4003/api/")
    if args.real and not args.yes and not sys.stdin.isatty():
        raise UnreadableInput("--real writes into Slack, and nobody can be asked here: say --yes")


def probes_of(only: Sequence[str]) -> list[Probe]:
    """The probes of these rules and groups; all for none. Raises UnreadableInput for one that is unknown."""
    groups = {rule.partition(".")[0] for rule in CATALOGUE}
    for name in only:
        if name not in groups | CATALOGUE.keys():
            guess = nearest(name, [*groups, *CATALOGUE])
            near = f"; did you mean {guess}?" if guess else f"; the groups are {', '.join(sorted(groups))}"
            raise UnreadableInput(f"--only {name}: there is no such rule{near}")
    return [
        PROBES[rule]
        for rule in CATALOGUE
        if not only or any(rule == name or rule.startswith(f"{name}.") for name in only)
    ]


def status_of(results: Sequence[RuleResult]) -> int:
    """1 if a rule differs."""
    return 1 if any(each.verdict == "differs" for each in results) else 0
