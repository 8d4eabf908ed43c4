"""PURE. What the bot asks of a store.

Times are seconds since 1970 (UTC), errors are `StoreError`.
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

    `waits`: each person whose answer the agent waits for, to the id of the task that asked, in this order.
    """

    context_id: str | None = None
    waits: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "waits", MappingProxyType(dict(self.waits)))

    def asked(self, user: str, task_id: str) -> Conversation:
        """The same while `task_id` waits for `user`. Of too many people the first is dropped."""
        others = self.answered(user).waits.items()
        return replace(self, waits=dict([*others, (user, task_id)][-MOST_WAITS:]))

    def answered(self, user: str) -> Conversation:
        return replace(self, waits={each: task for each, task in self.waits.items() if each != user})


class Store(Protocol):
    """Accepted questions, conversations, feedback, and what was learned about agents."""

    async def accept(self, key: str, now: float) -> bool:
        """Accept a question. False: it was accepted before, within the dedupe time. Atomic."""

    async def release(self, key: str) -> None:
        """Undo `accept`."""

    async def remove_old(self, now: float) -> None:
        """Remove the keys that are older than the dedupe time."""

    async def conversation(self, agent: str, thread: ThreadKey) -> Conversation:
        """What is known of a thread."""

    async def save_conversation(
        self, agent: str, thread: ThreadKey, conversation: Conversation, now: float
    ) -> None:
        """Replace what is known."""

    async def save_feedback(self, turn: str, user: str, value: str, now: float) -> bool:
        """Replace this person's feedback to this turn. False: it was the same. Atomic."""

    async def profile(self, agent: str) -> dict[str, str]:
        """What was learned about an agent, by name."""

    async def save_fact(self, agent: str, name: str, value: str, now: float) -> None:
        """Replace one fact about an agent."""

    async def close(self) -> None:
        """Release everything. May be called twice."""
