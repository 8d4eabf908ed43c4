"""PURE. What the bot asks of a store, beside collections.

Times are seconds since 1970 (UTC), errors are `StoreError`.
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
"""What the JSON of a turn leaves out: its messages, which stand by themselves, and secrets."""
SIGNALS = 1
"""The version of the signals that this process sends and knows."""
RENEWALS = 6
"""Signs of life that a replica gives in the time of a lease; as often it looks for what others left."""


class TurnStore(Protocol):
    """Accepted questions, and how far their turns have come."""

    is_durable: bool
    """What is stored outlives the process."""

    async def accept(self, turn: TurnRecord) -> bool:
        """Store a new turn. False: its question was accepted before, within the dedupe time. Atomic."""

    async def withdraw(self, key: str) -> None:
        """Undo `accept`."""

    async def save(self, *changes: tuple[TurnRecord, int]) -> None:
        """Replace turns, all or none; each with the number of its first messages that did not change.

        A turn that is not stored stays so.
        """

    async def turn(self, key: str) -> TurnRecord | None:
        """A turn, as long as it is kept."""

    async def unfinished(self) -> list[TurnRecord]:
        """The turns that have not ended, in the order they were accepted."""

    async def watched(self, push_id: str) -> TurnRecord | None:
        """The turn that has not ended and whose agent posts to this id."""

    async def messages_in(self, thread: ThreadKey) -> frozenset[str]:
        """The `ts` of all messages of the bot's answers in a thread."""

    async def active_threads(self, since: float) -> list[tuple[ThreadKey, str]]:
        """Threads with questions accepted since then, and the `ts` of the last one; the newest first."""

    async def remove_old(self, now: float) -> None:
        """Remove what is older than it is to be kept."""


class RecentTurns(Protocol):
    """What was asked lately."""

    async def accepted_since(self, since: float) -> list[TurnRecord]:
        """The turns accepted since then that are still kept."""


@dataclass(frozen=True, slots=True)
class KeptEvent:
    """A raw event of the agent that answers a turn. `data`: an A2A result as JSON."""

    turn: str
    at: float
    data: str


class EventStore(Protocol):
    """Raw events of agents. They are kept as long as their turn."""

    async def save_events(self, *events: KeptEvent) -> None:
        """Add events, all or none; those of a turn that is not stored are dropped."""

    async def events(self, turn: str) -> list[KeptEvent]:
        """Those of a turn, in the order they were added."""


@dataclass(frozen=True, slots=True)
class Signal:
    """What a person did that takes effect where the thread's turn runs.

    `kind` and `values` are the sender's; `question`: an accepted turn, named by its key in `turn`.
    `version`: of what a kind and its values mean.
    """

    thread: ThreadKey
    kind: str
    values: Mapping[str, str] = field(default_factory=dict, hash=False)
    version: int = SIGNALS


class ReplicaStore(Protocol):
    """Which process works on which threads, and what one tells another.

    Who lost a thread can write its turns no more.
    """

    lease: float
    """Seconds within which `renew` must be called; 0: this is the only process, and has everything."""

    async def claim(self, turn: TurnRecord) -> TurnRecord | None:
        """Begin to work on an accepted turn: it is given back as it stands now, and its thread held.

        None: it has ended, or the thread is another process's, which gets the signal `question`. Atomic.
        """

    async def left(self) -> list[TurnRecord]:
        """Turns that nobody works on: to be claimed. Threads in which nothing is shown yet come first; else
        they are in the order they were accepted.

        No more of them than this process's part; the others get the signal `left` for the rest, and what they
        do not take in time is for whoever asks.
        """

    async def connected(self, gap: float, *, has_looked: bool = False) -> bool:
        """Slack reaches this process; to be said as often as `renew`.

        True: it is to look for what came while Slack reached no process for `gap` seconds, until it says that
        it `has_looked`. If it is gone before, another one is told to.
        """

    async def renew(self) -> frozenset[ThreadKey]:
        """Hold on to all threads of this process. Returns those that it has lost."""

    @property
    def is_sure(self) -> bool:
        """Whether no other process can have taken a thread of this one: its leases have not ended."""

    async def let_go(self, thread: ThreadKey, ends: bool = False) -> None:
        """This process has nothing more to do in a thread. What has not ended there is left to others.

        `ends`: the process does, so if something is left, all others get the signal `left`.
        """

    async def signal(self, signal: Signal) -> bool:
        """Tell the process that holds the thread, or who takes it over. False: no other one holds it."""

    async def signals(self, kinds: AbstractSet[str]) -> list[Signal]:
        """Wait for signals to this process, in the order they were sent. Those given before are seen to.

        One of a kind that is not among `kinds`, or of a newer version, is kept for a process that knows it.
        """


class Store(TurnStore, RecentTurns, EventStore, ReplicaStore, CollectionStore, Protocol):
    """All that the bot keeps."""

    async def close(self) -> None:
        """Release everything. May be called twice."""


@dataclass(frozen=True, slots=True)
class PersonRecords:
    """All that is kept of a person. `records`: by the names of collections, in the order of their keys."""

    turns: tuple[TurnRecord, ...] = ()
    events: tuple[KeptEvent, ...] = ()
    records: Mapping[str, tuple[Any, ...]] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Erased:
    """How much of a person was erased. `records`: by the names of collections.

    `running`: the keys of what has not ended, for which something was left: turns, messages to the person.
    """

    turns: int
    running: tuple[str, ...] = ()
    records: Mapping[str, int] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Count:
    """How many of a kind there are, and the times of the oldest and the newest, where they are known."""

    kind: str
    number: int
    oldest: float | None = None
    newest: float | None = None


class PersonalData(Protocol):
    """What is kept of one person. `team`: only in this workspace. Errors are StoreError."""

    collections: Sequence[Collection[Any]]

    async def turns_of(self, user: str, team: str | None) -> list[TurnRecord]:
        """In the order they were accepted."""

    async def events(self, turn: str) -> list[KeptEvent]:
        """See `EventStore`."""

    def records(self, collection: Collection[R]) -> AsyncIterator[tuple[Key, R]]:
        """All of a collection, in the order of their keys."""

    async def count(self, collection: Collection[R]) -> Count:
        """How many records there are, and from when, where that is known without reading them."""

    async def erase_turns(self, user: str, team: str | None) -> tuple[int, list[str]]:
        """Erase what has ended. How many were, and the keys of those that run.

        The bare keys of accepted questions stay for their hours: what Slack brings again is not asked again.
        """

    async def finish_erasure(self, user: str, team: str | None) -> None:
        """Erase what the store has of it besides: in its log, in what processes tell each other."""

    async def erase_record(self, collection: Collection[R], key: Key, user: str) -> list[str] | None:
        """Erase a person from a record. None: done; else the keys of what still needs it. Atomic."""


@dataclass(frozen=True, slots=True)
class StoreSummary:
    """What is in a store.

    `format` is its version; `bytes` are those of its file and of the file's log. `unfinished`: turns that
    have not ended.
    """

    place: str
    format: int
    bytes: int | None
    counts: tuple[Count, ...]
    unfinished: tuple[TurnRecord, ...]


class StoreAdmin(Store, PersonalData, Protocol):
    """What an operator does with a store, while the bot goes on with it."""

    async def summary(self) -> StoreSummary:
        """What is in it."""

    async def keys(self) -> list[str]:
        """The keys of all turns."""

    async def backup(self, target: Path, *, overwrite: bool) -> None:
        """Write a copy, as it is at one moment, that only this user may read. Raises StoreError."""
