"""Which process works on a thread, and what it is told by the others."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace

import pytest

from slack_bot.errors import StoreAway, StoreError
from slack_bot.store.collection import Ages
from slack_bot.store.contracts import Signal, Store
from slack_bot.store.redis import open_redis
from slack_bot.store.redis_connection import connect
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.threads import commands as c
from slack_bot.threads.leases import Leases
from slack_bot.turn.form import Field, Form, answer_of
from slack_bot.turn.progress import Stage, TurnRecord
from slack_bot.turn.record import Outcome, Question, ThreadKey
from tests.redis_server import RedisServer

LEASE = 60.0  # seconds: longer than a test
THREAD = ThreadKey("T1", "C1", "1.0")
TURN = TurnRecord(Question(THREAD, "1.0", "U1", "T1", "hi"), 1.0)
LATER = TurnRecord(Question(THREAD, "2.0", "U1", "T1", "and?"), 2.0)

PASSED: list[c.Passed | c.Edit] = [
    c.Stop("U1"),
    c.Stop("U1", frozenset({"1.1", "1.2"})),
    c.StopTurn(TURN, "U1"),
    c.StopWatch(TURN, "U1"),
    c.Drop(LATER, "U1"),
    c.PushHint("a-push-id"),
    c.Edit(TURN.key, "other words, \u2028 and \U0001f389"),
    c.Edit(TURN.key, None),
]


@dataclass(frozen=True)
class Process:
    store: Store
    leases: Leases


@asynccontextmanager
async def processes(redis_server: RedisServer, count: int = 2) -> AsyncIterator[list[Process]]:
    """So many with one Redis."""
    async with AsyncExitStack() as stack:
        stores = [await open_redis(redis_server.url, Ages(), LEASE) for _ in range(count)]
        for store in stores:
            stack.push_async_callback(store.close)
        yield [Process(store, Leases(store, time.time)) for store in stores]


async def signals_of(leases: Leases) -> list[Signal]:
    """The next ones that come."""
    async with asyncio.timeout(60):
        while not (signals := await leases.signals()):
            pass
    return signals


# -- what one process tells another


@pytest.mark.parametrize("command", PASSED, ids=lambda command: type(command).__name__)
async def test_a_command_that_is_passed_on_is_the_same_at_the_other_process(
    command: c.Passed | c.Edit, redis_server: RedisServer
) -> None:
    async with processes(redis_server) as (here, there):
        for turn in (TURN, LATER):
            assert await here.store.accept(turn)
        assert (await there.leases.claim(TURN, with_left=False))[0] == TURN
        assert await here.leases.tell(THREAD, command)
        (signal,) = await signals_of(there.leases)
        assert signal.thread == THREAD
        assert await there.leases.command_of(signal) == command


async def test_a_question_that_another_process_has_stored_is_asked_by_the_one_that_has_the_thread(
    redis_server: RedisServer,
) -> None:
    async with processes(redis_server) as (here, there):
        for turn in (TURN, LATER):
            assert await here.store.accept(turn)
        assert (await there.leases.claim(TURN, with_left=False))[0] == TURN
        assert await here.leases.claim(LATER, with_left=True) == (None, ())
        (signal,) = await signals_of(there.leases)
        assert await there.leases.command_of(signal) == c.Ask(LATER)


async def test_what_is_about_a_turn_that_is_gone_is_no_command(redis_server: RedisServer) -> None:
    async with processes(redis_server) as (here, there):
        assert await here.store.accept(TURN)
        await there.leases.claim(TURN, with_left=False)
        assert await here.leases.tell(THREAD, c.Drop(LATER, "U1"))
        (signal,) = await signals_of(there.leases)
        assert await there.leases.command_of(signal) is None


async def test_who_has_the_thread_itself_and_who_asks_of_a_thread_of_none_learns_that(
    redis_server: RedisServer,
) -> None:
    async with processes(redis_server) as (here, _):
        assert not await here.leases.tell(THREAD, c.Stop("U1"))
        assert await here.store.accept(TURN)
        await here.leases.claim(TURN, with_left=False)
        assert not await here.leases.tell(THREAD, c.Stop("U1"))


@pytest.mark.parametrize("command", PASSED, ids=lambda command: type(command).__name__)
@on_virtual_time
async def test_with_a_store_of_one_process_there_is_nobody_to_be_told(command: c.Passed | c.Edit) -> None:
    store = MemoryStore()
    leases = Leases(store, lambda: 5.0)
    await store.accept(TURN)
    assert await leases.claim(TURN, with_left=True) == (TURN, ())
    assert not await leases.tell(THREAD, command)


# -- a message that changes whose question another process has


@pytest.mark.parametrize("text", ["two", None], ids=["edited", "deleted"])
async def test_a_question_that_no_process_has_claimed_is_changed_in_the_store(
    text: str | None, redis_server: RedisServer
) -> None:
    async with processes(redis_server) as (here, there):
        assert await there.store.accept(TURN)
        await here.leases.edit(c.Edit(TURN.key, text))
        known = await there.store.turn(TURN.key)
        assert known is not None
        if text is None:
            assert (known.stage, known.outcome) == (Stage.ENDED, Outcome.STOPPED)
        else:
            assert (known.stage, known.question.text) == (Stage.ACCEPTED, text)


@pytest.mark.parametrize("text", ["two", None], ids=["edited", "deleted"])
async def test_of_a_question_that_another_process_has_claimed_that_process_is_told(
    text: str | None, redis_server: RedisServer
) -> None:
    async with processes(redis_server) as (here, there):
        assert await here.store.accept(TURN)
        await there.leases.claim(TURN, with_left=False)
        await here.leases.edit(c.Edit(TURN.key, text))
        assert await there.store.turn(TURN.key) == TURN
        (signal,) = await signals_of(there.leases)
        assert await there.leases.command_of(signal) == c.Edit(TURN.key, text)


async def test_of_one_that_is_asked_only_new_words_are_told(redis_server: RedisServer) -> None:
    async with processes(redis_server) as (here, there):
        assert await here.store.accept(TURN)
        await there.leases.claim(TURN, with_left=False)
        sent = replace(TURN, stage=Stage.SENT, sent_at=2.0)
        await there.store.save((sent, 0))
        for text in (None, "two"):
            await here.leases.edit(c.Edit(TURN.key, text))
        assert await here.store.turn(TURN.key) == sent
        (signal,) = await signals_of(there.leases)
        assert await there.leases.command_of(signal) == c.Edit(TURN.key, "two")


# -- claims


async def test_who_claims_gets_what_others_left_in_the_thread(redis_server: RedisServer) -> None:
    async with processes(redis_server) as (gone, here):
        assert await gone.store.accept(TURN)
        await gone.leases.claim(TURN, with_left=False)
        await gone.leases.let_go(THREAD, ends=True)
        assert await here.store.accept(LATER)
        claimed, left = await here.leases.claim(LATER, with_left=True)
        assert claimed == LATER
        assert [each.key for each in left] == [TURN.key]


async def test_a_thread_that_is_lost_is_told(redis_server: RedisServer) -> None:
    async with processes(redis_server) as (here, there):
        assert await here.store.accept(TURN)
        await here.leases.claim(TURN, with_left=False)
        assert await here.leases.renew() == frozenset()
        async with connect(redis_server.url) as redis:
            await redis.delete(*await redis.keys("*lease*"))
        await there.leases.claim(TURN, with_left=False)
        assert await here.leases.renew() == {THREAD}
        assert here.leases.lost.get_nowait() == THREAD


async def test_what_is_secret_in_an_answer_is_known_to_the_process_that_took_it(
    redis_server: RedisServer,
) -> None:
    form = Form("Key?", (Field("key", is_secret=True),))
    given = answer_of(form, {"key": "hunter2"})
    turn = replace(TURN, question=replace(TURN.question, answer=given))
    async with processes(redis_server, 1) as (here,):
        await here.store.accept(turn)
        claimed, _ = await here.leases.claim(turn, with_left=False)
        assert claimed is not None
        assert claimed.question.answer == given
        (left,) = await here.store.unfinished()
        assert left.question.answer is not None and left.question.answer.has_lost_secrets


class _Failing(MemoryStore):
    lease = 1.0

    def __init__(self, error: StoreError) -> None:
        super().__init__()
        self._error = error

    async def claim(self, turn: TurnRecord) -> TurnRecord | None:
        raise self._error

    async def let_go(self, thread: ThreadKey, ends: bool = False) -> None:
        raise self._error

    async def signal(self, signal: Signal) -> bool:
        raise self._error


@pytest.mark.parametrize("error", [StoreError("The disk is full."), StoreAway("Redis is away.")])
@on_virtual_time
async def test_a_store_that_fails_is_logged_and_the_turn_is_left_to_a_later_look(
    error: StoreError, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    leases = Leases(_Failing(error), lambda: 5.0)
    assert await leases.claim(TURN, with_left=True) == (None, ())
    assert not await leases.tell(THREAD, c.Stop("U1"))
    await leases.let_go(THREAD, ends=False)
    assert [record.getMessage() for record in caplog.records] == [
        f"a turn waits until a process finds it: {error}",
        f"another process was not told: {error}",
        f"a thread is held until its lease ends: {error}",
    ]
    assert {record.levelno for record in caplog.records} == {error.log_level}
