"""PURE. A store in memory that needs neither thread nor file, so that a virtual clock may run it."""

from dataclasses import replace

from ..store.contracts import Conversation, Store
from ..store.sole import SoleProcess
from ..turn.outbound import OutboundRecord, accepted
from ..turn.progress import Stage, TurnRecord
from ..turn.record import ThreadKey


class MemoryStore(SoleProcess, Store):
    """Is lost with the process: for tests, `replay` and the playground.

    `is_durable` True: it is handed on to another bot, as a file would be.
    """

    def __init__(
        self, dedupe_hours: float = 24.0, turn_hours: float = 168.0, *, is_durable: bool = False
    ) -> None:
        self._keep, self._keep_ended = dedupe_hours * 3600, turn_hours * 3600
        self.is_durable = is_durable
        self._turns: dict[str, TurnRecord] = {}
        self._conversations: dict[tuple[str, ThreadKey], Conversation] = {}
        self._feedback: dict[tuple[str, str], str] = {}
        self._profiles: dict[str, dict[str, str]] = {}
        self._outbound: dict[str, OutboundRecord] = {}

    async def accept(self, turn: TurnRecord) -> bool:
        known = self._turns.get(turn.key)
        if known is not None and known.accepted_at > turn.accepted_at - self._keep:
            return False
        self._turns.pop(turn.key, None)  # the order is that of acceptance
        self._turns[turn.key] = turn
        return True

    async def withdraw(self, key: str) -> None:
        self._turns.pop(key, None)

    async def save(self, *changes: tuple[TurnRecord, int]) -> None:
        for turn, unchanged in changes:
            if (known := self._turns.get(turn.key)) is not None:
                messages = known.messages[:unchanged] + turn.messages[unchanged:]
                self._turns[turn.key] = replace(turn, messages=messages)

    async def turn(self, key: str) -> TurnRecord | None:
        return self._turns.get(key)

    async def unfinished(self) -> list[TurnRecord]:
        return [turn for turn in self._turns.values() if turn.stage is not Stage.ENDED]

    async def messages_in(self, thread: ThreadKey) -> frozenset[str]:
        turns = [turn for turn in self._turns.values() if turn.question.thread == thread]
        return frozenset(message.ts for turn in turns for message in turn.messages)

    async def active_threads(self, since: float) -> list[tuple[ThreadKey, str]]:
        last: dict[ThreadKey, str] = {}
        for turn in sorted(self._turns.values(), key=lambda turn: turn.accepted_at):
            if turn.accepted_at >= since:
                last.pop(turn.question.thread, None)
                last[turn.question.thread] = turn.question.ts
        return list(last.items())[::-1]

    async def remove_old(self, now: float) -> None:
        for key, turn in tuple(self._turns.items()):
            is_old = turn.ended_at is not None and turn.ended_at <= now - self._keep_ended
            if is_old and turn.accepted_at <= now - self._keep:
                del self._turns[key]

        for key, said in tuple(self._outbound.items()):
            if said.ended_at is not None and said.ended_at <= now - self._keep_ended:
                del self._outbound[key]

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

    async def accept_outbound(self, new: OutboundRecord) -> OutboundRecord:
        stored = self._outbound[new.key] = accepted(self._outbound.get(new.key), new)
        return stored

    async def save_outbound(self, record: OutboundRecord) -> None:
        self._outbound[record.key] = record

    async def outbound(self, key: str) -> OutboundRecord | None:
        return self._outbound.get(key)

    async def unfinished_outbound(self) -> list[OutboundRecord]:
        return [said for said in self._outbound.values() if said.ended_at is None]

    async def close(self) -> None:
        pass
