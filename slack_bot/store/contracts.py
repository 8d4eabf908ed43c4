"""What the bot asks of a store: several small contracts, so that each can be kept somewhere else one day.

Times are wall-clock seconds (UTC) given by the caller. Errors of the store are `StoreError`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ..turn.record import ThreadKey


@dataclass(frozen=True, slots=True)
class Conversation:
    """What is known of a thread with one agent.

    `task_id` and `asked_user` are set while the agent waits for that person's answer.
    """

    context_id: str | None = None
    task_id: str | None = None
    asked_user: str | None = None


@dataclass(frozen=True, slots=True)
class Press:
    """A press of a feedback button. `value` is "positive" or "negative"."""

    turn: str
    user: str
    value: str
    at: float


class Inbox(Protocol):
    """Questions taken from Slack, each once."""

    async def accept(self, key: str, now: float) -> bool:
        """Take the question named `key`. False: it was taken before, within the dedupe time. One step."""


class Contexts(Protocol):
    """Slack thread to A2A context, an agent at a time."""

    async def get(self, agent: str, thread: ThreadKey) -> Conversation:
        """What is known; an empty `Conversation` for a new thread."""

    async def put(self, agent: str, thread: ThreadKey, conversation: Conversation, now: float) -> None:
        """Replace what is known."""


class Feedback(Protocol):
    """Feedback presses; a later press of the same person on the same turn replaces the earlier."""

    async def record(self, press: Press) -> bool:
        """Keep a press. False: this person had said the same of this turn before. One step."""

    async def presses(self, turn: str) -> tuple[Press, ...]:
        """All presses for a turn, oldest first."""


class Lore(Protocol):
    """What was learned about an agent and saves an attempt next time (its wire, where its answer stands)."""

    async def learned(self, agent: str) -> dict[str, str]:
        """All that is known, by name."""

    async def learn(self, agent: str, name: str, value: str, now: float) -> None:
        """Keep one fact; replaces an earlier value."""


class Store(Protocol):
    """All of them, opened and closed together."""

    @property
    def inbox(self) -> Inbox:
        """Questions taken."""

    @property
    def contexts(self) -> Contexts:
        """Threads and contexts."""

    @property
    def feedback(self) -> Feedback:
        """Presses."""

    @property
    def lore(self) -> Lore:
        """Learned facts."""

    async def close(self) -> None:
        """Release everything. May be called twice."""
