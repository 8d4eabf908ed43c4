"""What a turn is about and how it ended."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from enum import StrEnum

_SEED = uuid.UUID("5f6a2d1e-9c1b-5f0e-8f6d-0a2a5ac4b071")


class Outcome(StrEnum):
    """How a turn ended."""

    ANSWERED = "answered"
    ASKED = "asked"  # the agent waits for the human
    STOPPED = "stopped"  # the human stopped it
    FAILED = "failed"  # the agent said it failed, or could not be understood
    REFUSED = "refused"  # the question was never taken
    LOST = "lost"  # the stream broke and the end could not be learned
    GONE = "gone"  # the thread was deleted: nothing can be shown


@dataclass(frozen=True, slots=True)
class ThreadKey:
    """A conversation in Slack. `ts` is its root message's."""

    team: str
    channel: str
    ts: str


@dataclass(frozen=True, slots=True)
class Question:
    """One message to the agent, as accepted from Slack.

    `user_team` is the asker's, which differs from `thread.team` in Slack Connect channels. `task_id`: it
    answers an agent that asked. `attempt` counts the asker's retries.
    """

    thread: ThreadKey
    ts: str
    user: str
    user_team: str
    text: str
    is_dm: bool = False
    asker_is_bot: bool = False
    context_id: str | None = None
    task_id: str | None = None
    attempt: int = 0

    @property
    def key(self) -> str:
        """The key of deduplication, records and logs. It never changes."""
        again = f":{self.attempt}" if self.attempt else ""
        return f"{self.thread.team}:{self.thread.channel}:{self.ts}{again}"

    @property
    def message_id(self) -> str:
        """The A2A messageId, the same for the same Slack message (delivery.md 7.1)."""
        return message_id_of(self.key)


def message_id_of(key: str) -> str:
    """The A2A messageId of the question with this key."""
    return str(uuid.uuid5(_SEED, key))
