"""PURE. What one process last wrote of its turns, so that it can write it again after Redis has lost it.

A failover loses the last writes of the primary. A Redis without `appendfsync always` loses those before a
crash.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ..turn.progress import TurnRecord
from ..turn.record import ThreadKey

_RENEWALS = 60
"""A copy of what this process has nothing more to do with is kept for so many renewals that Redis answered:
longer than a replica that may become the primary can be behind.
"""


@dataclass(frozen=True, slots=True)
class TurnCopy:
    """A turn as it was last written, under the lease `fence` (0: none).

    `number` counts the writes of this process. `renewals`: how many more it is kept for; None: as long as
    this process works on it. `is_withdrawn`: it was removed.
    """

    turn: TurnRecord
    fence: int
    number: int
    renewals: int | None = None
    is_withdrawn: bool = False


class TurnCopies:
    """The copies of one process, by the keys of their turns."""

    def __init__(self) -> None:
        self._copies: dict[str, TurnCopy] = {}
        self._number = 0

    def __iter__(self) -> Iterator[TurnCopy]:
        return iter(tuple(self._copies.values()))

    def accept(self, turn: TurnRecord) -> None:
        """`turn` was accepted. This process will claim it, or another one that finds it."""
        self._put(turn, 0, _RENEWALS)

    def claim(self, turn: TurnRecord, fence: int) -> None:
        """This process works on `turn` under the lease `fence`."""
        self._put(turn, fence, None)

    def save(self, turn: TurnRecord, fence: int) -> int:
        """`turn` is written. Returns the number of the write.

        `fence`: 0 if this process has no lease on its thread. Then there is a copy only if it had one.
        """
        known = self._copies.get(turn.key)
        if known is not None or fence > 0:
            is_running = turn.ended_at is None and (
                fence > 0 or (known is not None and known.renewals is None)
            )
            renewals = None if is_running else _RENEWALS
            self._put(turn, fence or (known.fence if known is not None else 0), renewals)
        else:
            self._number += 1
        return self._number

    def _put(self, turn: TurnRecord, fence: int, renewals: int | None) -> None:
        self._number += 1
        self._copies[turn.key] = TurnCopy(turn, fence, self._number, renewals)

    def pass_on(self, *keys: str) -> None:
        """Others see to these turns. They are still written if they are missing."""
        for key in keys:
            if (known := self._copies.get(key)) is not None and known.renewals is None:
                self._copies[key] = replace(known, fence=0, renewals=_RENEWALS)

    def pass_on_thread(self, thread: ThreadKey) -> None:
        """The same for what has not ended in a thread."""
        self.pass_on(*(copy.turn.key for copy in self if copy.turn.question.thread == thread))

    def withdraw(self, key: str) -> None:
        """The turn was removed."""
        if (known := self._copies.get(key)) is not None:
            self._copies[key] = replace(known, fence=0, renewals=_RENEWALS, is_withdrawn=True)

    def forget(self, *keys: str) -> None:
        """Others have written these turns since."""
        for key in keys:
            self._copies.pop(key, None)

    def renewed(self) -> None:
        """Redis answered a renewal and has all copies."""
        for key, copy in tuple(self._copies.items()):
            if copy.renewals == 0:
                del self._copies[key]
            elif copy.renewals is not None:
                self._copies[key] = replace(copy, renewals=copy.renewals - 1)
