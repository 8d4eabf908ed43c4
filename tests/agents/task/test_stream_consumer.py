"""One stream: its end, a silence that is not its end, and reasons not to wait for either."""

from __future__ import annotations

import asyncio

import pytest

from slack_bot.agents.task.stream_consumer import StreamExit, TurnHandle
from slack_bot.agents.wire.frames import TaskState
from slack_bot.errors import AgentUnreachable, BadAgentData, StreamCut
from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.turn.events import AgentIdle, TaskKnowledge

from .consumer_side import Scene, chunk, status, stream


class Silences:
    """Answers the ear's question whether to go on, and counts how often it was asked."""

    def __init__(self, *answers: bool) -> None:
        self.answers, self.asked = list(answers), 0

    async def __call__(self) -> bool:
        self.asked += 1
        return self.answers.pop(0) if self.answers else True


async def never() -> bool:
    raise AssertionError("nobody was silent")


@on_virtual_time
async def test_a_stream_that_the_agent_closes() -> None:
    here = Scene()
    assert await here.consumer.consume(stream((1, chunk("a")), (1, chunk("b"))), never) is StreamExit.CLOSED
    assert here.reported.text == "ab"


@on_virtual_time
async def test_a_stream_that_breaks() -> None:
    here = Scene()
    with pytest.raises(StreamCut):
        await here.consumer.consume(stream((1, chunk("a")), (1, StreamCut("cut"))), never)


@on_virtual_time
async def test_what_cannot_be_read_is_a_cut_where_there_is_a_task_to_ask_for() -> None:
    nonsense = BadAgentData("not JSON", safe="Nonsense.")
    here = Scene()
    with pytest.raises(BadAgentData):
        await here.consumer.consume(stream((1, nonsense)), never)
    with pytest.raises(StreamCut) as caught:
        await here.consumer.consume(stream((1, chunk("a")), (1, nonsense)), never)
    assert caught.value.safe == "Nonsense."


@on_virtual_time
async def test_a_quiet_stream_is_told_once_in_each_silence() -> None:
    here = Scene(quiet_notice_after=30, idle_timeout=100)
    frames = stream((29, chunk("a")), (250, chunk("b")), (31, chunk("c")))
    assert await here.consumer.consume(frames, Silences()) is StreamExit.CLOSED
    assert [(event.seconds, event.known) for event in here.reported.only(AgentIdle)] == [
        (30, TaskKnowledge.QUIET),
        (30, TaskKnowledge.QUIET),
    ]
    here = Scene(quiet_notice_after=30, idle_timeout=10)
    silences = Silences(False)
    assert await here.consumer.consume(stream((60, chunk("a"))), silences) is StreamExit.SILENT
    assert [event.seconds for event in here.reported.only(AgentIdle)] == [10]
    assert silences.asked == 1


@on_virtual_time
async def test_a_silence_is_no_end() -> None:
    here = Scene(idle_timeout=10)
    silences = Silences()
    got = await here.consumer.consume(stream((1, chunk("a")), (25, chunk("b")), (9, chunk("c"))), silences)
    assert (got, here.reported.text, silences.asked) == (StreamExit.CLOSED, "abc", 2)


@on_virtual_time
async def test_a_stream_that_is_not_to_be_relied_on_is_left() -> None:
    here = Scene(idle_timeout=10)
    got = await here.consumer.consume(stream((1, chunk("a")), (50, chunk("b"))), Silences(True, False))
    assert (got, here.reported.text, here.now()) == (StreamExit.SILENT, "a", 21)


@on_virtual_time
@pytest.mark.parametrize(("state", "seconds"), [(TaskState.COMPLETED, 2.5), (TaskState.INPUT_REQUIRED, 3.0)])
async def test_after_the_end_it_is_waited_for_a_moment(state: TaskState, seconds: float) -> None:
    here = Scene()
    got = await here.consumer.consume(stream((1, status(state, "x")), open_for=500), never)
    assert (got, here.now()) == (StreamExit.LEFT, seconds)


async def stop_in(here: Scene, seconds: float) -> None:
    asyncio.get_running_loop().call_later(seconds, here.handle.stop, "U1")


@on_virtual_time
async def test_a_stop_is_at_once_where_there_is_a_task() -> None:
    here = Scene()
    await stop_in(here, 3)
    got = await here.consumer.consume(stream((1, chunk("a")), (50, chunk("b"))), never)
    assert (got, here.now(), here.reported.text) == (StreamExit.LEFT, 3, "a")


@on_virtual_time
async def test_a_stop_waits_for_the_task_that_is_to_be_stopped() -> None:
    here = Scene()
    await stop_in(here, 3)
    got = await here.consumer.consume(stream((20, chunk("a")), (50, chunk("b"))), never)
    assert (got, here.now()) == (StreamExit.LEFT, 20)


@on_virtual_time
async def test_a_stop_does_not_wait_for_ever_for_a_task_that_nobody_names() -> None:
    here = Scene(stop_timeout=30)
    await stop_in(here, 3)
    got = await here.consumer.consume(stream((900, chunk("a"))), never)
    assert (got, here.now(), here.reported.text) == (StreamExit.LEFT, 33, "")


@on_virtual_time
async def test_a_stop_may_wait_longer_than_a_silence() -> None:
    here = Scene(stop_timeout=50, idle_timeout=10)
    await stop_in(here, 3)
    got = await here.consumer.consume(stream((20, chunk("a")), (50, chunk("b"))), never)
    assert (got, here.now()) == (StreamExit.LEFT, 20)


async def test_the_first_user_who_stops_a_turn_counts() -> None:
    handle = TurnHandle()
    assert handle.stopped_by is None
    handle.stop("U1")
    handle.stop("U2")
    assert handle.stopped_by == "U1"


async def test_each_reason_is_reported_and_one_that_came_before_too() -> None:
    handle, calls = TurnHandle(), list[str]()
    handle.on_exit(lambda: calls.append("early"))
    assert calls == []
    handle.stop("U1")
    handle.on_exit(lambda: calls.append("late"))
    assert calls == ["early", "late"]
    handle.mark_gone()
    assert calls == ["early", "late"] * 2


@on_virtual_time
async def test_a_pause_is_as_long_as_it_says_unless_there_is_a_reason_to_leave() -> None:
    handle, now = TurnHandle(), asyncio.get_running_loop().time
    await handle.race(asyncio.sleep(5))
    assert now() == 5
    asyncio.get_running_loop().call_later(1, handle.stop, "U1")
    await handle.race(asyncio.sleep(5))
    await handle.race(asyncio.sleep(5))
    assert (now(), handle.must_exit, handle.is_gone) == (6, True, False)


@on_virtual_time
async def test_an_answer_to_the_agent_ends_the_waiting_and_stops_nothing() -> None:
    handle = TurnHandle()
    asyncio.get_running_loop().call_later(1, handle.leave)
    await handle.race(asyncio.sleep(5))
    assert asyncio.get_running_loop().time() == 1
    assert (handle.must_exit, handle.is_gone, handle.stopped_by) == (True, False, None)


@on_virtual_time
async def test_work_is_cancelled_when_nothing_can_be_shown_any_more() -> None:
    handle, cancelled, later = TurnHandle(), asyncio.Event(), list[str]()

    async def work() -> str:
        try:
            await asyncio.sleep(60)
        finally:
            cancelled.set()
        return "done"

    async def never() -> None:
        later.append("begun")

    asyncio.get_running_loop().call_later(2, handle.mark_gone)
    assert await handle.race(work()) is None
    assert (cancelled.is_set(), handle.is_gone) == (True, True)
    assert await handle.race(never()) is None
    assert later == []


@on_virtual_time
async def test_what_is_done_in_time_gives_its_result_or_its_error() -> None:
    async def fails() -> None:
        raise AgentUnreachable("no")

    handle = TurnHandle()
    assert await handle.race(asyncio.sleep(1, "done")) == "done"
    with pytest.raises(AgentUnreachable):
        await handle.race(fails())
