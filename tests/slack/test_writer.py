"""The driver of an answer: it carries out orders, and tells the step what came of each."""

from __future__ import annotations

import asyncio

import pytest

from slack_bot.slack.faults import CallFailed, CallOk, Fault
from slack_bot.slack.orders import (
    CallSlack,
    Compute,
    JoinSeen,
    LetOthersRun,
    ReadMessages,
    Sleep,
    Step,
    Wait,
    Wake,
    WhenSeen,
)
from slack_bot.testing import virtual_clock
from tests.slack.scene import Scene

POST = "chat.postMessage"


def post(scene: Scene) -> CallSlack:
    return CallSlack(POST, {"channel": "C1", "thread_ts": scene.root, "text": "x"})


def test_a_step_gets_the_results_of_its_orders() -> None:
    async def go() -> None:
        scene = Scene()

        def step() -> Step[int]:
            assert isinstance((yield from post(scene)), CallOk)
            assert isinstance(
                (yield from ReadMessages("conversations.replies", {"channel": "C1", "ts": scene.root})), list
            )
            yield from LetOthersRun()
            return (yield from Compute(lambda: 3)) + 1

        assert await scene.writer.carry_out(step()) == 4

    virtual_clock.run(go())


def test_the_clock_is_read_before_each_result() -> None:
    async def go() -> None:
        scene = Scene()
        calls = scene.writer.calls

        def step() -> Step[list[float]]:
            began = calls.now
            yield from Sleep(5.0)
            after = calls.now
            yield from post(scene)
            return [after - began, calls.wall - scene.clock.wall()]

        assert await scene.writer.carry_out(step()) == pytest.approx([5.0, 0.0])

    virtual_clock.run(go())


def test_an_order_that_is_cancelled_is_told_to_its_step() -> None:
    async def go() -> list[str]:
        scene, told = Scene({POST: ["timeout"]}), list[str]()

        def step() -> Step[None]:
            try:
                yield from post(scene)
            finally:
                told.append("cancelled")
                yield from LetOthersRun()  # what must be done is still done
                told.append("cleaned up")

        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1):
                await scene.writer.carry_out(step())
        return told

    assert virtual_clock.run(go()) == ["cancelled", "cleaned up"]


def test_a_wait_ends_at_its_time_or_when_it_is_woken() -> None:
    async def go() -> list[float]:
        scene = Scene()
        writer, began = scene.writer, scene.clock.monotonic()
        times: list[float] = []

        def step() -> Step[None]:
            for until in (began + 5.0, None, began + 100.0):
                yield from Wait(until)
                times.append(writer.calls.now - began)
            yield from Wake()
            yield from Wait(None)  # there was something already
            times.append(writer.calls.now - began)

        asyncio.get_running_loop().call_later(7.0, writer.wake.set)
        asyncio.get_running_loop().call_later(9.0, writer.wake.set)
        await writer.carry_out(step())
        return times

    assert virtual_clock.run(go()) == pytest.approx([5.0, 7.0, 9.0, 9.0])


def test_a_write_is_given_up_when_a_human_stops_the_turn() -> None:
    async def go() -> CallOk | CallFailed:
        scene = Scene({POST: ["ratelimited:30"]})
        order = CallSlack(POST, dict(post(scene).args), is_write=True)
        writing = asyncio.ensure_future(scene.writer.carry_out(iter(order)))
        await asyncio.sleep(1)
        scene.writer.give_up_writes()
        async with asyncio.timeout(0.1):
            return await writing

    assert virtual_clock.run(go()) == CallFailed(Fault.UNKNOWN, "dropped")


def test_steps_about_late_streams_run_when_slack_names_them() -> None:
    async def go() -> list[str]:
        scene, seen = Scene(), list[str]()
        start = scene.stream_starts.expect("C1", scene.root, scene.root)
        scene.stream_starts.settle(start, in_doubt=True)

        def late() -> Step[None]:
            seen.append(str(start.ts))
            yield from Sleep(3.0)
            seen.append("removed")

        def step() -> Step[None]:
            yield from WhenSeen(start, late)
            scene.stream_starts.saw("C1", scene.root, "9999999999.000001")
            yield from JoinSeen()

        await scene.writer.carry_out(step())
        return seen

    assert virtual_clock.run(go()) == ["9999999999.000001", "removed"]
