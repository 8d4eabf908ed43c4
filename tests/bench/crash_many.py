"""The case of many answers: `python -m tests.bench.crash --many 5`.

Three replicas on a real Redis, with the lease that is the default. Thirty people ask at once, each for an
answer of 20 s; one replica after the other is killed and started again, and one call to Slack in ten fails.
The workspace keeps all of Slack's limits, with a minute's budget at once. Judged is what stands in the
threads and what the agent was asked, as in `tests.bench.rolling`, and how long each reader waited.
"""

from __future__ import annotations

import asyncio
import re
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from random import Random
from statistics import median

from tests.redis_server import running_redis

from .crash_judge import GOOD, Fact
from .crash_run import agents
from .figures import percentile
from .rolling import Plan, Result, Rollout

KILLS = (3.0, 8.0, 13.0)
"""Seconds after the questions at which a replica is killed, each time the one that has run for longest."""
FAILING = 0.1
PLAN = Plan(answers=30, seconds=(20.0, 20.0), span=0.0)

_METHODS = (
    "chat.startStream",
    "chat.appendStream",
    "chat.stopStream",
    "chat.postMessage",
    "chat.update",
    "chat.delete",
    "conversations.replies",
    "conversations.history",
    "assistant.threads.setStatus",
    "agents.sessions.setStatus",
)
_WAYS = ("internal_error", "internal_error!", "cut", "cut!", "http:503", "http:503!", "timeout!", "slow:4")
_CALLS = 3_000  # of each method, at most
_READS = frozenset({"conversations.replies", "conversations.history"})


@dataclass(frozen=True, slots=True)
class Reader:
    """One of those who asked, in seconds: from the question to the first text and to the last, and the
    longest time without anything new between the two. None: no text came.
    """

    first: float | None
    still: float | None
    whole: float | None


@dataclass(frozen=True, slots=True)
class ManyResult:
    """One run. `reads`: calls that read a thread or a channel. `shares`: turns taken over by each process."""

    seed: int
    result: Result
    readers: list[Reader]
    reads: int
    shares: list[int]

    @property
    def slowest_first(self) -> float:
        return max((each.first for each in self.readers if each.first is not None), default=0.0)

    @property
    def median_still(self) -> float:
        return percentile([each.still or 0.0 for each in self.readers], 0.5)

    @property
    def all_whole(self) -> float:
        return max((each.whole for each in self.readers if each.whole is not None), default=0.0)


class ManyKilled(Rollout):
    """Use `run_many`."""

    def __init__(self, plan: Plan, urls: Mapping[str, str], home: Path, store: str) -> None:
        super().__init__(plan, urls, home, store)
        dice = Random(plan.seed)
        for method in _METHODS:
            script = [dice.choice(_WAYS) if dice.random() < FAILING else None for _ in range(_CALLS)]
            self._workspace.faults.set(method, [*script, None])
        self._asked_at = 0.0

    async def _ask(self) -> None:
        self._asked_at = time.monotonic()
        await super()._ask()

    def _is_begun(self) -> bool:
        return len(self._places) == self._plan.answers

    def _is_right(self, fact: Fact) -> bool:
        """A notice is the truth where a process was killed before it knew the agent's task."""
        return fact.fate in GOOD

    async def _disturb(self) -> None:
        starting = list[asyncio.Task[asyncio.subprocess.Process]]()
        for at, victim in zip(KILLS, tuple(self._processes), strict=True):
            await asyncio.sleep(max(0.0, self._asked_at + at - time.monotonic()))
            victim.kill()
            await victim.wait()
            self._killed.append(victim)
            starting.append(asyncio.create_task(self._start()))
        await asyncio.gather(*starting)

    def many(self, result: Result) -> ManyResult:
        """The figures, when it is over."""
        readers = [self._reader(self._changed_at.get(place, [])) for place in self._places.values()]
        logs = [self._log(number) for number in range(len(self._processes))]
        shares = [len(set(re.findall(r"a turn is taken over .*?turn=(\S+)", log))) for log in logs]
        reads = sum(call.method in _READS for call in self._workspace.calls)
        return ManyResult(self._plan.seed, result, readers, reads, shares)

    def keep(self, folder: Path) -> None:
        """Write down what the processes said, and every call to Slack with its time."""
        folder.mkdir(parents=True, exist_ok=True)
        for number in range(len(self._processes)):
            (folder / f"{number}.log").write_text(self._log(number), "utf-8")
        began = self._workspace.calls[0].now if self._workspace.calls else 0.0
        calls = [
            f"{each.now - began:8.2f} {each.method} {_place(each.args)} {each.error}"
            for each in self._workspace.calls
        ]
        (folder / "calls.txt").write_text("\n".join(calls), "utf-8")

    def _reader(self, changes: Sequence[float]) -> Reader:
        if not changes:
            return Reader(None, None, None)
        still = max((after - at for at, after in pairwise(changes)), default=0.0)
        return Reader(changes[0] - self._asked_at, still, changes[-1] - self._asked_at)


def _place(args: Mapping[str, object]) -> object:
    return args.get("thread_ts") or args.get("ts")


async def run_many(plan: Plan = PLAN, keep: Path | None = None) -> ManyResult:
    """One run; its seed is the plan's. The logs, and what was called, are copied to `keep`."""
    with tempfile.TemporaryDirectory() as home, running_redis(Path(home) / "redis") as redis:
        async with agents() as urls:
            many = ManyKilled(plan, urls, Path(home), redis.url)
            result = many.many(await many.run())
            if keep is not None:
                many.keep(keep)
            return result


def line(of: ManyResult) -> str:
    """One run."""
    whole = sum(fact.fate == "whole" for fact in of.result.facts)
    stills = [each.still or 0.0 for each in of.readers]
    firsts = [each.first for each in of.readers if each.first is not None]
    parts = [
        f"seed {of.seed}: whole {whole} of {len(of.result.facts)}",
        f"first text p50 {percentile(firsts, 0.5):.1f} s, most {of.slowest_first:.1f} s",
        f"stood still p50 {of.median_still:.1f} s, most {max(stills):.1f} s",
        f"all whole after {of.all_whole:.1f} s",
        f"{of.reads} reads",
        f"taken over by each process: {', '.join(map(str, of.shares))}",
        *of.result.wrong,
    ]
    return "; ".join(parts)


def medians(results: Sequence[ManyResult]) -> str:
    """What counts, of several seeds."""
    first = median(each.slowest_first for each in results)
    still = median(each.median_still for each in results)
    whole = median(each.all_whole for each in results)
    return (
        f"median of {len(results)}: slowest first text {first:.1f} s, the median reader's longest stand-still"
        f" {still:.1f} s, all whole after {whole:.1f} s"
    )
