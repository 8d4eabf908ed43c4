"""What a reader is told while nothing comes from the agent: no more than is known.

Where no message is open it is a status. In an open message it is a card: it runs at first and is then closed
for good. From then on it is a status again, which shows once that message is too old and ended.
"""

from __future__ import annotations

from dataclasses import replace

from .actions import CardState, TaskCard
from .events import AgentIdle, TaskKnowledge

WAITING = "is waiting for the agent..."
STILL_WORKING = "is still working..."
_SPINS = 120.0
"""Seconds until the card is closed: an open card is carried into message after message."""


class IdleNotice:
    """The waits of one turn."""

    def __init__(self) -> None:
        self._card: TaskCard | None = None  # of the present wait
        self._count = 0

    def show(self, event: AgentIdle, *, in_message: bool) -> TaskCard | str:
        """What to show now: a card or a status, "" for nothing. `in_message`: the answer has a message."""
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

    def end(self) -> TaskCard | None:
        """The agent sent something again. Returns the card that this closes."""
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
