"""PURE. A store in memory that needs neither thread nor file, so that a virtual clock may run it."""

from ..store.contracts import Conversation, Store
from ..turn.record import ThreadKey


class MemoryStore(Store):
    """Is lost with the process: for tests, `replay` and the playground."""

    def __init__(self, dedupe_hours: float = 24.0) -> None:
        self._keep = dedupe_hours * 3600
        self._accepted: dict[str, float] = {}
        self._conversations: dict[tuple[str, ThreadKey], Conversation] = {}
        self._feedback: dict[tuple[str, str], str] = {}
        self._profiles: dict[str, dict[str, str]] = {}

    async def accept(self, key: str, now: float) -> bool:
        if key in self._accepted and self._accepted[key] > now - self._keep:
            return False
        self._accepted[key] = now
        return True

    async def release(self, key: str) -> None:
        self._accepted.pop(key, None)

    async def remove_old(self, now: float) -> None:
        self._accepted = {key: at for key, at in self._accepted.items() if at > now - self._keep}

    async def conversation(self, agent: str, thread: ThreadKey) -> Conversation:
        return self._conversations.get((agent, thread), Conversation())

    async def save_conversation(
        self, agent: str, thread: ThreadKey, conversation: Conversation, now: float
    ) -> None:
        self._conversations[agent, thread] = conversation

    async def save_feedback(self, turn: str, user: str, value: str, now: float) -> bool:
        before, self._feedback[turn, user] = self._feedback.get((turn, user)), value
        return before != value

    async def profile(self, agent: str) -> dict[str, str]:
        return dict(self._profiles.get(agent, {}))

    async def save_fact(self, agent: str, name: str, value: str, now: float) -> None:
        self._profiles.setdefault(agent, {})[name] = value

    async def close(self) -> None:
        pass
