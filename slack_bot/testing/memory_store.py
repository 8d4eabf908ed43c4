"""PURE. A store in memory that needs neither thread nor file, so that a virtual clock may run it."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..store.collection import Ages, Change, Collection, KeptPerson, Key, R, Revision
from ..store.contracts import Count, KeptEvent, PersonalData, Store
from ..store.sole import SoleProcess
from ..turn.progress import Stage, TurnRecord
from ..turn.record import ThreadKey


class MemoryStore(SoleProcess, Store, PersonalData):
    """Is lost with the process: for tests, `replay` and the playground.

    `is_durable` True: it is handed on to another bot, as a file would be.
    """

    def __init__(self, ages: Ages | None = None, *, is_durable: bool = False) -> None:
        self._ages = ages or Ages()
        self.is_durable = is_durable
        self._turns: dict[str, TurnRecord] = {}
        self._erased: dict[str, float] = {}  # keys of turns, and when they were accepted
        self._events: dict[str, list[KeptEvent]] = {}
        self._records: dict[str, dict[Key, tuple[Any, float]]] = {}  # with the time of the last change
        self.collections: Sequence[Collection[Any]] = ()  # those that were used

    def handed_on(self) -> None:
        """Another process has it now, and asks what was left."""
        self._has_asked = False

    async def accept(self, turn: TurnRecord) -> bool:
        known = self._turns.get(turn.key)
        at = known.accepted_at if known is not None else self._erased.get(turn.key)
        if at is not None and at > turn.accepted_at - self._ages.dedupe:
            return False
        self._erased.pop(turn.key, None)
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

    async def watched(self, push_id: str) -> TurnRecord | None:
        return next((turn for turn in await self.unfinished() if turn.push_id == push_id), None)

    async def messages_in(self, thread: ThreadKey) -> Mapping[str, str]:
        turns = [turn for turn in self._turns.values() if turn.question.thread == thread]
        return {message.ts: turn.key for turn in turns for message in turn.messages}

    async def active_threads(self, since: float) -> list[tuple[ThreadKey, str]]:
        last: dict[ThreadKey, str] = {}
        for turn in sorted(self._turns.values(), key=lambda turn: turn.accepted_at):
            if turn.accepted_at >= since:
                last.pop(turn.question.thread, None)
                last[turn.question.thread] = turn.question.ts
        return list(last.items())[::-1]

    async def accepted_since(self, since: float) -> list[TurnRecord]:
        return [turn for turn in self._turns.values() if turn.accepted_at >= since]

    async def remove_old(self, now: float) -> None:
        for key, turn in tuple(self._turns.items()):
            is_old = turn.ended_at is not None and turn.ended_at <= now - self._ages.turns
            if is_old and turn.accepted_at <= now - self._ages.dedupe:
                del self._turns[key]
                self._events.pop(key, None)
        for collection in self.collections:
            if collection.age is None:
                continue
            for name, (record, at) in tuple(self._of(collection).items()):
                since = collection.since(record) if collection.since is not None else at
                if since is not None and since <= now - collection.age(self._ages):
                    del self._of(collection)[name]

    def _of(self, collection: Collection[R]) -> dict[Key, tuple[R, float]]:
        if collection not in self.collections:
            self.collections = (*self.collections, collection)
        return self._records.setdefault(collection.name, {})

    async def get(self, collection: Collection[R], key: Key) -> R | None:
        found = self._of(collection).get(key)
        return None if found is None else found[0]

    async def change(self, collection: Collection[R], key: Key, revise: Change[R], now: float) -> Revision[R]:
        there = self._of(collection)
        before, _ = there.get(key, (None, now))
        after = revise(before)
        if after is not None:
            there[key] = after, now
        return Revision(before, before if after is None else after)

    async def remove(self, collection: Collection[R], *keys: Key) -> None:
        for key in keys:
            self._of(collection).pop(key, None)

    async def in_thread(self, collection: Collection[R], thread: ThreadKey) -> list[R]:
        found = [each async for each in self.records(collection)]
        there = [each for each in found if collection.thread_of(*each) == thread]
        return [record for _, record in sorted(there, key=lambda each: collection.order(*each))]

    async def of_person(self, collection: Collection[R], person: KeptPerson) -> list[R]:
        found = [each async for each in self.records(collection) if person in collection.people_of(*each)]
        return [record for _, record in sorted(found, key=lambda each: collection.order(*each))]

    async def due(self, collection: Collection[R], now: float, most: int) -> list[R]:
        found = [
            (collection.due(record) if collection.due else None, record)
            async for _, record in self.records(collection)
        ]
        due = [(at, record) for at, record in found if at is not None and at <= now]
        return [record for _, record in sorted(due, key=lambda each: each[0])][:most]

    async def hold(self, collection: Collection[R], key: Key) -> bool:
        return True

    async def records(self, collection: Collection[R]) -> AsyncIterator[tuple[Key, R]]:
        for key, (record, _) in sorted(self._of(collection).items(), key=lambda each: each[0]):
            yield key, record

    async def count(self, collection: Collection[R]) -> Count:
        return Count(collection.name, len(self._of(collection)))

    async def turns_of(self, user: str, team: str | None) -> list[TurnRecord]:
        return [turn for turn in self._turns.values() if _is_of(turn, user, team)]

    async def erase_turns(self, user: str, team: str | None) -> tuple[int, list[str]]:
        theirs = await self.turns_of(user, team)
        ended = [turn for turn in theirs if turn.stage is Stage.ENDED]
        for turn in ended:
            del self._turns[turn.key]
            self._events.pop(turn.key, None)
            self._erased[turn.key] = turn.accepted_at
        return len(ended), [turn.key for turn in theirs if turn.stage is not Stage.ENDED]

    async def finish_erasure(self, user: str, team: str | None) -> None:
        pass

    async def erase_record(self, collection: Collection[R], key: Key, user: str) -> list[str] | None:
        record, at = self._of(collection)[key]
        thread = collection.thread_of_turns(key, record)
        running = [turn.key for turn in await self.unfinished() if turn.question.thread == thread]
        left = collection.without(record, user)
        if running or left == record:
            return running or list(key)
        if left is None:
            del self._of(collection)[key]
        else:
            self._of(collection)[key] = left, at
        return None

    async def save_events(self, *events: KeptEvent) -> None:
        for event in events:
            if event.turn in self._turns:
                self._events.setdefault(event.turn, []).append(event)

    async def events(self, turn: str) -> list[KeptEvent]:
        return list(self._events.get(turn, ()))

    async def close(self) -> None:
        pass


def _is_of(turn: TurnRecord, user: str, team: str | None) -> bool:
    return turn.question.user == user and team in (None, turn.question.thread.team)
