"""PURE. The part of a store with one process: it holds every thread and has no other process to signal."""

from collections.abc import Set as AbstractSet

from ..turn.progress import TurnRecord
from ..turn.record import ThreadKey
from .contracts import ReplicaStore, Signal, TurnStore


class SoleProcess(TurnStore, ReplicaStore):
    """Implements `ReplicaStore` for one process.

    The first call of `left` returns what an earlier process left.
    """

    lease = 0.0
    _has_asked = False

    async def claim(self, turn: TurnRecord) -> TurnRecord | None:
        return turn

    async def left(self) -> list[TurnRecord]:
        if self._has_asked:
            return []
        turns = await self.unfinished()
        self._has_asked = True
        return turns

    async def connected(self, gap: float, *, has_looked: bool = False) -> bool:
        return not has_looked

    async def renew(self) -> frozenset[ThreadKey]:
        return frozenset()

    @property
    def is_sure(self) -> bool:
        return True

    async def let_go(self, thread: ThreadKey, ends: bool = False) -> None:
        pass

    async def signals(self, kinds: AbstractSet[str]) -> list[Signal]:
        return []

    async def signal(self, signal: Signal) -> bool:
        return False
