"""The store in memory, which is lost with the process: for tests, `replay` and the playground."""

from __future__ import annotations

from ..turn.record import ThreadKey
from .contracts import Conversation, FeedbackEntry


class MemoryInbox:
    """Accepted keys with their times."""

    def __init__(self, dedupe_hours: float) -> None:
        self._keep = dedupe_hours * 3600
        self._accepted: dict[str, float] = {}

    async def accept(self, key: str, now: float) -> bool:
        """See `contracts.Inbox`."""
        if key in self._accepted and self._accepted[key] > now - self._keep:
            return False
        self._accepted[key] = now
        return True

    async def release(self, key: str) -> None:
        """See `contracts.Inbox`."""
        self._accepted.pop(key, None)

    async def remove_old(self, now: float) -> None:
        """See `contracts.Inbox`."""
        self._accepted = {key: at for key, at in self._accepted.items() if at > now - self._keep}


class MemoryConversations:
    """Conversations by agent and thread."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, ThreadKey], Conversation] = {}

    async def get(self, agent: str, thread: ThreadKey) -> Conversation:
        """See `contracts.Conversations`."""
        return self._known.get((agent, thread), Conversation())

    async def put(self, agent: str, thread: ThreadKey, conversation: Conversation, now: float) -> None:
        """See `contracts.Conversations`."""
        self._known[agent, thread] = conversation


class MemoryFeedback:
    """Feedback by turn and person."""

    def __init__(self) -> None:
        self._entries: dict[tuple[str, str], FeedbackEntry] = {}

    async def record(self, entry: FeedbackEntry) -> bool:
        """See `contracts.FeedbackStore`."""
        before = self._entries.get((entry.turn, entry.user))
        if before is not None and before.value == entry.value:
            return False
        self._entries[entry.turn, entry.user] = entry
        return True

    async def entries(self, turn: str) -> tuple[FeedbackEntry, ...]:
        """See `contracts.FeedbackStore`."""
        found = (entry for entry in self._entries.values() if entry.turn == turn)
        return tuple(sorted(found, key=lambda entry: (entry.at, entry.user)))


class MemoryAgentProfiles:
    """Facts by agent and name."""

    def __init__(self) -> None:
        self._facts: dict[str, dict[str, str]] = {}

    async def get(self, agent: str) -> dict[str, str]:
        """See `contracts.AgentProfiles`."""
        return dict(self._facts.get(agent, {}))

    async def set(self, agent: str, name: str, value: str, now: float) -> None:
        """See `contracts.AgentProfiles`."""
        self._facts.setdefault(agent, {})[name] = value


class MemoryStore:
    """A store in memory."""

    def __init__(self, dedupe_hours: float = 24.0) -> None:
        self.inbox = MemoryInbox(dedupe_hours)
        self.conversations = MemoryConversations()
        self.feedback = MemoryFeedback()
        self.profiles = MemoryAgentProfiles()

    async def close(self) -> None:
        """See `contracts.Store`."""
