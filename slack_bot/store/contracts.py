"""PURE. The interfaces of a store, except collections (`store/collection.py`).

Times are seconds since 1970 (UTC). All methods raise `StoreError`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from ..turn.progress import TurnRecord
from ..turn.record import ThreadKey
from .collection import Collection, CollectionStore, Key, R

APART: dict[str, Any] = {"messages": True, "question": {"answer": {"secrets": True}}}
"""What the JSON of a turn leaves out: its messages, which are stored apart, and secrets."""
SIGNALS = 1
"""The newest version of signals that this process sends and understands."""
RENEWALS = 6
"""How often, within one lease, a replica renews its leases and looks for turns without a process."""


class TurnStore(Protocol):
    """Accepted questions and the state of their turns."""

    is_durable: bool
    """Whether the stored data outlives the process."""

    async def accept(self, turn: TurnRecord) -> bool:
        """Store a new turn. Returns False if its question was accepted within the dedupe time. Atomic."""

    async def withdraw(self, key: str) -> None:
        """Undo `accept`: the same question can be accepted again."""

    async def save(self, *changes: tuple[TurnRecord, int]) -> None:
        """Replace turns, all or none. Turns that are not in the store are ignored.

        Each turn comes with the number of its first messages that have not changed.
        """

    async def turn(self, key: str) -> TurnRecord | None:
        """Read a turn; None if it was never stored or has expired."""

    async def unfinished(self) -> list[TurnRecord]:
        """The turns that have not ended, in the order in which they were accepted."""

    async def watched(self, push_id: str) -> TurnRecord | None:
        """The running turn for which the agent posts push notifications to this id; None if there is none."""

    async def messages_in(self, thread: ThreadKey) -> Mapping[str, str]:
        """The `ts` of all messages of the bot's answers in a thread, each with the key of its turn."""

    async def active_threads(self, since: float) -> list[tuple[ThreadKey, str]]:
        """Threads with a question accepted since `since`, the newest first, each with its last question's
        `ts`.
        """

    async def remove_old(self, now: float) -> None:
        """Remove turns, and what belongs to them, that are older than their age (`Ages`)."""


class RecentTurns(Protocol):
    """Reads recent turns, for limits on the number of questions."""

    async def accepted_since(self, since: float) -> list[TurnRecord]:
        """The turns accepted since `since` that are still kept."""


@dataclass(frozen=True, slots=True)
class KeptEvent:
    """One raw event that the agent sent for a turn. `turn`: the turn's key. `data`: an A2A result as JSON, or
    an object with the JSON-RPC `error` that ended the answer.
    """

    turn: str
    at: float
    data: str


class EventStore(Protocol):
    """The raw events of agents. They are kept as long as their turn."""

    async def save_events(self, *events: KeptEvent) -> None:
        """Add events, all or none. Events of a turn that is not stored are dropped."""

    async def events(self, turn: str) -> list[KeptEvent]:
        """The events of a turn, in the order in which they were added."""


@dataclass(frozen=True, slots=True)
class Signal:
    """A message to the process that holds a thread, for example that a person pressed Stop.

    The sender chooses `kind` and `values`. The store itself sends two kinds: `question` (a turn was accepted;
    its key is the value `turn`) and `left` (turns wait for a process). `version`: the version of the signals
    in which `kind` and `values` have their meaning.
    """

    thread: ThreadKey
    kind: str
    values: Mapping[str, str] = field(default_factory=dict, hash=False)
    version: int = SIGNALS


class ReplicaStore(Protocol):
    """Distributes threads over processes (replicas), and carries signals between these.

    A process that has lost its lease on a thread cannot save the thread's turns any more.
    """

    lease: float
    """Seconds within which `renew` must be called again; 0 if one process holds all threads."""

    async def claim(self, turn: TurnRecord) -> TurnRecord | None:
        """Take the lease on the thread of an accepted turn, and return the turn as it is stored now. Atomic.

        Returns None if the turn has ended, or if another process holds the thread. That process gets the
        signal `question`.
        """

    async def left(self) -> list[TurnRecord]:
        """Unfinished turns without a process, for `claim`. Threads without any shown text come first, then
        the others; each in the order in which the turns were accepted.

        Returns this process's share. The other processes get the signal `left` for the rest. What they do not
        claim in time is returned to the next caller.
        """

    async def connected(self, gap: float, *, has_looked: bool = False) -> bool:
        """Report that Slack reaches this process. To be called as often as `renew`.

        Returns True if Slack reached no process for `gap` seconds: then this process must look for missed
        messages, until it reports `has_looked`. If it ends before that, another process gets True.
        """

    async def renew(self) -> frozenset[ThreadKey]:
        """Extend the leases on all threads of this process. Returns the threads that it has lost."""

    @property
    def is_sure(self) -> bool:
        """Whether the leases of this process are certainly valid, so that no other one has taken a thread."""

    async def let_go(self, thread: ThreadKey, ends: bool = False) -> None:
        """Give up the lease on a thread. Turns that have not ended there are left for other processes.

        `ends`: this process is ending, so if a turn is left, all other processes get the signal `left`.
        """

    async def signal(self, signal: Signal) -> bool:
        """Send a signal to the process that holds the thread now or takes it over.

        False if no other one holds it.
        """

    async def signals(self, kinds: AbstractSet[str]) -> list[Signal]:
        """Wait for signals to this process and return them in the order in which they were sent.

        A call acknowledges the signals that the previous call returned. A signal whose kind is not in
        `kinds`, or whose version is newer, stays in the store for a process that understands it.
        """


class Store(TurnStore, RecentTurns, EventStore, ReplicaStore, CollectionStore, Protocol):
    """Everything that the bot keeps."""

    async def close(self) -> None:
        """Release the connections and leases. May be called twice."""


@dataclass(frozen=True, slots=True)
class PersonRecords:
    """All that is kept of a person. `records`: by name of collection, in the order of the keys."""

    turns: tuple[TurnRecord, ...] = ()
    events: tuple[KeptEvent, ...] = ()
    records: Mapping[str, tuple[Any, ...]] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class ErasureResult:
    """How much of a person was erased: `turns` and, by name of collection, `records`.

    `running`: the keys of turns, and of messages to the person, that have not ended and so were not erased.
    """

    turns: int
    running: tuple[str, ...] = ()
    records: Mapping[str, int] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Count:
    """How many records of a kind there are, and the times of the oldest and the newest if they are known."""

    kind: str
    number: int
    oldest: float | None = None
    newest: float | None = None


class PersonalData(Protocol):
    """Reads and erases the data of one person; with `team`, only in that workspace.

    Methods raise StoreError.
    """

    collections: Sequence[Collection[Any]]

    async def turns_of(self, user: str, team: str | None) -> list[TurnRecord]:
        """The turns of a person, in the order in which they were accepted."""

    async def events(self, turn: str) -> list[KeptEvent]:
        """The agent's events of a turn (see `EventStore.events`)."""

    def records(self, collection: Collection[R]) -> AsyncIterator[tuple[Key, R]]:
        """All records of a collection, in the order of their keys."""

    async def count(self, collection: Collection[R]) -> Count:
        """How many records there are; with their times, if these are known without reading the records."""

    async def erase_turns(self, user: str, team: str | None) -> tuple[int, list[str]]:
        """Erase the ended turns of a person. Returns their number, and the keys of turns that still run.

        The bare keys of accepted questions stay until the dedupe time is over, so that a message that Slack
        sends again is not answered again.
        """

    async def finish_erasure(self, user: str, team: str | None) -> None:
        """Erase what is left of the person in the store's log and in signals."""

    async def erase_record(self, collection: Collection[R], key: Key, user: str) -> list[str] | None:
        """Erase a person from a record. Atomic.

        Returns None if that was done, else the keys of the turns, or of the record itself, that still need
        it.
        """


@dataclass(frozen=True, slots=True)
class StoreSummary:
    """What a store holds, for an operator.

    `format`: the version of its format. `bytes`: the size of its file and the file's log; None in Redis.
    `unfinished`: the turns that have not ended.
    """

    place: str
    format: int
    bytes: int | None
    counts: tuple[Count, ...]
    unfinished: tuple[TurnRecord, ...]


class StoreAdmin(Store, PersonalData, Protocol):
    """What an operator's commands can do with a store, also while a bot uses it."""

    async def summary(self) -> StoreSummary:
        """Count what the store holds."""

    async def keys(self) -> list[str]:
        """The keys of all turns."""

    async def backup(self, target: Path, *, overwrite: bool) -> None:
        """Write a copy that shows one moment and that only this user may read. Raises StoreError."""
