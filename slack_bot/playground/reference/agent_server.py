"""`python -m slack_bot agent`: the reference agent by itself, for any A2A client, and for the other verbs."""

from __future__ import annotations

import argparse
import asyncio
import errno
import logging
import math
import sys

from ...errors import BotError, UnreadableInput
from ...observe import logs
from ...settings.load import load, secrets_of, with_overrides
from ...settings.models import ReferenceSettings
from ..hosting import stop_signal
from . import agent

_LAST_PORT = 65_535


def main(args: argparse.Namespace) -> int:
    """The verb. `args`: host, port, pace, mode (None for what the settings say). Returns the exit status.

    Raises BotError in one sentence if one of them makes no sense, or the address cannot be had.
    """
    chosen = chosen_agent(args)
    logs.setup("warning", "text", secrets_of(load()))
    logging.getLogger("a2a").setLevel(logging.ERROR)  # the SDK warns of every task that is ended with it
    try:
        asyncio.run(_serve(args.host, args.port, chosen))
    except OSError as error:
        raise BotError(no_address("agent", args.host, args.port, error)) from error
    return 0


def check_port(port: int) -> None:
    """Raises UnreadableInput in one sentence for a number that no port has."""
    if not 0 <= port <= _LAST_PORT:
        raise UnreadableInput(
            f"There is no port {port}: give --port a number up to {_LAST_PORT}, or 0 for any that is free."
        )


def chosen_agent(args: argparse.Namespace) -> ReferenceSettings:
    """The settings of the reference agent, with what the command line says of it; its port is checked too.

    Raises UnreadableInput in one sentence.
    """
    check_port(args.port)
    pace, mode = args.pace, args.mode
    if pace is not None and not (math.isfinite(pace) and pace >= 0):
        raise UnreadableInput(
            f"A pace of {pace:g} tokens a second cannot be kept: give --pace 0 (at once) or more."
        )
    given = {"pace": pace, "response_mode": mode}
    return with_overrides(
        load(), {name: value for name, value in given.items() if value is not None}
    ).reference


async def _serve(host: str, port: int, chosen: ReferenceSettings) -> None:
    stop = stop_signal()
    async with agent.serve(host, port, settings=chosen) as url:
        model = "the local model" if chosen.model_url is None else chosen.model_name
        sys.stdout.write(f"The agent is at {url} ({chosen.response_mode}, {model}).\nCtrl-C ends it.\n")
        sys.stdout.flush()
        await stop.wait()


def no_address(what: str, host: str, port: int, error: OSError) -> str:
    """Why `what` cannot be served there, and the remedy."""
    if error.errno == errno.EADDRINUSE:
        return f"Port {port} on {host} is taken: choose another one with --port, or 0 for any that is free."
    if error.errno == errno.EACCES:
        return f"Port {port} is not ours to use: choose one above 1023 with --port."
    return f"The {what} cannot be served on {host}: give an address of this machine with --host."
