"""The store in memory, which is lost with the process: for tests, `replay` and the playground."""

from __future__ import annotations

from ..turn.record import ThreadKey
from . import contracts
from .contracts import Conversation, FeedbackEntry


class _Inbox:
    """Accepted keys with their times."""

    def __init__(self, dedupe_hours: float) -> None:
        self._keep = dedupe_hours * 3600
        self._accepted: dict[str, float] = {}

    async def accept(self, key: str, now: float) -> bool:
        if key in self._accepted and self._accepted[key] > now - self._keep:
            return False
        self._accepted[key] = now
        return True

    async def release(self, key: str) -> None:
        self._accepted.pop(key, None)

    async def remove_old(self, now: float) -> None:
        self._accepted = {key: at for key, at in self._accepted.items() if at > now - self._keep}


class _Conversations:
    """Conversations by agent and thread."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, ThreadKey], Conversation] = {}

    async def get(self, agent: str, thread: ThreadKey) -> Conversation:
        return self._known.get((agent, thread), Conversation())

    async def put(self, agent: str, thread: ThreadKey, conversation: Conversation, now: float) -> None:
        self._known[agent, thread] = conversation


class _Feedback:
    """Feedback by turn and person."""

    def __init__(self) -> None:
        self._entries: dict[tuple[str, str], FeedbackEntry] = {}

    async def record(self, entry: FeedbackEntry) -> bool:
        before = self._entries.get((entry.turn, entry.user))
        if before is not None and before.value == entry.value:
            return False
        self._entries[entry.turn, entry.user] = entry
        return True

    async def entries(self, turn: str) -> tuple[FeedbackEntry, ...]:
        found = (entry for entry in self._entries.values() if entry.turn == turn)
        return tuple(sorted(found, key=lambda entry: (entry.at, entry.user)))


class _AgentProfiles:
    """Facts by agent and name."""

    def __init__(self) -> None:
        self._facts: dict[str, dict[str, str]] = {}

    async def get(self, agent: str) -> dict[str, str]:
        return dict(self._facts.get(agent, {}))

    async def set(self, agent: str, name: str, value: str, now: float) -> None:
        self._facts.setdefault(agent, {})[name] = value


class MemoryStore:
    """A store in memory."""

    def __init__(self, dedupe_hours: float = 24.0) -> None:
        self.inbox: contracts.Inbox = _Inbox(dedupe_hours)
        self.conversations: contracts.Conversations = _Conversations()
        self.feedback: contracts.FeedbackStore = _Feedback()
        self.profiles: contracts.AgentProfiles = _AgentProfiles()

    async def close(self) -> None:
        """See `contracts.Store`."""
