"""`python -m tests.bench.failover_loss [--rounds 5] [--cut-off]`: what a failover loses of what was accepted.

A process of the bot accepts questions as fast as it can, until the primary is killed. Counted is what it had
acknowledged and the new primary lacks: at first, and after the process has renewed its leases there. With
`--cut-off` the primary first goes on for some time without its replicas, once with `min-replicas-to-write 0`,
and once with 1.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from slack_bot.errors import StoreError
from slack_bot.store.collection import Ages
from slack_bot.store.redis import RedisStore, open_redis
from slack_bot.turn.progress import TurnRecord
from slack_bot.turn.record import Question, ThreadKey
from tests.redis_sentinels import SentinelSet, running_sentinels

from .figures import machine

_AT_ONCE = 20
_SECONDS = 1.0  # of accepting before the kill


@dataclass(frozen=True, slots=True)
class Loss:
    """Numbers of questions: accepted, refused, missing at first, and missing after a renewal."""

    accepted: int
    refused: int
    missing: int
    lost: int


async def measure(redis: SentinelSet, *, is_cut_off: bool) -> Loss:
    """One failover."""
    store = await open_redis(redis.url, Ages(), 10.0, 10.0)
    try:
        await store.renew()
        await asyncio.to_thread(redis.wait_for_replicas, len(redis.servers) - 1)
        if is_cut_off:
            for replica in redis.servers[1:]:
                replica.tell("REPLICAOF", "127.0.0.1", "1")
        accepted, refused = set[str](), list[str]()
        loads = [asyncio.create_task(_accept(store, lane, accepted, refused)) for lane in range(_AT_ONCE)]
        await asyncio.sleep(_SECONDS)
        primary = redis.servers[0]
        primary.kill()
        for load in loads:
            load.cancel()
        await asyncio.wait(loads)
        await asyncio.to_thread(redis.wait_for_another, primary)
        missing = accepted - await _known(redis)
        await _renew(store)
        return Loss(len(accepted), len(refused), len(missing), len(accepted - await _known(redis)))
    finally:
        await store.close()


async def _accept(store: RedisStore, lane: int, accepted: set[str], refused: list[str]) -> None:
    number = 0
    while True:
        number += 1
        thread = ThreadKey("T1", "C1", f"{lane}.{number}")
        turn = TurnRecord(Question(thread, thread.ts, "U1", "T1", "text"), 1000.0)
        try:
            await store.accept(turn)
        except StoreError:
            refused.append(turn.key)
            await asyncio.sleep(0.05)
        else:
            accepted.add(turn.key)


async def _known(redis: SentinelSet) -> set[str]:
    with (await asyncio.to_thread(redis.primary)).client() as client:
        return set(client.zrange("{slack_bot}:unfinished", 0, -1))


async def _renew(store: RedisStore) -> None:
    while True:
        try:
            await store.renew()
            return
        except StoreError:
            await asyncio.sleep(0.1)


async def run(rounds: int, *options: str, is_cut_off: bool = False) -> list[Loss]:
    losses = list[Loss]()
    for _ in range(rounds):
        with (
            tempfile.TemporaryDirectory() as home,
            running_sentinels(Path(home) / "redis", *options, replicas=2) as redis,
        ):
            losses.append(await measure(redis, is_cut_off=is_cut_off))
    return losses


def _print(name: str, losses: Sequence[Loss]) -> None:
    accepted, refused = sum(each.accepted for each in losses), sum(each.refused for each in losses)
    missing, lost = [each.missing for each in losses], sum(each.lost for each in losses)
    print(
        f"{name}: {len(losses)} failovers, {accepted} questions acknowledged, {refused} not;"
        f" missing at first {sum(missing)} (most {max(missing)}), lost {lost}"
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run and print. 1 if anything is lost."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.failover_loss", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cut-off", action="store_true")
    args = parser.parse_args(argv)
    print(f"on {machine()}", flush=True)
    plans = [("killed", "0", False)]
    if args.cut_off:
        plans += [("cut off, min-replicas-to-write 0", "0", True), ("cut off, with 1", "1", True)]
    lost = 0
    for name, replicas, is_cut_off in plans:
        losses = asyncio.run(run(args.rounds, "--min-replicas-to-write", replicas, is_cut_off=is_cut_off))
        _print(name, losses)
        lost += sum(each.lost for each in losses)
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
