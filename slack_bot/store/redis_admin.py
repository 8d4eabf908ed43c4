"""The store in Redis, for an operator.

What is kept of a person is looked for in everything: an index would have to be kept right at each change, for
a question that is seldom asked.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import StoreError, StoreMissing
from ..turn.feedback import FeedbackRecord
from ..turn.open_form import OpenForm
from ..turn.outbound import OutboundRecord
from ..turn.progress import TurnRecord
from ..turn.record import ThreadKey
from ..turn.thread_state import ThreadState
from .adapters import FORM, OUTBOUND, OVERHEARD, THREAD, TURN
from .contracts import MOST_SHOWN, Count, Erased, KeptWait, PersonRecords, StoreAdmin, StoreSummary
from .redis import VERSION, RedisStore, refuse_newer
from .redis_feedback import feedback_key, read_feedback
from .redis_format import PREFIX, SENT, UNSENT, conversation_key, name_of, outbound_key, signal_of
from .redis_forms import form_key, forms_of_key

_UNFINISHED = f"{PREFIX}unfinished"
_AT_ONCE = 500  # keys in one round trip
_ERASED_AT_ONCE = 50  # turns in one step, while which Redis does nothing else


class RedisAdmin(RedisStore, StoreAdmin):
    """A store that exists. Use `open_admin`."""

    async def open(self) -> None:
        async with self._calling():
            known = await self._redis.get(f"{PREFIX}version")
        if known is None:
            raise StoreMissing(
                f"There is no store at {self._address}; name the bot's Redis and its database in"
                " SLACK_BOT_STORE__URL, or start the bot, which begins one."
            )
        refuse_newer(int(known), self._address)

    async def close(self) -> None:
        """It is no replica: there is nothing to leave to others."""
        await self._redis.aclose()

    async def summary(self) -> StoreSummary:
        turns: list[tuple[str, float]] = []
        async for _, (data, at) in self._of_each("HMGET", await self._turn_keys(), "data", "accepted_at"):
            if at is not None:  # it was removed meanwhile
                stage = "keys only" if data is None else TURN.validate_json(data).stage
                turns.append((f"turns: {stage}", float(at)))
        kinds = {"conversations": "conversation", "threads": "thread_state"}
        sizes = [Count(name, len(await self._names(kind))) for name, kind in kinds.items()]
        for kind, length in (("feedback", "HLEN"), ("events", "LLEN"), ("overheard", "ZCARD")):
            found = self._of_each(length, await self._names(kind))
            sizes.append(Count(kind, sum([size async for _, size in found])))
        sizes.append(Count("forms", len(await self._names("form"))))
        said = await self._outbound()
        states = [(f"outbound: {each.state}", each.accepted_at) for each in said]
        counts = (*_counted(turns), *sizes, *_counted(states))
        unfinished = tuple(await self.unfinished())
        return StoreSummary(self._address, VERSION, None, counts, unfinished, tuple(said[-MOST_SHOWN:]))

    async def keys(self) -> list[str]:
        return [name.removeprefix(f"{PREFIX}turn:") for name in await self._turn_keys()]

    async def _turn_keys(self) -> list[str]:
        async with self._calling():
            found = [
                key
                for kind in (f"{PREFIX}ended", _UNFINISHED)
                for key in await self._redis.zrange(kind, 0, -1)
            ]
        return [f"{PREFIX}turn:{key}" for key in found]

    async def person(self, user: str, team: str | None) -> PersonRecords:
        own = []
        async for _, data in self._of_each("HGET", await self._turn_keys(), "data"):
            if data is not None and _is_of(turn := TURN.validate_json(data), user, team):
                own.append(turn.key)
        turns = sorted(await self._turns(own), key=lambda turn: turn.accepted_at)
        return PersonRecords(
            tuple(turns),
            tuple(await self._feedback_of(user, team)),
            tuple(await self._waits_for(user, team)),
            tuple([event for turn in turns for event in await self.events(turn.key)]),
            tuple([each for each in await self._outbound() if each.message.user == user]),
            tuple([state for _, state in await self._asked_in(user, team)]),
            tuple([OVERHEARD.validate_json(data) for _, data in await self._overheard_of(user, team)]),
            tuple(await self._forms_of(user, team)),
        )

    async def _forms_of(self, user: str, team: str | None) -> list[OpenForm]:
        found = self._of_each("GET", await self._names("form"))
        forms = [FORM.validate_json(data) async for _, data in found if data is not None]
        return [
            form for form in forms if user in (form.user, form.ended_by) and team in (None, form.thread.team)
        ]

    async def _overheard_of(self, user: str, team: str | None) -> list[tuple[str, str]]:
        """The keys of threads, with what this person said there."""
        return [
            (name, data)
            async for name, kept in self._of_each("ZRANGE", await self._names("overheard"), "0", "-1")
            for data in kept
            if OVERHEARD.validate_json(data).author == user and team in (None, _about(name)[0])
        ]

    async def feedback(self) -> list[FeedbackRecord]:
        found = []
        async for name, data in self._of_each("HGETALL", await self._names("feedback")):
            turn = name.removeprefix(feedback_key(""))
            found += [read_feedback(turn, user, said) for user, said in _pairs(data)]
        said = [each for each in found if each is not None]
        return sorted(said, key=lambda each: (each.at, each.turn, each.user))

    async def _feedback_of(self, user: str, team: str | None) -> list[FeedbackRecord]:
        found = []
        async for name, data in self._of_each("HGET", await self._names("feedback"), user):
            turn = name.removeprefix(feedback_key(""))
            said = read_feedback(turn, user, data)
            if said is not None and (team is None or turn.startswith(f"{team}:")):
                found.append(said)
        return sorted(found, key=lambda each: each.at)

    async def _waits_for(self, user: str, team: str | None) -> list[KeptWait]:
        found = []
        async for name, data in self._of_each("GET", await self._names("conversation")):
            agent, *place = _about(name)
            waits = {} if data is None else json.loads(data)[1]
            if user in waits and team in (None, place[0]):
                found.append(KeptWait(agent, ThreadKey(*place), waits[user]))
        return found

    async def _asked_in(self, user: str, team: str | None) -> list[tuple[str, ThreadState]]:
        found = []
        async for name, data in self._of_each("GET", await self._names("thread_state")):
            if data is not None and team in (None, _about(name)[0]):
                found.append((name, THREAD.validate_json(data)))
        return [each for each in found if each[1].asker == user]

    async def _outbound(self) -> list[OutboundRecord]:
        """In the order they were accepted."""
        async with self._calling():
            keys = [key for kind in (SENT, UNSENT) for key in await self._redis.zrange(kind, 0, -1)]
        found = self._of_each("GET", list(map(outbound_key, keys)))
        said = [OUTBOUND.validate_json(data) async for _, data in found if data is not None]
        return sorted(said, key=lambda each: each.accepted_at)

    async def erase(self, user: str, team: str | None) -> Erased:
        found, left = await self.person(user, team), list[str]()
        for some in _batches([turn.key for turn in found.turns], _ERASED_AT_ONCE):
            left += await self._run("erase", turns=some, dedupe_age=self._dedupe_age)
        turns = len(found.turns) - len(left)
        said = [feedback_key(each.turn) for each in found.feedback]
        feedback = sum([number async for _, number in self._of_each("HDEL", said, user)])
        busy = [await self._forget_wait(wait, user) for wait in found.waits]
        ended = [each.key for each in found.outbound if each.ended_at is not None]
        for key in ended:
            async with self._calling():
                await self._redis.zrem(SENT, key)
                await self._redis.delete(outbound_key(key))
        for name, _ in await self._asked_in(user, team):
            async with self._calling():
                await self._redis.delete(name)
        overheard = await self._overheard_of(user, team)
        async with self._calling():
            for name, data in overheard:
                await self._redis.zrem(name, data)
            for form in found.forms:
                await self._redis.delete(form_key(form.handle))
                await self._redis.srem(forms_of_key(form.user, form.thread.team), form.handle)
        await self._forget_signals(user, team)
        left += [key for keys in busy for key in keys]
        left += [each.key for each in found.outbound if each.ended_at is None]
        counts = turns, feedback, busy.count([]), len(ended)
        return Erased(*counts, tuple(dict.fromkeys(left)), len(overheard), len(found.forms))

    async def _forget_wait(self, wait: KeptWait, user: str) -> list[str]:
        """Where turns run it is left, since they would write it back. Their keys."""
        name = conversation_key(wait.agent, wait.thread)

        async def change(pipeline: Any) -> list[str]:
            known, running = await pipeline.get(name), await _running_in(pipeline, wait.thread)
            pipeline.multi()
            if known is not None and not running:
                context_id, waits, *heard = json.loads(known)
                waits.pop(user, None)
                pipeline.set(name, json.dumps([context_id, waits, *heard]), keepttl=True)
            return running

        return await self.transact(change, name, _thread_key(wait.thread))

    async def _forget_signals(self, user: str, team: str | None) -> None:
        """Where no turn runs they are only left over."""
        for inbox in await self._names("inbox"):
            async with self._calling():
                entries = await self._redis.xrange(inbox)
                for entry, fields in entries:
                    signal = signal_of(fields["signal"])
                    is_theirs = signal.values.get("user") == user and team in (None, signal.thread.team)
                    if is_theirs and not await _running_in(self._redis, signal.thread):
                        await self._redis.xdel(inbox, entry)

    async def backup(self, target: Path, *, overwrite: bool) -> None:
        raise StoreError(
            f"The store {self._address} is copied by Redis' own means (BGSAVE, or its append-only file); this"
            " verb copies sqlite:///file.sqlite only."
        )

    async def _names(self, kind: str) -> list[str]:
        """All keys of a kind."""
        found, cursor = set[str](), 0  # one may come twice
        while True:
            async with self._calling():
                cursor, some = await self._redis.scan(cursor, match=f"{PREFIX}{kind}:*", count=_AT_ONCE)
            found.update(some)
            if not cursor:
                return sorted(found)

    async def _of_each(
        self, command: str, names: Sequence[str], *words: str
    ) -> AsyncIterator[tuple[str, Any]]:
        """Each key with what `command` says of it."""
        for some in _batches(names, _AT_ONCE):
            async with self._calling(), self._redis.pipeline(transaction=False) as pipeline:
                for name in some:
                    pipeline.execute_command(command, name, *words)
                answers = await pipeline.execute()
            for each in zip(some, answers, strict=True):
                yield each


def _pairs(found: Mapping[str, str] | Sequence[str]) -> Iterable[tuple[str, str]]:
    """The fields of a hash, which a pipeline may give as a list."""
    return found.items() if isinstance(found, Mapping) else zip(found[::2], found[1::2], strict=True)


def _batches(names: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    return (names[at : at + size] for at in range(0, len(names), size))


async def _running_in(redis: Any, thread: ThreadKey) -> list[str]:
    """The keys of the turns of a thread that have not ended."""
    keys = list(await redis.smembers(_thread_key(thread)))
    places = await redis.zmscore(_UNFINISHED, keys) if keys else []
    return [key for key, place in zip(keys, places, strict=True) if place is not None]


def _about(name: str) -> list[str]:
    """What stands in a key behind its kind: a thread, and before it perhaps an agent."""
    return list(json.loads(name.removeprefix(PREFIX).partition(":")[2]))


def _thread_key(thread: ThreadKey) -> str:
    return f"{PREFIX}thread:{name_of(thread)}"


def _is_of(turn: TurnRecord, user: str, team: str | None) -> bool:
    return turn.question.user == user and team in (None, turn.question.thread.team)


def _counted(found: list[tuple[str, float]]) -> list[Count]:
    """Of kinds, each with a time."""
    times: Mapping[str, list[float]] = {kind: [] for kind, _ in sorted(found)}
    for kind, at in found:
        times[kind].append(at)
    return [Count(kind, len(each), min(each), max(each)) for kind, each in times.items()]
