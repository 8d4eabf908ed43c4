"""PURE. What was used in a day: by a person, in a channel, by all together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple

from ...store.collection import Collection, KeptPerson, Key
from ...turn.usage import Usage


class UserKind(StrEnum):
    """Who or what uses: the values are in the keys of the store."""

    PERSON = "person"
    CHANNEL = "channel"
    ALL = "all"


class DayKey(NamedTuple):
    """A day (as 2026-11-28, UTC), and who used something then; `name` of all together: "", or their workspace
    where there are several. A program, as `key:ci`, is counted like a person.
    """

    day: str
    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class DayUsage:
    """`at`: when the day's first use was counted, in seconds since 1970."""

    at: float
    tokens: int = 0
    cost: float = 0.0

    def plus(self, usage: Usage) -> DayUsage:
        return replace(self, tokens=self.tokens + usage.total, cost=self.cost + (usage.cost or 0.0))


def _people(key: Key, _record: DayUsage) -> list[KeptPerson]:
    is_program = ":" in key[2]
    return [KeptPerson(key[2], "")] if key[1] == UserKind.PERSON and not is_program else []


DAY_USAGE = Collection(
    "day_usage",
    DayUsage,
    age=lambda ages: ages.turns,
    since=lambda record: record.at,
    people=_people,
    label="what questions used in a day",
)
"""By `DayKey`."""
