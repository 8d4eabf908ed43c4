"""Settings of schedules: `[schedules.NAME]` of the file that `SLACK_BOT_CONFIG` names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, SecretStr

from ..turn.json_values import text_in
from .agents import AgentTable
from .cron import CronRule, zone_of
from .names import nearest
from .places import Channel, ChannelOrPerson, Headline, Person, Team
from .section import SettingsSection
from .tables import named_entries, tables_below
from .teams import team_problems

TABLE = "schedules"


def _cron(value: str) -> str:
    CronRule(value)
    return value


def _zone(value: str) -> str:
    zone_of(value)
    return value


def _words(value: str) -> str:
    if not value.strip():
        raise ValueError("should be the question to the agent")
    return value.strip()


class ScheduleEntry(SettingsSection):
    """A question that the bot asks an agent by the clock, and whose answer it posts."""

    cron: Annotated[str, AfterValidator(_cron)]
    """Five fields of cron: minute, hour, day of the month, month, day of the week."""
    tz: Annotated[str, AfterValidator(_zone)] = "UTC"
    """Time zone of these, as Europe/Berlin."""
    channel: Channel = None
    """Id of the channel into which the answer is posted."""
    user: Person = None
    """Id of the person who gets it directly."""
    team: Team = None
    """Id of the workspace of that channel or person. It is needed where there are several
    (`SLACK_BOT_TOKENS`)."""
    ask: Annotated[str, Field(max_length=10_000), AfterValidator(_words)]
    """The question to the agent."""
    headline: Headline = ""
    """Line above the answer. Empty: the question."""
    agent: str | None = None
    """Name of the agent. Unset: that of the channel."""
    thread: Literal["new", "one"] = "new"
    """Whether each run begins a thread and a conversation with the agent, or all are in one."""
    skip_if_silent: bool = False
    """Whether the agent may have nothing to say: then nothing is posted, and the line above neither."""
    if_running: Literal["skip", "queue"] = "skip"
    """What happens to a run that is due while the one before still runs."""
    missed: Literal["once", "drop"] = "once"
    """What happens to runs that were due while no bot ran: the last of them is made up for, or none is."""

    on_failure: ChannelOrPerson = None
    """Id of a channel or a person that is told when it fails, and when it works again. Unset: nobody is, a
    failed answer says so in its thread."""

    @classmethod
    def contradictions(cls, values: Mapping[str, Any]) -> Iterator[str]:
        if (values.get("channel") is None) == (values.get("user") is None):
            yield "set either channel or user, which is where the answer goes"

    @cached_property
    def rule(self) -> CronRule:
        """When it runs."""
        return CronRule(self.cron, self.tz)

    def is_of(self, team: str) -> bool:
        """Whether it writes into the workspace `team`, as far as it says so."""
        return self.team in (None, team)

    @property
    def title(self) -> str:
        """What people read of it."""
        return self.headline or self.ask


def schedules_in(
    file: Mapping[str, Any], agents: AgentTable, problems: list[str], tokens: SecretStr | None
) -> dict[str, ScheduleEntry]:
    """The schedules of the parsed file. Adds one line for each that is wrong to `problems`. `tokens`: the
    setting of several workspaces.
    """
    entries = dict(named_entries(TABLE, ScheduleEntry, file.get(TABLE, {}), problems))
    for name, own in tables_below(ScheduleEntry, file.get(TABLE, {})):
        problems += agent_problems(f"{TABLE}.{name}", text_in(own, "agent"), agents, "a schedule")
        problems += team_problems(f"{TABLE}.{name}", own.get("team"), tokens)
    return entries


def agent_problems(where: str, agent: str | None, agents: AgentTable, who: str) -> list[str]:
    """Why `agent` cannot be asked where no person asks. `who` asks it."""
    if not agent:
        return []
    if agent not in agents.names:
        guess = nearest(agent, agents.names)
        end = f"did you mean {guess}?" if guess else f"the agents are {', '.join(agents.names)}"
        return [f"{where}.agent is {agent!r}, which is no agent; {end}"]
    if agent in agents.entries and agents.entries[agent].knows_people:
        return [f"{where}.agent is {agent!r}, which acts with the rights of who asks: {who} is no person"]
    return []
