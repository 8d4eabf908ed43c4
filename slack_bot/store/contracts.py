"""PURE. What the bot asks of a store: several small contracts, so that each can be kept somewhere else one
day.

Times are wall-clock seconds (UTC) given by the caller. Errors of the store are `StoreError`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Protocol

from ..turn.record import ThreadKey

MOST_WAITS = 20


@dataclass(frozen=True, slots=True)
class Conversation:
    """What is known of a thread with one agent.

    `waits` names the people whose answer the agent waits for, each with the id of the task that asked them;
    who was asked last stands last. It is a copy that nobody can change.
    """

    context_id: str | None = None
    waits: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "waits", MappingProxyType(dict(self.waits)))

    def asked(self, user: str, task_id: str) -> Conversation:
        """The same while `task_id` waits for `user`. Of more than `MOST_WAITS` people the first is let go."""
        others = [(each, task) for each, task in self.waits.items() if each != user]
        return replace(self, waits=dict([*others, (user, task_id)][-MOST_WAITS:]))

    def answered(self, user: str) -> Conversation:
        """The same without waiting for `user`."""
        return replace(self, waits={each: task for each, task in self.waits.items() if each != user})


@dataclass(frozen=True, slots=True)
class FeedbackEntry:
    """A press of a feedback button. `value` is "positive" or "negative"."""

    turn: str
    user: str
    value: str
    at: float


class Inbox(Protocol):
    """Questions taken from Slack, each once."""

    async def accept(self, key: str, now: float) -> bool:
        """Take the question named `key`. False: it was taken before, within the dedupe time. One step.

        An error means that it was not taken: nothing else is done here that could fail.
        """

    async def release(self, key: str) -> None:
        """Give `key` back: its question was taken but not begun. Whoever brings it again may take it."""

    async def remove_old(self, now: float) -> None:
        """Remove the keys that are older than the dedupe time. For a timer: `accept` does not need it."""


class Conversations(Protocol):
    """Slack thread to A2A context, an agent at a time."""

    async def get(self, agent: str, thread: ThreadKey) -> Conversation:
        """What is known; an empty `ModelConversation` for a new thread."""

    async def put(self, agent: str, thread: ThreadKey, conversation: Conversation, now: float) -> None:
        """Replace what is known."""


class FeedbackStore(Protocol):
    """Feedback presses; a later press of the same person on the same turn replaces the earlier."""

    async def record(self, press: FeedbackEntry) -> bool:
        """Keep a press. False: this person had said the same of this turn before. One step."""

    async def entries(self, turn: str) -> tuple[FeedbackEntry, ...]:
        """All presses for a turn, oldest first."""


class AgentProfiles(Protocol):
    """What was learned about an agent and saves an attempt next time (its wire, where its answer stands)."""

    async def get(self, agent: str) -> dict[str, str]:
        """All that is known, by name."""

    async def set(self, agent: str, name: str, value: str, now: float) -> None:
        """Keep one fact; replaces an earlier value."""


class Store(Protocol):
    """All of them, opened and closed together."""

    @property
    def inbox(self) -> Inbox:
        """Questions taken."""

    @property
    def conversations(self) -> Conversations:
        """Threads and contexts."""

    @property
    def feedback(self) -> FeedbackStore:
        """Presses."""

    @property
    def profiles(self) -> AgentProfiles:
        """Learned facts."""

    async def close(self) -> None:
        """Release everything. May be called twice."""
