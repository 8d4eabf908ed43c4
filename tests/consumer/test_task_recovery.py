"""A task whose stream is lost is followed to its end, by its stream on 1.0 and by asking on 0.3."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import Any

import pytest

from slack_bot.a2a.recovery_policy import PollResult, TaskLost
from slack_bot.a2a.wire.frames import Frame, Received, Snapshot, TaskState
from slack_bot.consumer.task_recovery import TaskRecovery
from slack_bot.errors import AgentError, AgentFailed, AgentRefused, StreamCut
from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.turn.events import AgentIdle

from .consumer_side import Scene, chunk, snapshot, status, stream

WORKING, COMPLETED = TaskState.WORKING, TaskState.COMPLETED
AUTH = TaskState.AUTH_REQUIRED
FORGOTTEN = AgentFailed("gone", code=-32001)
NO_METHOD = AgentFailed("no such method", code=-32601)
CUT = StreamCut("cut")


class TaskServer:
    """An agent that only knows about tasks: the n-th look gives the n-th answer, the last one for ever."""

    def __init__(
        self, looks: Sequence[Snapshot | AgentError], joins: Sequence[Sequence[tuple[float, Any]]] = ()
    ) -> None:
        self.looks, self.joins = list(looks), list(joins)
        self.can_resubscribe = bool(joins)
        self.asked: list[tuple[float, str]] = []

    async def get(self, task_id: str, messages: int) -> Snapshot:
        self._note("get", task_id)
        answer = self.looks.pop(0) if len(self.looks) > 1 else self.looks[0]
        if isinstance(answer, AgentError):
            raise answer
        return answer

    async def subscribe(self, task_id: str) -> AsyncGenerator[Received, None]:
        self._note("join", task_id)
        frames: list[tuple[float, Frame | Exception]] = list(self.joins.pop(0))
        async for received in stream(*frames):
            yield received

    def _note(self, what: str, task_id: str) -> None:
        assert task_id == "t"
        self.asked.append((asyncio.get_running_loop().time(), what))


def recovery(here: Scene, server: TaskServer) -> TaskRecovery:
    agent: Any = server
    return TaskRecovery(agent, here.view, here.consumer, here.handle, here.settings, here.now, "seed")


STEADY = {"poll_jitter": 0.0}


@on_virtual_time
async def test_on_0_3_the_task_is_read_until_it_is_over() -> None:
    server = TaskServer([snapshot("one "), snapshot("one two "), snapshot("one two three", COMPLETED)])
    here = Scene("t", **STEADY)
    await here.view.on_frame(Received({}, chunk("one ")))
    assert await recovery(here, server).follow() is None
    assert here.reported.text == "one two three"
    assert server.asked == [(0, "get"), (1, "get"), (2, "get")]


@on_virtual_time
async def test_on_1_0_the_stream_is_joined_and_begins_with_what_is_known() -> None:
    joined = [(1, snapshot("one two ")), (1, chunk("three")), (1, status(COMPLETED))]
    server = TaskServer([snapshot("one two ")], [joined])
    here = Scene("t", **STEADY)
    await here.view.on_frame(Received({}, chunk("one ")))
    assert await recovery(here, server).follow() is None
    assert here.reported.text == "one two three"
    assert [what for _, what in server.asked] == ["get", "join"]


@on_virtual_time
async def test_a_joined_stream_may_break_as_well() -> None:
    joins = [
        [(1, snapshot("one two ")), (1, chunk("three ")), (0, CUT)],
        [(0, CUT)],
        [(0, snapshot("one two three four ")), (1, chunk("five")), (1, status(COMPLETED))],
    ]
    looks = [snapshot("one two "), snapshot("one two three "), snapshot("one two three four ")]
    server = TaskServer(looks, joins)
    here = Scene("t", **STEADY)
    assert await recovery(here, server).follow() is None
    assert here.reported.text == "one two three four five"


@on_virtual_time
async def test_a_joined_stream_without_the_task_may_have_a_gap_so_the_task_is_asked_for_at_the_end() -> None:
    joined = [(1, chunk("three")), (1, status(COMPLETED))]
    server = TaskServer([snapshot("one "), snapshot("one two three", COMPLETED)], [joined])
    here = Scene("t", **STEADY)
    await here.view.on_frame(Received({}, chunk("one ")))
    assert await recovery(here, server).follow() is None
    assert here.reported.text == "one two three"
    assert [what for _, what in server.asked] == ["get", "join", "get"]


@on_virtual_time
async def test_an_agent_that_offers_no_joining_is_polled() -> None:
    server = TaskServer([snapshot("a"), snapshot("a"), snapshot("ab", COMPLETED)], [[(0, NO_METHOD)]])
    here = Scene("t", **STEADY)
    assert await recovery(here, server).follow() is None
    assert [what for _, what in server.asked] == ["get", "join", "get", "get"]


@on_virtual_time
@pytest.mark.parametrize(
    ("answer", "forgotten", "seconds"),
    [
        (FORGOTTEN, True, 1),
        (NO_METHOD, False, 0),
        (CUT, False, 56),
        (AgentFailed("x", code=-32603), False, 56),
    ],
)
async def test_what_cannot_be_learned_ends_in_time(
    answer: AgentError, forgotten: bool, seconds: float
) -> None:
    here = Scene("t", **STEADY, poll_timeout=60)
    end = await recovery(here, TaskServer([answer])).follow()
    assert isinstance(end, TaskLost)
    assert (end.is_forgotten, here.now()) == (forgotten, seconds)


@on_virtual_time
async def test_a_busy_agent_is_left_alone_for_as_long_as_it_wants() -> None:
    busy = AgentRefused("busy", status=503, retry_after=20.0)
    server = TaskServer([busy, snapshot("a", COMPLETED)])
    here = Scene("t", **STEADY)
    assert await recovery(here, server).follow() is None
    assert server.asked == [(0, "get"), (20, "get")]


@on_virtual_time
async def test_a_task_that_goes_on_is_followed_without_end_and_the_reader_is_told() -> None:
    here = Scene("t", **STEADY, poll_timeout=10)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(1000):
            await recovery(here, TaskServer([snapshot("a")])).follow()
    assert len(here.reported.only(AgentIdle)) == 17
    assert here.reported.text == "a"


@on_virtual_time
async def test_a_stop_ends_it_at_once() -> None:
    here = Scene("t", **STEADY)
    asyncio.get_running_loop().call_later(100.5, here.handle.stop, "U1")
    assert await recovery(here, TaskServer([snapshot("a")])).follow() == TaskLost("left")
    assert here.now() == 100.5


async def silent_then(here: Scene, look: Snapshot | AgentError) -> bool:
    decide: Callable[[], Awaitable[bool]] = recovery(here, TaskServer([look])).on_silence
    return await decide()


@pytest.mark.parametrize(
    ("look", "listens"),
    [
        (snapshot("known"), True),
        (NO_METHOD, True),
        (snapshot("known and more"), False),
        (snapshot("known", COMPLETED), False),
        (FORGOTTEN, False),
        (CUT, False),
    ],
)
async def test_a_silent_stream_is_listened_to_while_the_task_knows_no_more(
    look: Snapshot | AgentError, listens: bool
) -> None:
    here = Scene("t")
    await here.view.on_frame(Received({}, chunk("known")))
    assert await silent_then(here, look) is listens


async def test_before_there_is_a_task_the_stream_is_all_there_is() -> None:
    here = Scene()
    assert await silent_then(here, FORGOTTEN)


async def test_a_look_says_what_it_found() -> None:
    here = Scene("t")
    server = TaskServer([snapshot("a"), snapshot("a"), snapshot("a", WORKING), snapshot("a", COMPLETED)])
    look = recovery(here, server).poll
    assert [await look() for _ in range(4)] == [
        PollResult.NEWS,
        PollResult.RUNNING,
        PollResult.RUNNING,
        PollResult.OVER,
    ]


@on_virtual_time
async def test_a_stream_on_which_a_sign_in_is_waited_for_may_be_silent() -> None:
    looks = [snapshot(state=AUTH), FORGOTTEN, snapshot("Done.", COMPLETED)]
    here = Scene("t")
    await here.view.on_frame(Received({}, status(AUTH, "Sign in")))
    course = recovery(here, TaskServer(looks))
    assert [await course.on_silence() for _ in looks] == [True, True, False]
    assert not here.reported.only(AgentIdle)
