"""`python -m tests.bench.load`: many askers at once, three bots, a workspace with Slack's rates.

Everything runs on a virtual clock, in one process, in memory: HTTP clients, Bolt and slack_sdk are the real
ones, sockets are not. The emulated workspace counts as Slack documents and allows a minute's budget at once
(`slack_bot/testing/slack/rules.py`); what the real Slack allows at once nobody knows.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import random
import sys
import time
from collections.abc import Sequence

from slack_bot.testing import virtual_clock
from slack_bot.testing.slack.workspace import WorkspaceRules

from .baselines import Open, at_line_ends, on_chat_stream, ours
from .figures import machine, progress
from .load_model import Crowd, Load, Report

LOADS = (
    Load(3, 100),
    Load(12, 100),
    Load(12, 200),
    Load(20, 600),
    Load(40, 200),
    Load(20, 1_200, a_second=40),
    Load(20, 200, failing=0.1),
    Load(40, 200, within=60),
)
BOTS: dict[str, Open] = {
    "slack_bot": ours,
    "chat_stream": on_chat_stream,
    "line ends": at_line_ends,
}
HEAD = (
    "load",
    "bot",
    "whole answers",
    "first text p50 / max",
    "lag p50 / max",
    "stood still p50 / max",
    "oldest unseen, mean",
    "longest / shortest wait",
    "refused",
    "left open",
    "silent",
    "took",
)


def crowded(
    load: Load, bot: Open, seed: int = 1, *, rules: WorkspaceRules | None = None
) -> tuple[Report, list[str]]:
    """One load through one bot, on a virtual clock: the report, and the texts that are no answers.

    `rules`: Slack's limits; None: all that are known.
    """
    random.seed(seed)  # slack_sdk's retries have a random part
    return virtual_clock.run(_crowded(load, bot, seed, rules or WorkspaceRules.real()))


async def _crowded(load: Load, bot: Open, seed: int, rules: WorkspaceRules) -> tuple[Report, list[str]]:
    crowd = Crowd(load, virtual_clock.new_clock(), seed, rules)
    async with bot(crowd) as (deliver, idle):

        async def asks(number: int, at: float) -> None:
            await asyncio.sleep(at)
            crowd.ask(number)
            for envelope in crowd.workspace.take():
                await deliver(envelope.payload)

        watching = asyncio.create_task(crowd.watch())
        await asyncio.gather(*(asks(number, at) for number, at in enumerate(crowd.times, start=1)))
        await asyncio.sleep(0.01)
        await idle()
        watching.cancel()
        return crowd.report(), crowd.broken()


def main(argv: Sequence[str] | None = None) -> int:
    """Run loads and print the table. Returns 1 if ours lost, doubled or left open anything."""
    args = _arguments(argv)
    logging.disable(logging.ERROR)
    try:
        return _table(args)
    finally:
        logging.disable(logging.NOTSET)


def _table(args: argparse.Namespace) -> int:
    print(f"on {machine()}, seed {args.seed}; seconds of virtual time\n")
    print(_row(HEAD))
    print(_row(["---"] * len(HEAD)))
    fine = True
    for load in [LOADS[number - 1] for number in args.row or range(1, len(LOADS) + 1)]:
        for name in args.bot or BOTS:
            began = time.perf_counter()
            report, broken = crowded(load, BOTS[name], args.seed)
            progress(f"{load.name}, {name}: {time.perf_counter() - began:.1f} s")
            print(_row([load.name, name, *report.cells()]), flush=True)
            if name == "slack_bot":
                fine = fine and report.whole == load.askers and not report.left_open
                for text in broken:
                    progress(f"not an answer: {text!r:.300}")
    return 0 if fine else 1


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.load", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="of texts, times and faults (default: 1)")
    parser.add_argument(
        "--row", type=int, action="append", choices=range(1, len(LOADS) + 1), help="only this load"
    )
    parser.add_argument("--bot", action="append", choices=list(BOTS), help="only this bot")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
