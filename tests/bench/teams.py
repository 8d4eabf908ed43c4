"""`python -m tests.bench.teams [--quick] [--teams N] [--answers N] [--a-second R] [--flood N]`: many
workspaces through one process.

Each of the teams has a workspace of its own with Slack's real limits, and asks so many questions at once; the
agent writes so many tokens a second to each. Bot and agent have a process each. For each team it is said how
many answers are whole, after how long the first text was there, how late text was shown, and how many calls
Slack refused; at the end it is said how late the bot's loop was. `--flood`: the first team asks so many
questions more, and what the others see is compared with what they saw without.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass

from slack_bot.testing.harness import free_port
from slack_bot.testing.slack.server import SlackServer
from slack_bot.testing.slack.teams import new_team, token_of
from slack_bot.testing.slack.workspace import WorkspaceRules
from tests.processes import child

from .figures import machine, percentile, progress
from .many import LATE, late_of, looks_at_loop
from .running import bot_environment, cpu_of, helper, line_of, memory_of, steady_clock

_STAMP = re.compile(r"at (\d{10}\.\d{3})")
_STAMP_EVERY = 10  # tokens, as `many` has it
_OVER = 180.0  # seconds after the agent's last token
_LOOK = 0.5


@dataclass(frozen=True, slots=True)
class TeamRun:
    """What one team saw. Times are in seconds."""

    team: str
    answers: int
    whole: int
    first: list[float]
    lags: list[float]
    limited: int

    def __str__(self) -> str:
        first = [f"{percentile(self.first, part):5.1f}" for part in (0.5, 1.0)] if self.first else ["never"]
        lags = [f"{percentile(self.lags, part):5.1f}" for part in (0.5, 0.99)] if self.lags else ["never"]
        return (
            f"{self.team:5} {self.answers:4} answers, {self.whole:4} whole, first text {' / '.join(first)} s"
            f" (p50 / last), behind {' / '.join(lags)} s (p50 / p99), refused {self.limited}"
        )


@dataclass(frozen=True, slots=True)
class Figures:
    """Of one run. `late`: no more than 1 % of the looks at the loop found it later. `cpu`: of one core."""

    teams: list[TeamRun]
    late: float | None
    cpu: float
    memory: int

    @property
    def is_good(self) -> bool:
        """All answers are whole, and Slack refused nothing."""
        return all(each.whole == each.answers and not each.limited for each in self.teams)

    def others(self) -> tuple[list[float], list[float]]:
        """First texts and lags of all teams but the first."""
        return (
            [at for each in self.teams[1:] for at in each.first],
            [at for each in self.teams[1:] for at in each.lags],
        )


class Town:
    """The workspaces of one app, and what is asked there."""

    def __init__(self, count: int) -> None:
        self.teams = [new_team(number, WorkspaceRules.real()) for number in range(1, count + 1)]
        for number, team in enumerate(self.teams, start=1):
            team.add_channel(f"C{number}").members.add(team.add_user(f"U{number}").id)
        self.roots: list[list[tuple[str, float]]] = [[] for _ in self.teams]

    def ask(self, team: int, now: float) -> None:
        """The person of a team asks in a new thread."""
        workspace = self.teams[team]
        said = f"<@{workspace.bot.user_id}> go"
        ts = workspace.say(f"U{team + 1}", f"C{team + 1}", said, now=now)
        self.roots[team].append((ts, now))

    def _is_over(self, team: int, root: str) -> bool:
        mine = [each for each in self.teams[team].thread(f"C{team + 1}", root) if each.is_bot]
        return bool(mine) and all(each.state != "streaming" for each in mine)

    def is_over(self) -> bool:
        """Each question has an answer that has ended."""
        return all(self._is_over(team, root) for team, roots in enumerate(self.roots) for root, _ in roots)

    def run_of(self, team: int, stamps: int) -> TeamRun:
        """What the team saw. `stamps`: the times in a whole answer."""
        workspace, first = self.teams[team], list[float]()
        whole = 0
        for root, asked_at in self.roots[team]:
            mine = [each for each in workspace.thread(f"C{team + 1}", root) if each.is_bot]
            whole += len(_STAMP.findall("".join(each.text for each in mine))) == stamps
            if mine:
                first.append(float(mine[0].ts) - asked_at)
        lags = [
            call.now - float(at)
            for call in workspace.calls
            if call.ok
            for at in _STAMP.findall(str(call.args))
        ]
        limited = sum(call.limited for call in workspace.calls)
        return TeamRun(workspace.state.team, len(self.roots[team]), whole, first, lags, limited)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print. 1 if an answer is not whole or Slack refused a call."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.teams", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few of each: does it run")
    parser.add_argument("--teams", type=int, default=50, help="workspaces (%(default)s)")
    parser.add_argument("--answers", type=int, default=10, help="of each workspace at once (%(default)s)")
    parser.add_argument("--a-second", type=float, default=5.0, help="tokens (%(default)s)")
    parser.add_argument("--tokens", type=int, default=300, help="of an answer (%(default)s)")
    parser.add_argument("--flood", type=int, default=0, help="questions more of the first one")
    given = parser.parse_args(argv)
    teams, answers, tokens = given.teams, given.answers, given.tokens
    if given.quick:
        teams, answers, tokens = 3, 2, 30
    print(
        f"slack_bot on {machine()}; {teams} workspaces, {answers} answers each, {given.a_second:g} tokens/s"
    )
    figures = asyncio.run(measure(teams, answers, tokens, given.a_second, 0))
    _print(figures)
    is_good = figures.is_good
    if given.flood:
        flooded = asyncio.run(measure(teams, answers, tokens, given.a_second, given.flood))
        print(f"\nthe first workspace asks {given.flood} questions more:")
        _print(flooded)
        is_good = is_good and flooded.is_good
    return 0 if is_good else 1


def _print(figures: Figures) -> None:
    for each in figures.teams:
        print(each)
    first, lags = figures.others()
    late = "" if figures.late is None else f", loop late at most {figures.late:g} s (p99)"
    print(
        f"all but the first: first text {percentile(first, 0.5):.1f} / {percentile(first, 1.0):.1f} s"
        f" (p50 / last), behind {percentile(lags, 0.5):.1f} / {percentile(lags, 0.99):.1f} s (p50 / p99);"
        f" {figures.cpu:.0%} of a core, {figures.memory / 2**20:.0f} MiB{late}",
        flush=True,
    )
    if figures.late is not None and figures.late > LATE:
        print(f"the loop is late by more than {LATE:g} s")


async def measure(teams: int, answers: int, tokens: int, a_second: float, flood: int) -> Figures:
    """`answers` of each team, all being written at once; `flood` more of the first one."""
    town, clock, port = Town(teams), steady_clock(), free_port()
    settings = {
        "SLACK_BOT_TOKENS": ",".join(token_of(number) for number in range(1, teams + 1)),
        "SLACK_BOT_HEALTH__PORT": str(port),
    }
    async with (
        helper("tests.bench.many", "--agent", str(tokens), str(a_second)) as agent,
        SlackServer(town.teams, clock) as slack,
    ):
        environment = bot_environment(await line_of(agent), slack.api_url, settings)
        del environment["SLACK_BOT_TOKEN"]
        with tempfile.TemporaryDirectory() as home:
            command = (sys.executable, "-m", "slack_bot", "run")
            quiet = {"stderr": asyncio.subprocess.DEVNULL}
            async with child(*command, env=environment, cwd=home, **quiet) as process:
                await asyncio.wait_for(slack.sockets.connected(), 60.0)
                town.ask(0, clock.wall())  # the agent's first answer is a short one
                await _until(town, 60.0)
                town.roots[0].clear()
                return await _measured(town, process.pid, port, (answers, tokens, a_second, flood))


async def _measured(town: Town, pid: int, port: int, plan: tuple[int, int, float, int]) -> Figures:
    answers, tokens, a_second, flood = plan
    looks, cpu, began = await looks_at_loop(port), cpu_of(pid), time.monotonic()
    clock = steady_clock()
    progress(f"{len(town.teams)} workspaces, {answers} answers of {tokens / a_second:g} s each")
    for number in range(answers):
        for team in range(len(town.teams)):
            town.ask(team, clock.wall())
            await asyncio.sleep(0.002)
        if not number:
            for _ in range(flood):
                town.ask(0, clock.wall())
    await _until(town, (tokens / a_second) * (2 + flood / 10) + _OVER)
    used = (cpu_of(pid) - cpu) / (time.monotonic() - began)
    late = late_of(looks, await looks_at_loop(port))
    runs = [town.run_of(team, tokens // _STAMP_EVERY) for team in range(len(town.teams))]
    return Figures(runs, late, used, memory_of(pid))


async def _until(town: Town, within: float) -> None:
    until = time.monotonic() + within
    while not town.is_over() and time.monotonic() < until:  # noqa: ASYNC110  many workspaces
        await asyncio.sleep(_LOOK)


if __name__ == "__main__":
    sys.exit(main())
