"""`slack-bot explain FILE`: why each part of an answer went where it went.

The tape is replayed through the whole bot, as in `replay`; what is told are the machine's own reasons, the
calls that really showed the text, and what became of all that was not shown.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ...testing.tape.tape import Recording, Tape
from ..open_capture import open_capture
from .explanation import explain
from .provenance import Provenance
from .replay import accept_any_script, read_scenario_file, replayed, tell_assumed
from .scenario import Scenario, as_captured


def main(args: argparse.Namespace) -> int:
    """The verb. `args`: file, scenario, key. Returns 0. Raises UnreadableInput for what cannot be read."""
    around = read_scenario_file(args.scenario)
    capture = open_capture(Path(args.file), args.key, around)
    accept_any_script()
    sys.stdout.write(explain_capture(capture, around, args.file))
    return 0


def explain_capture(capture: Tape | Recording, scenario: Scenario, name: str = "the capture") -> str:
    """The explanation of one capture in one scenario."""
    around, account = as_captured(scenario, capture), Provenance()
    seen = replayed(capture, around, log=account.log)
    tell_assumed(name, capture, seen.result())
    return explain(account, seen.thread, asker=around.user, question=around.text, more=seen.follow_ups)
