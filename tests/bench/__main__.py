"""`python -m tests.bench [--quick]`: the figures of the whole bot, and what they were taken on."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence

from . import latency, memory, startup, throughput
from .figures import Figure, machine, progress, table


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print. Progress goes to stderr, the figures to stdout."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few samples: does it run, not how quick it is")
    quick = parser.parse_args(argv).quick
    print(f"slack_bot on {machine()}")
    if quick:
        print("quick: few samples, the figures say little")
    figures = asyncio.run(_all(quick))
    print(table(figures))
    return 0


async def _all(quick: bool) -> list[Figure]:
    progress("start-up")
    figures = await startup.measure(1 if quick else 5)
    figures = await latency.measure(10 if quick else 360) + figures
    figures += await memory.measure(3 if quick else 100)
    figures += throughput.measure(2_000 if quick else 100_000, 1 if quick else 5)
    return figures


if __name__ == "__main__":
    sys.exit(main())
