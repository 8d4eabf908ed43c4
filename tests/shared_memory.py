"""A store in memory that several replicas share, on virtual time: leases, fences, signals, reservations.

It follows `slack_bot/store/turns.lua`, without what is there for the sake of Redis itself: its absence, its
lost memory, and how fairly what was left is given out. Whoever looks first takes all that was left.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any

from slack_bot.store.collection import Collection, Key
from slack_bot.store.contracts import Signal
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.turn.progress import Stage, TurnRecord
from slack_bot.turn.record import ThreadKey

LEASE = 6.0  # seconds
NOBODY = "nobody"


@dataclass(frozen=True, slots=True)
class Lease:
    holder: str
    fence: int
    until: float


@dataclass
class SharedMemory:
    """What all replicas have together. `now`: seconds."""

    now: Callable[[], float]
    memory: MemoryStore = field(default_factory=lambda: MemoryStore(is_durable=True))
    replicas: dict[str, ReplicaOfMemory] = field(default_factory=dict)
    leases: dict[ThreadKey, Lease] = field(default_factory=dict)
    fences: dict[ThreadKey, int] = field(default_factory=dict)  # the last of each thread
    pending: dict[str, tuple[str, float]] = field(default_factory=dict)  # who sees to a turn, since when
    writable: dict[str, int] = field(default_factory=dict)  # the fence under which a turn may be written
    workers: dict[str, str] = field(default_factory=dict)  # the last replica that had a turn
    held: dict[tuple[str, Key], tuple[str, float]] = field(default_factory=dict)
    told: set[str] = field(default_factory=set)
    """The kinds of signals that were sent."""
    taken_over: set[str] = field(default_factory=set)
    """Turns that a second replica went on with."""

    def replica(self) -> ReplicaOfMemory:
        """One more process."""
        name = f"replica-{len(self.replicas)}"
        self.replicas[name] = ReplicaOfMemory(self, name)
        return self.replicas[name]

    def lease_of(self, thread: ThreadKey) -> Lease | None:
        lease = self.leases.get(thread)
        return lease if lease is not None and lease.until > self.now() else None

    def tell(self, replica: str, signal: Signal) -> None:
        self.told.add(signal.kind)
        self.replicas[replica].inbox.append(signal)
        self.replicas[replica].heard.set()

    def tell_others(self, sender: str, signal: Signal) -> None:
        for name in self.replicas:
            if name != sender:
                self.tell(name, signal)

    def move_signals(self, thread: ThreadKey, before: str, after: str) -> None:
        inbox = self.replicas[before].inbox
        for signal in [each for each in inbox if each.thread == thread]:
            inbox.remove(signal)
            self.tell(after, signal)


class ReplicaOfMemory:
    """The store as one replica uses it."""

    lease = LEASE

    def __init__(self, shared: SharedMemory, name: str) -> None:
        self.shared, self.name = shared, name
        self.inbox: list[Signal] = []
        self.heard = asyncio.Event()
        self._delivered: list[Signal] = []
        self._held: dict[ThreadKey, int] = {}
        self._lost: set[ThreadKey] = set()
        self._sure_until = shared.now() + LEASE

    def __getattr__(self, name: str) -> Any:
        return getattr(self.shared.memory, name)

    async def accept(self, turn: TurnRecord) -> bool:
        is_new = await self.shared.memory.accept(turn)
        if is_new:
            self.shared.pending[turn.key] = self.name, self.shared.now()
        return is_new

    async def save(self, *changes: tuple[TurnRecord, int]) -> None:
        for turn, unchanged in changes:
            thread = turn.question.thread
            if self._held.get(thread, 0) < self.shared.writable.get(turn.key, 0):
                self._lost |= {thread} & self._held.keys()
            else:
                await self.shared.memory.save((turn, unchanged))

    async def claim(self, turn: TurnRecord) -> TurnRecord | None:
        shared, key, thread = self.shared, turn.key, turn.question.thread
        known = await shared.memory.turn(key)
        if known is None or known.stage is Stage.ENDED:
            return None
        if (lease := shared.lease_of(thread)) is None:
            shared.fences[thread] = shared.fences.get(thread, 0) + 1
            lease = Lease(self.name, shared.fences[thread], shared.now() + LEASE)
            shared.leases[thread] = lease
        before = shared.workers.get(key, lease.holder)
        if before != lease.holder:
            shared.taken_over.add(key)
            shared.move_signals(thread, before, lease.holder)
        shared.writable[key], shared.workers[key] = lease.fence, lease.holder
        shared.pending[key] = lease.holder, shared.now()
        if lease.holder == self.name:
            self._held[thread] = lease.fence
            return known
        shared.tell(lease.holder, Signal(thread, "question", {"turn": key}))
        return None

    async def left(self) -> list[TurnRecord]:
        shared, found = self.shared, list[TurnRecord]()
        for turn in await shared.memory.unfinished():
            worker, since = shared.pending[turn.key]
            lease = shared.lease_of(turn.question.thread)
            is_held = lease is not None and lease.holder == worker
            if not is_held and (worker == NOBODY or since <= shared.now() - LEASE):
                shared.pending[turn.key] = self.name, shared.now()
                found.append(turn)
        return sorted(found, key=lambda turn: bool(turn.messages))

    async def renew(self) -> frozenset[ThreadKey]:
        shared, now = self.shared, self.shared.now()
        lost, self._lost = self._lost, set()
        for thread, fence in self._held.items():
            lease = shared.lease_of(thread)
            if shared.fences[thread] > fence or (lease is not None and lease.holder != self.name):
                lost.add(thread)
            else:
                shared.leases[thread] = Lease(self.name, fence, now + LEASE)
        self._held = {thread: fence for thread, fence in self._held.items() if thread not in lost}
        self._sure_until = now + LEASE
        return frozenset(lost)

    @property
    def is_sure(self) -> bool:
        return self.shared.now() < self._sure_until

    async def let_go(self, thread: ThreadKey, ends: bool = False) -> None:
        fence, lease = self._held.pop(thread, None), self.shared.lease_of(thread)
        self._lost.discard(thread)
        if lease is None or (lease.holder, lease.fence) != (self.name, fence):
            return
        del self.shared.leases[thread]
        left = [each for each in await self.shared.memory.unfinished() if each.question.thread == thread]
        self.shared.pending |= {turn.key: (NOBODY, self.shared.now()) for turn in left}
        if left and ends:
            self.shared.tell_others(self.name, Signal(thread, "left"))

    async def signal(self, signal: Signal) -> bool:
        lease = self.shared.lease_of(signal.thread)
        holder = None if lease is None else lease.holder
        for turn in await self.shared.memory.unfinished() if lease is None else ():
            if turn.question.thread == signal.thread:
                holder = self.shared.workers.get(turn.key, holder)
        if holder in (None, self.name):
            return False
        self.shared.tell(str(holder), signal)
        return True

    async def signals(self, kinds: AbstractSet[str]) -> list[Signal]:
        self.inbox = [each for each in self.inbox if each not in self._delivered]
        while not self.inbox:
            self.heard.clear()
            await self.heard.wait()
        self._delivered = [each for each in self.inbox if each.kind in kinds]
        return self._delivered

    async def hold(self, collection: Collection[Any], key: Key) -> bool:
        now, name = self.shared.now(), (collection.name, key)
        holder, until = self.shared.held.get(name, (self.name, now))
        if holder != self.name and until > now:
            return False
        self.shared.held[name] = self.name, now + LEASE
        return True

    async def close(self) -> None:
        for thread in tuple(self._held):
            await self.let_go(thread)
        for key, (worker, _) in self.shared.pending.items():
            if worker == self.name:
                self.shared.pending[key] = NOBODY, self.shared.now()
