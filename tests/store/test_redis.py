"""The contract on a real Redis, and what several replicas need of it."""

from __future__ import annotations

import asyncio
import json
import logging
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any

import pytest
import redis

from slack_bot.app import COLLECTIONS
from slack_bot.errors import SettingsError, StoreError
from slack_bot.store.collection import Ages
from slack_bot.store.contracts import Signal, Store
from slack_bot.store.knowledge import AgentContext
from slack_bot.store.redis import VERSION, RedisStore, open_redis
from slack_bot.store.redis_connection import connect
from slack_bot.threads.leases import KINDS
from slack_bot.turn.outbound import OutboundMessage, OutboundRecord
from slack_bot.turn.progress import Stage, TurnRecord
from slack_bot.turn.record import ThreadKey
from tests.redis_proxy import redis_proxy
from tests.redis_server import RedisServer

from . import subjects
from .contract import THREAD, StoreContract, message, opened, overheard, pressed, turn

LEASE = 0.4  # seconds: that of replicas whose end is waited for
FIRM = 3.0  # seconds: this machine does not stand still for so long


class TestRedis(StoreContract):
    @pytest.fixture
    async def store(self, redis_server: RedisServer) -> AsyncIterator[Store]:
        opened = await open_redis(redis_server.url, Ages(), patience=60.0, collections=COLLECTIONS)
        yield opened
        await opened.close()


async def test_contexts_and_feedback_have_an_age(redis_server: RedisServer) -> None:
    store, client = await open_redis(redis_server.url, Ages()), connect(redis_server.url)
    await subjects.save_conversation(store, "agent", THREAD, AgentContext("ctx"), 0.0)
    await pressed(store, "turn", "U1", "positive", 0.0)
    days = {}
    for kind in ("conversations", "feedback"):
        (name,) = [each async for each in client.scan_iter(f"*record:{kind}:*")]
        days[kind] = round(await client.ttl(name) / 86_400)
        await client.expire(name, 60)
    assert days == {"conversations": 30, "feedback": 90}
    await subjects.save_conversation(store, "agent", THREAD, AgentContext("ctx"), 1.0)  # it was used
    (name,) = [each async for each in client.scan_iter("*record:conversations:*")]
    assert await client.ttl(name) > 29 * 86_400
    await client.aclose()
    await store.close()


async def test_a_form_has_an_age(redis_server: RedisServer) -> None:
    store, client = await open_redis(redis_server.url, Ages(form_days=2.0)), connect(redis_server.url)
    await subjects.open_form(store, opened("h1"))
    await subjects.take_form(store, "h1", "key", "U1", 1001.0)
    names = [each async for each in client.scan_iter("*form*")]
    assert len(names) == 3  # the form, those of its thread, and those of its person
    for name in names:
        assert 86_400 < await client.ttl(name) <= 2 * 86_400
    await client.aclose()
    await store.close()


async def test_what_is_overheard_has_an_age(redis_server: RedisServer) -> None:
    """By the time of its message."""
    store, client = await open_redis(redis_server.url, Ages()), connect(redis_server.url)
    for at in (1000, 2000):
        await subjects.overhear(store, THREAD, overheard(at), 9, 1000.0 + 20 * 3600)
    names = sorted([each async for each in client.scan_iter("*record:overheard:*")])
    assert [round(await client.ttl(name), -2) for name in names] == [4 * 3600, 4 * 3600 + 1000]
    await client.aclose()
    await store.close()


Opener = Callable[[], Any]


@pytest.fixture
async def replica(redis_server: RedisServer) -> AsyncIterator[Opener]:
    """Opens the store of one more replica."""
    async with AsyncExitStack() as stack:

        async def opened(lease: float = FIRM, patience: float = 30.0) -> RedisStore:
            store = await open_redis(redis_server.url, Ages(), lease, patience)
            stack.push_async_callback(store.close)
            return store

        yield opened


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110  no event reports it
            await asyncio.sleep(0.01)


async def left_to(store: RedisStore) -> list[TurnRecord]:
    """What is left, once there is something."""
    async with asyncio.timeout(60):
        while not (left := await store.left()):  # noqa: ASYNC110  no event reports it
            await asyncio.sleep(0.02)
    return left


async def accepted(store: RedisStore, ts: str, thread: str = THREAD.ts) -> TurnRecord:
    question = turn(ts, 1000.0, thread=thread)
    assert await store.accept(question)
    return question


def test_an_address_that_cannot_be_read_is_refused_in_a_sentence() -> None:
    with pytest.raises(SettingsError, match="write redis://host:6379/0"):
        connect("redis://host:port")


async def test_a_thread_is_worked_on_by_one_replica_which_is_told_of_its_next_question(
    replica: Opener,
) -> None:
    one, two = await replica(), await replica()
    first = await accepted(one, "1.0")
    assert await one.claim(first)
    second = await accepted(two, "2.0")
    assert not await two.claim(second)
    assert await one.signals(KINDS) == [Signal(THREAD, "question", {"turn": second.key})]
    assert await one.claim(second)
    elsewhere = await accepted(two, "3.0", thread="9.9")
    assert await two.claim(elsewhere)
    await one.let_go(THREAD)
    assert await two.claim(second), "the first is done with the thread"


async def test_a_thread_that_is_claimed_again_is_not_released_by_a_word_that_comes_late(
    redis_server: RedisServer, replica: Opener
) -> None:
    two = await replica()
    async with redis_proxy(redis_server.port) as proxy:
        one = await open_redis(proxy.url, Ages(), FIRM, 30.0)
        first, second = await accepted(one, "1.0"), await accepted(one, "2.0")
        assert await one.claim(first)
        proxy.hang_open()
        late = asyncio.create_task(one.let_go(THREAD))
        await until(lambda: proxy.held)
        assert await one.claim(second)
        proxy.flow()
        await late
        assert await two.claim(second) is None, "the first holds it"
        await one.let_go(THREAD)
        assert await two.claim(second)
        await one.close()


async def test_a_claim_gives_the_turn_as_it_stands_and_none_that_has_ended(replica: Opener) -> None:
    one, two = await replica(), await replica()
    seen = await accepted(one, "1.0")
    assert await one.claim(seen) == seen
    sent = replace(seen, stage=Stage.SENT, task_id="task", messages=(message("5.0", "half"),))
    await one.save((sent, 0))
    await one.let_go(THREAD)
    assert await two.claim(seen) == sent
    await two.save((replace(sent, stage=Stage.ENDED, ended_at=1001.0), 1))
    assert await two.claim(seen) is None
    await two.let_go(THREAD)
    assert await one.claim(seen) is None


async def test_of_many_that_claim_at_once_one_gets_it(replica: Opener) -> None:
    stores = [await replica() for _ in range(5)]
    question = await accepted(stores[0], "1.0")
    claimed = await asyncio.gather(*(store.claim(question) for store in stores))
    assert sorted(map(bool, claimed)) == [False] * 4 + [True]


async def test_a_claim_of_what_is_not_stored_any_more_fails(replica: Opener) -> None:
    one = await replica()
    question = await accepted(one, "1.0")
    await one.withdraw(question.key)
    assert not await one.claim(question)


async def test_who_does_not_renew_is_taken_over_and_can_write_no_more(replica: Opener) -> None:
    one, two = await replica(LEASE), await replica(LEASE)
    first, second = await accepted(one, "1.0"), await accepted(one, "2.0")
    assert await one.claim(first)
    assert await one.claim(second)
    sent = replace(first, stage=Stage.SENT, task_id="task", messages=(message("5.0", "half"),))
    await one.save((sent, 0))
    assert await left_to(two) == [sent, second]
    assert await two.claim(sent)
    await one.save((replace(sent, task_id="too late"), 0))
    assert await two.turn(first.key) == sent
    assert await one.renew() == {THREAD}
    await two.save((replace(sent, ended_at=2000.0, stage=Stage.ENDED), 1))
    assert await two.unfinished() == [second]
    assert await two.renew() == frozenset()


async def test_who_renews_keeps_its_turns_for_as_long_as_they_take(replica: Opener) -> None:
    one, two = await replica(), await replica()
    question = await accepted(one, "1.0")
    assert await one.claim(question)
    loop = asyncio.get_running_loop()
    end = loop.time() + 1.3 * FIRM
    while loop.time() < end:
        assert await one.renew() == frozenset()
        assert await two.left() == []
        await asyncio.sleep(FIRM / 12)


async def test_a_question_that_was_accepted_and_never_begun_is_taken(replica: Opener) -> None:
    one, two = await replica(LEASE), await replica(LEASE)
    question = await accepted(one, "1.0")
    assert await two.left() == [], "who accepted it has time to begin"
    assert await left_to(two) == [question]
    assert await two.claim(question)


async def test_a_question_told_to_a_replica_that_died_is_taken_too(replica: Opener) -> None:
    one, two = await replica(LEASE), await replica(LEASE)
    first, second = await accepted(one, "1.0"), await accepted(two, "2.0")
    assert await one.claim(first)
    assert not await two.claim(second)
    assert await left_to(two) == [first, second]


async def test_what_has_not_ended_is_there_for_others_as_soon_as_it_is_let_go(replica: Opener) -> None:
    one, two = await replica(), await replica()
    first, second = await accepted(one, "1.0"), await accepted(one, "2.0")
    assert await one.claim(first)
    assert await one.claim(second)
    ended = replace(first, ended_at=1001.0, stage=Stage.ENDED)
    await one.save((ended, 0))
    await one.let_go(THREAD, True)
    assert await two.signals(KINDS) == [Signal(THREAD, "left")]
    assert await left_to(two) == [second]


async def test_a_replica_that_closes_leaves_its_threads(replica: Opener) -> None:
    one, two = await replica(), await replica()
    question = await accepted(one, "1.0")
    assert await one.claim(question)
    await one.close()
    assert await left_to(two) == [question]


async def test_what_a_replica_accepted_and_did_not_begin_is_there_for_others_once_it_closes(
    replica: Opener,
) -> None:
    """Also where Redis was away: who ends in order is not waited for."""
    one, two = await replica(), await replica()
    question = await accepted(one, "1.0")
    assert await two.left() == []
    await one.close()
    await one.close()
    assert await two.left() == [question]


async def test_a_replica_is_gone_when_its_lease_has_ended_however_often_others_looked(
    redis_server: RedisServer,
) -> None:
    lease, queue = 60_000, ("{slack_bot}:queue", "bots")
    one = await open_redis(redis_server.url, Ages(), lease / 1000)
    two = await open_redis(redis_server.url, Ages(), lease / 1000)
    question = await accepted(one, "1.0")
    assert await one.claim(question)
    with redis.Redis.from_url(redis_server.url, decode_responses=True) as client:
        (held,) = client.keys("{slack_bot}:lease:*")
        (entry,) = client.xpending_range(*queue, "-", "+", 1)
        client.pexpire(held, lease // 3)  # it was renewed so long ago
        client.xclaim(*queue, one._replica, 0, [entry["message_id"]], idle=2 * lease)
        assert await two.left() == []
        until = client.pttl(held)
        (entry,) = client.xpending_range(*queue, "-", "+", 1)
        assert until + entry["time_since_delivered"] >= lease
    await one.close()
    await two.close()


async def left_by_one_of_three(
    replica: Opener, redis_server: RedisServer, count: int
) -> tuple[RedisStore, RedisStore, list[TurnRecord]]:
    """The two others, which have looked before, and what the first one left: a thread for each turn."""
    one, two, three = await replica(), await replica(), await replica()
    turns = [await accepted(one, f"{number}.0", f"{number}.0") for number in range(1, count + 1)]
    for each in turns:
        assert await one.claim(each)
    assert await two.left() == await three.left() == []
    leave(redis_server)
    return two, three, turns


def leave(redis_server: RedisServer) -> None:
    """Every lease has ended, and Redis was there all the time."""
    queue = ("{slack_bot}:queue", "bots")
    with redis.Redis.from_url(redis_server.url, decode_responses=True) as client:
        client.set("{slack_bot}:alive", json.dumps({"at": time.time(), "calm_until": 0}))
        for lease in client.keys("{slack_bot}:lease:*"):
            client.delete(lease)
        for entry in client.xpending_range(*queue, "-", "+", 1000):
            client.xclaim(*queue, entry["consumer"], 0, [entry["message_id"]], idle=round(1000 * FIRM))


async def test_no_replica_takes_more_than_its_part_of_what_is_left_and_the_others_are_told(
    replica: Opener, redis_server: RedisServer
) -> None:
    two, three, turns = await left_by_one_of_three(replica, redis_server, 9)
    first = await two.left()
    assert first == turns[:5]
    assert await two.left() == [], "it has its part"
    async with asyncio.timeout(60):
        assert {signal.kind for signal in await three.signals(KINDS)} == {"left"}
    assert await three.left() == turns[5:]


async def test_who_has_much_to_do_takes_less_of_what_is_left(
    replica: Opener, redis_server: RedisServer
) -> None:
    two, three, turns = await left_by_one_of_three(replica, redis_server, 6)
    own = [await accepted(two, f"{number}.0", f"{number}.0") for number in range(11, 15)]
    for each in own:
        assert await two.claim(each)
    assert await two.left() == turns[:1]
    assert await three.left() == turns[1:6]


async def test_what_the_others_do_not_take_in_time_is_for_whoever_looks(
    replica: Opener, redis_server: RedisServer
) -> None:
    """They have hung, or are as good as gone."""
    two, _, turns = await left_by_one_of_three(replica, redis_server, 9)
    assert await two.left() == turns[:5]
    assert await left_to(two) == turns[5:]


async def test_what_a_replica_has_itself_and_has_not_begun_is_no_more_than_its_part(
    replica: Opener, redis_server: RedisServer
) -> None:
    one, two = await replica(), await replica()
    turns = [await accepted(one, f"{number}.0", f"{number}.0") for number in range(1, 5)]
    assert await two.left() == []
    leave(redis_server)
    assert await one.left() == turns


async def test_the_turns_of_a_thread_are_taken_together(replica: Opener, redis_server: RedisServer) -> None:
    one, two, three = await replica(), await replica(), await replica()
    turns = [await accepted(one, f"{number}.0") for number in range(1, 5)]
    assert await one.claim(turns[0])
    assert await two.left() == await three.left() == []
    leave(redis_server)
    assert await two.left() == turns


async def test_where_nothing_is_shown_yet_is_taken_first(replica: Opener, redis_server: RedisServer) -> None:
    one, two = await replica(), await replica()
    turns = [await accepted(one, f"{number}.0", f"{number}.0") for number in range(1, 5)]
    for each in turns:
        assert await one.claim(each)
    for each in turns[0], turns[2]:
        await one.save((replace(each, messages=(message("7.0", "words"),)), 0))
    leave(redis_server)
    assert [each.key for each in await two.left()] == [turns[at].key for at in (1, 3, 0, 2)]


async def test_only_one_replica_looks_for_what_came_while_none_was_connected(replica: Opener) -> None:
    one, two = await replica(LEASE), await replica(LEASE)
    assert await one.connected(0.0), "nobody was connected before"
    assert not await two.connected(0.0), "one looks"
    assert await one.connected(0.0), "it does so until it has"
    assert not await one.connected(0.0, has_looked=True)
    assert not await two.connected(0.0), "others were connected all the time"
    await asyncio.sleep(3 * LEASE)  # the absence itself
    assert not await two.connected(60.0), "for less than this"
    await asyncio.sleep(3 * LEASE)
    assert await two.connected(0.0)


async def test_if_who_looks_is_gone_another_replica_does(replica: Opener) -> None:
    one, two = await replica(LEASE), await replica(LEASE)
    assert await one.connected(0.0)
    async with asyncio.timeout(60):
        while not await two.connected(60.0):  # noqa: ASYNC110  no event reports it
            await asyncio.sleep(LEASE / 4)
    assert not await one.connected(0.0, has_looked=True), "it is the other one's now"
    assert await two.connected(0.0)


async def test_replicas_that_are_gone_are_forgotten(
    replica: Opener, redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = await replica(), await replica()
    question = await accepted(one, "1.0")
    await accepted(two, "2.0")

    def known() -> set[str]:
        with redis.Redis.from_url(redis_server.url, decode_responses=True) as client:
            return {each["name"] for each in client.xinfo_consumers("{slack_bot}:queue", "bots")}

    await one.save((replace(question, stage=Stage.ENDED, ended_at=1001.0), 0))
    await one.remove_old(0.0)
    assert known() == {one._replica, two._replica}
    monkeypatch.setattr("slack_bot.store.redis._REPLICA_AGE", 0)
    await one.remove_old(0.0)
    assert known() == {two._replica}, "who has a question is not forgotten"
    assert await one.accept(turn("3.0", 1000.0))


async def test_a_replica_that_closes_without_redis_says_that_others_wait(
    replica: Opener, redis_server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    one = await replica()
    redis_server.kill()
    await one.close()
    assert "other replicas will find this one's turns later" in caplog.text


async def test_signals_reach_the_replica_of_the_thread_in_order(replica: Opener) -> None:
    one, two = await replica(), await replica()
    stop = Signal(THREAD, "stop", {"user": "U1"})
    assert not await two.signal(stop), "nobody works on it"
    question = await accepted(one, "1.0")
    assert await one.claim(question)
    waiting = asyncio.create_task(one.signals(KINDS))
    assert await two.signal(stop)
    assert await waiting == [stop]
    sent = [Signal(THREAD, "change", {"number": str(number)}) for number in range(3)]
    for each in sent:
        assert await two.signal(each)
    assert await one.signals(KINDS) == sent
    assert not await one.signal(stop), "its own process"


async def test_a_signal_to_a_replica_that_died_reaches_who_takes_the_thread_over(replica: Opener) -> None:
    one, two, three = await replica(LEASE), await replica(LEASE), await replica(LEASE)
    question, elsewhere = await accepted(one, "1.0"), await accepted(one, "2.0", thread="9.9")
    assert await one.claim(question)
    assert await one.claim(elsewhere)
    seen, stop = Signal(THREAD, "change"), Signal(THREAD, "stop", {"user": "U1"})
    other = replace(stop, thread=elsewhere.question.thread)
    assert await two.signal(seen)
    assert await one.signals(KINDS) == [seen]
    next_look = asyncio.create_task(one.signals(KINDS))
    await until(lambda: not one._delivered)
    next_look.cancel()
    for each in (stop, other):
        assert await two.signal(each)
    left = await left_to(three)
    assert await two.signal(late := Signal(THREAD, "change")), "nobody has the lease"
    assert await three.claim(left[0]) == question
    assert await three.signals(KINDS) == [stop, late]


async def test_who_takes_a_thread_over_has_its_turn_before_its_signals(redis_server: RedisServer) -> None:
    """Else a Stop would find nothing that it could stop."""
    seen: list[str] = []

    async def listen() -> None:
        while seen.count("signal") < 10:
            seen.extend("signal" for _ in await other.signals(KINDS))

    async with redis_proxy(redis_server.port) as proxy:
        one, other = [await open_redis(url, Ages(), patience=60.0) for url in (redis_server.url, proxy.url)]
        proxy.slowness = (0.0, 0.02)
        listening = asyncio.create_task(listen())
        for number in range(10):
            question = await accepted(one, f"{number}.0", thread=f"{number}.0")
            assert await one.claim(question)
            assert await other.signal(Signal(question.question.thread, "stop"))
            await one.let_go(question.question.thread)
            assert await other.claim(question)
            seen.append("turn")
            await until(lambda n=number: seen.count("signal") > n)
        await listening
        await other.close()
    await one.close()
    assert seen == ["turn", "signal"] * 10


async def test_what_one_who_never_held_a_thread_writes_is_refused(replica: Opener) -> None:
    one, two = await replica(), await replica()
    question = await accepted(one, "1.0")
    assert await one.claim(question)
    await two.save((replace(question, stopped_by="U1"), 0))
    assert await one.turn(question.key) == question
    assert await two.renew() == frozenset(), "it has nothing to lose"


async def test_a_question_that_comes_back_while_others_wait_is_no_other(replica: Opener) -> None:
    one, two = await replica(), await replica()
    question = await accepted(one, "1.0")
    assert await one.claim(question)
    assert not await two.accept(turn("1.0", 1001.0))
    assert len(await two.unfinished()) == 1


@pytest.mark.parametrize("remembers", [True, False])
async def test_turns_outlive_redis_if_it_remembers_and_go_on_if_not(
    replica: Opener, redis_server: RedisServer, remembers: bool, caplog: pytest.LogCaptureFixture
) -> None:
    one, two = await replica(LEASE), await replica(LEASE)
    question = await accepted(one, "1.0")
    assert await one.claim(question)
    redis_server.kill()
    with pytest.raises(StoreError, match=r"The store redis://127\.0\.0\.1:\d+ \(SLACK_BOT_STORE__URL\)"):
        await one.save((question, 0))
    with pytest.raises(StoreError):
        await two.accept(turn("2.0", 1000.0))
    await asyncio.sleep(2 * LEASE)  # its lease would have run out
    if not remembers:
        redis_server.forget()
    redis_server.start()
    assert await two.left() == [], "who has it gets the time to say so"
    assert await one.renew() == frozenset()
    await one.save((replace(question, task_id="task"), 0))
    known = await two.turn(question.key)
    assert known is not None and known.task_id == "task", "what it lost is written again"
    assert ("has lost its memory: 1 threads" in caplog.text) is not remembers
    other = await accepted(two, "2.0")
    assert not await two.claim(other)
    assert await one.signals(KINDS) == [Signal(THREAD, "question", {"turn": other.key})]


async def test_a_redis_that_hangs_is_an_error_in_time(replica: Opener, redis_server: RedisServer) -> None:
    one = await replica(patience=1.0)
    with redis_server.frozen(), pytest.raises(StoreError, match="no answer in time"):
        await one.accept(turn("1.0", 1000.0))
    async with asyncio.timeout(60):
        while await one.turn("T1:C1:1.0") is None:  # noqa: ASYNC110  no event reports what was done late
            await asyncio.sleep(0.02)
    assert not await one.accept(turn("1.0", 1000.0))


async def test_a_store_of_a_newer_version_is_refused(redis_server: RedisServer) -> None:
    with redis.Redis.from_url(redis_server.url) as client:
        client.set("{slack_bot}:version", VERSION + 1)
    with pytest.raises(
        StoreError, match=f"newer version of the bot .format {VERSION + 1}, this one knows {VERSION}"
    ):
        await open_redis(redis_server.url, Ages())


async def test_a_redis_that_may_lose_questions_is_told_of_once(
    redis_server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    await (await open_redis(redis_server.url, Ages())).close()
    assert caplog.records == []
    redis_server.kill()
    redis_server.start("--appendfsync", "everysec", "--maxmemory-policy", "allkeys-lru")
    await (await open_redis(redis_server.url, Ages())).close()
    said = [record.message for record in caplog.records]
    assert len(said) == 2
    assert "appendfsync everysec: a crash of its machine loses questions" in said[0]
    assert "maxmemory-policy allkeys-lru" in said[1]


async def test_a_redis_that_hides_its_configuration_is_told_of_too(
    redis_server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    redis_server.kill()
    redis_server.start("--rename-command", "CONFIG", "")
    await (await open_redis(redis_server.url, Ages())).close()
    assert "appendonly yes, appendfsync always" in caplog.text


async def test_without_redis_the_store_does_not_open(redis_server: RedisServer) -> None:
    redis_server.kill()
    url = redis_server.url.replace("redis://", "redis://:secret-word@")
    with pytest.raises(StoreError) as error:
        await open_redis(url, Ages())
    assert "secret-word" not in str(error.value)
    assert f"redis://127.0.0.1:{redis_server.port}" in str(error.value)


class Worker:
    """How a process works with leases: the least that answers every question once."""

    def __init__(self, store: RedisStore, answered: Counter[str]) -> None:
        self.store, self._answered, self._is_dead = store, answered, False
        self._claiming = asyncio.Lock()  # what was claimed meanwhile must not be let go
        self.lost: set[ThreadKey] = set()  # threads that another one took while the machine stood still
        self._threads: dict[ThreadKey, dict[str, TurnRecord]] = {}  # what is to do, by key
        self._tasks = [asyncio.create_task(each()) for each in (self._hear, self._look)]

    async def begin(self, question: TurnRecord) -> None:
        async with self._claiming:
            claimed = await self.store.claim(question)
            if claimed is not None and not self._is_dead:
                thread = claimed.question.thread
                if thread not in self._threads:
                    self._threads[thread] = {}
                    self._tasks.append(asyncio.create_task(self._work(thread)))
                self._threads[thread].setdefault(claimed.key, claimed)

    async def die(self) -> None:
        self._is_dead = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _work(self, thread: ThreadKey) -> None:
        done = 0
        while True:
            while len(self._threads[thread]) > done:
                key = list(self._threads[thread])[done]
                await asyncio.sleep(0.02)  # asks the agent
                ended = replace(self._threads[thread][key], stage=Stage.ENDED, ended_at=1001.0)
                self._answered[key] += 1
                await self.store.save((ended, 0))
                done += 1
            async with self._claiming:
                if len(self._threads[thread]) == done:
                    del self._threads[thread]
                    await self.store.let_go(thread)
                    return

    async def _hear(self) -> None:
        while True:
            for signal in await self.store.signals(KINDS):
                if (question := await self.store.turn(signal.values["turn"])) is not None:
                    await self.begin(question)

    async def _look(self) -> None:
        while True:
            self.lost |= await self.store.renew()
            for question in await self.store.left():
                await self.begin(question)
            await asyncio.sleep(LEASE / 4)


async def test_of_many_questions_none_is_lost_or_answered_twice_though_replicas_die(replica: Opener) -> None:
    answered, dice = Counter[str](), random.Random(5)
    workers = [Worker(await replica(), answered) for _ in range(4)]

    async def ask(number: int) -> None:
        await asyncio.sleep(number / 100)
        question = turn(f"{number}.0", 1000.0, thread=f"{number % 12}")
        asked = dice.sample([each for each in workers if each is not dead], 2)
        for each, is_new in zip(asked, [await each.store.accept(question) for each in asked], strict=True):
            if is_new:
                await each.begin(question)

    dead: Worker | None = None
    questions = [asyncio.create_task(ask(number)) for number in range(120)]
    await until(lambda: sum(answered.values()) > 40)
    dead = workers[0]
    await dead.die()
    in_doubt = {each.key for each in await workers[1].store.unfinished()}
    await asyncio.gather(*questions)
    async with asyncio.timeout(60):
        while await workers[1].store.unfinished():  # noqa: ASYNC110  no event reports it
            await asyncio.sleep(0.02)
    for worker in workers[1:]:
        await worker.die()
    assert len(answered) == 120
    lost = {thread.ts for worker in workers for thread in worker.lost}
    in_doubt |= {turn(f"{number}.0", 1000.0).key for number in range(120) if f"{number % 12}" in lost}
    assert {key for key, count in answered.items() if count > 1} <= in_doubt
    assert max(answered.values()) <= 2


async def test_what_is_to_be_said_is_one_replica_s_until_it_is_gone(replica: Opener) -> None:
    one, two = await replica(), await replica()
    said = await subjects.accept_outbound(two, OutboundRecord("k", OutboundMessage("hi", channel="C1"), 1.0))
    assert await subjects.unfinished_outbound(one) == [said]
    assert await subjects.unfinished_outbound(two) == []
    with pytest.raises(StoreError, match="Another process delivers k"):
        await subjects.save_outbound(two, said)
    for _ in range(5):
        await asyncio.sleep(FIRM / 4)
        assert await subjects.unfinished_outbound(one) == [said]
        assert await subjects.unfinished_outbound(two) == []
    begun = replace(said, is_begun=True)
    await subjects.save_outbound(one, begun)
    async with asyncio.timeout(60):
        while not (left := await subjects.unfinished_outbound(two)):  # noqa: ASYNC110  no event reports it
            await asyncio.sleep(0.02)
    assert left == [begun]
    with pytest.raises(StoreError, match="Another process delivers k"):
        await subjects.save_outbound(one, begun)


async def test_whether_a_replica_runs_shows_by_its_renewals(replica: Opener) -> None:
    one, two = await replica(), await replica()
    assert not await two.has_replicas()
    await one.renew()
    assert await two.has_replicas()


async def test_a_newer_version_waits_until_the_older_replicas_have_ended(
    replica: Opener,
    redis_server: RedisServer,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    older = await replica(3.0)
    question = await accepted(older, "1.0")
    assert await older.claim(question)
    working = asyncio.create_task(keep_renewing(older))
    monkeypatch.setattr("slack_bot.store.redis.VERSION", VERSION + 1)
    opening = asyncio.create_task(open_redis(redis_server.url, Ages(), 3.0))
    async with asyncio.timeout(60):
        while "replicas of an older version" not in caplog.text:  # noqa: ASYNC110  no event reports it
            await asyncio.sleep(0.01)
    assert not opening.done()
    working.cancel()
    newer = await asyncio.wait_for(opening, 60)
    try:
        assert await left_to(newer) == [question]
        assert caplog.text.count("replicas of an older version") == 1
        monkeypatch.setattr("slack_bot.store.redis.VERSION", VERSION)
        with pytest.raises(StoreError, match="newer version"):
            await open_redis(redis_server.url, Ages(), 3.0)
    finally:
        await newer.close()


async def keep_renewing(store: RedisStore) -> None:
    while True:
        await store.renew()
        await asyncio.sleep(0.1)


async def test_a_signal_that_a_replica_does_not_know_waits_for_one_that_does(
    replica: Opener, caplog: pytest.LogCaptureFixture
) -> None:
    """Also if the one that does not know it has ended as it should."""
    older, other, newer = [await replica(3.0) for _ in range(3)]
    question = await accepted(older, "1.0")
    assert await older.claim(question)
    unheard, known = Signal(THREAD, "recall", {"user": "U1"}), Signal(THREAD, "stop", {"user": "U2"})
    later = replace(known, version=known.version + 1)
    for each in (unheard, later, known):
        assert await other.signal(each)
    assert await older.signals(KINDS) == [known]
    assert caplog.text.count("a signal of a newer version is kept for it") == 2
    await older.close()
    assert await newer.claim(question)
    seen = asyncio.create_task(newer.signals(KINDS | {"recall"}))
    assert [each for each in await asyncio.wait_for(seen, 30) if each.kind != "left"] == [unheard]
