"""The verb `rules`: chooses probes and a workspace, and prints what came of it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from ...errors import UnreadableInput
from ...settings.names import nearest
from ...settings.slack_rules import CATALOGUE
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
from .port import PROBES, Probe
from .report import as_json, as_text, summary
from .result import RuleResult
from .trial import trial_of_emulator

PROBING = (
    stream_probes, text_probes, read_probes, card_probes, block_probes, thread_probes, event_probes,
    delivery_probes, rate_probes,
)  # fmt: skip
"""The modules that fill the table of probes."""


def main(args: argparse.Namespace) -> int:
    """The verb. `args`: only, json. 1 if a rule differs. Raises UnreadableInput for wrong usage."""
    results = trial_of_emulator(probes_of(args.only))
    sys.stdout.write(as_json(results) if args.json else "".join([*as_text(results), summary(results)]))
    return status_of(results)


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
