"""Virtual time: no waiting, exact order, and no hanging."""

from __future__ import annotations

import asyncio
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.testing import virtual_clock


def test_a_day_takes_no_time() -> None:
    async def day() -> float:
        await asyncio.sleep(86_400)
        return asyncio.get_running_loop().time()

    assert virtual_clock.run(day()) == 86_400


def test_time_stands_still_while_something_is_ready() -> None:
    async def work() -> float:
        for _ in range(1000):
            await asyncio.sleep(0)
        return asyncio.get_running_loop().time()

    assert virtual_clock.run(work(), start=7) == 7


@given(st.lists(st.floats(0, 1e4), max_size=20))
def test_timers_fire_in_their_order_at_their_time(delays: list[float]) -> None:
    fired: list[tuple[float, float]] = []

    async def one(delay: float) -> None:
        await asyncio.sleep(delay)
        fired.append((asyncio.get_running_loop().time(), delay))

    async def all_of_them() -> None:
        await asyncio.gather(*(one(delay) for delay in delays))

    virtual_clock.run(all_of_them())
    assert [delay for _, delay in fired] == sorted(delays)
    assert all(abs(at - delay) < 1e-6 for at, delay in fired)


def test_a_timeout_is_a_timer_too() -> None:
    async def late() -> float:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(120):
                await asyncio.Event().wait()
        return asyncio.get_running_loop().time()

    assert virtual_clock.run(late()) == 120


def test_a_dead_end_is_an_error_that_names_who_waits() -> None:
    async def forever() -> None:
        await asyncio.Event().wait()

    with pytest.raises(
        virtual_clock.Deadlock, match=r"nothing is ready and no timer is set; waiting: .*forever"
    ):
        virtual_clock.run(forever())


def test_a_dead_end_without_any_task_says_so() -> None:
    loop = virtual_clock.VirtualLoop()
    try:
        with pytest.raises(virtual_clock.Deadlock, match="waiting: no task"):
            loop.run_forever()
    finally:
        loop.close()


def test_what_is_given_to_a_thread_is_done_at_once_and_in_this_one() -> None:
    async def main() -> tuple[int, float]:
        return await asyncio.to_thread(threading.get_ident), asyncio.get_running_loop().time()

    async def failing() -> None:
        await asyncio.to_thread(int, "x")

    assert virtual_clock.run(main()) == (threading.get_ident(), 0.0)
    with pytest.raises(ValueError, match="invalid literal"):
        virtual_clock.run(failing())


def test_calls_from_other_threads_are_refused() -> None:
    errors: list[BaseException] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()

        def foreign() -> None:
            try:
                loop.call_soon_threadsafe(print)
            except RuntimeError as error:
                errors.append(error)

        thread = threading.Thread(target=foreign)
        thread.start()
        thread.join()
        done = asyncio.Event()
        loop.call_soon_threadsafe(done.set)
        await done.wait()

    virtual_clock.run(main())
    assert [str(error) for error in errors] == [
        "a loop with virtual time cannot be called from another thread"
    ]


def test_the_clock_moves_with_the_loop() -> None:
    async def read() -> tuple[float, float, float, float]:
        clock = virtual_clock.new_clock()
        first = (clock.monotonic(), clock.wall())
        await asyncio.sleep(30)
        return (*first, clock.monotonic(), clock.wall())

    assert virtual_clock.run(read()) == (0, virtual_clock.WALL_ZERO, 30, virtual_clock.WALL_ZERO + 30)
