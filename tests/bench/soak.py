"""`python -m tests.bench.soak [--hours 8] [--turns 300]`: hours of questions to one bot, and what is left.

On the virtual clock, in memory, with the store and the metrics of a real run. The questions are those of the
fault run, one app for all of them: Slack fails one call in ten, agents are cut off, go away, ask and are
never answered; people press Stop and delete their threads. After each hour, when all is answered, what the
emulated workspace has kept is dropped, and the rest is counted. The exit code is 1 if anything is left.
"""

from __future__ import annotations

import argparse
import asyncio
import contextvars
import gc
import sys
import tracemalloc
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import httpx

from slack_bot.app import App, build
from slack_bot.observe.facts import Fact, ToAll, TurnEnded
from slack_bot.observe.logs import LogObserver
from slack_bot.observe.metrics import Metrics
from slack_bot.testing import virtual_clock
from slack_bot.testing.agent.scripted import ScriptedAgent, ScriptedTransport
from slack_bot.testing.harness import CHANNEL, bot_settings, hand_over
from slack_bot.testing.slack.in_process import SlackSession
from slack_bot.testing.slack.workspace import Workspace, WorkspaceRules
from slack_bot.threads import intake

from . import fault_scripts
from .away import Away
from .figures import machine, progress
from .plans import Plan, collected_errors, plan, recorded

GROWTH = 0.05
"""What memory may have grown by, at the end, over the most in the first half, as a part of it."""
_HOUR = 3600.0
_KINDS = frozenset({"storm", "calm", "cut", "away", "stopped", "gone", "asked back", "rewritten", "planned"})
_KEPT = 10  # threads of which something is kept, so that this is full within the first hours
_LONGEST = 1_500  # characters of an answer: there are to be many
_PEOPLE = 40
_AGAIN = 0.3  # of the questions stand in a thread that has an answer already
_THREAD_FREE = 1500.0  # seconds after which no answer of the fault run is being written any more
_WATCHED = 600.0  # seconds that a task is followed whose stream was lost
_FAULTS_EVERY = 300.0  # seconds

_number = contextvars.ContextVar[int]("number")  # of the question, in all tasks of its turn


@dataclass(slots=True)
class Left:
    """What there is when nothing is being answered. `objects`: of the bot's own classes, by their names."""

    hour: int
    questions: int
    memory: int  # bytes that Python holds
    tasks: int
    files: int
    streams: int
    objects: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        return (
            f"hour {self.hour:2}: {self.questions:5} questions, {self.memory / 1024:9,.0f} KiB,"
            f" {sum(self.objects.values()):6,} objects, {self.tasks} tasks, {self.files} files and sockets,"
            f" {self.streams} streams"
        )


class _Agents(httpx.AsyncBaseTransport):
    """Each question has an agent of its own."""

    def __init__(self) -> None:
        self.by_number: dict[int, httpx.AsyncBaseTransport] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """As the agent of the turn that asks."""
        return await self.by_number[_number.get()].handle_async_request(request)


class _Soak:
    def __init__(self, seed: int) -> None:
        self._seed, self._planned = seed, 0
        self._random = Random(seed)
        self._clock = virtual_clock.new_clock()
        self._workspace = Workspace(rules=WorkspaceRules.real())
        self._workspace.add_channel(CHANNEL)
        self._agents = _Agents()
        self._threads: list[tuple[float, str]] = []  # when each is free again, and its ts
        self.outcomes: Counter[str] = Counter()
        self._asked = 0

    def _next_plan(self) -> Plan:
        while True:
            self._planned += 1
            planned = plan(self._seed, self._planned)
            if planned.kind in _KINDS and len(planned.truth.text) <= _LONGEST:
                return planned

    def _note(self, fact: Fact) -> None:
        if isinstance(fact, TurnEnded):
            self.outcomes[fact.outcome] += 1

    async def run(self, hours: int, turns: int) -> list[Left]:
        """What is left before the first hour, after each of them, and when the bot is closed."""
        before = len(asyncio.all_tasks())
        metrics = Metrics(self._clock)
        session = SlackSession(self._workspace, self._clock, latency=0.05)
        self._agents.by_number[0] = ScriptedTransport(ScriptedAgent(self._next_plan().source))
        _number.set(0)
        app = await build(
            bot_settings({"watch_for": _WATCHED, "cookie_threads": _KEPT, "store.url": "memory://"}),
            clock=self._clock,
            observer=ToAll(LogObserver(), metrics, self._note),
            http_transport=self._agents,
            slack_session=session,
        )
        app.threads.registry._stream_starts._max_threads = intake._MOST_ACCEPTED = _KEPT
        async with app:
            found = [self._left(0)]
            for hour in range(1, hours + 1):
                await self._hour(app, turns)
                app.threads.context.forget()  # bounded too, by 10,000 threads
                metrics.scrape()
                found.append(self._left(hour))
                progress(str(found[-1]))
        await session.close()
        closed = self._left(hours + 1)
        closed.tasks -= before
        return [*found, closed]

    async def _hour(self, app: App, turns: int) -> None:
        """So many questions at any time of it, and then until nothing goes on."""
        asked = [asyncio.create_task(self._question(app)) for _ in range(turns)]
        faults = asyncio.create_task(self._fail())
        await asyncio.sleep(_HOUR)
        while any(app.threads.conversations.load().values()) or not all(each.done() for each in asked):
            await app.threads.idle()
            await asyncio.sleep(_WATCHED)
        await asyncio.gather(*asked)
        faults.cancel()
        with suppress(asyncio.CancelledError):
            await faults
        await asyncio.sleep(_WATCHED)

    async def _fail(self) -> None:
        while True:
            for method, script in fault_scripts.scripts(self._random, 0.1).items():
                self._workspace.faults.set(method, script)
            await asyncio.sleep(_FAULTS_EVERY)

    async def _question(self, app: App) -> None:
        """Somebody asks, at any time of the hour, and may press Stop or delete the thread."""
        await asyncio.sleep(self._random.random() * _HOUR)
        self._asked += 1
        planned = self._next_plan()
        _number.set(self._asked)
        self._agents.by_number[self._asked] = self._agent(planned)
        user, bot = f"U{self._asked % _PEOPLE}", self._workspace.bot.user_id
        self._workspace.add_user(user)
        now = self._clock.wall()
        free = [root for at, root in self._threads if at <= now and self._workspace.thread(CHANNEL, root)]
        root = free[-1] if free and self._random.random() < _AGAIN else None
        ts = self._workspace.say(user, CHANNEL, f"<@{bot}> {planned.said[0].asks}", now=now, thread_ts=root)
        self._threads = [each for each in self._threads if each[1] != root]
        self._threads.append((now + _THREAD_FREE, root or ts))
        await self._deliver(app)
        await asyncio.sleep(planned.at)
        if planned.kind == "stopped":
            self._workspace.stop(user, CHANNEL, root or ts, now=self._clock.wall())
        elif planned.kind == "gone":
            self._workspace.delete_root(CHANNEL, root or ts, now=self._clock.wall(), with_replies=True)
        await self._deliver(app)

    def _agent(self, planned: Plan) -> httpx.AsyncBaseTransport:
        goes_on = planned.way != "stuck"
        agent = ScriptedAgent(planned.source, cut_after=planned.cut_after, goes_on=goes_on)
        return Away(ScriptedTransport(agent), planned.way, self._random)

    async def _deliver(self, app: App) -> None:
        for envelope in self._workspace.take():
            await hand_over(app, self._workspace, envelope)

    def _left(self, hour: int) -> Left:
        streams = len(self._workspace.open_streams())
        self._forget()
        gc.collect()
        files, tasks = sum(1 for _ in Path("/proc/self/fd").iterdir()), len(asyncio.all_tasks())
        memory = tracemalloc.get_traced_memory()[0]
        return Left(hour, self._asked, memory, tasks, files, streams, Counter(_own_objects()))

    def _forget(self) -> None:
        """What the workspace and the agents have kept of the last hour: it is not the bot's memory."""
        state = self._workspace.state
        kept: tuple[dict[str, object], ...] = (state.views, state.view_owners, state.view_errors)  # type: ignore[assignment]
        for each in (*kept, state.messages, state.threads, state.triggers, state.filled, state.responses):
            each.clear()
        state.uploads.clear()
        self._workspace.calls.clear()
        self._workspace.downloads.clear()
        self._threads.clear()
        self._agents.by_number = {n: each for n, each in self._agents.by_number.items() if n == 0}


def _own_objects() -> Iterator[str]:
    for each in gc.get_objects():
        module = str(type(each).__module__)
        if module.startswith("slack_bot.") and not module.startswith("slack_bot.testing."):
            yield sys.intern(f"{module.removeprefix('slack_bot.')}.{type(each).__qualname__}")


def soak(hours: int, turns: int, seed: int = 1) -> tuple[list[Left], Counter[str], list[str]]:
    """What is left each hour, how the questions ended, and what was logged with a traceback."""
    recorded()  # they are replayed, which cannot be done in a running loop
    running = _Soak(seed)
    tracemalloc.start()
    try:
        with collected_errors() as broken:
            return virtual_clock.run(running.run(hours, turns)), running.outcomes, broken
    finally:
        tracemalloc.stop()


def faults_of(found: Sequence[Left]) -> list[str]:
    """What there should not be."""
    first, *hours, closed = found
    said = [f"hour {each.hour}: {each.streams} streams are open" for each in hours if each.streams]
    said += [f"{closed.tasks} tasks are left"] if closed.tasks else []
    for each in hours:
        if each.tasks != hours[0].tasks or each.files != first.files:
            said.append(f"hour {each.hour}: {each.tasks} tasks, {each.files} files and sockets")
    early, late = max(hours[: (len(hours) + 1) // 2], key=lambda each: each.memory), hours[-1]
    if late.memory > early.memory * (1 + GROWTH):
        grown = (late.objects - early.objects).most_common(8)
        kib = (late.memory - early.memory) / 1024
        said.append(f"{kib:,.0f} KiB more since hour {early.hour}; of the bot's own: {grown}")
    return said


def main(argv: Sequence[str] | None = None) -> int:
    """Run the hours and print them."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.soak", description=__doc__)
    parser.add_argument("--hours", type=int, default=8, help="virtual hours (%(default)s)")
    parser.add_argument("--turns", type=int, default=300, help="questions an hour (%(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(argv)
    print(f"slack_bot on {machine()}, seed {given.seed}")
    found, outcomes, broken = soak(given.hours, given.turns, given.seed)
    print(*found[:-1], sep="\n")
    print(f"closed: {found[-1].tasks} tasks")
    print("ended:", ", ".join(f"{name} {number:,}" for name, number in outcomes.most_common()))
    wrong = [*faults_of(found), *broken]
    print(*(f"wrong: {each}" for each in wrong), sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
