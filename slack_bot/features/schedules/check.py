"""The check of `doctor` for schedules."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime

from ...clock import system_clock
from ...errors import SettingsError
from ...observe.findings import Diagnosis, ok, warning
from ...settings.channels import ChannelPolicies
from ...settings.config_file import read_agents, read_config, read_schedules
from ...settings.load import Settings

_CHECK = "schedules"


async def check(settings: Settings) -> AsyncIterator[Diagnosis]:
    """Say when each schedule runs next, and which cannot be answered."""
    try:
        agents = read_agents(settings)
        policies = ChannelPolicies(settings.channel, lambda: read_config(settings.slack.config))
        schedules = read_schedules(settings)
    except SettingsError:
        return  # the check of the file says why
    now = system_clock().wall()
    for name, schedule in schedules.items():
        agent = (
            schedule.agent
            or policies.of(schedule.channel or "D", schedule.team or "").agent
            or agents.default
        )
        if agent in agents.entries and agents.entries[agent].knows_people:
            text = f"{name}: {agent} acts with the rights of who asks, and a schedule is no person"
            yield warning(_CHECK, text, f"name another agent below [schedules.{name}]")
            continue
        due = datetime.fromtimestamp(schedule.rule.next_after(now), UTC)
        yield ok(_CHECK, f"{name}: asks {agent} next at {due:%Y-%m-%d %H:%M} UTC")
