"""The primary that Sentinels name: which one it is, and what a failover takes and leaves. Real servers."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from slack_bot.errors import StoreAway, StoreError, StoreFailover
from slack_bot.store.collection import Ages
from slack_bot.store.contracts import Signal
from slack_bot.store.redis import RedisStore, open_redis
from slack_bot.store.redis_errors import RIGHTS
from slack_bot.store.redis_sentinel import NoPrimary, Primary, newest_primary
from slack_bot.threads.leases import KINDS
from slack_bot.turn.progress import Stage, TurnRecord
from tests.redis_sentinels import NAME, SentinelSet, running_sentinels
from tests.redis_server import RedisServer
from tests.tls import new_certificate

from .contract import THREAD, message, turn

LEASE = 10.0  # seconds: longer than a failover here


def said_by_one(epoch: int, port: int, **more: object) -> dict[str, Any]:
    """What a Sentinel says."""
    state: dict[str, Any] = {
        **{"ip": "10.0.0.1", "port": port, "config-epoch": epoch, "flags": "master", "num-slaves": 1},
        **{"is_master": True, "is_sdown": False, "is_odown": False},
    }
    return state | more


@pytest.mark.parametrize(
    ("answers", "primary"),
    [
        ([said_by_one(1, 7), said_by_one(1, 7)], Primary("10.0.0.1", 7, 1)),
        ([said_by_one(1, 7), said_by_one(2, 8)], Primary("10.0.0.1", 8, 2)),
        ([said_by_one(2, 8, is_sdown=True), said_by_one(2, 8)], Primary("10.0.0.1", 8, 2)),
    ],
)
def test_the_newest_configuration_counts(answers: list[dict[str, Any]], primary: Primary) -> None:
    assert newest_primary(answers) == primary


@pytest.mark.parametrize(
    "state",
    [
        said_by_one(2, 8, is_sdown=True),
        said_by_one(2, 8, is_odown=True),
        said_by_one(2, 8, flags="master,failover_in_progress"),
        said_by_one(2, 8, is_master=False),
    ],
)
def test_one_that_is_to_be_replaced_is_none(state: dict[str, Any]) -> None:
    with pytest.raises(NoPrimary, match=r"a failover is under way: .* 10\.0\.0\.1:8 as down") as caught:
        newest_primary([said_by_one(1, 7), state])
    assert caught.value.is_failover
    with pytest.raises(NoPrimary) as caught:
        newest_primary([state | {"num-slaves": 0}])
    assert not caught.value.is_failover and "no replica" in caught.value.remedy


@pytest.fixture(scope="module")
def steady(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SentinelSet]:
    """Servers that no test ends."""
    with running_sentinels(tmp_path_factory.mktemp("steady") / "redis", replicas=1) as redis:
        yield redis


async def refusal(url: str, patience: float = 30.0) -> str:
    """With which `run` ends."""
    with pytest.raises(StoreError) as caught:
        await open_redis(url, Ages(), patience=patience)
    assert "xyz" not in str(caught.value), "a password"
    return str(caught.value).partition("cannot be used ")[2]


async def test_a_wrong_address_is_told_with_its_remedy(steady: SentinelSet) -> None:
    assert await refusal(steady.at(name="other")) == (
        "(its Sentinels know no primary that is called other); name one that they watch (they know mymaster)"
        " behind the hosts."
    )
    server = f"redis+sentinel://127.0.0.1:{steady.servers[0].port}/{NAME}"
    assert (await refusal(server)).endswith("; name Sentinels in the address, not Redis itself.")
    sentinels = steady.at(options="?sentinel_password=xyz")
    assert await refusal(sentinels) == (
        "(its Sentinels refuse the login, or want one); write"
        " ?sentinel_username=USER&sentinel_password=PASSWORD behind the address."
    )
    assert re.fullmatch(
        r"\(the primary 127\.0\.0\.1:\d+, which its Sentinels name: it refuses the user or the password of"
        r" the address\); check both, .*",
        await refusal(steady.at(login="bot:xyz@")),
    )
    closed = f"redis+sentinel://127.0.0.1:1,127.0.0.1:2/{NAME}"
    assert await refusal(closed) == (
        "(none of its Sentinels answers: 127.0.0.1:1, 127.0.0.1:2: nothing takes connections there); check"
        " their addresses, and whether they run."
    )


async def test_a_user_with_the_least_rights_and_sentinels_with_a_user(
    steady: SentinelSet, request: pytest.FixtureRequest
) -> None:
    servers = [*steady.servers, *steady.sentinels]
    for server in servers:
        rights = RIGHTS.split() if server in steady.servers else ["+sentinel|master", "+hello", "+ping"]
        server.tell("ACL", "SETUSER", "slack-bot", "on", ">a@b", *rights)
        request.addfinalizer(lambda server=server: server.tell("ACL", "DELUSER", "slack-bot"))
    options = "?sentinel_username=slack-bot&sentinel_password=a%40b"
    store = await open_redis(steady.at(login="slack-bot:a%40b@", options=options), Ages())
    assert await store.accept(turn("acl", 1000.0))
    await store.close()


async def test_a_sentinel_that_hangs_and_then_all_of_them_hold_up_nobody(steady: SentinelSet) -> None:
    store = await open_redis(steady.url, Ages())
    began = time.monotonic()
    with steady.sentinels[0].frozen():
        other = await open_redis(steady.url, Ages())
        assert await other.renew() == frozenset()
        assert time.monotonic() - began < 2.0
        with steady.sentinels[1].frozen(), steady.sentinels[2].frozen():
            assert await store.renew() == frozenset()
            assert store.is_sure and await store.accept(turn("alone", 1000.0))
    for each in (store, other):
        await each.close()


async def test_too_few_replicas_for_a_write_pass(steady: SentinelSet, request: pytest.FixtureRequest) -> None:
    store = await open_redis(steady.url, Ages())
    primary = steady.servers[0]
    request.addfinalizer(lambda: primary.tell("CONFIG", "SET", "min-replicas-to-write", "0"))
    primary.tell("CONFIG", "SET", "min-replicas-to-write", "2")
    with pytest.raises(StoreAway, match=r"too few replicas are connected to it for a write"):
        await store.accept(turn("few", 1000.0))
    primary.tell("CONFIG", "SET", "min-replicas-to-write", "0")
    assert await store.accept(turn("few", 1000.0))
    await store.close()


# -- failovers


class Cut:
    """Two processes of the bot on servers whose replica gets nothing more, once it is cut off."""

    def __init__(self, redis: SentinelSet, one: RedisStore, two: RedisStore) -> None:
        self.redis, self.one, self.two = redis, one, two

    def cut_off(self) -> None:
        """What is written from now on is lost with the primary."""
        for replica in self.redis.servers[1:]:
            replica.tell("REPLICAOF", "127.0.0.1", "1")

    async def fail_over(self) -> RedisServer:
        """The primary is lost, and another one takes its place."""
        primary = self.redis.servers[0]
        primary.kill()
        return await asyncio.to_thread(self.redis.wait_for_another, primary)


@pytest.fixture
async def cut(tmp_path: Path) -> AsyncIterator[Cut]:
    with running_sentinels(tmp_path / "redis", replicas=1) as redis:
        async with AsyncExitStack() as stack:
            stores = list[RedisStore]()
            for _ in range(2):
                stores.append(await open_redis(redis.url, Ages(), LEASE, 30.0))
                stack.push_async_callback(stores[-1].close)
            await asyncio.gather(*(each.renew() for each in stores))
            await asyncio.to_thread(redis.wait_for_replicas, 1)
            yield Cut(redis, *stores)


async def accepted(store: RedisStore, ts: str, thread: str = THREAD.ts) -> TurnRecord:
    question = turn(ts, 1000.0, thread=thread)
    assert await store.accept(question)
    return question


@pytest.mark.slow
async def test_what_the_new_primary_lacks_is_written_again(
    cut: Cut, caplog: pytest.LogCaptureFixture
) -> None:
    """Acknowledged questions, how far an answer is, its end, and that one was withdrawn."""
    running, ended = await accepted(cut.one, "1.0"), await accepted(cut.one, "2.0", "2.0")
    withdrawn = await accepted(cut.one, "3.0", "3.0")
    for each in (running, ended):
        assert await cut.one.claim(each)
    await cut.one.save((replace(running, messages=(message("1.5", "one"),)), 0))
    await asyncio.to_thread(cut.redis.wait_for_replicas, 1)
    cut.cut_off()
    longer = replace(running, stage=Stage.SENT, messages=(message("1.5", "one"), message("1.6", "two")))
    done = replace(ended, stage=Stage.ENDED, ended_at=1001.0)
    await cut.one.save((longer, 1))
    await cut.one.save((done, 0))
    await cut.one.let_go(ended.question.thread)
    await cut.one.withdraw(withdrawn.key)
    fresh, begun = await accepted(cut.one, "4.0", "4.0"), await accepted(cut.one, "5.0", "5.0")
    assert await cut.one.claim(begun)
    await cut.fail_over()
    assert await cut.two.turn(begun.key) is None, "it is lost"
    assert await cut.two.left() == [], "nobody takes over what may have a lease"
    assert await cut.one.renew() == frozenset()
    assert cut.one.is_sure
    assert await cut.two.turn(running.key) == longer
    assert await cut.two.turn(ended.key) == done
    assert await cut.two.turn(withdrawn.key) is None
    assert {each.key for each in await cut.two.unfinished()} == {running.key, fresh.key, begun.key}
    assert "which lacked 2 of this process's turns" in caplog.text
    third = replace(longer, messages=(*longer.messages, message("1.7", "three")))
    await cut.one.save((third, 2))
    assert await cut.two.turn(running.key) == third
    for key in (begun.key, fresh.key, ended.key):
        assert not await cut.two.accept(
            replace(turn("9.0", 1000.0), question=(await kept(cut, key)).question)
        )


async def kept(cut: Cut, key: str) -> TurnRecord:
    record = await cut.two.turn(key)
    assert record is not None
    return record


@pytest.mark.slow
async def test_a_save_before_the_next_renewal_leaves_no_gap(cut: Cut) -> None:
    """Only what is new of a turn is saved, and what came before is lost."""
    running = await accepted(cut.one, "1.0")
    assert await cut.one.claim(running)
    await asyncio.to_thread(cut.redis.wait_for_replicas, 1)
    cut.cut_off()
    parts = tuple(message(ts, "text") for ts in ("1.5", "1.6", "1.7"))
    records = [replace(running, messages=parts[:number]) for number in (1, 2, 3)]
    await cut.one.save((records[0], 0))
    await cut.one.save((records[1], 1))
    await cut.fail_over()
    await cut.one.save((records[2], 2))
    assert await cut.two.turn(running.key) == records[2]


@pytest.mark.slow
async def test_a_lease_that_was_lost_is_nobody_elses(cut: Cut) -> None:
    """The claim of a thread is lost: the others wait until who has it has said so."""
    first = await accepted(cut.two, "1.0")
    await asyncio.to_thread(cut.redis.wait_for_replicas, 1)
    cut.cut_off()
    assert await cut.two.claim(first)
    await cut.fail_over()
    second = await accepted(cut.one, "2.0")
    assert not await cut.one.claim(second), "who accepted the first may have the thread"
    assert await cut.two.renew() == frozenset()
    assert await cut.two.signals(KINDS) == [Signal(THREAD, "question", {"turn": second.key})]
    assert await cut.two.claim(second)


@pytest.mark.slow
async def test_who_has_lost_a_lease_and_says_nothing_can_write_no_more(cut: Cut) -> None:
    """Numbers of leases are not given twice."""
    first = await accepted(cut.one, "1.0")
    await cut.one.let_go(THREAD)
    await asyncio.to_thread(cut.redis.wait_for_replicas, 1)
    cut.cut_off()
    assert await cut.one.claim(first)
    await cut.fail_over()
    await cut.one.primary()
    assert not cut.one.is_sure, "it has heard of the failover, and not renewed its leases"
    async with asyncio.timeout(4 * LEASE):
        while not (left := await cut.two.left()):
            await cut.two.renew()
            await asyncio.sleep(0.1)
    assert left == [first] and await cut.two.claim(first)
    other = replace(first, task_id="theirs")
    await cut.two.save((other, 0))
    await cut.one.save((replace(first, task_id="ours"), 0))
    assert await cut.two.turn(first.key) == other
    assert await cut.one.renew() == {THREAD}
    assert await cut.two.turn(first.key) == other


@pytest.mark.slow
async def test_a_primary_of_before_that_wakes_up_gets_nothing(cut: Cut) -> None:
    """It takes itself for the primary for some seconds, and connections to it are open."""
    await asyncio.gather(*(accepted(cut.one, f"{number}.0") for number in range(9)))
    primary = cut.redis.servers[0]
    with primary.frozen():
        await asyncio.to_thread(cut.redis.wait_for_another, primary)
        for each in (cut.one, cut.two):
            assert await each.renew() == frozenset()
    await asyncio.gather(*(accepted(cut.one, f"{number}.5") for number in range(9)))
    assert len(await cut.two.unfinished()) == 18
    with cut.redis.servers[1].client() as client:
        assert client.zcard("{slack_bot}:unfinished") == 18


@pytest.mark.slow
async def test_a_failover_on_order_loses_nothing(cut: Cut) -> None:
    """Nobody is killed: `SENTINEL FAILOVER`, as before the maintenance of a machine."""
    question = await accepted(cut.one, "1.0")
    assert await cut.one.claim(question)
    before = cut.redis.servers[0]
    cut.redis.sentinels[0].tell("SENTINEL", "FAILOVER", NAME)
    await asyncio.to_thread(cut.redis.wait_for_another, before)
    for each in (cut.one, cut.two):
        await settled(each.renew)
    assert cut.one.is_sure
    await cut.one.save((replace(question, task_id="task"), 0))
    assert (await kept(cut, question.key)).task_id == "task"
    with cut.redis.servers[1].client() as client:
        assert client.exists(f"{{slack_bot}}:turn:{question.key}")


async def settled(call: Callable[[], Any]) -> None:
    """Until the call has worked."""
    async with asyncio.timeout(60):
        while True:
            try:
                await call()
                return
            except StoreAway:
                await asyncio.sleep(0.1)


@pytest.mark.slow
async def test_a_failover_under_way_is_told_from_one_that_cannot_be(cut: Cut) -> None:
    cut.redis.servers[0].kill()
    seen = set[type[StoreError]]()
    async with asyncio.timeout(60):
        while True:
            try:
                await cut.one.renew()
                break
            except StoreError as error:
                seen.add(type(error))
                await asyncio.sleep(0.02)
    assert seen == {StoreAway, StoreFailover}
    cut.redis.servers[1].kill()
    async with asyncio.timeout(60):
        while True:
            with pytest.raises(StoreAway) as caught:
                await cut.one.renew()
            if "as down" in str(caught.value):
                break
            await asyncio.sleep(0.1)


@pytest.mark.slow
async def test_tls_with_an_authority_of_ones_own(tmp_path: Path) -> None:
    own = str(new_certificate(tmp_path, "localhost"))
    with running_sentinels(tmp_path / "redis", replicas=1, tls=own) as redis:
        url = redis.at(scheme="rediss", options=f"?ssl_ca_certs={own}")
        store = await open_redis(url, Ages(), patience=30.0)
        assert await store.accept(turn("1.0", 1000.0))
        before = redis.servers[0]
        before.kill()
        await asyncio.to_thread(redis.wait_for_another, before)
        await settled(store.renew)
        assert await store.turn(turn("1.0", 1000.0).key)
        await store.close()
        assert "is not trusted here" in await refusal(redis.at(scheme="rediss"))
