"""PURE. Collections: what the bot keeps beside its turns. Each subject has one declaration.

A record is JSON under a key. A pure function changes it in one step, in whichever process is first. A
declaration says how to read from a record its thread, its people, its age and when it is due. So export,
erasure, counts and retention are loops over the declarations, and a new subject cannot be forgotten there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from ..turn.record import ThreadKey

R = TypeVar("R")
Key: TypeAlias = tuple[str, ...]
"""The key of a record in its collection."""
Change: TypeAlias = Callable[[R | None], R | None]
"""Returns the new record, or None if the stored one shall stay. A store may call it more than once."""


@dataclass(frozen=True, slots=True)
class Ages:
    """How long each kind of data is kept: in hours or in days, as the names say."""

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
        """Seconds for which a turn is kept after its end."""
        return self.turn_days * 86_400

    @property
    def conversations(self) -> float:
        """Seconds for which a conversation is kept after the last question of its thread."""
        return self.conversation_days * 86_400

    @property
    def feedback(self) -> float:
        """Seconds for which feedback is kept."""
        return self.feedback_days * 86_400

    @property
    def overheard(self) -> float:
        """Seconds for which an overheard message is kept after it was posted."""
        return self.overheard_hours * 3600

    @property
    def forms(self) -> float:
        """Seconds for which a form is kept after it was shown."""
        return self.form_days * 86_400


class KeptPerson(NamedTuple):
    """A user's id and workspace. The workspace is "" if the record counts in every workspace."""

    user: str
    team: str


class Revision(NamedTuple, Generic[R]):
    """A record before a change, and the record that is stored now."""

    before: R | None
    after: R | None


def _all_of_it(record: Any, user: str) -> Any:
    return None


@dataclass(frozen=True, slots=True, eq=False)
class Collection(Generic[R]):
    """One kind of records, and how to read what a store needs from a record.

    - `age`: seconds for which a record is kept; None: for ever.
    - `since`: when the age begins, in seconds since 1970; if it returns None, the age has not begun. Without
      `since`, the age begins with each call of `change`, even one that leaves the record as it is.
    - `made`: when the record was made, if that differs from `since`.
    - `thread`, `people`: the thread and the people that the record is about.
    - `due`: when the bot has to work on the record; None: not any more.
    - `by_thread`, `by_person`: the bot looks records up by thread or by person, so they get an index.
    - `without`: the record after a person is erased. None: the whole record is erased. An equal record: it is
      still needed and stays.
    - `is_of_turns`: a turn that runs in the record's thread may write the record again, so erasure waits for
      it.
    - `view`: what a person gets of the record in an export; without it, the record itself.
    - `state`: a word by which records are counted apart.
    - `label`: what an operator reads of these records: `store show` and `store erase` call them so.
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
        """The sort key that puts the oldest record first."""
        return self.time(record) or 0.0, key

    def time(self, record: R) -> float | None:
        """When the record was made, in seconds since 1970; None if the collection does not say."""
        read = self.made or self.since
        return None if read is None else read(record)

    def is_about(self, key: Key, record: R, user: str, team: str | None) -> bool:
        """Whether the record is about this person; with `team`, in that workspace."""
        people = self.people_of(key, record)
        return any(each.user == user and (team in (None, each.team) or not each.team) for each in people)

    def thread_of(self, key: Key, record: R) -> ThreadKey | None:
        """The thread that the record is about."""
        return None if self.thread is None else self.thread(key, record)

    def thread_of_turns(self, key: Key, record: R) -> ThreadKey | None:
        """The record's thread, if a turn that runs there could write the record again after an erasure."""
        return self.thread_of(key, record) if self.is_of_turns else None

    def people_of(self, key: Key, record: R) -> Iterable[KeptPerson]:
        """The people that the record is about."""
        return () if self.people is None else self.people(key, record)


def name_of(key: Key) -> str:
    """Write a key as text, in the format of SQLite's `json_array`."""
    return json.dumps(key, ensure_ascii=False, separators=(",", ":"))


def key_of(name: str) -> Key:
    """Read a key from the text that `name_of` wrote."""
    return tuple(json.loads(name))


class CollectionStore(Protocol):
    """Reads and changes the records of collections. All methods raise StoreError."""

    async def get(self, collection: Collection[R], key: Key) -> R | None:
        """Read a record. Returns None if it was never stored or has expired."""

    async def change(self, collection: Collection[R], key: Key, revise: Change[R], now: float) -> Revision[R]:
        """Replace a record by the result of `revise`, unless that is None. Atomic.

        `now`: seconds since 1970.
        """

    async def remove(self, collection: Collection[R], *keys: Key) -> None:
        """Remove records. Keys without a record are ignored."""

    async def in_thread(self, collection: Collection[R], thread: ThreadKey) -> list[R]:
        """The records of a thread, the oldest first. The collection must have `by_thread`."""

    async def of_person(self, collection: Collection[R], person: KeptPerson) -> list[R]:
        """The records of a person, the oldest first. The collection must have `by_person`."""

    async def due(self, collection: Collection[R], now: float, most: int) -> list[R]:
        """At most `most` records that are due at `now`, the longest overdue first."""

    async def hold(self, collection: Collection[R], key: Key) -> bool:
        """Reserve a record for this process. Returns False if another process has it.

        The reservation lasts for one lease and is renewed by calling this again.
        """
