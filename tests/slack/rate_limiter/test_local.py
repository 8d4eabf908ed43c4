"""Waiting for a permit: woken when it is there, given back when it is not used, nobody forgotten."""

from __future__ import annotations

import asyncio
import gc
import random
import weakref
from dataclasses import replace

import pytest

from slack_bot.settings.models import GovernorSettings
from slack_bot.slack.methods import Priority
from slack_bot.slack.rate_limiter.governor import CallRequest
from slack_bot.slack.rate_limiter.local import RateLimiter, budgets_of
from slack_bot.testing import virtual_clock
from slack_bot.testing.virtual_clock import new_clock, on_virtual_time
from tests.slack.scene import waiting_for


def request(
    method: str = "chat.startStream", priority: Priority = Priority.START, patience: float = 60.0
) -> CallRequest:
    return CallRequest(method, priority, patience, "C1")


def limiter_of(**settings: float) -> RateLimiter:
    return RateLimiter(GovernorSettings(rate_utilization=1.0, **settings), new_clock())


def now() -> float:
    return asyncio.get_running_loop().time()


async def spend(at: RateLimiter, method: str = "chat.startStream") -> None:
    """Use up a budget."""
    while (permit := at.reserve(request(method, Priority.STOP))).is_settled:
        permit.use()
    permit.give_back()


@on_virtual_time
async def test_a_free_slot_is_there_at_once_and_wakes_nobody() -> None:
    woken: list[float] = []
    permit = limiter_of().reserve(request(), lambda: woken.append(now()))
    assert permit.is_settled
    assert await permit.wait(0) is None
    assert woken == []


@pytest.mark.parametrize("is_used", [True, False])
@on_virtual_time
async def test_a_permit_is_freed_without_the_garbage_collector(*, is_used: bool) -> None:
    limiter = limiter_of()
    if not is_used:
        await spend(limiter)
    permit = limiter.reserve(request())
    kept = weakref.ref(permit)
    gc.disable()
    try:
        permit.use() if is_used else permit.give_back()
        del permit
        assert kept() is None
    finally:
        gc.enable()


@on_virtual_time
async def test_who_waits_is_woken_in_order_when_there_is_a_slot() -> None:
    limiter, woken = limiter_of(), list[tuple[str, float]]()
    await spend(limiter)
    permits = [limiter.reserve(request(), lambda name=name: woken.append((name, now()))) for name in "abc"]  # type: ignore[misc]
    assert [permit.is_settled for permit in permits] == [False] * 3
    assert [await permit.wait(60) for permit in permits] == [None] * 3
    assert [name for name, _ in woken] == ["a", "b", "c"]
    assert [at for _, at in woken] == pytest.approx([3, 6, 9], abs=0.01)
    assert waiting_for(limiter) == 0


@on_virtual_time
async def test_a_slot_that_is_given_back_goes_to_the_next() -> None:
    limiter = limiter_of()
    await spend(limiter)
    first, second, third = (limiter.reserve(request()) for _ in range(3))
    first.give_back()
    first.give_back()
    await second.wait(60)
    assert now() == pytest.approx(3, abs=0.01)
    second.give_back()
    assert third.is_settled
    third.use()
    third.give_back()
    assert not limiter.reserve(request()).is_settled, "what was used is not given back"


@on_virtual_time
async def test_a_wait_that_is_cancelled_leaves_no_hole() -> None:
    limiter = limiter_of()
    await spend(limiter)
    impatient = asyncio.create_task(limiter.reserve(request()).wait(60))
    await asyncio.sleep(0)
    after = limiter.reserve(request())
    impatient.cancel()
    await asyncio.gather(impatient, return_exceptions=True)
    assert waiting_for(limiter) == 1
    await after.wait(60)
    assert now() == pytest.approx(3, abs=0.01)


@on_virtual_time
async def test_cancelled_in_the_moment_it_was_granted_it_is_given_back() -> None:
    limiter = limiter_of()
    await spend(limiter)
    permit = limiter.reserve(request())
    waiting = asyncio.create_task(permit.wait(60))
    permit.wake = waiting.cancel  # type: ignore[attr-defined]
    (end,) = await asyncio.gather(waiting, return_exceptions=True)
    assert isinstance(end, asyncio.CancelledError)
    assert limiter.reserve(request()).is_settled


@on_virtual_time
async def test_the_rank_may_change() -> None:
    limiter = limiter_of()
    await spend(limiter, "chat.appendStream")
    first, second = (limiter.reserve(request("chat.appendStream", Priority.CARDS)) for _ in range(2))
    second.move(Priority.FIRST)
    await second.wait(60)
    assert not first.is_settled
    second.move(Priority.STOP)
    assert second.is_settled


@on_virtual_time
async def test_a_block_longer_than_the_patience_ends_the_wait() -> None:
    limiter = limiter_of()
    limiter.reserve(request()).refused(30)
    assert await limiter.reserve(request(patience=10)).wait(10) == 30
    assert await limiter.reserve(request()).wait(10) == 30, "the patience of the wait counts"
    waiting = limiter.reserve(request())
    limiter.reserve(request()).refused(90)
    assert await waiting.wait(60) == 90
    assert now() == 0
    assert await limiter.reserve(request(patience=100)).wait(100) is None
    assert now() == pytest.approx(90, abs=0.01)


@on_virtual_time
async def test_a_stream_that_slack_refused_to_start_does_not_wait_for_ever() -> None:
    limiter = limiter_of(start_slot_timeout=5)
    limiter.reserve(request()).refused(4)
    first, second = (limiter.reserve(replace(request(), again=True)) for _ in range(2))
    append = limiter.reserve(replace(request("chat.appendStream"), again=True))
    patient = limiter.reserve(request())
    assert await append.wait(60) is None
    assert await first.wait(60) is None
    assert now() == pytest.approx(4, abs=0.01)
    assert await second.wait(60) == 0
    assert now() == pytest.approx(5, abs=0.01)
    assert await patient.wait(60) is None


def test_nobody_is_forgotten_and_nobody_polls() -> None:
    """Many who come, go, give up and change their minds: each wait ends, and the loop is not kept busy."""
    dice = random.Random(7)

    async def one(limiter: RateLimiter) -> None:
        await asyncio.sleep(dice.random() * 30)
        method = dice.choice(["chat.startStream", "chat.appendStream", "chat.stopStream"])
        permit = limiter.reserve(request(method, dice.choice(list(Priority))))
        if dice.random() < 0.2:
            permit.move(Priority.STOP)
        try:
            async with asyncio.timeout(dice.random() * 40):
                if await permit.wait(60) is None and dice.random() < 0.7:
                    permit.use()
                if dice.random() < 0.1:
                    permit.refused(dice.random() * 5)
        except TimeoutError:
            return
        finally:
            permit.give_back()

    async def story() -> tuple[int, float, int]:
        limiter, decided = limiter_of(), 0
        decide = limiter.decide

        def counted() -> None:
            nonlocal decided
            decided += 1
            decide()

        limiter.decide = counted  # type: ignore[method-assign]
        await asyncio.gather(*(one(limiter) for _ in range(200)))
        return waiting_for(limiter), now(), decided

    waiting, took, decided = virtual_clock.run(story())
    assert waiting == 0
    assert took < 75
    assert decided < 2500


def test_the_budgets_are_those_of_the_settings() -> None:
    budgets = budgets_of(GovernorSettings())
    starts = budgets["chat.startStream"]
    assert (starts.per_second * 60, starts.burst) == pytest.approx((18, 20))
    posts = budgets["chat.postMessage"]
    assert (posts.per_second, posts.burst) == pytest.approx((0.9, 3))
    assert budgets["conversations.replies"].burst == 50
    assert budgets_of(GovernorSettings(starts_per_minute=0.5))["chat.startStream"].burst == 1
