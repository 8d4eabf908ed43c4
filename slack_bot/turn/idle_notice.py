"""PURE. What a reader is told while nothing comes from the agent: calmly, and no more than is known.

Where no message is open it is a status. In an open one a card says it for the first while, and then, closed,
what stands there for good; from then on the statuses that show when that message has grown too old tell it.
"""

from __future__ import annotations

from dataclasses import replace

from .actions import CardState, TaskCard
from .events import AgentIdle, TaskKnowledge

WAITING = "is waiting for the agent..."
STILL_WORKING = "is still working..."
_SPINS = 120.0
"""Seconds for which a wait is a card that runs: an open card is carried into message after message."""


class IdleNotice:
    """The silences of one turn."""

    def __init__(self) -> None:
        self._card: TaskCard | None = None  # of the present one
        self._count = 0

    def tell(self, event: AgentIdle, *, in_message: bool) -> TaskCard | str:
        """What is shown of the silence now: a card, or a status, which is "" where nothing is worth saying.

        `in_message`: a message of the answer stands there.
        """
        if not in_message or (self._card is not None and self._card.state is CardState.DONE):
            return _status(event)
        if event.known is TaskKnowledge.QUIET:
            return ""  # answers have pauses
        self._count += self._card is None
        minutes, name = int(event.seconds // 60), f"waiting-{self._count}"
        if event.seconds >= _SPINS:
            self._card = TaskCard(name, f"No news from the agent for {minutes} min", CardState.DONE)
        else:
            said = f"nothing new for {minutes} min\n" if minutes else "nothing new yet\n"
            self._card = TaskCard(name, "Waiting for the agent", CardState.RUNNING, details=said)
        return self._card

    def over(self) -> TaskCard | None:
        """The agent was heard again: the card that is closed by that."""
        card, self._card = self._card, None
        if card is None or card.state is CardState.DONE:
            return None
        return replace(card, state=CardState.DONE, details="")


def _status(event: AgentIdle) -> str:
    minutes = int(event.seconds // 60)
    match event.known:
        case TaskKnowledge.WORKING:
            said = f"{STILL_WORKING.rstrip('.')}, nothing new for {minutes} min..."
            return said if minutes else STILL_WORKING
        case TaskKnowledge.UNKNOWN if minutes:
            return f"{WAITING.rstrip('.')}, silent for {minutes} min..."
        case _:
            return WAITING
