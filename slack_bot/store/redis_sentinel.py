"""A client that follows the primary which Sentinels name.

It does what `redis.asyncio.sentinel` does not. Each connection asks again before it connects, also when a
command finds it closed (redis-py issue 3874). All Sentinels are asked at once, so one that hangs costs a
tenth of a second. The newest configuration counts (`config-epoch`), not the first answer: a Sentinel that was
cut off still names the primary of before. What calls itself a replica is refused, as Redis asks of clients.
And connections to the primary of before are closed as soon as another one is known, even if that one still
answers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from redis.asyncio import Connection, ConnectionPool, Redis, SSLConnection
from redis.exceptions import AuthenticationError, RedisError, ResponseError
from redis.exceptions import ConnectionError as RedisConnectionError

from .redis_address import SentinelAddress, place_of

_ALL, _SOME = 0.1, 0.9  # seconds to wait for all Sentinels, and then for the first that answers

NOTE = """
local before = redis.call('GET', KEYS[1])
if before ~= ARGV[1] then
  redis.call('SET', KEYS[1], ARGV[1])
  if before then
    redis.call('INCR', KEYS[2])
  end
end
"""
"""Writes into a primary which one it is. So whatever reads it there knows whether what it finds was written
there, or by the primary of before, whose last writes may be missing. Before any other command of a
connection.
"""


@dataclass(frozen=True, slots=True)
class Primary:
    """The server that may be written to. `epoch`: the number of the failover that made it the primary."""

    host: str
    port: int
    epoch: int

    @property
    def place(self) -> str:
        return place_of((self.host, self.port))

    @property
    def name(self) -> str:
        """It is another one after each failover, also if the same server is the primary again."""
        return f"{self.epoch} {self.place}"


@dataclass(frozen=True, slots=True)
class SentinelFacts:
    """What all Sentinels say. `silent`: those that do not answer. `replicas`: how many they know."""

    silent: tuple[str, ...]
    replicas: int


class NoPrimary(RedisConnectionError):
    """There is none now. `problem` and `remedy` are sentences without a full stop.

    `is_failover`: the Sentinels know, and will name another one.
    """

    def __init__(self, problem: str, remedy: str, *, is_failover: bool = False) -> None:
        super().__init__(problem)
        self.problem, self.remedy, self.is_failover = problem, remedy, is_failover


class NoSentinel(NoPrimary):
    """None of them answers. `errors`: why, by their addresses. `has_tls`: they were asked with TLS."""

    def __init__(self, errors: Mapping[str, Exception], *, has_tls: bool) -> None:
        super().__init__("none of its Sentinels answers", "check their addresses, and whether they run")
        self.errors, self.has_tls = errors, has_tls


class PrimaryAway(RedisConnectionError):
    """The primary that the Sentinels name cannot be used. The cause says why."""

    def __init__(self, place: str) -> None:
        super().__init__(f"the primary {place}")
        self.place = place


class Sentinels:
    """Those of one primary. `primary` is the one that they named last."""

    def __init__(self, address: SentinelAddress, clients: Sequence[Redis]) -> None:
        self._address, self._clients = address, clients
        self._looking: asyncio.Task[Primary] | None = None
        self.primary: Primary | None = None

    async def look(self) -> Primary:
        """Ask which one is the primary. Calls at the same time ask once. Raises NoPrimary."""
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look(), name="sentinels")
            self._looking.add_done_callback(_retrieve)
        return await asyncio.shield(self._looking)

    async def find(self) -> Primary:
        """The same. If no Sentinel answers, the one that was the primary before may still be."""
        try:
            return await self.look()
        except NoSentinel:
            if self.primary is None:
                raise
            return self.primary

    async def facts(self) -> SentinelFacts:
        """Ask each of them, for somebody who has a second to wait."""
        places = map(place_of, self._address.hosts)
        results = await asyncio.gather(*map(self._ask_in_time, self._clients), return_exceptions=True)
        states = [each for each in results if isinstance(each, dict)]
        silent = [place for place, each in zip(places, results, strict=True) if not isinstance(each, dict)]
        return SentinelFacts(tuple(silent), max((int(each["num-slaves"]) for each in states), default=0))

    async def close(self) -> None:
        if self._looking is not None:
            self._looking.cancel()
        for client in self._clients:
            await client.aclose()

    async def _look(self) -> Primary:
        self.primary = newest_primary(await self._answers())
        return self.primary

    async def _answers(self) -> list[dict[str, Any]]:
        """What the Sentinels say of the primary. Raises NoPrimary if none says anything."""
        tasks = [asyncio.create_task(self._ask(client)) for client in self._clients]
        try:
            _, waiting = await asyncio.wait(tasks, timeout=_ALL)
            if waiting and not any(map(_has_result, tasks)):
                await _first(waiting)
        finally:
            for task in tasks:
                task.cancel()
            results = await asyncio.gather(*tasks, return_exceptions=True)
        answers = [each for each in results if isinstance(each, dict)]
        if not answers:
            raise await self._explain([_error(each) for each in results])
        return answers

    async def _ask_in_time(self, client: Redis) -> dict[str, Any]:
        async with asyncio.timeout(_SOME):
            return await self._ask(client)

    async def _ask(self, client: Redis) -> dict[str, Any]:
        sentinel: Any = client  # its hints allow for other replies
        state: dict[str, Any] = await sentinel.sentinel_master(self._address.name)
        return state

    async def _explain(self, errors: Sequence[Exception]) -> NoPrimary:
        for error in errors:
            if isinstance(error, AuthenticationError):
                return NoPrimary(
                    "its Sentinels refuse the login, or want one",
                    "write ?sentinel_username=USER&sentinel_password=PASSWORD behind the address",
                )
            if isinstance(error, ResponseError):
                return await self._of_response(error)
        by_place = dict(zip(map(place_of, self._address.hosts), errors, strict=True))
        return NoSentinel(by_place, has_tls=self._address.has_tls)

    async def _of_response(self, error: ResponseError) -> NoPrimary:
        if "No such master" not in str(error):  # its code is ERR, as of most errors
            return NoPrimary(f"its Sentinels say: {error}", "name Sentinels in the address, not Redis itself")
        names = list[str]()
        for client in self._clients:
            sentinel: Any = client
            with suppress(RedisError, OSError):
                async with asyncio.timeout(_SOME):
                    names += [name for name in await sentinel.sentinel_masters() if name not in names]
        known = f"they know {', '.join(sorted(names))}" if names else "they know none"
        return NoPrimary(
            f"its Sentinels know no primary that is called {self._address.name}",
            f"name one that they watch ({known}) behind the hosts",
        )


class FollowingConnection(Connection):
    """A connection to the primary. `notes`: keys for `NOTE`, or none if it is no process of the bot."""

    def __init__(self, *, sentinels: Sentinels, notes: tuple[str, ...], **options: Any) -> None:
        super().__init__(**options)
        self._sentinels, self._notes = sentinels, notes
        self._primary: Primary | None = None

    async def connect_check_health(
        self, check_health: bool = True, retry_socket_connect: bool = True
    ) -> None:
        if self.is_connected:
            if self._primary == self._sentinels.primary:
                return
            await self.disconnect()
        self._primary = await self._sentinels.find()
        self.host, self.port = self._primary.host, self._primary.port
        try:
            await super().connect_check_health(check_health, retry_socket_connect)
        except NoPrimary:
            raise
        except (RedisConnectionError, OSError) as error:
            raise PrimaryAway(self._primary.place) from error

    async def on_connect_check_health(self, check_health: bool = True) -> None:
        await super().on_connect_check_health(check_health)
        await self.send_command("HELLO", 2, check_health=False)
        facts = list(map(str, await self.read_response(disable_decoding=False)))
        if dict(zip(facts[::2], facts[1::2], strict=False)).get("role") == "replica":
            place = self._named().place
            problem = f"a failover is under way: {place}, which its Sentinels name, is a replica"
            raise NoPrimary(problem, "wait until they name another one", is_failover=True)
        if self._notes:
            keys = self._notes
            await self.send_command("EVAL", NOTE, len(keys), *keys, self._named().name, check_health=False)
            await self.read_response()

    def _named(self) -> Primary:
        assert self._primary is not None, "it is connected to one"
        return self._primary


class FollowingTlsConnection(FollowingConnection, SSLConnection):
    """The same with TLS."""


class FollowingPool(ConnectionPool):
    """Connections to the primary."""

    def __init__(self, sentinels: Sentinels, **options: Any) -> None:
        super().__init__(sentinels=sentinels, **options)
        self.sentinels = sentinels

    async def aclose(self) -> None:
        await super().aclose()
        await self.sentinels.close()


def sentinels_behind(redis: Redis) -> Sentinels | None:
    """Those that a client follows; None if it has one address."""
    pool = redis.connection_pool
    return pool.sentinels if isinstance(pool, FollowingPool) else None


def newest_primary(answers: Sequence[Mapping[str, Any]]) -> Primary:
    """Which one it is by what the Sentinels say, each the reply of `SENTINEL MASTER`. Raises NoPrimary."""
    epoch = max(int(each["config-epoch"]) for each in answers)
    newest = [each for each in answers if int(each["config-epoch"]) == epoch]
    for state in newest:
        if not _is_down(state):
            return Primary(str(state["ip"]), int(state["port"]), epoch)
    place = place_of((str(newest[0]["ip"]), int(newest[0]["port"])))
    has_replicas = any(int(each["num-slaves"]) > 0 for each in newest)
    problem = f"a failover is under way: its Sentinels see the primary {place} as down"
    if has_replicas:
        remedy = "wait; if it lasts, see the log of the Sentinels: as many as their quorum must agree"
    else:
        remedy = "start it again: the Sentinels know no replica that could take its place"
    raise NoPrimary(problem, remedy, is_failover=has_replicas)


def _is_down(state: Mapping[str, Any]) -> bool:
    is_busy = "failover_in_progress" in state["flags"]
    return bool(is_busy or state["is_sdown"] or state["is_odown"] or not state["is_master"])


def _error(result: object) -> Exception:
    return result if isinstance(result, Exception) else TimeoutError()


def _has_result(task: asyncio.Task[Any]) -> bool:
    return task.done() and not task.cancelled() and task.exception() is None


async def _first(tasks: set[asyncio.Task[Any]]) -> None:
    """Wait for one that succeeds, or until all have failed."""
    try:
        async with asyncio.timeout(_SOME):
            while tasks:
                done, tasks = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                if any(map(_has_result, done)):
                    return
    except TimeoutError:
        return


def _retrieve(task: asyncio.Task[Any]) -> None:
    """Nobody may be waiting any more."""
    if not task.cancelled():
        task.exception()
