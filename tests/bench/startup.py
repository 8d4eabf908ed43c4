"""How long `slack-bot run` takes from being started to being reachable for Slack."""

from __future__ import annotations

import statistics

from .figures import Figure, progress
from .running import deployed, spoken


async def measure(rounds: int = 5) -> list[Figure]:
    """The median of `rounds` starts."""
    took = []
    for number in range(rounds):
        async with deployed(spoken(["Hello.\n"], 0.0)) as bot:
            took.append(bot.connected_after)
        progress(f"start-up: round {number + 1} of {rounds}: {took[-1]:.2f} s")
    how = f"from exec to the Socket Mode connection, tokens and agent card checked; median of {rounds}"
    return [Figure("start-up of `slack-bot run`", statistics.median(took), "s", how)]
