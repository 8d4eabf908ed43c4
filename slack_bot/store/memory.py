"""The store that forgets everything at the end of the process: for tests, `replay` and the playground."""

from __future__ import annotations

from ..turn.record import ThreadKey
from .contracts import Conversation, FeedbackEntry


class MemoryInbox:
    """Keys with the time they were taken at."""

    def __init__(self, dedupe_hours: float) -> None:
        self._keep = dedupe_hours * 3600
        self._taken: dict[str, float] = {}

    async def accept(self, key: str, now: float) -> bool:
        """See `contracts.Inbox`."""
        if key in self._taken and self._taken[key] > now - self._keep:
            return False
        self._taken[key] = now
        return True

    async def release(self, key: str) -> None:
        """See `contracts.Inbox`."""
        self._taken.pop(key, None)

    async def remove_old(self, now: float) -> None:
        """See `contracts.Inbox`."""
        self._taken = {key: at for key, at in self._taken.items() if at > now - self._keep}


class MemoryConversations:
    """Conversations by agent and thread."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, ThreadKey], Conversation] = {}

    async def get(self, agent: str, thread: ThreadKey) -> Conversation:
        """See `contracts.Conversations`."""
        return self._known.get((agent, thread), Conversation())

    async def put(self, agent: str, thread: ThreadKey, conversation: Conversation, now: float) -> None:
        """See `contracts.Conversations`."""
        del now
        self._known[agent, thread] = conversation


class MemoryFeedback:
    """Presses by turn and person."""

    def __init__(self) -> None:
        self._presses: dict[tuple[str, str], FeedbackEntry] = {}

    async def record(self, press: FeedbackEntry) -> bool:
        """See `contracts.Feedback`."""
        before = self._presses.get((press.turn, press.user))
        if before is not None and before.value == press.value:
            return False
        self._presses[press.turn, press.user] = press
        return True

    async def entries(self, turn: str) -> tuple[FeedbackEntry, ...]:
        """See `contracts.Feedback`."""
        found = (press for press in self._presses.values() if press.turn == turn)
        return tuple(sorted(found, key=lambda press: (press.at, press.user)))


class MemoryAgentProfiles:
    """Facts by agent and name."""

    def __init__(self) -> None:
        self._facts: dict[str, dict[str, str]] = {}

    async def get(self, agent: str) -> dict[str, str]:
        """See `contracts.AgentProfiles`."""
        return dict(self._facts.get(agent, {}))

    async def set(self, agent: str, name: str, value: str, now: float) -> None:
        """See `contracts.AgentProfiles`."""
        del now
        self._facts.setdefault(agent, {})[name] = value


class MemoryStore:
    """All four, in memory."""

    def __init__(self, dedupe_hours: float = 24.0) -> None:
        self.inbox = MemoryInbox(dedupe_hours)
        self.conversations = MemoryConversations()
        self.feedback = MemoryFeedback()
        self.profiles = MemoryAgentProfiles()

    async def close(self) -> None:
        """Nothing to release."""
