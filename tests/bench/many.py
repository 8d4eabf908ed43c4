"""`python -m tests.bench.many [--quick] [--bot NAME] [--turns N] [--a-second R] [--workspaces N]`: many
answers at once through one process.

Bot, agent and workspace have a process each. Some of the agent's tokens are the time at which it said them,
so how late text is shown is read off the calls to Slack, for any bot. How late the bot's event loop is comes
from its own metrics. Without options: 10, 100 and 1,000 answers at a pace that one core can read, then more
and more answers at 20 tokens a second until the loop is late by 250 ms (p99), then the same answers through
two bots of a competent afternoon (`rivals`). Slack's limits are lifted, or with `--workspaces` kept for so
many workspaces together.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import sys
import time
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

import httpx

from slack_bot.settings.models import GovernorSettings
from slack_bot.testing.agent.scripted import ScriptedAgent, ScriptedAnswer, serve_scripted
from slack_bot.testing.harness import free_port

from .cpu import LIFTED, prose
from .figures import machine, percentile, progress
from .rivals import KINDS
from .running import CHANNEL, Deployed, deployed, helper, line_of, spoken

OURS = "slack_bot"
LATE = 0.25
"""Seconds that the loop may be late (p99)."""
_FAST = 20.0  # tokens a second
_KNEE = (100, 150, 200, 250, 300, 400)
_RAMP = 100  # questions a second
_STAMP_EVERY = 10  # tokens
_SAID_AT = "@@@@@@@@@@@@@@@@"
_STAMP = re.compile(r"at (\d{10}\.\d{3})")
_BUCKET = re.compile(r'^slack_bot_loop_lag_seconds_bucket\{le="([^"]+)"\} ([\d.e+]+)', re.MULTILINE)
_OVER = 120.0  # seconds after the agent's last token
_SETTLES = 60.0  # seconds until connections that are kept alive must be closed; of few answers less


@dataclass(frozen=True, slots=True)
class Run:
    """What became of `turns` answers. `lags` are seconds from a token's saying to its call to Slack.

    `cpu`: seconds of the bot's process; `memory`: bytes that it grew by at most; `late`: no more than 1 % of
    the looks at the loop found it later, in seconds (None: not known); `files`: open then that were not
    before.
    """

    bot: str
    turns: int
    a_second: float
    whole: int
    events: int
    calls: int
    lags: list[float]
    cpu: float
    memory: int
    late: float | None
    files: int

    def __str__(self) -> str:
        lags = [f"{percentile(self.lags, part):5.2f}" for part in (0.5, 0.99)] if self.lags else ["never"]
        late = "" if self.late is None else f", loop late at most {self.late:g} s (p99)"
        return (
            f"{self.bot:11} {self.turns:5} turns at {self.a_second:g} tokens/s: {self.whole:5} whole,"
            f" lag {' / '.join(lags)} s (p50 / p99), {1e6 * self.cpu / self.events:6.1f} us an event,"
            f" {self.calls:6,} calls, {self.memory / self.turns / 1024:7.1f} KiB a turn{late},"
            f" files left {self.files}"
        )


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print. 1 if the bot did not show all answers."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.many", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few answers: does it run")
    parser.add_argument("--bot", choices=[OURS, *KINDS], action="append", help="only this one")
    parser.add_argument("--turns", type=int, action="append", help="answers at once")
    parser.add_argument("--a-second", type=float, default=_FAST, help="tokens (%(default)s)")
    parser.add_argument("--tokens", type=int, default=400, help="of an answer (%(default)s)")
    parser.add_argument("--workspaces", type=int, default=0, help="whose limits the bot keeps (0: none)")
    parser.add_argument("--agent", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args(argv)
    if given.agent is not None:
        asyncio.run(_agent(int(given.agent[0]), float(given.agent[1])))
        return 0
    print(f"slack_bot on {machine()}")
    limits = limits_of(given.workspaces) if given.workspaces else LIFTED
    if given.quick or given.turns:
        turns, tokens, pace = given.turns or [3], given.tokens, given.a_second
        steps = [(bot, each, tokens, pace) for bot in given.bot or [OURS, *KINDS] for each in turns]
        if given.quick:
            steps = [(bot, each, 30, _FAST) for bot, each, _, _ in steps]
        runs = [_printed(*step, limits) for step in steps]
    else:
        runs = list(_all(given.tokens, limits))
    return 0 if all(each.whole == each.turns for each in runs if each.bot == OURS) else 1


def _printed(bot: str, turns: int, tokens: int, a_second: float, limits: Mapping[str, str]) -> Run:
    run = asyncio.run(measure(bot, turns, tokens, a_second, limits))
    print(run, flush=True)
    return run


def _all(tokens: int, limits: Mapping[str, str]) -> Iterator[Run]:
    for turns in (10, 100, 1000):
        yield _printed(OURS, turns, 60, 1.5, limits)
    for turns in _KNEE:
        yield (run := _printed(OURS, turns, tokens, _FAST, limits))
        if run.late is not None and run.late > LATE:
            print(f"the knee is below {turns} answers at {_FAST:g} tokens a second")
            break
    for bot in (OURS, *KINDS):
        yield _printed(bot, 100, tokens, _FAST, limits)


def limits_of(workspaces: int) -> dict[str, str]:
    """Settings with the budgets of so many workspaces added up."""
    names = [each for each in GovernorSettings.model_fields if each.endswith(("_per_minute", "_per_second"))]
    settings = {name: getattr(GovernorSettings(), name) * workspaces for name in names}
    settings["post_burst"] = GovernorSettings().post_burst * workspaces
    return {f"SLACK_BOT_GOVERNOR__{name.upper()}": str(value) for name, value in settings.items()}


async def measure(bot: str, turns: int, tokens: int, a_second: float, limits: Mapping[str, str]) -> Run:
    """`turns` answers of `tokens` tokens each, all being written at once, asked one after the other."""
    port = free_port()
    command = ("slack_bot", "run") if bot == OURS else ("tests.bench.rivals", bot)
    settings = {**limits, "SLACK_BOT_HEALTH__PORT": str(port)}
    async with helper(__spec__.name, "--agent", str(tokens), str(a_second)) as agent:
        settings["A2A_AGENT_URL"] = await line_of(agent)
        async with deployed(spoken(["x"], 0.1), command=command, **settings) as running:
            running.ask(0)
            await _until_done(running, 1, _OVER)
            looks, files = await _looks(bot, port), running.files()
            cpu, memory, calls = running.cpu_seconds(), running.resident(), len(running.workspace.calls)
            progress(f"{bot}: {turns} answers of {tokens / a_second:g} s")
            for number in range(1, turns + 1):
                running.ask(number)
                await asyncio.sleep(1 / _RAMP)
            most = await _until_done(running, turns + 1, tokens / a_second + _OVER)
            cpu, late = running.cpu_seconds() - cpu, late_of(looks, await _looks(bot, port))
            texts = ["".join(_texts(running, root)) for root in running.roots[1:]]
            stamps = tokens // _STAMP_EVERY
            whole = sum(len(_STAMP.findall(text)) == stamps for text in texts)
            made = running.workspace.calls[calls:]
            lags = [call.now - float(at) for call in made if call.ok for at in _STAMP.findall(str(call.args))]
            running.ask(turns + 1)  # httpx closes what was kept alive for too long when it is used again
            await _until_done(running, turns + 2, tokens / a_second + _OVER)
            left = await _left(running, files, min(_SETTLES, float(turns)))
            events = turns * (tokens + 1)
            counted = bot, turns, a_second, whole, events, len(made), lags, cpu, most - memory
            return Run(*counted, late, left)


async def _until_done(running: Deployed, answers: int, within: float) -> int:
    """Wait for so many answers, at most so long. Returns the most memory that was seen, in bytes."""
    most, until = 0, time.monotonic() + within
    while running.answers_done() < answers and time.monotonic() < until:
        most = max(most, running.resident())
        await asyncio.sleep(1.0)
    return most


async def _left(running: Deployed, before: int, within: float) -> int:
    """How many more files and sockets stay open than `before`, `within` seconds from now."""
    until = time.monotonic() + within
    while (left := running.files() - before) > 0 and time.monotonic() < until:  # noqa: ASYNC110
        await asyncio.sleep(0.5)
    return max(0, left)


def _texts(running: Deployed, root: str) -> Iterator[str]:
    return (seen.text for seen in running.workspace.thread(CHANNEL, root) if seen.is_bot)


async def _looks(bot: str, port: int) -> dict[float, float]:
    return await looks_at_loop(port) if bot == OURS else {}


async def looks_at_loop(port: int) -> dict[float, float]:
    """How many looks at the loop found it late by at most so many seconds."""
    async with httpx.AsyncClient(trust_env=False) as http:
        said = (await http.get(f"http://127.0.0.1:{port}/metrics")).text
    return {float(most): float(looks) for most, looks in _BUCKET.findall(said)}


def late_of(before: dict[float, float], after: dict[float, float]) -> float | None:
    """By how many seconds at most the loop was late between the two, but for 1 % of the looks."""
    looks = {most: after[most] - before[most] for most in after}
    return min((most for most, count in looks.items() if count >= 0.99 * max(looks.values())), default=None)


# -- the agent's process


class _Stamping(ScriptedAgent):
    """Some of its tokens are the time."""

    async def handle(
        self, method: str, url: str, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> ScriptedAnswer:
        answer = await super().handle(method, url, body, headers)
        return replace(answer, body=self._stamped(answer.body))

    async def _stamped(self, body: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
        async with aclosing(body):
            async for data in body:
                yield data.replace(_SAID_AT.encode(), f"at {time.time():.3f}".encode())


async def _agent(tokens: int, a_second: float) -> None:
    """Serve a short answer first, and from then on the long one."""
    said = prose(tokens)
    said[_STAMP_EVERY // 2 :: _STAMP_EVERY] = [f"{_SAID_AT}. "] * (tokens // _STAMP_EVERY)
    async with serve_scripted(_Stamping(spoken(prose(20), 0.05, ids="0"), spoken(said, 1 / a_second))) as url:
        print(url, flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)


if __name__ == "__main__":
    sys.exit(main())
