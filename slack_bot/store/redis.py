"""The store of several replicas, in Redis.

What must happen in one step is in a script (`turns.lua`, which also lists the keys). The clock of Redis
decides when a lease has run out. Each accepted question is an entry of a stream, pending at the replica that
is responsible for it until its turn has ended.
"""

from __future__ import annotations

import asyncio
import json
import logging
import uuid
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import AsyncExitStack
from importlib import resources
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import ResponseError

from ..clock import system_clock
from ..errors import StoreError, StoreForeign
from ..observe.outage import Outage
from ..turn.progress import TurnRecord
from ..turn.record import ThreadKey
from .adapters import MESSAGE
from .collection import Ages, Collection
from .contracts import RENEWALS, SIGNALS, KeptEvent, Signal, Store
from .redis_collections import RedisCollections
from .redis_connection import connect
from .redis_copies import TurnCopies
from .redis_format import PREFIX, json_of, name_of, signal_of, thread_of, turn_of
from .redis_migration import MIGRATING, migrate
from .stores import Calls

_log = logging.getLogger(__name__)

VERSION = 2
_REPLICA_AGE = 24 * 3600  # seconds: a replica that has had no question for so long may be gone
_ABSENT = 3  # leases without a sign of life of any replica
_SEEN = 1000  # signals that are not delivered twice
_AT_ONCE = 20  # turns that are written again in one step
_WAIT = 0.5  # seconds that Redis waits for signals

RISKS = {
    "appendonly": ("yes", "a restart of Redis loses what it kept"),
    "appendfsync": ("always", "a crash of its machine loses questions accepted in the second before"),
    "maxmemory-policy": ("noeviction", "Redis drops turns when its memory is full"),
}
"""The configuration that a store needs, and the risk without it."""
CUT_OFF = (
    "min-replicas-to-write",
    "1",
    "a primary that is cut off from its replicas goes on taking what is lost with the failover",
)
"""The same where Sentinels name the primary: the setting, what it should be at least, and the risk with 0."""


class RedisStore(RedisCollections, Store):
    """A store in Redis, as one replica uses it. Use `open_redis`."""

    is_durable = True

    def __init__(
        self,
        redis: Redis,
        url: str,
        ages: Ages,
        collections: Sequence[Collection[Any]],
        lease: float,
        patience: float,
        outage: Calls,
    ) -> None:
        super().__init__(redis, url, patience, outage)
        self._ages, self.collections = ages, collections
        self._clock, self.lease = system_clock(), lease
        # a renewal may just have failed, and the next one be slow
        self._calm = min(lease, lease / RENEWALS + 2 * patience)
        self._script = self.script(turns_source())
        self._replica = uuid.uuid4().hex
        self._inbox, self._left = f"{PREFIX}inbox:{self._replica}", f"{PREFIX}left"
        self._read_until = {self._inbox: "0", self._left: "0"}
        self._held: dict[ThreadKey, int] = {}  # threads, with the number of the lease
        self._let_go: dict[ThreadKey, int] = {}  # the same; Redis may hear of it after the next claim
        self._seen = deque[str](maxlen=_SEEN)  # signals
        self._delivered: list[str] = []  # signals that are seen to once more are asked for
        self._claims, self._no_claim = 0, asyncio.Event()  # those under way
        self._lost: set[ThreadKey] = set()
        self._sure_until = 0.0  # no lease of this replica ends before
        self._renewed_at = self._written_at = ""  # the primaries that have its leases, and its turns
        self._writing = asyncio.Lock()
        self._copies = TurnCopies()
        self._is_closed = False

    async def _run(self, action: str, **arguments: object) -> Any:
        """Run one action of `turns.lua`. Raises StoreError."""
        lease, calm = round(self.lease * 1000), round(self._calm * 1000)
        arguments |= {"replica": self._replica, "lease": lease, "calm": calm, "version": VERSION}
        return await self.call(self._script, [PREFIX], [action, json.dumps(arguments)])

    async def open(self) -> None:
        """Connect and bring the store to this version's format. Waits while replicas of an older version run.

        Raises StoreError if Redis cannot be used, or if a newer version wrote the store.
        """
        await self.refuse_cluster()
        is_told = False
        while (version := await self._run("open")) < 0:
            if not is_told:
                what = "replicas of an older version (format %d) work in %s: waiting until they have ended"
                _log.warning(what, -version, self._address)
            is_told = True
            await asyncio.sleep(self.lease / RENEWALS)
        began = self._clock.monotonic()
        refuse_newer(version, self._address)
        async with self._calling():
            is_older = await self._redis.exists(MIGRATING)
        if is_older:
            _log.info("the store %s is brought to format %d", self._address, VERSION)
            await migrate(self, self._clock.wall())
            began = self._clock.monotonic()
        self._sure_until, self._is_open = began + self.lease, True
        self._renewed_at = self._written_at = self._last_primary()
        await self._warn_of_risks()

    async def _warn_of_risks(self) -> None:
        try:
            async with self._calling():
                configuration = await self._redis.config_get(*RISKS, CUT_OFF[0])
        except StoreError as error:
            if not isinstance(error.__cause__, ResponseError):
                raise
            recommended = ", ".join(f"{name} {good}" for name, good, _ in self._risks())
            _log.warning("Redis does not tell its configuration; see to it that it has %s", recommended)
            return
        for name, good, risk in self._risks():
            if configuration.get(name) != good and (name != CUT_OFF[0] or configuration.get(name) == "0"):
                _log.warning(
                    "Redis has %s %s: %s; %s would prevent that", name, configuration.get(name), risk, good
                )

    def _risks(self) -> list[tuple[str, str, str]]:
        own = [CUT_OFF] if self._sentinels is not None else []
        return [*((name, good, risk) for name, (good, risk) in RISKS.items()), *own]

    async def accept(self, turn: TurnRecord) -> bool:
        accepted = await self._run("accept", **_new(turn), dedupe_age=self._ages.dedupe)
        if accepted:
            self._copies.accept(turn)
        return bool(accepted)

    async def withdraw(self, key: str) -> None:
        self._copies.withdraw(key)
        await self._run("withdraw", key=key)

    async def save(self, *changes: tuple[TurnRecord, int]) -> None:
        written = [self._change(*each) for each in changes]
        refused, wanted = await self._run("save", changes=written)
        if wanted:
            _log.warning("Redis has lost the last writes of %d turns, which are written again", len(wanted))
            again = [self._change(turn, 0) for turn, _ in changes if turn.key in wanted]
            more, _ = await self._run("save", changes=again)
            refused += more
        self._refuse(refused, [turn for turn, _ in changes])

    def _refuse(self, keys: Sequence[str], turns: Sequence[TurnRecord]) -> None:
        """Turns that are another process's now."""
        self._copies.forget(*keys)
        self._lost |= {turn.question.thread for turn in turns if turn.key in keys} & self._held.keys()

    def _change(self, turn: TurnRecord, unchanged: int) -> Mapping[str, object]:
        fence = self._held.get(turn.question.thread, 0)
        return self._written(turn, unchanged, fence, self._copies.save(turn, fence))

    def _written(self, turn: TurnRecord, unchanged: int, fence: int, number: int) -> Mapping[str, object]:
        ended_at = turn.ended_at
        return {
            "key": turn.key,
            "push": turn.push_id or "",
            "fence": fence,
            "number": number,
            "data": json_of(turn),
            "ts": " ".join(message.ts for message in turn.messages),
            "unchanged": unchanged,
            "messages": [MESSAGE.dump_json(message).decode() for message in turn.messages[unchanged:]],
            "remove_at": 0
            if ended_at is None
            else max(turn.accepted_at + self._ages.dedupe, ended_at + self._ages.turns),
        }

    async def _write_again(self, primary: str) -> None:
        """Write what Redis has lost of this process's turns: all of it that is missing, and after a failover
        the last state of each.
        """
        async with self._writing:
            after_loss = primary != self._written_at
            keys = [copy.turn.key for copy in self._copies if after_loss or not copy.is_withdrawn]
            if not after_loss and keys:
                keys = await self._run("missing", keys=keys)
            added = 0
            for start in range(0, len(keys), _AT_ONCE):
                added += await self._write_copies(keys[start : start + _AT_ONCE])
            self._written_at = primary
        if added or after_loss:
            place = f" has another primary now ({primary.partition(' ')[2]}), which" if after_loss else ""
            _log.warning(
                "Redis%s lacked %d of this process's turns: they are written again, with the last state of %d"
                " others; what processes wrote last that are gone is lost",
                place,
                added,
                len(keys) - added,
            )

    async def _write_copies(self, keys: Sequence[str]) -> int:
        """Returns how many turns were missing."""
        added, wanted = 0, set(keys)
        while copies := [copy for copy in self._copies if copy.turn.key in wanted]:
            for copy in copies:
                if copy.is_withdrawn:
                    await self._run("withdraw", key=copy.turn.key)
            changes = [
                {**_new(copy.turn), **self._written(copy.turn, 0, copy.fence, copy.number)}
                for copy in copies
                if not copy.is_withdrawn
            ]
            new, refused, newer = await self._run("write_again", changes=changes)
            self._refuse(refused, [copy.turn for copy in copies])
            added, wanted = added + len(new), set(newer)
        return added

    async def turn(self, key: str) -> TurnRecord | None:
        return next(iter(await self._turns([key])), None)

    async def unfinished(self) -> list[TurnRecord]:
        async with self._calling():
            keys = await self._redis.zrange(f"{PREFIX}unfinished", 0, -1)
        return await self._turns(keys)

    async def _turns(self, keys: Sequence[str]) -> list[TurnRecord]:
        async with self._calling(), self._redis.pipeline(transaction=False) as pipeline:
            for key in keys:
                pipeline.hgetall(f"{PREFIX}turn:{key}")
            return [turn_of(fields) for fields in await pipeline.execute() if "data" in fields]

    async def watched(self, push_id: str) -> TurnRecord | None:
        async with self._calling():
            key = await self._redis.hget(f"{PREFIX}push", push_id)
        return None if key is None else await self.turn(key)

    async def messages_in(self, thread: ThreadKey) -> Mapping[str, str]:
        return dict(await self._run("messages_in", thread=name_of(thread)))

    async def active_threads(self, since: float) -> list[tuple[ThreadKey, str]]:
        async with self._calling():
            threads = await self._redis.zrevrangebyscore(f"{PREFIX}threads", "+inf", since)
            latest = await self._redis.hmget(f"{PREFIX}latest", threads) if threads else []
        return [(thread_of(thread), ts) for thread, ts in zip(threads, latest, strict=True) if ts]

    async def accepted_since(self, since: float) -> list[TurnRecord]:
        async with self._calling():
            threads = await self._redis.zrangebyscore(f"{PREFIX}threads", since, "+inf")
            keys = await self._redis.sunion([f"{PREFIX}thread:{each}" for each in threads]) if threads else ()
        return [turn for turn in await self._turns(list(keys)) if turn.accepted_at >= since]

    async def remove_old(self, now: float) -> None:
        while await self._run(
            "remove_old", now=now, threads_before=now - self._ages.turns, replica_age=_REPLICA_AGE
        ):
            pass

    async def claim(self, turn: TurnRecord) -> TurnRecord | None:
        self._claims += 1
        try:
            thread = turn.question.thread
            reply = await self._run("claim", key=turn.key, let_go=self._let_go.get(thread, 0))
            if reply is None:
                self._copies.pass_on(turn.key)
                return None
            self._held[thread], fields = reply
            async with self._calling():
                claimed = turn_of(dict(zip(fields[::2], fields[1::2], strict=True)))
            self._copies.claim(claimed, self._held[thread])
            return claimed
        finally:
            self._claims -= 1
            if not self._claims:
                self._no_claim.set()

    async def left(self) -> list[TurnRecord]:
        return await self._turns(await self._run("left"))

    async def connected(self, gap: float, *, has_looked: bool = False) -> bool:
        return bool(await self._run("connected", gap=max(gap, self.lease), has_looked=has_looked))

    @property
    def is_sure(self) -> bool:
        is_known = self._renewed_at == self._last_primary()
        return is_known and self._clock.monotonic() < self._sure_until

    async def renew(self) -> frozenset[ThreadKey]:
        primary = await self.primary()
        await self._write_again(primary)
        before, began = dict(self._held), self._clock.monotonic()
        held_json = [{"thread": name_of(thread), "fence": fence} for thread, fence in before.items()]
        has_forgotten, *taken_names = await self._run("renew", held=held_json)
        self._sure_until = began + self.lease
        if has_forgotten:
            _log.warning(
                "Redis has lost its memory: %d threads are worked on here, whose turns are written again;"
                " what processes had accepted that are gone is lost",
                len(held_json),
            )
        lost, self._lost = self._lost | set(map(thread_of, taken_names)), set()
        lost = {thread for thread in lost if thread in before and self._held.get(thread) == before[thread]}
        for thread in lost:
            self._held.pop(thread, None)
            self._copies.pass_on_thread(thread)
        if has_forgotten or primary != self._renewed_at:
            # the clock of another primary may be behind, and with it the numbers of new signals
            self._read_until = dict.fromkeys(self._read_until, "0")
        self._copies.renewed()
        self._renewed_at = primary
        return frozenset(lost)

    async def let_go(self, thread: ThreadKey, ends: bool = False) -> None:
        fence = self._held.pop(thread, None)
        if fence is not None:
            self._let_go[thread] = fence
            self._copies.pass_on_thread(thread)
            self._lost.discard(thread)
            await self._run("let_go", thread=name_of(thread), fence=fence, ends=ends)
            if self._let_go.get(thread) == fence:
                del self._let_go[thread]

    async def signal(self, signal: Signal) -> bool:
        values = dict(signal.values)
        fields = {"kind": signal.kind, "values": values, "signal_version": signal.version}
        return bool(await self._run("signal", thread=name_of(signal.thread), **fields))

    async def signals(self, kinds: AbstractSet[str]) -> list[Signal]:
        await self._forget_delivered()
        while True:
            async with self._calling(_WAIT):
                reply = await self._redis.xread(self._read_until, block=round(1000 * _WAIT))
            if reply:
                self._read_until |= {stream: entries[-1][0] for stream, entries in reply}
                while self._claims:  # a claim may have brought them: whoever asked for it goes first
                    self._no_claim.clear()
                    await self._no_claim.wait()
                return list(self._known(dict(reply), kinds))

    def _known(
        self, streams: Mapping[str, list[tuple[str, Mapping[str, str]]]], kinds: AbstractSet[str]
    ) -> Iterator[Signal]:
        """The signals that this process understands.

        The others stay in the inbox for the next owner of the thread.
        """
        for stream, entries in streams.items():
            for entry, fields in entries:
                signal = signal_of(fields["signal"])
                if signal.kind not in kinds or signal.version > SIGNALS:
                    _log.warning("a signal of a newer version is kept for it: %s", signal.kind)
                    continue
                if stream == self._inbox:
                    self._delivered.append(entry)
                    if entry in self._seen:
                        continue
                    self._seen.append(entry)
                yield signal

    async def _forget_delivered(self) -> None:
        if self._delivered:
            async with self._calling():
                await self._redis.xdel(self._inbox, *self._delivered)
            self._delivered = []

    async def save_events(self, *events: KeptEvent) -> None:
        await self._run(
            "save_events",
            events=[{"turn": each.turn, "data": json.dumps([each.at, each.data])} for each in events],
        )

    async def events(self, turn: str) -> list[KeptEvent]:
        async with self._calling():
            entries = await self._redis.lrange(f"{PREFIX}events:{turn}", 0, -1)
        return [KeptEvent(turn, *json.loads(each)) for each in entries]

    async def has_replicas(self) -> bool:
        """Whether a process renews its leases in this store. Raises StoreError."""
        async with self._calling():
            alive = await self._redis.get(f"{PREFIX}alive")
            seconds, _ = await self._redis.time()
            return alive is not None and seconds - json.loads(alive)["at"] < _ABSENT * self.lease

    async def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        try:
            for thread in tuple(self._held):
                await self.let_go(thread)
            await self._forget_delivered()
            await self._run("leave")
        except StoreError as error:
            _log.warning("other replicas will find this one's turns later: %s", error)
        finally:
            await self._redis.aclose()


async def open_redis(
    url: str,
    ages: Ages,
    lease: float = 10.0,
    patience: float = 2.0,
    outage: Calls | None = None,
    *,
    collections: Sequence[Collection[Any]] = (),
) -> RedisStore:
    """Open the store at `url`.

    `lease`: seconds. `patience`: seconds for each command. `outage` receives the result of each later call.
    `collections`: those whose records are moved from an older format.

    Raises SettingsError for a bad address, and StoreError if the store cannot be used.
    """
    redis = connect(url, is_replica=True)
    store = RedisStore(redis, url, ages, collections, lease, patience, outage or Outage())
    async with AsyncExitStack() as on_failure:  # also while it waits for others
        on_failure.push_async_callback(redis.aclose)
        await store.open()
        on_failure.pop_all()
    return store


def _new(turn: TurnRecord) -> Mapping[str, object]:
    """What is written of a turn that is not there yet."""
    return {
        "key": turn.key,
        "thread": name_of(turn.question.thread),
        "asked_ts": turn.question.ts,
        "accepted_at": turn.accepted_at,
        "data": json_of(turn),
    }


def turns_source() -> str:
    """The text of the script `turns.lua`."""
    return (resources.files(__package__) / "turns.lua").read_text(encoding="utf-8")


def refuse_newer(version: int, address: str) -> None:
    """Raise StoreForeign if a newer version of the bot wrote the store."""
    if version > VERSION:
        raise StoreForeign(
            f"The store {address} was written by a newer version of the bot (format {version}, this one knows"
            f" {VERSION}); install that version or name another Redis in SLACK_BOT_STORE__URL."
        )
