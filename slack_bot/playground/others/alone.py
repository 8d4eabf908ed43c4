"""`slack-bot agent --kind travel`, or `tickets`: another agent of the playground as a process of its own.

It prints the lines that `slack_bot.toml` needs for it.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from ...clock import system_clock
from ...errors import BotError, UnreadableInput
from ...settings.load import load
from ..hosting import no_address, serve_until_stopped, set_up_logs
from ..reference.agent import chosen_agent
from .served_agent import serve_agent
from .three_agents import CALLBACK_PATH, HERE, TRAVEL, serve_tickets, tickets_lines
from .travel import build_travel


def main(args: argparse.Namespace) -> int:
    """The verb. `args`: kind, host, port, pace, mode (which neither of them has). Returns the status.

    Raises BotError if one of them makes no sense, or the address cannot be had.
    """
    if args.mode is not None:
        raise UnreadableInput(f"--mode is the guide's; leave it out with --kind {args.kind}")
    if args.kind == "tickets" and args.host != HERE:
        raise UnreadableInput(
            f"People sign in on this machine only: leave --host out with --kind {args.kind}"
        )
    pace = chosen_agent(args).pace
    set_up_logs(())
    serving = _tickets(args.port) if args.kind == "tickets" else _travel(args.host, args.port, pace)
    try:
        asyncio.run(serve_until_stopped(serving, lambda told: told))
    except OSError as error:
        raise BotError(no_address("agent", args.host, args.port, error)) from error
    return 0


@asynccontextmanager
async def _travel(host: str, port: int, pace: float) -> AsyncIterator[str]:
    async with serve_agent(partial(build_travel, pace=pace), host, port) as url:
        yield _announced(url, TRAVEL.format(travel=url))


@asynccontextmanager
async def _tickets(port: int) -> AsyncIterator[str]:
    """Browsers come back to the bot of the settings; without an address there, to one on this machine. The
    port after `port` is that of the server at which people sign in.
    """
    sign_in = load().sign_in
    bot = (sign_in.base_url or f"http://{HERE}:{sign_in.port}").rstrip("/")
    async with serve_tickets(f"{bot}{CALLBACK_PATH}", system_clock(), port, port and port + 1) as (
        url,
        issuer,
    ):
        yield _announced(url, tickets_lines(url, issuer))


def _announced(url: str, lines: str) -> str:
    return f"The agent is at {url}\nA bot with several agents knows it by these lines of its file:\n{lines}"
