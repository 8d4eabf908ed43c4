"""The mark on a question that waits for its turn: a reaction, because a status would stand below the answer
that is being written.

Setting a reaction and taking it away are two methods with budgets of their own, so where both wait for one
the second may come first, and a mark set after that would stay for ever. So the two are one errand: the mark
is taken away when it stands, and not set any more where the question's turn came first.
"""

from __future__ import annotations

import asyncio

from .api import CallFailed, SlackApi
from .faults import Fault

WAITING_REACTION = "hourglass_flowing_sand"


class QueuedReaction:
    """The mark on the message `ts` in `channel`. `turn` is whose calls these are."""

    def __init__(self, api: SlackApi, channel: str, ts: str, turn: str) -> None:
        self._api = api.for_turn(turn)
        self._args = {"channel": channel, "timestamp": ts, "name": WAITING_REACTION}
        self._over = False
        self._changed = asyncio.Event()

    def over(self) -> None:
        """The question waits no longer."""
        self._over = True
        self._changed.set()

    async def show(self) -> None:
        """Set the mark, and take it away when the wait is over. Best effort: a failure is logged, no more."""
        try:
            while not self._over and not self._api.reserve("reactions.add", wake=self._changed.set):
                await self._news()
            if self._over or not await self._is_set():
                return
            while not self._over:
                await self._news()
            await self._api.call("reactions.remove", self._args)
        finally:
            self._api.give_back()

    async def _is_set(self) -> bool:
        """Set the mark. Whether it stands, or may."""
        added = await self._api.call("reactions.add", self._args)
        return not isinstance(added, CallFailed) or added.fault is Fault.UNKNOWN

    async def _news(self) -> None:
        await self._changed.wait()
        self._changed.clear()
