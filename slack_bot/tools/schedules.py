"""`slack-bot schedules`: what the bot asks by the clock, when it does next, and one run now."""

import argparse
import asyncio
import sys
from collections.abc import Iterator, Mapping
from datetime import datetime

from ..app import store_options
from ..clock import system_clock
from ..errors import SettingsError, StoreMissing, StoreOutdated
from ..features.schedules.records import SCHEDULES, ScheduleState, ScheduleStatus, statuses
from ..features.schedules.timer import ScheduleTimer
from ..settings.config_file import read_schedules
from ..settings.cron import zone_of
from ..settings.load import Settings, load
from ..settings.schedules import ScheduleEntry
from ..store.stores import join_store, open_admin

_NONE = "there are no schedules; docs/speak.md has how one is written\n"
_WAITS = "no bot runs: the next one that starts does it\n"


def main(args: argparse.Namespace) -> int:
    """The verb. Raises BotError."""
    schedules = read_schedules(settings := load())
    if args.what == "run":
        sys.stdout.write(f"{asyncio.run(_run(settings, schedules, args.schedule))}\n")
        return 0
    states = asyncio.run(_states(settings))
    listed = statuses(schedules, states, system_clock().wall())
    sys.stdout.write("".join(_lines(listed)) or _NONE)
    return 0


async def _run(settings: Settings, schedules: Mapping[str, ScheduleEntry], name: str) -> str:
    """Have a running bot do it. Returns the key of the run."""
    joined = await join_store(store_options(settings.store))
    try:
        key = await ScheduleTimer(schedules, joined.store, system_clock()).run_now(name)
        if joined.is_alone or not await joined.has_bot():
            sys.stderr.write(_WAITS)
        return key
    finally:
        await joined.store.close()


async def _states(settings: Settings) -> dict[str, ScheduleState]:
    """By name; none where the store was never begun, or is in memory."""
    try:
        async with open_admin(store_options(settings.store)) as store:
            return {key[0]: state async for key, state in store.records(SCHEDULES)}
    except (StoreMissing, StoreOutdated, SettingsError):
        return {}


def _lines(listed: list[ScheduleStatus]) -> Iterator[str]:
    wide = max((len(each.name) for each in listed), default=0)
    for each in listed:
        schedule = each.schedule
        at = datetime.fromtimestamp(each.next_at, zone_of(schedule.tz))
        when = f"stopped by {each.paused_by}" if each.paused_by else f"{at:%a %Y-%m-%d %H:%M} {schedule.tz}"
        place = schedule.channel or schedule.user
        yield f"{each.name:<{wide}}  {when}  {schedule.cron}  {place}  {schedule.agent or ''}".rstrip() + "\n"
