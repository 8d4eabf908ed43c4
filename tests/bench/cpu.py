"""`python -m tests.bench.cpu [--quick] [--beside URL]`: the processor time of the bot for each event.

The bot runs in a process of its own. Beside it a bare loop (httpx, httpx-sse, `json.loads`) reads the same
streams at the same time, so both meet the same machine. The agent has a process too; the workspace is in
this one. The figure is the ratio of the two: what the whole bot costs above reading the stream at all. The
median of some rounds counts, because one differs from the next by a tenth.
Slack's limits are lifted, so each answer is written as often as its text asks for. With `--beside` two bots
do the same at the same time, one with the store in memory, one with that store, some times over: what the
store costs is the median of their ratios.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

import httpx
from httpx_sse import aconnect_sse

from slack_bot.testing.agent.scripted import ScriptedAgent, serve_scripted

from .figures import machine, progress
from .running import deployed, helper, line_of, spoken, tell

TARGET = 1.5
"""What the ratio is to be at most."""
STORE_TARGET = 0.1
"""What a durable store may add to the processor time of an event, as a part of it."""
_TOKENS, _A_SECOND = 600, 20
_LIMITS = ("STARTS", "STOPS", "APPENDS", "UPDATES", "STATUSES", "READS", "OTHERS")
LIFTED = {f"SLACK_BOT_GOVERNOR__{name}_PER_MINUTE": "1000000" for name in _LIMITS}
"""Settings with which the bot keeps to none of Slack's limits."""
_LINE = 60  # tokens
_WITHIN = 300.0  # seconds


@dataclass(frozen=True, slots=True)
class CpuUse:
    """Seconds of processor time for `events` events, of the bot and the bare loop. `calls` went to Slack."""

    answers: int
    events: int
    bot: float
    bare: float
    calls: int

    @property
    def ratio(self) -> float:
        """How many times the bare loop's time the bot takes."""
        return self.bot / self.bare

    def __str__(self) -> str:
        bot, bare = (1e6 * seconds / self.events for seconds in (self.bot, self.bare))
        return (
            f"{self.answers:4} answers, {self.events:7,} events, {self.calls:6,} calls to Slack:"
            f" bot {bot:6.1f} us an event, bare loop {bare:6.1f} us, ratio {self.ratio:.2f}"
        )


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print. 1 if a ratio is above the target."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.cpu", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few events: does it run, not how quick it is")
    parser.add_argument("--answers", type=int, action="append", help="live answers (default: 20, then 200)")
    parser.add_argument("--store", metavar="URL", default="memory://", help="the bot's store (%(default)s)")
    parser.add_argument("--profile", metavar="FILE", help="profile the bot with cProfile into FILE")
    parser.add_argument("--agent", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--bare", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--beside", metavar="URL", help="compare this store with the one in memory")
    parser.add_argument("--rounds", type=int, help="whose median counts (default: 3, with --beside 5)")
    given = parser.parse_args(argv)
    if given.agent is not None:
        asyncio.run(_agent(given.agent))
        return 0
    if given.bare is not None:
        asyncio.run(_bare(given.bare[0], int(given.bare[1])))
        return 0
    print(f"slack_bot on {machine()}")
    tokens = 40 if given.quick else _TOKENS
    if given.beside is not None:
        added = asyncio.run(compare(given.beside, (given.answers or [20])[0], tokens, given.rounds or 5))
        print(
            f"{given.beside} adds {100 * added:.1f} % to an event; at most {100 * STORE_TARGET:g} % is wanted"
        )
        return 0 if added <= STORE_TARGET or given.quick else 1
    fine = True
    for answers in given.answers or ([2] if given.quick else [20, 200]):
        ratios = []
        for _ in range(given.rounds or (1 if given.quick else 3)):
            use = asyncio.run(measure(answers, tokens, given.profile, given.store))
            print(use, flush=True)
            ratios.append(use.ratio)
        print(f"{answers:4} answers: ratio {statistics.median(ratios):.2f}, the median", flush=True)
        fine = fine and statistics.median(ratios) <= TARGET
    print(f"the target is a ratio of at most {TARGET}")
    return 0 if fine or given.quick else 1


async def measure(
    answers: int, tokens: int = _TOKENS, profile: str | None = None, store: str = "memory://"
) -> CpuUse:
    """`answers` live answers of `tokens` tokens each through the bot, and through the bare loop."""
    bot_command = ("slack_bot", "run")
    kept = {"SLACK_BOT_STORE__URL": store}
    command = bot_command if profile is None else ("cProfile", "-o", profile, "-m", *bot_command)
    async with helper(__spec__.name, "--agent", str(tokens)) as agent:
        url = await line_of(agent)
        async with (
            deployed(*[spoken(["x"], 0.1)], command=command, **LIFTED, **kept, A2A_AGENT_URL=url) as bot,
            helper(__spec__.name, "--bare", url, str(answers)) as bare,
        ):
            await line_of(bare)  # it has asked once, as the bot does now: what is loaded once is there
            bot.ask(0)
            await bot.until(lambda: bot.answers_done() == 1)
            progress(f"{answers} answers of {tokens} tokens, {tokens / _A_SECOND:g} s")
            calls, before = len(bot.workspace.calls), bot.cpu_seconds()
            await tell(bare)
            for number in range(1, answers + 1):
                bot.ask(number)
            await bot.until(lambda: bot.answers_done() == answers + 1, _WITHIN)
            used, events = json.loads(await line_of(bare))
            return CpuUse(answers, events, bot.cpu_seconds() - before, used, len(bot.workspace.calls) - calls)


async def compare(store: str, answers: int, tokens: int, rounds: int) -> float:
    """What a bot with `store` takes more than one beside it with its store in memory: the median part."""
    added = []
    for _ in range(rounds):
        in_memory, stored = await asyncio.gather(
            measure(answers, tokens), measure(answers, tokens, store=store)
        )
        added.append(stored.bot / in_memory.bot - 1)
        print(
            f"in memory {in_memory.bot:.2f} s, stored {stored.bot:.2f} s: {100 * added[-1]:+.1f} %",
            flush=True,
        )
    return statistics.median(added)


# -- the agent's process


def prose(tokens: int, seed: int = 1) -> list[str]:
    """So many tokens of Markdown: words, some of them marked up, with a line's end every few sentences."""
    words = ("the", "deployment", "of", "a **new**", "version", "is", "`running`", "now,", "and", "it works.")
    chosen = random.Random(seed)
    return [
        f"{chosen.choice(words)}{chr(10) if number % _LINE == 0 else ' '}" for number in range(1, tokens + 1)
    ]


async def _agent(tokens: int) -> None:
    """Serve a short answer twice, to begin with, and from then on the long one."""
    short = spoken(prose(20), 0.05, ids="0")
    long = spoken(prose(tokens), 1 / _A_SECOND)
    async with serve_scripted(ScriptedAgent(short, short, long)) as url:
        print(url, flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)


# -- the bare loop's process


async def _bare(url: str, answers: int) -> None:
    async with httpx.AsyncClient(timeout=None, limits=httpx.Limits(max_connections=None)) as http:
        await _read(http, url)
        print("ready", flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
        before = time.process_time()
        events = sum(await asyncio.gather(*(_read(http, url) for _ in range(answers))))
        print(json.dumps([time.process_time() - before, events]), flush=True)


async def _read(http: httpx.AsyncClient, url: str) -> int:
    message = {"role": "user", "messageId": "m", "kind": "message", "parts": [{"kind": "text", "text": "go"}]}
    body = {"jsonrpc": "2.0", "id": 1, "method": "message/stream", "params": {"message": message}}
    events = 0
    async with aconnect_sse(http, "POST", url, json=body) as source:
        async for event in source.aiter_sse():
            json.loads(event.data)
            events += 1
    return events


if __name__ == "__main__":
    sys.exit(main())
