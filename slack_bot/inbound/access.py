"""Decides who may ask questions and press buttons in which channel, and how often."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from ..clock import Clock
from ..settings.channels import ChannelPolicies, ChannelSettings
from ..settings.models import TurnSettings
from ..store.contracts import RecentTurns
from ..text.words import (
    A_MINUTE,
    ASKER_IS_EXTERNAL,
    ASKER_IS_GUEST,
    ASKER_IS_NOT_LISTED,
    ASKER_IS_UNKNOWN,
    HOURLY_CHANNEL,
    HOURLY_LIMIT,
    HOURLY_PERSON,
    HOURLY_QUESTION,
    HOURLY_QUESTIONS,
    HOURLY_TOTAL,
    MINUTES,
)
from ..turn.people import Organisation, PersonKind, kind_of
from ..turn.record import Question, ThreadKey
from .read import Asker

_HOUR = 3600.0
_MOST = 10_000  # threads, questions and people; beyond it the oldest is dropped


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a question is not taken: `reason` is for the log, `words` are for the asker. `wait`: seconds until
    one is taken again, if that is only a matter of time.
    """

    reason: str
    words: str
    wait: float = 0.0

    @property
    def sentence(self) -> str:
        """For a program, and for who runs the bot."""
        return f"{self.reason[:1].upper()}{self.reason[1:]}."


_EXTERNAL = Refusal(
    "it came from another organisation (external = deny)",
    ASKER_IS_EXTERNAL,
)
_GUEST = Refusal(
    "it came from a guest (guests = deny)",
    ASKER_IS_GUEST,
)
_NOT_LISTED = Refusal(
    "its asker is not among the people and groups who may ask",
    ASKER_IS_NOT_LISTED,
)
_UNKNOWN = Refusal(
    "Slack did not say whether its asker may ask (users:read, usergroups:read)",
    ASKER_IS_UNKNOWN,
)


class PeopleReader(Protocol):
    """Reads what Slack knows of people. Methods return None if Slack does not say."""

    async def user(self, user: str) -> Mapping[str, Any] | None:
        """The `user` object of Slack's `users.info`."""

    async def members(self, group: str) -> frozenset[str] | None:
        """The ids of the members of a user group."""


PeopleOf: TypeAlias = Callable[[str], PeopleReader]
"""The people of the workspace with this id."""


class Access:
    """Applies the policy of a channel. If Slack does not say what a rule needs, the answer is a refusal."""

    def __init__(self, policies: ChannelPolicies, people_of: PeopleOf, clock: Clock) -> None:
        self._policies, self._people_of, self._clock = policies, people_of, clock
        self._notices: dict[tuple[str, ThreadKey], float] = {}

    async def refusal(self, question: Question, asker: Asker, ours: Organisation) -> Refusal | None:
        """Why `question` is not taken; None if it is.

        For bots only the setting `external` counts here; see `BotAccess` for the rest. `ours`: the bot's
        organisation.
        """
        thread = question.thread
        policy = self._policies.of(thread.channel, thread.team)
        if (refusal := await self._external(policy, asker, ours)) is not None:
            return refusal
        if question.asker_is_bot:
            return None
        kind = await self._kind(asker, ours) if policy.guests == "deny" else PersonKind.MEMBER
        if kind is None or kind is PersonKind.GUEST:
            return _UNKNOWN if kind is None else _GUEST
        return await self._unlisted(policy, asker.user, ours.team)

    async def may_press(self, channel: str, asker: Asker, ours: Organisation) -> bool:
        """Whether `asker` may press buttons, and stop answers, in `channel`."""
        return await self._external(self._policies.of(channel, ours.team), asker, ours) is None

    def is_to_be_told(self, question: Question) -> bool:
        """Whether the asker gets a notice of the refusal: once an hour in each thread."""
        now, key = self._clock.monotonic(), (question.user, question.thread)
        if now < self._notices.get(key, now):
            return False
        self._notices.pop(key, None)
        _keep(self._notices, key, now + _HOUR)
        return True

    async def _external(self, policy: ChannelSettings, asker: Asker, ours: Organisation) -> Refusal | None:
        if policy.external == "allow" or asker.is_surely_of(ours):
            return None
        kind = await self._kind(asker, ours)
        return _EXTERNAL if kind is PersonKind.EXTERNAL else _UNKNOWN if kind is None else None

    async def _kind(self, asker: Asker, ours: Organisation) -> PersonKind | None:
        user = await self._people_of(ours.team).user(asker.user)
        return None if user is None else kind_of(user, ours)

    async def _unlisted(self, policy: ChannelSettings, user: str, team: str) -> Refusal | None:
        if user in policy.people or not (policy.people or policy.groups):
            return None
        groups = await asyncio.gather(*map(self._people_of(team).members, policy.groups))
        if any(user in members for members in groups if members is not None):
            return None
        return _UNKNOWN if None in groups else _NOT_LISTED


class Operators:
    """The people who run the bot. `ids`: of people and user groups. Empty: no one."""

    def __init__(self, ids: Collection[str], people_of: PeopleOf) -> None:
        self._people = frozenset(each for each in ids if each[0] != "S")
        self._groups = [each for each in ids if each[0] == "S"]
        self._people_of = people_of

    @property
    def are_set(self) -> bool:
        """There may be some."""
        return bool(self._people or self._groups)

    async def has(self, user: str, team: str) -> bool:
        """Whether `user`, who is in the workspace `team`, is one. False where Slack does not say who is in a
        group.
        """
        if user in self._people:
            return True
        members = await asyncio.gather(*map(self._people_of(team).members, self._groups))
        return any(user in each for each in members if each is not None)


TotalOf: TypeAlias = Callable[[str], str]
"""What all of a workspace are counted under: "" where there is one only."""


class HourCounts(Protocol):
    """Counts the questions of the last hour for each subject: a person, a channel, or all of a workspace
    together (`TotalOf`).
    """

    async def take(self, key: str, limits: Mapping[str, int]) -> Mapping[str, float]:
        """Count one question for each subject of `limits` if no limit is reached. Raises StoreError.

        Returns, for each subject that is over its limit, the seconds until it may ask again; empty if the
        question was counted. The same `key` counts once.
        """


class QuestionLimit(Protocol):
    """One more limit, of a feature."""

    async def refusal(self, user: str, channel: str, team: str) -> Refusal | None:
        """Why a question of `user` in `channel` of `team` is not taken now; None if it is.

        Raises StoreError.
        """


class HourlyQuestions:
    """Limits the questions of an hour: of one person or bot, in one channel, and of all together.

    Limits of features are asked before. `total_of`: what all of a workspace are counted under.
    """

    def __init__(self, settings: TurnSettings, counts: HourCounts, total_of: TotalOf) -> None:
        self._settings, self._counts, self._total_of = settings, counts, total_of
        self._others: list[QuestionLimit] = []

    def add(self, limit: QuestionLimit) -> None:
        """Ask this limit too."""
        self._others.append(limit)

    async def seconds_until(self, subject: str, most: int, key: str) -> float:
        """Count one message of `subject`, of which at most `most` an hour are taken. 0: it is taken, and
        counts once by its `key`. Otherwise the seconds until the next one is. Raises StoreError.
        """
        return (await self._counts.take(key, {subject: most})).get(subject, 0.0)

    async def refusal(
        self, user: str, channel: str, team: str, key: str, *, is_bot: bool = False
    ) -> Refusal | None:
        """Why one more question is not taken. None: it is taken, and counts once even if Slack sends it
        again.

        `key`: the question's key. Raises StoreError.
        """
        if (refusal := await self._of_others(user, channel, team)) is not None:
            return refusal
        settings = self._settings
        limits = {
            user: (settings.hourly_bot if is_bot else settings.hourly_person, HOURLY_PERSON),
            channel: (settings.hourly_channel, HOURLY_CHANNEL),
            self._total_of(team): (settings.hourly_total, HOURLY_TOTAL),
        }
        return await self._over(limits, key)

    async def refusal_of_program(self, program: str, channel: str, team: str, key: str) -> Refusal | None:
        """Why one more question of a program is not taken; otherwise as `refusal`. How many it may ask in an
        hour is not asked here. `channel`: "" if it is not known.
        """
        if (refusal := await self._of_others(program, channel, team)) is not None:
            return refusal
        settings = self._settings
        limits = {self._total_of(team): (settings.hourly_total, HOURLY_TOTAL)}
        if channel:
            limits[channel] = settings.hourly_channel, HOURLY_CHANNEL
        return await self._over(limits, key)

    async def _of_others(self, asker: str, channel: str, team: str) -> Refusal | None:
        for limit in self._others:
            if (refusal := await limit.refusal(asker, channel, team)) is not None:
                return refusal
        return None

    async def _over(self, limits: Mapping[str, tuple[int, str]], key: str) -> Refusal | None:
        """Count a question, unless a limit is reached. `limits`: by subject, with the words for who asked."""
        limits = {subject: each for subject, each in limits.items() if each[0]}
        if not limits:
            return None
        waits = await self._counts.take(key, {subject: most for subject, (most, _) in limits.items()})
        if not waits:
            return None
        subject = max(waits, key=lambda each: waits[each])
        most, who = limits[subject]
        what = (HOURLY_QUESTIONS if most > 1 else HOURLY_QUESTION).format(who, most)
        words = HOURLY_LIMIT.format(what, _minutes(waits[subject]))
        return Refusal(f"there are too many: {what}", words, waits[subject])


class LocalHour:
    """The `HourCounts` of a single process.

    It starts with the questions of the hour before its first one, read from the store.
    """

    def __init__(self, store: RecentTurns, clock: Clock, total_of: TotalOf) -> None:
        self._store, self._clock, self._total_of = store, clock, total_of
        self._counts: dict[str, dict[str, float]] = {}
        self._is_restored = False

    async def take(self, key: str, limits: Mapping[str, int]) -> Mapping[str, float]:
        """Count one question; see `HourCounts.take`."""
        if not self._is_restored:
            await self._restore()
        now, waits = self._clock.wall(), {}
        for subject, most in limits.items():
            recent = self._since(subject, now - _HOUR)
            if key in recent:
                return {}
            if len(recent) >= most:
                waits[subject] = sorted(recent.values())[-most] + _HOUR - now
        if not waits:
            for subject in limits:
                self._count(subject, key, now)
        return waits

    async def _restore(self) -> None:
        for turn in await self._store.accepted_since(self._clock.wall() - _HOUR):
            question = turn.question
            thread = question.thread
            for subject in (question.counted_for, thread.channel, self._total_of(thread.team)):
                self._count(subject, question.key, turn.accepted_at)
        self._is_restored = True

    def _count(self, subject: str, key: str, at: float) -> None:
        self._counts.setdefault(subject, {})[key] = at

    def _since(self, subject: str, since: float) -> dict[str, float]:
        counted = self._counts.pop(subject, {})
        recent = {key: at for key, at in counted.items() if at > since}
        if recent:
            _keep(self._counts, subject, recent)
        return recent


def _minutes(seconds: float) -> str:
    minutes = math.ceil(seconds / 60)
    return A_MINUTE if minutes == 1 else MINUTES.format(minutes)


class BotAccess:
    """Decides which bots may ask, and how often: two bots that mention each other would never stop.

    `allowed`: ids of bots (`U...`, `B...`, `A...`), and of channels in which every bot may ask. `max_turns`:
    how many questions bots may ask in one thread until a person writes there. A refused bot gets no reply.
    """

    def __init__(self, allowed: Collection[str], max_turns: int) -> None:
        self._allowed = frozenset(allowed)
        self._max_turns = max_turns
        self._turns: dict[ThreadKey, int] = {}
        self._judged: dict[str, str | None] = {}

    def is_allowed(self, channel: str, asker_ids: Collection[str]) -> bool:
        """Whether a bot with these ids may ask in `channel` at all."""
        return not self._allowed.isdisjoint({*asker_ids, channel})

    def person_wrote(self, thread: ThreadKey) -> None:
        """Let bots ask in `thread` again, because a person has written there."""
        self._turns.pop(thread, None)

    def refusal(self, question: Question, asker_ids: Collection[str]) -> str | None:
        """Why `question` is not answered; None if it is, or if a person asks it.

        Slack sends a mention as two events, and sends events again. So a question of a bot counts once, and
        the reason for a refusal is returned once and is "" after that.
        """
        if not question.asker_is_bot:
            self.person_wrote(question.thread)
            return None
        if question.key not in self._judged:
            reason = self._judge(question.thread, asker_ids)
            _keep(self._judged, question.key, None if reason is None else "")
            return reason
        return self._judged[question.key]

    def _judge(self, thread: ThreadKey, asker_ids: Collection[str]) -> str | None:
        if not self.is_allowed(thread.channel, asker_ids):
            ids = ", ".join(sorted(asker_ids))
            return (
                f"a bot ({ids}) mentioned the bot in {thread.channel}; to let it ask, add one of"
                " these ids to SLACK_BOT_SLACK__ALLOWED_BOTS"
            )
        turns = self._turns.pop(thread, 0)
        _keep(self._turns, thread, min(turns + 1, self._max_turns))
        if turns < self._max_turns:
            return None
        return (
            f"bots have asked {self._max_turns} times in this thread since a person wrote there"
            " (SLACK_BOT_TURNS__MAX_BOT_TURNS)"
        )


def _keep(memory: dict[Any, Any], key: object, value: object) -> None:
    memory[key] = value
    if len(memory) > _MOST:
        del memory[next(iter(memory))]
