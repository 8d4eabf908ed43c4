"""`python -m tests.bench.failover [--kills 3] [--with-bot]`: Redis' primary is killed under live answers.

Three replicas of the bot, each a process, follow the primary that three Sentinels name; it has two replicas.
Again and again the primary is killed (SIGKILL), and starts as a replica once another one has its place. With
`--with-bot` a process of the bot is killed at the same moment, and a new one starts. People go on asking.
Judged is as in `tests.bench.rolling`; Slack's retries come when Slack's do. Printed is also for how long
there was no primary, and what the processes said of it.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from tests.redis_sentinels import SentinelSet, running_sentinels

from .crash_run import agents
from .figures import machine
from .redis_away import words_of_store
from .rolling import Plan, Result, Rollout, summary

_LIVE = 100_000  # bytes: what is written meanwhile is on its way
_BETWEEN = (4.0, 12.0)  # seconds from one failover to the next


@dataclass(frozen=True, slots=True)
class Kills:
    """How often the primary is killed, and whether a process of the bot is killed with it."""

    number: int = 3
    with_bot: bool = False
    seed: int = 1


class Failover(Rollout):
    """Use `run`. `absences`: the seconds from each kill until the Sentinels named another primary."""

    def __init__(
        self, plan: Plan, kills: Kills, urls: Mapping[str, str], home: Path, redis: SentinelSet
    ) -> None:
        super().__init__(plan, urls, home, redis.url)
        self._kills, self._redis = kills, redis
        self._random = Random(kills.seed)
        self.absences: list[float] = []

    async def _disturb(self) -> None:
        for _ in range(self._kills.number):
            await asyncio.sleep(self._random.uniform(*_BETWEEN))
            primary = await asyncio.to_thread(self._redis.primary)
            began = time.monotonic()
            await asyncio.to_thread(primary.kill)
            if self._kills.with_bot:
                await self._kill_one()
            await asyncio.to_thread(self._redis.wait_for_another, primary)
            self.absences.append(time.monotonic() - began)
            if self._kills.with_bot:
                await self._start()
            await asyncio.to_thread(primary.start)
            replicas = len(self._redis.servers) - 1
            await asyncio.to_thread(self._redis.wait_for_replicas, replicas, behind=_LIVE)

    async def _kill_one(self) -> None:
        process = self._random.choice([each for each in self._processes if each.returncode is None])
        self._killed.append(process)
        process.kill()
        await process.wait()

    def said(self) -> Counter[str]:
        """What the processes wrote of the store, by the beginning of each sentence."""
        return words_of_store(self._log(number) for number in range(len(self._processes)))


async def run(plan: Plan, kills: Kills) -> tuple[Result, Failover, Counter[str]]:
    """Also what the processes said."""
    with tempfile.TemporaryDirectory() as home, running_sentinels(Path(home) / "redis") as redis:
        async with agents() as urls:
            failover = Failover(plan, kills, urls, Path(home), redis)
            return await failover.run(), failover, failover.said()


def main(argv: Sequence[str] | None = None) -> int:
    """Run and print. 1 if anything is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.failover", description=__doc__)
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--with-bot", action="store_true", help="a process of the bot dies too")
    parser.add_argument("--answers", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args(argv)
    plan, kills = (
        Plan(answers=args.answers, seed=args.seed, faster=1.0),
        Kills(args.kills, args.with_bot, args.seed),
    )
    with_bot = ", each time with a process of the bot" if kills.with_bot else ""
    print(f"the primary is killed {kills.number} times{with_bot}, lease {plan.lease:g} s, on {machine()}")
    result, failover, said = asyncio.run(run(plan, kills))
    print(summary(result))
    print("without a primary:", ", ".join(f"{seconds:.1f} s" for seconds in failover.absences))
    for sentence, count in said.most_common():
        print(f"{count} x {sentence}")
    return 1 if result.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
