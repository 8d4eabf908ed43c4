"""What is kept of schedules, and what a schedule does when its time has come."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ...settings.schedules import ScheduleEntry
from ...store.collection import Collection
from ...turn.failure import why_failed
from ...turn.outbound import FAILED, OutboundMessage, OutboundRecord
from ...turn.progress import Stage, TurnRecord
from ...turn.record import QuestionOrigin

ON_TIME = 60.0
"""Seconds after which a run was missed."""
RUNNING = "running"
"""The state of a run whose question the agent answers."""
TELL_AGAIN = 86_400.0
"""Seconds after which it is told again that a schedule fails."""


@dataclass(frozen=True, slots=True)
class ScheduleState:
    """How far a schedule has come. Times are seconds since 1970.

    `rule`: its times and zone as they were then. `since`: all runs up to then were begun or left out.
    `last`: the key of the last run that was begun. `paused_by`: who stopped it; "" if it runs. `told`: the
    key of the failed run that was told last, "" if a later one worked, and `told_at` when that run was due.
    `works`: the key of the run after which it was told that it works again.
    """

    rule: str
    since: float
    last: str = ""
    paused_by: str = ""
    told: str = ""
    told_at: float = 0.0
    works: str = ""


@dataclass(frozen=True, slots=True)
class WatchedRun:
    """A run of a schedule whose failure is told: at `place`, the id of a channel or a person of the workspace
    `team`. `key`: of its message. `due`: when it is looked at again; None: it is over.
    """

    key: str
    name: str
    place: str
    at: float
    due: float | None = None
    team: str = ""


RUNS = Collection(
    "schedule_runs",
    WatchedRun,
    age=lambda ages: ages.turns,
    since=lambda record: record.at,
    due=lambda record: record.due,
    label="runs of schedules that are watched",
)
"""By the key of the run's message."""

SCHEDULES = Collection("schedules", ScheduleState, label="how far schedules have come")
"""By the name of the schedule. One that is stopped stays so."""


def rule_of(schedule: ScheduleEntry) -> str:
    """The times of a schedule, in words that change with them."""
    return f"{schedule.cron} {schedule.tz}"


def run_key(name: str, due: float) -> str:
    """The key of the message of one run: the same in each process."""
    return f"sched:{name}:{int(due)}"


def message_of(name: str, schedule: ScheduleEntry) -> OutboundMessage:
    """What one run says."""
    return OutboundMessage(
        schedule.ask,
        channel=schedule.channel or "",
        user=schedule.user or "",
        headline=schedule.headline,
        is_question=True,
        origin=QuestionOrigin.SCHEDULE,
        agent=schedule.agent or "",
        team=schedule.team or "",
        is_addressed=not schedule.skip_if_silent,
        series=f"sched:{name}" if schedule.thread == "one" else "",
        program=f"schedule:{name}",
        tells_failure=schedule.on_failure is not None,
    )


@dataclass(frozen=True, slots=True)
class ScheduleStatus:
    """One schedule, for people. `next_at`: seconds since 1970. `last`: what came of its last run."""

    name: str
    schedule: ScheduleEntry
    next_at: float
    paused_by: str = ""
    last: LastRun | None = None


@dataclass(frozen=True, slots=True)
class LastRun:
    """A run that was begun. `at`: seconds since 1970. `state`: as of its message. `failure`: why it did not
    work, in a sentence; "" if it did, or is not over.
    """

    at: float
    state: str
    failure: str = ""


def last_run(record: OutboundRecord, turn: TurnRecord | None, secrets: tuple[str, ...] = ()) -> LastRun:
    """What came of a run. `turn`: its question's. `secrets` must never be shown."""
    failure = record.error or why_failed(turn, secrets)
    is_over = turn is None or turn.stage in (Stage.ENDED, Stage.WATCHED)
    state = FAILED if failure else record.state if is_over else RUNNING
    return LastRun(record.accepted_at, state, failure)


def statuses(
    schedules: Mapping[str, ScheduleEntry],
    states: Mapping[str, ScheduleState],
    now: float,
    last: Mapping[str, LastRun] = {},
) -> list[ScheduleStatus]:
    """All schedules, the next first, and those that are stopped last. `last`: their last runs."""
    unsorted = [
        ScheduleStatus(
            name,
            schedule,
            schedule.rule.next_after(now),
            states[name].paused_by if name in states else "",
            last.get(name),
        )
        for name, schedule in schedules.items()
    ]
    return sorted(unsorted, key=lambda each: (bool(each.paused_by), each.next_at))


@dataclass(frozen=True, slots=True)
class DueRun:
    """A run whose time has come. `was_missed`: no bot ran then."""

    key: str
    at: float
    was_missed: bool


def due_run(name: str, schedule: ScheduleEntry, state: ScheduleState, now: float) -> DueRun | None:
    """The run that is due now, the last one where there are several; None: none is."""
    if state.paused_by or (due := schedule.rule.latest(state.since, now)) is None:
        return None
    return DueRun(run_key(name, due), due, now - due > ON_TIME)


def seen(state: ScheduleState | None, schedule: ScheduleEntry, now: float) -> ScheduleState:
    """The state at the start of a bot. What is new, or has new times, has missed nothing."""
    rule = rule_of(schedule)
    if state is None:
        return ScheduleState(rule, now)
    return state if state.rule == rule else replace(state, rule=rule, since=now)


def passed(state: ScheduleState | None, at: float, begun: str = "") -> ScheduleState | None:
    """The runs up to `at` were begun or left out. `begun`: the key of the run that was begun."""
    if state is None or at <= state.since:
        return None
    return replace(state, since=at, last=begun or state.last)


def failed(state: ScheduleState | None, run: WatchedRun) -> ScheduleState | None:
    """The run failed. Of failures in a row the first is told, and one in a day."""
    if state is None or state.told == run.key:
        return None
    if state.told and run.at - state.told_at < TELL_AGAIN:
        return None
    return replace(state, told=run.key, told_at=run.at)


def worked(state: ScheduleState | None, run: WatchedRun) -> ScheduleState | None:
    """The run worked. That is told after a failure that was told."""
    if state is None or not state.told or run.at <= state.told_at:
        return None
    return replace(state, told="", works=run.key)


def paused(state: ScheduleState | None, by: str) -> ScheduleState | None:
    """`by` stopped it."""
    return None if state is None or state.paused_by else replace(state, paused_by=by)


def resumed(state: ScheduleState | None, now: float) -> ScheduleState | None:
    """It goes on. What was due meanwhile is left out."""
    return None if state is None or not state.paused_by else replace(state, paused_by="", since=now)
