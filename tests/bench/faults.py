"""`python -m tests.bench.faults`: thousands of turns against a Slack that fails one call in ten.

    python -m tests.bench.faults --turns 2000 --seed 1
    python -m tests.bench.faults --seed 1 --only 17..17 --verbose
    python -m tests.bench.faults --turns 12000 --seed 1 --files --kind storm

Every turn stands alone: its number and the seed give it again. The exit code is 1 if any went wrong.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from .fault_run import Report, plan, run
from .plans import KINDS
from .verdict import CLASSES


@dataclass(slots=True)
class Tally:
    """What came of many turns."""

    turns: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    classes: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    methods: Counter[str] = field(default_factory=Counter)
    mishaps: Counter[str] = field(default_factory=Counter)
    open_streams: int = 0
    open_cards: int = 0
    own_limits: int = 0
    left: Counter[str] = field(default_factory=Counter)
    findings: list[Report] = field(default_factory=list)

    def add(self, report: Report) -> None:
        """Count one turn."""
        verdict = report.verdict
        self.turns += 1
        self.kinds[report.plan.kind] += 1
        self.classes[verdict.kind] += 1
        self.outcomes.update(report.outcomes or ["none"])
        self.left.update(report.left)
        self.failed[report.plan.kind] += not verdict.is_right
        self.open_streams += verdict.open_streams
        self.open_cards += verdict.open_cards
        for call in report.made:
            self.methods[call.method] += 1
            if call.limited:
                self.own_limits += 1
            elif not call.ok:
                self.mishaps[f"{call.error}{'!' if call.applied else ''}"] += 1
        if not verdict.is_right:
            self.findings.append(report)

    def lines(self) -> list[str]:
        """The figures."""
        calls, failed = sum(self.methods.values()), sum(self.mishaps.values())
        each = [f"  {name:13}{self.kinds[name]:6}{self._told(name)}" for name in KINDS if self.kinds[name]]
        known = " ".join(f"{name} {self.classes[name]}" for name in CLASSES)
        ends = " ".join(f"{name} {count}" for name, count in self.outcomes.most_common())
        made = " ".join(f"{name} {count}" for name, count in self.methods.most_common())
        ways = " ".join(f"{name} {count}" for name, count in self.mishaps.most_common())
        left = " ".join(f"{name} {count}" for name, count in self.left.most_common())
        return [
            f"turns            {self.turns}, {len(self.findings)} of them not right",
            *each,
            f"verdicts         {known}",
            f"streams open     {self.open_streams}",
            f"cards open       {self.open_cards}",
            f"outcomes         {ends}",
            f"calls            {calls}, {calls / max(1, self.turns):.1f} a turn: {made}",
            f"calls that failed {failed}, {100 * failed / max(1, calls):.1f} %: {ways}",
            f"429 of our making {self.own_limits}",
            f"left around      {left or 'nothing'}",
        ]

    def _told(self, kind: str) -> str:
        failed = f"  {self.failed[kind]} NOT RIGHT" if self.failed[kind] else ""
        return f"  {KINDS[kind][1]}{failed}"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the turns and print. Progress goes to stderr."""
    args = _parser().parse_args(argv)
    first, last = args.only or (1, args.turns)
    tally = Tally()
    began = time.perf_counter()
    for number in range(first, last + 1):
        planned = plan(args.seed, number)
        if (args.kind and planned.kind != args.kind) or (args.files and not planned.given):
            continue
        report = run(planned, most_seconds=args.most_seconds)
        tally.add(report)
        _tell(report, args.seed, verbose=args.verbose)
        _progress(tally, number, last, time.perf_counter() - began)
    print("\n".join(tally.lines()))
    return 1 if tally.findings else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.faults", description=__doc__.split("\n")[0])
    parser.add_argument("--turns", type=int, default=2000, help="how many turns (2000)")
    parser.add_argument("--seed", type=int, default=1, help="gives all turns again (1)")
    parser.add_argument("--only", type=_span, metavar="A..B", help="only the turns A to B")
    parser.add_argument("--kind", choices=list(KINDS), metavar="KIND", help=f"only these: {', '.join(KINDS)}")
    parser.add_argument("--files", action="store_true", help="only turns with files")
    parser.add_argument("--verbose", action="store_true", help="show each turn's calls and its thread")
    parser.add_argument("--most-seconds", type=float, default=60.0, help="real time one turn may take (60)")
    return parser


def _span(text: str) -> tuple[int, int]:
    first, _, last = text.partition("..")
    try:
        return int(first), int(last or first)
    except ValueError:
        raise argparse.ArgumentTypeError("should be a number, or two like 10..20") from None


def _tell(report: Report, seed: int, *, verbose: bool) -> None:
    planned, verdict = report.plan, report.verdict
    if sys.stderr.isatty() and (verbose or not verdict.is_right):
        sys.stderr.write("\r\x1b[K")
    if verbose:
        for call in report.made:
            told = f"{call.error or 'ok'}{' (applied)' if call.applied and not call.ok else ''}"
            at = call.now - report.made[0].now
            print(f"  {at:9.2f} {call.method:32} {told:32} {_short(call.args)}")
        for seen in report.thread:
            print(f"  -- {seen.ts} {seen.state} {len(seen.text)} characters, cards {len(seen.tasks)}")
            print(f"     {seen.text[:70]!r} ... {seen.text[-70:]!r} {list(seen.extras)}")
    if verbose or not verdict.is_right:
        left = f", {verdict.open_streams} streams and {verdict.open_cards} cards open"
        left = left if verdict.open_streams or verdict.open_cards else ""
        left += f", left: {', '.join(report.left)}" if report.left else ""
        print(
            f"turn {planned.number} of seed {seed}: {verdict.kind} ({planned.kind}, {planned.about},"
            f" outcome {verdict.outcome}{left}, {len(report.made)} calls,"
            f" {report.took:.0f} s virtual, {report.seconds:.1f} s real): {verdict.why}",
            flush=True,
        )


def _short(args: object) -> str:
    text = " ".join(str(args).split())
    return text if len(text) <= 150 else f"{text[:100]} ... {text[-45:]}"


def _progress(tally: Tally, number: int, last: int, seconds: float) -> None:
    on_screen = sys.stderr.isatty()
    if on_screen or number % 50 == 0 or number == last:
        line = f".. turn {number} of {last}, {len(tally.findings)} not right, {seconds:.0f} s"
        sys.stderr.write(f"\r{line}\x1b[K" if on_screen else f"{line}\n")
        sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
