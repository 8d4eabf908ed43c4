"""How long the bot takes from the agent's event to its own request to Slack.

Every event ends a line, so its flush is due at once and what is measured is the bot, not its patience. Both
moments are read in the measuring process: when the event's bytes were handed to the agent's socket, and when
the request that carries its text had been read whole by Slack's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from slack_bot.testing.slack.workspace import Workspace

from .figures import Figure, percentile, progress
from .running import Deployed, deployed, spoken

_MARK = re.compile(rb"mark (\d+)-(\d+)")
_LINES = 60  # an answer: short enough for one Slack message


async def measure(samples: int = 360, spacing: float = 0.05, **settings: str) -> list[Figure]:
    """Ask until `samples` events were answered by a request, one question after the other."""
    questions = max(1, -(-samples // _LINES))
    lines = min(_LINES, samples)
    tapes = [
        spoken([_line(question, number) for number in range(lines)], spacing, ids=str(question))
        for question in range(questions)
    ]
    starts: list[float] = []
    appends: list[float] = []
    async with deployed(*tapes, **settings) as bot:
        for question in range(questions):
            progress(f"latency: question {question + 1} of {questions}, {lines} events")
            bot.ask(question)
            await bot.until(lambda: bot.answers_done() == len(bot.roots))
        for method, took in _ways(bot):
            (starts if method == "chat.startStream" else appends).append(1000 * took)
    how = f"{len(appends)} events {spacing * 1000:g} ms apart, real sockets, bot in its own process"
    return [
        Figure("agent's event to append request, p50", percentile(appends, 0.5), "ms", how),
        Figure("agent's event to append request, p99", percentile(appends, 0.99), "ms", how),
        Figure(
            "first event to start request, median",
            percentile(starts, 0.5),
            "ms",
            f"{len(starts)} answers; the typing status is ended before",
        ),
    ]


def _line(question: int, number: int) -> str:
    return f"This is the line with the mark {question}-{number} in it.\n"


def _ways(bot: Deployed) -> Iterator[tuple[str, float]]:
    """For each event the method that carried it, and the seconds from the one moment to the other."""
    left: dict[bytes, float] = {}
    for at, data in bot.agent.sent:
        for mark in _MARK.finditer(data):
            left.setdefault(mark[0], at)
    for method, at, text in _written(bot.workspace):
        for mark in _MARK.finditer(text.encode()):
            yield method, at - left.pop(mark[0])
    if left:
        raise RuntimeError(f"{len(left)} events never reached Slack by start or append")


def _written(workspace: Workspace) -> Iterator[tuple[str, float, str]]:
    for call in workspace.calls:
        if call.ok and call.method in ("chat.startStream", "chat.appendStream"):
            yield call.method, call.now, "".join(chunk.get("text", "") for chunk in call.args["chunks"])
