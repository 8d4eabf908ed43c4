"""Keeps what is used in a day within the limits. It is counted when a turn has ended, and looked at before
the next question: questions that run at the same time may use more together.
"""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from ...clock import Clock
from ...errors import StoreError
from ...inbound.access import Refusal, TotalOf
from ...observe import facts
from ...settings.usage import UsageSettings
from ...slack.blocks import Block, plain
from ...store.collection import CollectionStore
from ...text.feature_words import (
    LIMIT_OF_ALL,
    LIMIT_OF_CHANNEL,
    LIMIT_OF_DAY,
    LIMIT_OF_PERSON,
    RESETS,
    USAGE_MONEY,
    USAGE_TOKENS,
    USED_BY_ALL,
    USED_BY_CHANNEL,
    USED_BY_PERSON,
    USED_MOST,
    USED_UP,
)
from ...text.home_words import HOME_USAGE, HOME_USAGE_TITLE
from ...threads.background import TaskSet
from ...threads.notices import Notices
from ...turn.failure import program_in_words
from ...turn.record import Question
from ...turn.usage import Usage
from .meter import money
from .records import DAY_USAGE, DayKey, DayUsage, UserKind

_log = logging.getLogger(__name__)

_Used = dict[UserKind, DayUsage]
_WHOSE = {
    UserKind.PERSON: LIMIT_OF_PERSON,
    UserKind.CHANNEL: LIMIT_OF_CHANNEL,
    UserKind.ALL: LIMIT_OF_ALL,
}
_WHO = {UserKind.PERSON: USED_BY_PERSON, UserKind.CHANNEL: USED_BY_CHANNEL, UserKind.ALL: USED_BY_ALL}


@dataclass(frozen=True, slots=True)
class Limit:
    """The most that may be used in a day, in tokens or in money."""

    kind: UserKind
    is_money: bool
    most: float

    def part(self, used: DayUsage | None) -> float:
        """The part of the limit that is used."""
        if used is None:
            return 0.0
        return (used.cost if self.is_money else used.tokens) / self.most

    def amount(self, currency: str, amount: float | None = None) -> str:
        """The limit, or `amount` of the same unit, for people."""
        amount = self.most if amount is None else amount
        return (
            USAGE_MONEY.format(money(amount), currency) if self.is_money else USAGE_TOKENS.format(int(amount))
        )


def limits_of(settings: UsageSettings) -> list[Limit]:
    """All limits that are set."""
    rows = [
        (UserKind.PERSON, settings.person_tokens, settings.person_cost),
        (UserKind.CHANNEL, settings.channel_tokens, settings.channel_cost),
        (UserKind.ALL, settings.total_tokens, settings.total_cost),
    ]
    limits = [Limit(kind, False, tokens) for kind, tokens, _ in rows if tokens]
    return limits + [Limit(kind, True, cost) for kind, _, cost in rows if cost]


class DayLimits:
    """Counts what turns used, refuses questions over a limit, and warns before one is reached."""

    def __init__(
        self,
        settings: UsageSettings,
        store: CollectionStore,
        clock: Clock,
        notices: Notices,
        background: TaskSet,
        total_of: TotalOf,
    ) -> None:
        self._total_of = total_of
        self._settings, self._store, self._wall = settings, store, clock.wall
        self._notices, self._background = notices, background
        self._limits = limits_of(settings)
        self._kinds = {limit.kind for limit in self._limits}
        self._silent_agents = set[str]()  # that reported nothing

    async def refusal(self, user: str, channel: str, team: str) -> Refusal | None:
        """Why a question of `user` is not taken now; None if it is. Raises StoreError."""
        now = self._wall()
        used = await self._used(now, user, channel, team)
        for limit in self._limits:
            if limit.part(used.get(limit.kind)) >= 1:
                words = USED_UP.format(_WHO[limit.kind], self._amount(limit), _resets(now))
                wait = (_day_end(now) - datetime.fromtimestamp(now, UTC)).total_seconds()
                whose = _whose(limit.kind, user)
                end = f"{_day_end(now):%Y-%m-%d %H:%M}"
                return Refusal(LIMIT_OF_DAY.format(self._amount(limit), whose, end), words, wait)
        return None

    async def _used(self, now: float, user: str, channel: str, team: str) -> _Used:
        used = _Used()
        for kind, key in self._keys(now, user, channel, team):
            if (record := await self._store.get(DAY_USAGE, key)) is not None:
                used[kind] = record
        return used

    def _keys(self, now: float, user: str, channel: str, team: str) -> Iterator[tuple[UserKind, DayKey]]:
        day = datetime.fromtimestamp(now, UTC).date().isoformat()
        names = {UserKind.PERSON: user, UserKind.CHANNEL: channel, UserKind.ALL: self._total_of(team)}
        for kind, name in names.items():
            if kind in self._kinds:
                yield kind, DayKey(day, kind, name)

    def observe(self, fact: facts.Fact) -> None:
        """Count what a turn used whose end is stored."""
        if not isinstance(fact, facts.TurnRecorded):
            return
        record = fact.record
        if record.usage is not None:
            self._background.spawn(self._count(record.question, record.usage), record.key)
        elif record.outcome is not None and record.outcome.has_completed:
            self._report_silent(fact.agent)

    def _report_silent(self, agent: str) -> None:
        if agent not in self._silent_agents:
            self._silent_agents.add(agent)
            _log.warning(
                "the agent %s does not report what its answers use, so they count nothing for the limits of a"
                " day (docs/agents.md says how to report it)",
                agent,
            )

    async def _count(self, question: Question, usage: Usage) -> None:
        now, thread = self._wall(), question.thread
        after, before = _Used(), _Used()
        try:
            for kind, key in self._keys(now, question.counted_for, thread.channel, thread.team):
                revision = await self._store.change(
                    DAY_USAGE, key, lambda stored: (stored or DayUsage(now)).plus(usage), now
                )
                after[kind] = revision.after or DayUsage(now)
                before[kind] = revision.before or DayUsage(now)
        except StoreError as error:
            _log.log(error.log_level, "what an answer used was not counted: %s", error)
            return
        if question.asker is not None:
            await self._warn(question, before, after, now)

    async def _warn(self, question: Question, before: _Used, after: _Used, now: float) -> None:
        warn_at, thread = self._settings.warn_at, question.thread
        for limit in self._limits:
            part = limit.part(after[limit.kind])
            if limit.part(before[limit.kind]) < warn_at <= part < 1:
                words = USED_MOST.format(_WHO[limit.kind], part, self._amount(limit), _resets(now))
                await self._notices.post_ephemeral(thread, question.user, words)

    def _amount(self, limit: Limit) -> str:
        return limit.amount(self._settings.currency)

    async def section(self, user: str, team: str) -> Sequence[Block]:
        """For the Home tab: what a person has used today, where there is a limit for it."""
        limits = [each for each in self._limits if each.kind is UserKind.PERSON]
        if not limits:
            return ()
        key = dict(self._keys(self._wall(), user, "", team))[UserKind.PERSON]
        used = await self._store.get(DAY_USAGE, key) or DayUsage(0.0)
        currency = self._settings.currency
        lines = [
            HOME_USAGE.format(
                limit.amount(currency, used.cost if limit.is_money else used.tokens), limit.amount(currency)
            )
            for limit in limits
        ]
        head: Block = {"type": "header", "text": plain(HOME_USAGE_TITLE)}
        return [head, {"type": "section", "text": plain("\n".join(lines))}]


def _whose(kind: UserKind, user: str) -> str:
    """Whose limit it is, for the log. A program, as `schedule:news`, has the limit of a person."""
    return (kind is UserKind.PERSON and program_in_words(user)) or _WHOSE[kind]


def _resets(now: float) -> str:
    """When the day ends, for people: in their own time zone."""
    end = _day_end(now)
    return RESETS.format(int(end.timestamp()), f"{end:%Y-%m-%d %H:%M}")


def _day_end(now: float) -> datetime:
    day = datetime.fromtimestamp(now, UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return day + timedelta(days=1)
