"""`python -m tests.bench.rolling [--answers 50] [--beside]`: three replicas on Redis are replaced at work.

One after the other gets SIGTERM, and a new process starts at once; the next one is ended when that one has
ended and the new one is connected. People ask all the while. Each process is `slack-bot run`, the agent is a
server on a2a-sdk, the workspace keeps all of Slack's limits. Judged is what stands in the threads, what the
agent was asked, and for how long a reader saw nothing new. Slack's limits alone make many readers wait: with
`--beside` the same questions are asked once more, of replicas that stay.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from random import Random

import aiohttp

from slack_bot.testing.slack.server import RETRY_DELAYS, SlackServer
from slack_bot.testing.slack.workspace import Change, SeenMessage, Workspace, WorkspaceRules
from tests.processes import end_by
from tests.redis_server import running_redis

from .crash_cases import Asked
from .crash_judge import GOOD, Deliveries, Fact, Seen, judge_asked, judge_question, leftovers
from .crash_run import CHANNEL, FASTER, agents
from .figures import machine, percentile
from .running import bot_environment, steady_clock

_REPLICAS = 3
_MOST_CONNECTIONS = 10
_WITHIN = 300.0  # seconds for anything to come about
_KINDS = ("plain", "plain", "untagged", "cards")


@dataclass(frozen=True, slots=True)
class Plan:
    """`seconds`: how long an answer takes, least and most. `span`: within which all questions are asked.

    `grace` is that of a process that ends; `lease` that of a replica. `replaces`: whether they are.
    `faster`: so many times sooner than Slack's do its retries come.
    """

    answers: int = 50
    seconds: tuple[float, float] = (15.0, 45.0)
    span: float = 60.0
    grace: float = 20.0
    lease: float = 10.0
    seed: int = 1
    replaces: bool = True
    faster: float = FASTER

    def questions(self) -> list[Asked]:
        random = Random(self.seed)
        return [
            Asked(
                f"q{number}x0",
                random.choice(_KINDS),
                random.choice((25, 60, 120)),
                round(random.uniform(*self.seconds), 1),
                after=round(self.span * number / self.answers, 2),
                is_direct=random.random() < 0.25,
                user=f"U{number}",
            )
            for number in range(self.answers)
        ]


@dataclass
class Result:
    """`still`: the longest time without anything new in each thread, from its first text to its last."""

    facts: list[Fact]
    wrong: list[str]
    still: list[float]
    connections: int
    handed_over: int
    took: float


class Rollout:
    """Use `run`. `home` is for the logs of the processes."""

    def __init__(self, plan: Plan, urls: Mapping[str, str], home: Path, store: str) -> None:
        self._plan, self._urls, self._home, self._store = plan, urls, home, store
        self._questions = plan.questions()
        self._clock = steady_clock()
        self._workspace = Workspace(rules=WorkspaceRules.real())
        self._workspace.add_channel(CHANNEL)
        delays = [delay / plan.faster for delay in RETRY_DELAYS]
        self._slack = SlackServer(self._workspace, self._clock, retry_delays=delays)
        self._places: dict[str, tuple[str, str]] = {}  # channel and thread, by the question's token
        self._processes: list[asyncio.subprocess.Process] = []
        self._killed: list[asyncio.subprocess.Process] = []
        self._read: dict[tuple[str, str], str] = {}
        self._changed_at: dict[tuple[str, str], list[float]] = {}
        self._connections = 0
        self._problems: list[str] = []

    async def run(self) -> Result:
        began = time.monotonic()
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._slack)
            stack.callback(self._workspace.listen(self._on_change))
            stack.push_async_callback(self._end_all)
            counting = asyncio.create_task(self._count())
            stack.callback(counting.cancel)
            try:
                for _ in range(_REPLICAS):
                    await self._connected(await self._start())
                asking = asyncio.create_task(self._ask())
                stack.callback(asking.cancel)
                await self._until(self._is_begun, "no answers")
                await self._disturb()
                await asking
                await self._until(self._is_settled, "the threads did not come to rest")
                await self._end_in_order()
            except TimeoutError as error:
                self._problems.append(str(error))
            return await self._judge(time.monotonic() - began)

    def _is_begun(self) -> bool:
        """Whether it is time to disturb."""
        return len(self._workspace.open_streams()) >= min(self._plan.answers // 2, 8)

    async def _disturb(self) -> None:
        """What happens in the middle of the answers."""
        for old in list(self._processes) if self._plan.replaces else ():
            await self._replace(old)

    # -- processes -------------------------------------------------------------------------------------------

    def _store_of(self, number: int) -> str:
        return self._store

    async def _start(self) -> asyncio.subprocess.Process:
        settings = {
            "SLACK_BOT_STORE__URL": self._store_of(len(self._processes)),
            "SLACK_BOT_STORE__LEASE": f"{self._plan.lease:g}",
            "SLACK_BOT_TURNS__SHUTDOWN_GRACE": f"{self._plan.grace:g}",
        }
        with (self._home / f"{len(self._processes)}.log").open("w") as log:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "slack_bot", "run"),
                env=bot_environment(self._urls["1.0"], self._slack.api_url, settings),
                cwd=self._home,
                stderr=log,
            )
        self._processes.append(process)
        return process

    async def _connected(self, process: asyncio.subprocess.Process) -> None:
        number = self._processes.index(process)
        await self._until(
            lambda: process.returncode is not None or "connected to Slack" in self._log(number),
            "a process did not connect",
        )

    def _log(self, number: int) -> str:
        return (self._home / f"{number}.log").read_text("utf-8", "replace")

    async def _replace(self, old: asyncio.subprocess.Process) -> None:
        end_by(old, signal.SIGTERM)
        new = await self._start()
        await self._connected(new)
        await asyncio.wait_for(old.wait(), _WITHIN)

    async def _end_in_order(self) -> None:
        running = [each for each in self._processes if each not in self._killed]
        for each in running:
            if each.returncode is None:
                end_by(each, signal.SIGTERM)
        statuses = [await asyncio.wait_for(each.wait(), _WITHIN) for each in running]
        self._problems += [f"a process ended with status {status}" for status in statuses if status]

    async def _end_all(self) -> None:
        for each in self._processes:
            if each.returncode is None:
                each.kill()
            await each.wait()

    # -- people, and what they see ---------------------------------------------------------------------------

    async def _ask(self) -> None:
        began = time.monotonic()
        for asked in self._questions:
            await asyncio.sleep(max(0.0, began + asked.after - time.monotonic()))
            self._workspace.add_user(asked.user)
            channel = self._workspace.direct(asked.user) if asked.is_direct else CHANNEL
            text = asked.text if asked.is_direct else f"<@{self._workspace.bot.user_id}> {asked.text}"
            ts = self._workspace.say(asked.user, channel, text, now=self._clock.wall())
            self._places[asked.token] = channel, ts

    def _on_change(self, change: Change) -> None:
        place = change.channel, change.thread_ts
        if change.kind == "thread" and place in self._places.values():
            read = "".join(each.text for each in self._workspace.thread(*place) if each.is_bot)
            if read != self._read.get(place, ""):
                self._read[place] = read
                self._changed_at.setdefault(place, []).append(time.monotonic())

    async def _count(self) -> None:
        while True:
            self._connections = max(self._connections, self._slack.sockets.connections)
            await asyncio.sleep(0.02)

    def _thread(self, asked: Asked) -> list[SeenMessage]:
        place = self._places.get(asked.token)
        return [] if place is None else self._workspace.thread(*place, now=self._clock.wall())

    def _seen(self) -> dict[tuple[str, str], Seen]:
        return {
            place: Seen(
                self._workspace.thread(*place, now=self._clock.wall()), self._workspace.session(*place)
            )
            for place in self._places.values()
        }

    def _fact(self, asked: Asked, told: Deliveries) -> Fact:
        return judge_question(asked, self._thread(asked), told, killed=(), stopped_at=None)

    def _is_right(self, fact: Fact) -> bool:
        return fact.fate == "whole"

    def _is_settled(self) -> bool:
        return not leftovers(self._seen()) and all(
            self._fact(asked, Deliveries()).fate in GOOD for asked in self._questions
        )

    async def _until(self, condition: Callable[[], object], why: str) -> None:
        """Wait for `condition`, looking when the workspace changes, and a few times a second."""
        changed = asyncio.Event()
        stop = self._workspace.listen(lambda _: changed.set())
        try:
            async with asyncio.timeout(_WITHIN):
                while not condition():
                    changed.clear()
                    with suppress(TimeoutError):
                        await asyncio.wait_for(changed.wait(), 0.2)
                    await asyncio.sleep(0.1)
        except TimeoutError:
            raise TimeoutError(why) from None
        finally:
            stop()

    # -- the verdict -----------------------------------------------------------------------------------------

    async def _judge(self, took: float) -> Result:
        told = await self._told()
        facts = [self._fact(asked, told[asked.token]) for asked in self._questions]
        wrong = [f"{each.asked.token}: {each.fate}: {each.why}" for each in facts if not self._is_right(each)]
        wrong += filter(None, (judge_asked(asked, told[asked.token], 0) for asked in self._questions))
        wrong += leftovers(self._seen()) + self._problems
        if self._slack.lost:
            wrong.append(f"{len(self._slack.lost)} envelopes were never acknowledged")
        if self._connections > _MOST_CONNECTIONS:
            wrong.append(f"{self._connections} connections")
        if limited := [call.method for call in self._workspace.calls if call.limited]:
            wrong.append(f"{len(limited)} calls were refused: {sorted(set(limited))}")
        logs = "\n".join(self._log(number) for number in range(len(self._processes)))
        still = [
            max((after - at for at, after in pairwise(times)), default=0.0)
            for times in self._changed_at.values()
        ]
        handed_over = len(set(re.findall(r"a turn is taken over .*?turn=(\S+)", logs)))
        return Result(facts, wrong, still, self._connections, handed_over, took)

    async def _told(self) -> dict[str, Deliveries]:
        async with aiohttp.ClientSession() as session, session.get(f"{self._urls['ledger']}asked") as answer:
            received = (await answer.json())["received"].values()
        found = {}
        for asked in self._questions:
            of_it = [each for each in received if each["text"].split()[-4] == asked.token]
            tasks = tuple(each["task"] for each in of_it if each["task"])
            found[asked.token] = Deliveries(len(of_it), sum(each["times"] for each in of_it), tasks=tasks)
        return found


async def run(plan: Plan) -> Result:
    with tempfile.TemporaryDirectory() as home, running_redis(Path(home) / "redis") as redis:
        async with agents() as urls:
            return await Rollout(plan, urls, Path(home), redis.url).run()


def summary(result: Result) -> str:
    """The figures."""
    fates = Counter(fact.fate for fact in result.facts)
    still = result.still or [0.0]
    middle = percentile(still, 0.5)
    return "\n".join(
        [
            f"answers: {len(result.facts)}; " + ", ".join(f"{fate} {count}" for fate, count in fates.items()),
            f"taken over from a process that ended: {result.handed_over}",
            f"nothing new for a reader, at the longest: p50 {middle:.1f} s, most {max(still):.1f} s",
            f"connections at once: {result.connections}; took {result.took:.0f} s",
            *result.wrong,
        ]
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run and print. 1 if anything is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.rolling", description=__doc__)
    parser.add_argument("--answers", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--beside", action="store_true", help="also without a replacement")
    args = parser.parse_args(argv)
    plan = Plan(answers=args.answers, seed=args.seed)
    print(f"{_REPLICAS} replicas, lease {plan.lease:g} s, grace {plan.grace:g} s, on {machine()}")
    is_wrong = False
    for each in (replace(plan, replaces=False), plan) if args.beside else (plan,):
        print("replaced" if each.replaces else "not replaced", flush=True)
        result = asyncio.run(run(each))
        print(summary(result), flush=True)
        is_wrong |= bool(result.wrong)
    return 1 if is_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
