"""What the bot's process holds when nobody asks, and what each answer under way adds.

Resident memory of the `slack-bot run` process, from the kernel. A turn is held open by an agent that has
written some text and then says nothing: its connection, its stream and its text are all there.
"""

from __future__ import annotations

import asyncio

from .figures import Figure, progress
from .running import deployed, spoken

_MIB = 1024 * 1024
_TEXT = "A line of text that stands in the answer of every turn, once.\n"
_SETTLES = 2.0  # seconds for allocators and the last calls to come to rest


async def measure(turns: int = 100, chars: int = 4_000, **settings: str) -> list[Figure]:
    """Idle, and with `turns` answers of `chars` characters under way."""
    pieces = [_TEXT] * (chars // len(_TEXT))
    held = spoken(pieces, 0.02, rest=600.0)
    warm = spoken(pieces, 0.02)
    async with deployed(warm, held, **settings) as bot:
        await asyncio.sleep(_SETTLES)
        idle = bot.resident()
        progress(
            f"memory: idle {idle / _MIB:.1f} MiB; one answer first, so that what is loaded once is there"
        )
        bot.ask(0)
        await bot.until(lambda: bot.answers_done() == 1)
        await asyncio.sleep(_SETTLES)
        before = bot.resident()
        progress(f"memory: {before / _MIB:.1f} MiB after it; opening {turns} turns")
        for number in range(1, turns + 1):
            bot.ask(number)
        said = (turns + 1) * len(pieces)
        await bot.until(lambda: sum(b"streaming_result" in data for _, data in bot.agent.sent) >= said)
        await asyncio.sleep(2 * _SETTLES)
        running = bot.resident()
        progress(f"memory: {running / _MIB:.1f} MiB with {turns} turns open")
    how = f"resident memory, {turns} turns held open with {chars:,} characters each, difference divided"
    return [
        Figure(
            "memory, idle", idle / _MIB, "MiB", "resident memory of `slack-bot run`, connected, no question"
        ),
        Figure("memory, after one answer", before / _MIB, "MiB", "the same process when it was over"),
        Figure("memory, a running turn", (running - before) / turns / 1024, "KiB", how),
    ]
