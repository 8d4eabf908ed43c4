"""Much work is done in a thread; nobody goes on before it is done."""

from __future__ import annotations

import asyncio
import threading

import pytest

from slack_bot.a2a.offload import offload


async def test_it_is_done_in_a_thread() -> None:
    assert await offload(threading.get_ident) != threading.get_ident()


async def test_the_loop_runs_while_a_thread_works() -> None:
    turned = threading.Event()
    asyncio.get_running_loop().call_later(0.0, turned.set)
    assert await offload(turned.wait, 60.0), "the loop set it meanwhile"


async def test_what_it_raises_is_raised() -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        await offload(int, "x")


async def test_who_is_cancelled_waits_for_the_work_all_the_same() -> None:
    begun, go_on = threading.Event(), threading.Event()
    done: list[str] = []

    def work() -> None:
        begun.set()
        go_on.wait(60.0)
        done.append("done")

    working = asyncio.create_task(offload(work))
    assert await asyncio.to_thread(begun.wait, 60.0)
    working.cancel()
    await asyncio.sleep(0)
    assert not working.done() and not done
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await working
    assert done == ["done"]
