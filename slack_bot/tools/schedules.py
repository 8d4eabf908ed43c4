"""`slack-bot schedules`: what the bot asks by the clock, when it does next, and one run now."""

import argparse
import asyncio
import sys
from collections.abc import Iterator, Mapping
from datetime import datetime

from ..app import store_options
from ..clock import system_clock
from ..errors import SettingsError, StoreMissing, StoreOutdated
from ..features.outbound.delivered import link_of_sent, turn_of, until_delivered
from ..features.schedules.records import (
    SCHEDULES,
    LastRun,
    ScheduleState,
    ScheduleStatus,
    last_run,
    statuses,
)
from ..features.schedules.timer import ScheduleTimer
from ..settings.config_file import read_schedules
from ..settings.cron import zone_of
from ..settings.load import Settings, load
from ..settings.schedules import ScheduleEntry
from ..settings.secret_values import secrets_of
from ..store.outbound import OUTBOUND
from ..store.stores import join_store, open_admin
from ..turn.outbound import OutboundRecord
from .tables import printable
from .terminal import told_if_interrupted

_NONE = "there are no schedules; docs/speak.md has how one is written\n"
_SILENT = "done: the agent had nothing to say\n"
_WAITS = "no bot runs: the next one that starts does it\n"


def main(args: argparse.Namespace) -> int:
    """The verb. Raises BotError."""
    schedules = read_schedules(settings := load())
    if args.what == "run":
        asyncio.run(_run(settings, schedules, args.schedule))
        return 0
    states, last = asyncio.run(_states(settings))
    listed = statuses(schedules, states, system_clock().wall(), last)
    sys.stdout.write("".join(_lines(listed)) or _NONE)
    return 0


async def _run(settings: Settings, schedules: Mapping[str, ScheduleEntry], name: str) -> None:
    """Have a running bot do it, and say what came of it. Raises BotError if it did not work."""
    joined = await join_store(store_options(settings.store))
    try:
        key = await ScheduleTimer(schedules, joined.store, system_clock()).run_now(name)
        sys.stdout.write(f"{key}\n")
        sys.stdout.flush()
        if joined.is_alone or not await joined.has_bot():
            sys.stderr.write(_WAITS)
            return
        with told_if_interrupted(lambda: "the bot goes on with it"):
            record = await until_delivered(joined, key, settings.store.lock_wait)
        link = link_of_sent(record, await turn_of(joined.store, record))
        sys.stderr.write(f"done: {link}\n" if link else _SILENT)
    finally:
        await joined.store.close()


async def _states(settings: Settings) -> tuple[dict[str, ScheduleState], dict[str, LastRun]]:
    """By name, with the last runs; none where the store was never begun, or is in memory."""
    try:
        async with open_admin(store_options(settings.store)) as store:
            states = {key[0]: state async for key, state in store.records(SCHEDULES)}
            newest = dict[str, OutboundRecord]()
            async for _, record in store.records(OUTBOUND):
                kind, _, name = record.message.program.partition(":")
                if kind == "schedule" and (
                    name not in newest or newest[name].accepted_at < record.accepted_at
                ):
                    newest[name] = record
            secrets = secrets_of(settings)
            return states, {
                name: last_run(record, await turn_of(store, record), secrets)
                for name, record in newest.items()
            }
    except (StoreMissing, StoreOutdated, SettingsError):
        return {}, {}


def _lines(listed: list[ScheduleStatus]) -> Iterator[str]:
    wide = max((len(each.name) for each in listed), default=0)
    for each in listed:
        schedule = each.schedule
        at = datetime.fromtimestamp(each.next_at, zone_of(schedule.tz))
        when = f"stopped by {each.paused_by}" if each.paused_by else f"{at:%a %Y-%m-%d %H:%M} {schedule.tz}"
        place = schedule.channel or schedule.user
        yield f"{each.name:<{wide}}  {when}  {schedule.cron}  {place}  {schedule.agent or ''}".rstrip() + "\n"
        if (last := each.last) is not None:
            at = datetime.fromtimestamp(last.at, zone_of(schedule.tz))
            came = printable(f"{last.state}{f': {last.failure}' if last.failure else ''}")
            yield f"{'':<{wide}}  the last run, {at:%a %Y-%m-%d %H:%M} {schedule.tz}: {came}\n"
