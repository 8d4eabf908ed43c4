"""`python -m tests.bench.spoken [--items 60] [--schedules 20]`: the bot speaks first, and is killed.

Three replicas on a real Redis get messages over HTTP, texts and questions, and have schedules that run each
minute. All the while one of them is killed with SIGKILL and started again, at random. Judged is what is in
the channel: each message and each run of a schedule once, none lost.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import re
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp

from slack_bot.app import COLLECTIONS
from slack_bot.features.api.keys import hash_of
from slack_bot.store.collection import Ages
from slack_bot.store.outbound import OUTBOUND
from slack_bot.store.stores import StoreOptions, open_admin
from slack_bot.testing.agent.scripted import ScriptedAgent, serve_scripted
from slack_bot.testing.harness import free_port
from slack_bot.testing.slack.server import SlackServer
from slack_bot.testing.slack.workspace import Workspace, WorkspaceRules
from slack_bot.testing.tape.builders import answer
from slack_bot.turn.outbound import OutboundRecord
from tests.processes import end_by
from tests.redis_server import running_redis

from .figures import machine
from .running import bot_environment, steady_clock

CHANNELS = [f"C{number}" for number in range(10)]  # in each Slack takes one message a second
KEY = "sbk_of-the-bench"
LEASE = 4.0
_MINUTE = 60.0
_WITHIN = 120.0  # seconds until all is there
_NOTICES = ("cannot find out what became of this question", "I was restarted several times")


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is said. `minutes`: for how many the schedules run; `pause`: seconds between two kills."""

    items: int = 60
    schedules: int = 20
    minutes: int = 2
    replicas: int = 3
    pause: tuple[float, float] = (2.0, 6.0)
    seed: int = 1


@dataclass(slots=True)
class Spoken:
    """What came of it. `told`: answers of which the thread says that they may not be whole."""

    items: int = 0
    runs: int = 0
    kills: int = 0
    told: int = 0
    wrong: list[str] = field(default_factory=list)

    def line(self) -> str:
        """All of it, for people."""
        found = f"{self.items} messages and {self.runs} runs of schedules under {self.kills} kills"
        judged = "; ".join(self.wrong) or "each once, none lost"
        return f"{found}, {self.told} answers that are told to be given up; {judged}"


class Replicas:
    """Processes of the bot, each with its port."""

    def __init__(self, home: Path, settings: Mapping[str, str], urls: tuple[str, str], count: int) -> None:
        self._home, self._urls = home, urls
        self._settings = settings
        self.ports = [free_port() for _ in range(count)]
        self._processes: dict[int, asyncio.subprocess.Process] = {}
        self._started = 0

    async def start(self, number: int) -> None:
        self._started += 1
        more = {**self._settings, "SLACK_BOT_API__PORT": str(self.ports[number])}
        with (self._home / f"{self._started}.log").open("w") as log:
            self._processes[number] = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "slack_bot", "run"),
                env=bot_environment(*self._urls, more),
                cwd=self._home,
                stdout=log,
                stderr=log,
            )

    async def kill(self, number: int) -> None:
        end_by(self._processes[number], signal.SIGKILL)
        await self._processes[number].wait()

    async def close(self) -> None:
        for process in self._processes.values():
            if process.returncode is None:
                end_by(process, signal.SIGKILL)
            await process.wait()


def channel_of(number: int) -> str:
    """Where an item or a schedule is said."""
    return CHANNELS[number % len(CHANNELS)]


async def run(plan: Plan, home: Path, redis_url: str) -> Spoken:
    """Say all of it, and judge."""
    spoken, rng = Spoken(items=plan.items), random.Random(plan.seed)
    workspace = Workspace(rules=WorkspaceRules.real())
    for channel in CHANNELS:
        workspace.add_channel(channel)
    (file := home / "slack_bot.toml").write_text(_file(plan, plan.schedules), "utf-8")
    most = plan.items + (plan.minutes + 2) * plan.schedules
    tapes = [answer(f"Answer {number}.", seconds=1.0, ids=str(number)) for number in range(most)]
    async with AsyncExitStack() as stack:
        slack = await stack.enter_async_context(SlackServer(workspace, steady_clock()))
        agent_url = await stack.enter_async_context(serve_scripted(ScriptedAgent(*tapes)))
        settings = {
            "SLACK_BOT_CONFIG": "slack_bot.toml",
            "SLACK_BOT_STORE__URL": redis_url,
            "SLACK_BOT_STORE__LEASE": f"{LEASE:g}",
            "SLACK_BOT_API__HOST": "127.0.0.1",
        }
        replicas = Replicas(home, settings, (agent_url, slack.api_url), plan.replicas)
        stack.push_async_callback(replicas.close)
        for number in range(plan.replicas):
            await replicas.start(number)
        http = await stack.enter_async_context(aiohttp.ClientSession())
        async with _killing(plan, replicas, rng, spoken):
            seconds = plan.minutes * _MINUTE + 5.0
            posts = [
                _post(http, replicas, number, seconds * number / plan.items, rng.random())
                for number in range(plan.items)
            ]
            await asyncio.gather(asyncio.sleep(seconds), *posts)
        file.write_text(_file(plan, 0), "utf-8")
        for number in range(plan.replicas):
            await replicas.kill(number)
            spoken.kills += 1
            await replicas.start(number)
        await _judge(plan, workspace, redis_url, spoken)
    return spoken


def _file(plan: Plan, schedules: int) -> str:
    key = f'[keys.bench]\nhash = "{hash_of(KEY)}"\nchannels = ["*"]\nmay_ask = true\nrate = 10000\n'
    times = 'cron = "* * * * *"\nif_running = "queue"\n'
    return key + "".join(
        f'[schedules.s{number}]\n{times}channel = "{channel_of(number)}"\n'
        f'headline = "Clock {number}"\nask = "What is new?"\n'
        for number in range(schedules)
    )


@asynccontextmanager
async def _killing(plan: Plan, replicas: Replicas, rng: random.Random, spoken: Spoken) -> AsyncIterator[None]:
    """Replicas are killed and started again inside the block."""

    async def kill() -> None:
        while True:
            await asyncio.sleep(rng.uniform(*plan.pause))
            number = rng.randrange(plan.replicas)
            await replicas.kill(number)
            spoken.kills += 1
            await replicas.start(number)

    task = asyncio.create_task(kill())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _post(
    http: aiohttp.ClientSession, replicas: Replicas, number: int, after: float, seed: float
) -> None:
    """As a program does: at another replica, with the same key, until one has it."""
    await asyncio.sleep(after)
    rng, text = random.Random(seed), f"Item {number}"
    words = {"ask": "What is new?", "headline": text} if number % 2 else {"text": text}
    headers = {"Authorization": f"Bearer {KEY}", "Idempotency-Key": f"item {number}"}
    while True:
        url = f"http://127.0.0.1:{rng.choice(replicas.ports)}/v1/messages"
        timeout = aiohttp.ClientTimeout(total=3.0)
        with suppress(aiohttp.ClientError, TimeoutError):
            async with http.post(
                url, json={"channel": channel_of(number), **words}, headers=headers, timeout=timeout
            ) as response:
                if response.status == 202:
                    return
        await asyncio.sleep(0.2)


async def _judge(plan: Plan, workspace: Workspace, redis_url: str, spoken: Spoken) -> None:
    records: Sequence[OutboundRecord] = ()
    try:
        async with asyncio.timeout(_WITHIN):
            while not (records := await _settled(redis_url)):  # noqa: ASYNC110  a store tells nobody
                await asyncio.sleep(1.0)
    except TimeoutError:
        spoken.wrong.append("it did not come to rest")
    due = Counter(each.key.split(":")[1] for each in records if each.key.startswith("sched:"))
    spoken.runs = due.total()
    roots = [(channel, seen) for channel in CHANNELS for seen in workspace.history(channel)]
    shown = Counter(seen.text for _, seen in roots)
    expected = Counter(f"Item {number}" for number in range(plan.items))
    expected.update({f"Clock {name[1:]}": count for name, count in due.items()})
    other = {text: count for text, count in expected.items() if shown[text] != count}
    spoken.wrong += [f"{text}: {shown[text]} times, not {count}" for text, count in other.items()]
    spoken.wrong += [f"{text} was not said" for text in shown.keys() - expected.keys()]
    spoken.wrong += _gaps(plan, records)
    for channel, seen in roots:
        if seen.text.startswith("Clock") or int(seen.text[5:]) % 2:
            _, *answers = [each for each in workspace.thread(channel, seen.ts) if each.is_bot]
            told = any(notice in each.read for each in answers for notice in _NOTICES)
            spoken.told += told
            whole = "".join(each.text.replace("\u2060", "") for each in answers)
            if not (re.fullmatch(r"Answer \d+\.", whole) or (told and whole.count("Answer") < 2)):
                spoken.wrong.append(f"{seen.text}: {[each.read for each in answers]}")


def _gaps(plan: Plan, records: Sequence[OutboundRecord]) -> Iterator[str]:
    """Minutes in which a schedule did not run though it did before and after."""
    for number in range(plan.schedules):
        begin = f"sched:s{number}:"
        times = sorted(int(each.key.removeprefix(begin)) for each in records if each.key.startswith(begin))
        if len(times) < plan.minutes:
            yield f"the schedule s{number} ran {len(times)} times"
        elif times != list(range(times[0], times[-1] + 1, 60)):
            yield f"the schedule s{number} left out a minute: {times}"


async def _settled(redis_url: str) -> list[OutboundRecord]:
    """All messages, once each is delivered and each question has its end; else none."""
    async with open_admin(StoreOptions(redis_url, Ages(), COLLECTIONS)) as store:
        records = [record async for _, record in store.records(OUTBOUND)]
        is_busy = any(each.ended_at is None for each in records) or (await store.summary()).unfinished
        return [] if is_busy else records


def main(argv: Sequence[str] | None = None) -> int:
    """Run and print. 1 if anything is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.spoken", description=__doc__)
    parser.add_argument("--items", type=int, default=60, help="messages over HTTP (default: 60)")
    parser.add_argument("--schedules", type=int, default=20, help="schedules (default: 20)")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args(argv)
    plan = Plan(items=args.items, schedules=args.schedules, seed=args.seed)
    print(f"three replicas, lease {LEASE:g} s, on {machine()}")
    with tempfile.TemporaryDirectory() as home, running_redis(Path(home) / "redis") as redis:
        spoken = asyncio.run(run(plan, Path(home), redis.url))
    print(spoken.line())
    return 1 if spoken.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
