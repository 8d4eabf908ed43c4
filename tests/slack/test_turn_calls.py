"""What a stop does to the calls of a turn, and how its thread is read."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from slack_bot.slack.faults import CallFailed, CallOk, CallResult, Fault
from slack_bot.slack.orders import CallSlack, Sleep, Step
from slack_bot.slack.stream_starts import StreamStart
from slack_bot.slack.turn_calls import DROPPED, UNANSWERED
from slack_bot.slack.writer import Writer
from slack_bot.testing import virtual_clock
from tests.slack.scene import Scene, run

REPLIES = "conversations.replies"


def play(story: Callable[[Scene, Writer], Coroutine[Any, Any, None]], faults: Any = None) -> Scene:
    async def go() -> Scene:
        scene = Scene(faults)
        await story(scene, scene.new_writer())
        return scene

    return virtual_clock.run(go())


def said(scene: Scene) -> dict[str, object]:
    return {"channel": "C1", "thread_ts": scene.root, "text": "x"}


def write(scene: Scene, start: StreamStart | None = None, answer_wait: float = 0.0) -> Step[CallResult]:
    order = CallSlack("chat.postMessage", said(scene), is_write=True, start=start, answer_wait=answer_wait)
    return iter(order)


def test_a_write_that_waits_is_dropped_at_once() -> None:
    async def story(scene: Scene, writer: Writer) -> None:
        waiting = asyncio.ensure_future(run(write(scene)))
        await asyncio.sleep(1)
        writer.give_up_writes()
        async with asyncio.timeout(0.1):
            assert await waiting == CallFailed(Fault.UNKNOWN, DROPPED)
        assert await run(write(scene)) == CallFailed(Fault.LATER, DROPPED)
        await asyncio.sleep(100)

    assert play(story, {"chat.postMessage": ["ratelimited:30"]}).methods() == ["chat.postMessage"]


def test_an_answer_is_waited_for_until_it_is_overdue() -> None:
    async def story(scene: Scene, writer: Writer) -> None:
        for answer_wait, result in ((0.5, CallFailed(Fault.UNKNOWN, UNANSWERED)), (5.0, CallOk)):
            start = scene.stream_starts.expect("C1", scene.root, scene.root)
            writing = asyncio.ensure_future(run(write(scene, start, answer_wait)))
            await asyncio.sleep(0.5)
            start.notify()
            async with asyncio.timeout(1.6):
                assert await writing == result or isinstance(await writing, CallOk)
            assert start.tell is None
        assert len(asyncio.all_tasks()) == 1

    play(story, {"chat.postMessage": ["timeout!", "slow:2!"]})


def test_a_stop_is_not_put_off_by_an_event() -> None:
    async def story(scene: Scene, writer: Writer) -> None:
        start = scene.stream_starts.expect("C1", scene.root, scene.root)
        writing = asyncio.ensure_future(run(write(scene, start, 60.0)))
        await asyncio.sleep(1)
        writer.give_up_writes()
        start.notify()
        async with asyncio.timeout(0.1):
            assert await writing == CallFailed(Fault.UNKNOWN, DROPPED)

    play(story, {"chat.postMessage": ["timeout!"]})


def test_what_puts_a_turn_to_rest_is_not_dropped() -> None:
    async def story(scene: Scene, writer: Writer) -> None:
        writer.give_up_writes()
        assert isinstance(await writer.carry_out(iter(CallSlack("chat.postMessage", said(scene)))), CallOk)

    assert play(story).texts() == ["x"]


def test_a_write_goes_through_and_a_cancelled_one_leaves_nothing_behind() -> None:
    async def story(scene: Scene, writer: Writer) -> None:
        assert isinstance(await run(write(scene)), CallOk)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1):
                await run(write(scene))
        assert len(asyncio.all_tasks()) == 1

    play(story, {"chat.postMessage": [None, "timeout"]})


def test_refused_the_second_time_it_was_applied_the_first() -> None:
    async def story(scene: Scene, writer: Writer) -> None:
        assert await run(
            writer.calls.call_until_known("chat.postMessage", said(scene), applied_as=Fault.SEALED)
        ) == CallOk({})

    play(story, {"chat.postMessage": ["timeout!", "message_not_in_streaming_state"]})


def test_a_long_thread_is_read_page_by_page() -> None:
    async def story(scene: Scene, writer: Writer) -> None:
        for number in range(450):
            scene.workspace.say("U2", "C1", str(number), now=virtual_clock.WALL_ZERO, thread_ts=scene.root)
        messages = await run(writer.calls.read_thread_once())
        assert isinstance(messages, list)
        assert len(messages) == 451

    assert play(story).methods() == [REPLIES] * 3


def test_a_thread_that_is_gone_is_empty_and_one_that_is_closed_unknown() -> None:
    async def story(scene: Scene, writer: Writer) -> None:
        assert await run(writer.calls.read_thread_once()) == []
        assert await run(writer.calls.read_thread_once()) == CallFailed(Fault.NOT_HERE, "missing_scope")

    play(story, {REPLIES: ["thread_not_found", "missing_scope"]})


def test_a_rest_ends_when_the_turn_is_hushed() -> None:
    async def story(scene: Scene, writer: Writer) -> None:
        began = scene.clock.monotonic()
        await writer.carry_out(iter(Sleep(5.0, until_given_up=True)))
        assert scene.clock.monotonic() - began == pytest.approx(5.0)
        resting = asyncio.ensure_future(writer.carry_out(iter(Sleep(60.0, until_given_up=True))))
        await asyncio.sleep(1)
        writer.give_up_writes()
        async with asyncio.timeout(0.1):
            await resting

    play(story)
