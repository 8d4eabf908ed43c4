"""PURE. What the bot asks of a store: small contracts, so that each can be kept somewhere else.

Times are seconds since 1970 (UTC), given by the caller. Errors are `StoreError`.
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

    `waits`: each person whose answer the agent waits for, to the id of the task that asked; the one asked
    last is last. Read-only.
    """

    context_id: str | None = None
    waits: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "waits", MappingProxyType(dict(self.waits)))

    def asked(self, user: str, task_id: str) -> Conversation:
        """The same while `task_id` waits for `user`. Beyond `MOST_WAITS` people the first is dropped."""
        others = [(each, task) for each, task in self.waits.items() if each != user]
        return replace(self, waits=dict([*others, (user, task_id)][-MOST_WAITS:]))

    def answered(self, user: str) -> Conversation:
        """The same without waiting for `user`."""
        return replace(self, waits={each: task for each, task in self.waits.items() if each != user})


@dataclass(frozen=True, slots=True)
class FeedbackEntry:
    """A pressed feedback button. `value` is "positive" or "negative"."""

    turn: str
    user: str
    value: str
    at: float


class Inbox(Protocol):
    """Accepted questions, each once."""

    async def accept(self, key: str, now: float) -> bool:
        """Accept the question named `key`. False: it was accepted before, within the dedupe time. Atomic.

        An error means that it was not accepted.
        """

    async def release(self, key: str) -> None:
        """Undo `accept`: the question was not started, and may be accepted again."""

    async def remove_old(self, now: float) -> None:
        """Remove the keys that are older than the dedupe time. `accept` does not need it."""


class Conversations(Protocol):
    """Slack thread to A2A context, for each agent."""

    async def get(self, agent: str, thread: ThreadKey) -> Conversation:
        """What is known; an empty `Conversation` for a new thread."""

    async def put(self, agent: str, thread: ThreadKey, conversation: Conversation, now: float) -> None:
        """Replace what is known."""


class FeedbackStore(Protocol):
    """Feedback. A later entry of the same person on the same turn replaces the earlier."""

    async def record(self, entry: FeedbackEntry) -> bool:
        """Keep `entry`. False: this person gave the same value for this turn before. Atomic."""

    async def entries(self, turn: str) -> tuple[FeedbackEntry, ...]:
        """All entries of a turn, oldest first."""


class AgentProfiles(Protocol):
    """What was learned about an agent, and saves an attempt next time (its protocol version, for example)."""

    async def get(self, agent: str) -> dict[str, str]:
        """All that is known, by name."""

    async def set(self, agent: str, name: str, value: str, now: float) -> None:
        """Keep one fact; replaces an earlier value."""


class Store(Protocol):
    """All contracts, opened and closed together."""

    inbox: Inbox
    conversations: Conversations
    feedback: FeedbackStore
    profiles: AgentProfiles

    async def close(self) -> None:
        """Release everything. May be called twice."""
