"""PURE. What the bot keeps beside its turns: one declaration for each subject, and what a store does with it.

A record is JSON under a key. It is changed by a pure function, in one step, at whichever process does it
first. Its thread, its people, its age and when it is due are read from the record, so that export, erasure,
counts and retention are loops over the declared collections: a new subject cannot be forgotten in them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from ..turn.record import ThreadKey

R = TypeVar("R")
Key: TypeAlias = tuple[str, ...]
"""Names a record in its collection."""
Change: TypeAlias = Callable[[R | None], R | None]
"""What becomes of a record; None: it stays as it is. It may be called more than once."""


@dataclass(frozen=True, slots=True)
class Ages:
    """How long things are kept: accepted questions in hours, the others in days."""

    dedupe_hours: float = 24.0
    turn_days: float = 7.0
    conversation_days: float = 30.0
    feedback_days: float = 90.0
    overheard_hours: float = 24.0
    form_days: float = 7.0

    @property
    def dedupe(self) -> float:
        """Seconds for which an accepted question is not accepted again."""
        return self.dedupe_hours * 3600

    @property
    def turns(self) -> float:
        """Seconds from a turn's end."""
        return self.turn_days * 86_400

    @property
    def conversations(self) -> float:
        """Seconds from the last question of a thread."""
        return self.conversation_days * 86_400

    @property
    def feedback(self) -> float:
        """Seconds."""
        return self.feedback_days * 86_400

    @property
    def overheard(self) -> float:
        """Seconds from when it was said."""
        return self.overheard_hours * 3600

    @property
    def forms(self) -> float:
        """Seconds from when a form was shown."""
        return self.form_days * 86_400


class KeptPerson(NamedTuple):
    """A user's id and workspace. "": in every workspace."""

    user: str
    team: str


class Changed(NamedTuple, Generic[R]):
    """A record before a change, and as it is stored now."""

    before: R | None
    after: R | None


def _all_of_it(record: Any, user: str) -> Any:
    return None


@dataclass(frozen=True, slots=True, eq=False)
class Collection(Generic[R]):
    """A subject of which records are kept.

    `age`: seconds for which a record is kept; None: for ever. They count from `since` (seconds since 1970;
    None: not yet), or without it from the last change, also one that changes nothing. `made`: when it was
    made, if that is another time. `thread` and `people`: what it is about. `due`: when something is to be
    done with it. `by_thread`, `by_person`: it is looked for so while the bot runs, which costs an index.
    `without`: what is left of it when a person is erased; None: nothing; the record itself: it is still
    needed. `is_of_turns`: a turn that runs in its thread would write back what was erased. `view`: what a
    person is given of it. `state`: a word by which it is counted. `label`: what the records of a person are
    called.
    """

    name: str
    record_type: type[R]
    age: Callable[[Ages], float] | None = None
    since: Callable[[R], float | None] | None = None
    made: Callable[[R], float] | None = None
    thread: Callable[[Key, R], ThreadKey | None] | None = None
    people: Callable[[Key, R], Iterable[KeptPerson]] | None = None
    due: Callable[[R], float | None] | None = None
    by_thread: bool = False
    by_person: bool = False
    without: Callable[[R, str], R | None] = _all_of_it
    is_of_turns: bool = False
    view: Callable[[Key, R, str], Any] | None = None
    state: Callable[[R], str] | None = None
    label: str = ""

    def order(self, key: Key, record: R) -> tuple[float, Key]:
        """The oldest first."""
        return self.time(record) or 0.0, key

    def time(self, record: R) -> float | None:
        """When it was made, if the record has it."""
        read = self.made or self.since
        return None if read is None else read(record)

    def is_about(self, key: Key, record: R, user: str, team: str | None) -> bool:
        """Whether the record is about this person. `team`: in this workspace."""
        there = self.people_of(key, record)
        return any(each.user == user and (team in (None, each.team) or not each.team) for each in there)

    def thread_of(self, key: Key, record: R) -> ThreadKey | None:
        """The thread that the record is about."""
        return None if self.thread is None else self.thread(key, record)

    def thread_of_turns(self, key: Key, record: R) -> ThreadKey | None:
        """The thread in which a turn that runs would write back what was erased."""
        return self.thread_of(key, record) if self.is_of_turns else None

    def people_of(self, key: Key, record: R) -> Iterable[KeptPerson]:
        """The people that the record is about."""
        return () if self.people is None else self.people(key, record)


def name_of(key: Key) -> str:
    """The key as text, as SQLite's `json_array` writes it."""
    return json.dumps(key, ensure_ascii=False, separators=(",", ":"))


def key_of(name: str) -> Key:
    """The key that `name_of` writes."""
    return tuple(json.loads(name))


class CollectionStore(Protocol):
    """Records of collections. Errors are StoreError."""

    async def get(self, collection: Collection[R], key: Key) -> R | None:
        """None: it is not kept, or no longer."""

    async def change(self, collection: Collection[R], key: Key, revise: Change[R], now: float) -> Changed[R]:
        """Replace a record by what `revise` makes of it, if that is something. Atomic."""

    async def remove(self, collection: Collection[R], *keys: Key) -> None:
        """Remove records, those that are there."""

    async def in_thread(self, collection: Collection[R], thread: ThreadKey) -> list[R]:
        """Those of a thread, the oldest first. The collection is one `by_thread`."""

    async def of_person(self, collection: Collection[R], person: KeptPerson) -> list[R]:
        """Those of a person, the oldest first. The collection is one `by_person`."""

    async def due(self, collection: Collection[R], now: float, most: int) -> list[R]:
        """What is due by now, the longest overdue first."""

    async def hold(self, collection: Collection[R], key: Key) -> bool:
        """Whether this process works on a record, and no other one: to be said again within a lease."""
