"""`python -m tests.bench.redis_away [--how hanging]`: Redis is cut off for 30 s under live answers.

Three replicas with a lease of 10 s reach it through a proxy, which refuses connections or lets them hang;
with `--alone` only the first one does. People go on asking. Judged is as in `tests.bench.rolling`; Slack's
retries come when Slack's do. Printed is also what the replicas said of it.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.redis_proxy import RedisProxy, redis_proxy
from tests.redis_server import running_redis

from .crash_run import agents
from .figures import machine
from .rolling import Plan, Result, Rollout, summary

_SAID = re.compile(r"(?:WARNING|ERROR) slack_bot\.\S+: (.{1,90})")
_OURS = re.compile(r"[Rr]edis|[Ss]tore")


@dataclass(frozen=True, slots=True)
class Cut:
    """Redis is away for so many `seconds`. `how`: "hanging" or "refused"; `is_alone`: for one replica."""

    how: str = "hanging"
    seconds: float = 30.0
    is_alone: bool = False


class CutOff(Rollout):
    """Use `run`."""

    def __init__(
        self, plan: Plan, cut: Cut, urls: Mapping[str, str], home: Path, store: str, proxy: RedisProxy
    ) -> None:
        super().__init__(plan, urls, home, store)
        self._cut, self._proxy = cut, proxy

    def _store_of(self, number: int) -> str:
        return self._proxy.url if number == 0 or not self._cut.is_alone else self._store

    async def _disturb(self) -> None:
        if self._cut.how == "hanging":
            self._proxy.hang()
        else:
            await self._proxy.refuse()
        await asyncio.sleep(self._cut.seconds)
        if self._cut.how == "hanging":
            self._proxy.flow()
        else:
            await self._proxy.listen()

    def said(self) -> Counter[str]:
        """What the processes wrote of the store, by the beginning of each sentence."""
        return words_of_store(self._log(number) for number in range(len(self._processes)))


def words_of_store(logs: Iterable[str]) -> Counter[str]:
    """What these logs say of the store, by the beginning of each sentence."""
    found = _SAID.findall("\n".join(logs))
    return Counter(words for words in found if _OURS.search(words))


async def run(plan: Plan, cut: Cut) -> tuple[Result, Counter[str]]:
    with tempfile.TemporaryDirectory() as home, running_redis(Path(home) / "redis") as redis:
        async with agents() as urls, redis_proxy(redis.port) as proxy:
            cut_off = CutOff(plan, cut, urls, Path(home), redis.url, proxy)
            return await cut_off.run(), cut_off.said()


def main(argv: Sequence[str] | None = None) -> int:
    """Run and print. 1 if anything is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.redis_away", description=__doc__)
    parser.add_argument("--how", choices=("hanging", "refused"), default="hanging")
    parser.add_argument("--alone", action="store_true", help="only one replica has lost it")
    parser.add_argument("--answers", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args(argv)
    plan, cut = Plan(answers=args.answers, seed=args.seed, faster=1.0), Cut(args.how, is_alone=args.alone)
    who = "for one of three replicas" if cut.is_alone else "for three replicas"
    print(f"Redis {cut.how} for {cut.seconds:g} s {who}, lease {plan.lease:g} s, on {machine()}")
    result, said = asyncio.run(run(plan, cut))
    print(summary(result))
    for sentence, count in said.most_common():
        print(f"{count} x {sentence}")
    return 1 if result.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
