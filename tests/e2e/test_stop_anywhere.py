"""Stop, pressed at every event of an answer and before: nothing is written after it, one cancel at most."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from slack_bot.testing.harness import CHANNEL, BotHarness, run_bot
from slack_bot.testing.slack.state import PLAN_FAILED
from slack_bot.testing.tape.builders import answer
from slack_bot.testing.tape.tape import Tape, read_tape
from slack_bot.testing.virtual_clock import on_virtual_time
from tests.examples import at_each_fifth

FILE = Path(__file__).parents[1] / "captures" / "frameworks" / "adk-sse_tool.sse"
TAPES = {
    "capture": read_tape(FILE.read_bytes(), FILE.name),
    "slow": answer("One two three. " * 4, seconds=30),
}
WRITES = ("chat.startStream", "chat.appendStream", "chat.postMessage")


async def stop(bot: BotHarness, root: str, how: str) -> int:
    """Press it. Returns how many calls came before."""
    before = len(bot.workspace.calls)
    if how == "native":
        bot.workspace.stop("U1", CHANNEL, root, now=bot.now)
        await bot.deliver()
    else:
        await bot.say("stop", thread_ts=root)
    return before


@at_each_fifth
@pytest.mark.parametrize(("how", "first"), [("native", 0), ("word", 1)])
@pytest.mark.parametrize("name", TAPES)
@on_virtual_time
async def test_nothing_is_written_after_a_stop(name: str, how: str, first: int, step: int) -> None:
    """Each moment in one of the two ways."""
    tape = TAPES[name]
    parts = [each.t for each in tape.moments] if isinstance(tape, Tape) else [t for t, _ in tape.chunks]
    times = [0.0, *(t + 0.001 for t in parts)]
    for at in sorted(set(times))[first :: 2 * step]:
        async with run_bot(tape) as bot:
            root = await bot.ask("hi")
            await asyncio.sleep(at)
            is_over = not bot.app.threads.conversations.load()["running"]
            before = await stop(bot, root, how)
            # Slack calls a plan so that it stops with an open card; the bot closes the card
            shown = [text.replace(PLAN_FAILED, "") for text in bot.read(root)]
            await bot.idle()
            if is_over:
                continue
            calls = [call for call in bot.workspace.calls[before:] if call.method in WRITES]
            texts = [call for call in calls if "markdown_text" in str(call.args.get("chunks", ""))]
            assert texts == [], (at, texts)
            assert bot.read(root)[: len(shown)] == shown, at
            assert sum("ancel" in call.method for call in bot.agent.calls) <= 1, at
            assert bot.outcomes in (["stopped"], ["answered"]), at
            assert bot.workspace.session(CHANNEL, root) in ("active", None), at
            assert bot.workspace.open_streams() == [], at
