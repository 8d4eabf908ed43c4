"""Schedules: `[schedules.NAME]` of the file. They run, and the Home tab lists them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Sequence
from functools import partial

from ...errors import BotError
from ...inbound.access import Operators
from ...inbound.buttons import Afterwards, Button, PressReply
from ...inbound.read import Press
from ...settings.config_file import read_schedules
from ...slack.blocks import Block
from ...slack.workspaces import Workspaces
from ...turn.buttons import TurnButton
from ..feature import BotParts, Feature, FeatureWork, HomeWriter, SettingsCheck
from .check import check
from .failures import RunWatch
from .records import RUNS, SCHEDULES, ScheduleStatus
from .timer import ScheduleTimer
from .view import schedules_section

_log = logging.getLogger(__name__)
_FAILURE = "a schedule was not changed: %s"


class SchedulesOnHome:
    """What people see of the schedules, and what operators do with them. `home_writers`: of `BotParts`."""

    def __init__(
        self,
        timer: ScheduleTimer,
        operators: Operators,
        workspaces: Workspaces,
        home_writers: Sequence[HomeWriter],
    ) -> None:
        self._timer, self._operators = timer, operators
        self._workspaces, self._home_writers = workspaces, home_writers

    async def section(self, user: str, team: str) -> Sequence[Block]:
        """Operators see all schedules of their workspace, others those that write to them or into a public
        channel.
        """
        is_operator = await self._operators.has(user, team)
        shown = [
            each
            for each in await self._timer.statuses()
            if each.schedule.is_of(team) and (is_operator or await self._may_see(each, user, team))
        ]
        return schedules_section(shown, can_change=is_operator)

    async def _may_see(self, shown: ScheduleStatus, user: str, team: str) -> bool:
        if shown.schedule.channel is None:
            return shown.schedule.user == user
        channel = await self._workspaces.people(team).channel(shown.schedule.channel)
        return (
            channel is not None and channel.get("is_channel") is True and channel.get("is_private") is False
        )

    def buttons(self) -> Iterator[Button]:
        for name in (TurnButton.SCHEDULE_STOP, TurnButton.SCHEDULE_GO_ON, TurnButton.SCHEDULE_RUN):
            yield Button(name, self.press, failure=_FAILURE, is_own=True)

    async def press(self, press: Press) -> PressReply:
        """Carry out what an operator wants. A press of another person changes nothing."""
        return PressReply(afterwards=Afterwards(partial(self._change, press), failure=_FAILURE))

    async def _change(self, press: Press) -> bool:
        name, user = press.value, press.user
        if not await self._operators.has(user, press.workspace):
            raise BotError(f"{user} is not among SLACK_BOT_SLACK__OPERATORS, and may change no schedule")
        if not self._timer.is_of(name, press.workspace):
            raise BotError(f"the schedule {name} is of another workspace, and {user} may not change it")
        if press.name == TurnButton.SCHEDULE_STOP:
            await self._timer.pause(name, user)
        elif press.name == TurnButton.SCHEDULE_GO_ON:
            await self._timer.resume(name, user)
        else:
            await self._timer.run_now(name)
        for write in self._home_writers:
            await write(user, press.bot)
        return True


def start(bot: BotParts) -> FeatureWork:
    """Run the schedules and show them, if there is a file that may have some. Raises SettingsError."""
    common = bot.common
    if common.settings.slack.config is None:
        return FeatureWork()
    timer = ScheduleTimer(read_schedules(common.settings), common.store, common.clock)
    watch = RunWatch(common.store, common.clock, common.secrets, timer.tells_failures)

    async def run() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(timer.run())
            group.create_task(watch.run())

    def reload() -> None:
        timer.use(read_schedules(common.settings))

    on_home = SchedulesOnHome(timer, bot.operators, common.workspaces, bot.home_writers)
    bot.home_sections.append(on_home.section)
    return FeatureWork(tuple(on_home.buttons()), run=run, reload=reload)


FEATURE = Feature("schedules", start, check=SettingsCheck(check, ()), collections=(SCHEDULES, RUNS))
