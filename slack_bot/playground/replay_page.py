"""`slack-bot replay FILE... --play`: the tapes in the playground's page, in real time.

They begin when the page is opened, so that no visitor comes too late.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
from pathlib import Path

from ..observe import logs
from ..testing.harness import bot_settings
from ..tools.open_capture import open_capture
from ..tools.replay.replay import check_options, read_scenario_file
from ..tools.replay.scenario import Scenario, as_captured
from .hosting import stop_signal
from .reference.agent_server import check_port
from .replays import PlannedReplay
from .server import open_playground


def main(args: argparse.Namespace) -> int:
    """The verb. `args`: files, key, scenario, speed (None: 1), port. Returns the exit status.

    Raises UnreadableInput for what cannot be read, SettingsError for settings of a tape or a scenario that
    cannot be, BotError where the page's address cannot be had.
    """
    check_options(args)
    check_port(args.port)
    speed = 1.0 if args.speed is None else args.speed
    around = read_scenario_file(args.scenario)
    planned = [
        PlannedReplay(Path(path).name, open_capture(Path(path), args.key, around), speed, args.key, around)
        for path in args.files
    ]
    for each in planned:
        bot_settings(
            as_captured(around, each.capture).settings
        )  # raises now what would be raised on the page
    usual = Scenario()
    place = (around.channel, around.thread_ts, around.team)
    if place != (usual.channel, usual.thread_ts, usual.team):
        sys.stderr.write(
            "note: the page has a place of its own; the scenario's channel, thread_ts and team are not used\n"
        )
    logs.setup("warning", "text", ())
    logging.getLogger("a2a").setLevel(logging.ERROR)
    asyncio.run(_show(args.port, planned, around))
    return 0


async def _show(port: int, planned: list[PlannedReplay], around: Scenario) -> None:
    stop = stop_signal()
    async with open_playground(port=port) as playground:
        playground.visitor.set_faults(around)
        for each in planned:
            playground.visitor.plan(each)
        sys.stdout.write(f"The replay begins when you open {playground.url}\nCtrl-C ends it.\n")
        sys.stdout.flush()
        await stop.wait()
