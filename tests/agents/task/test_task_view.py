"""What a stream said and what the task says are one picture: nothing is told twice."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

import pytest

from slack_bot.agents.wire.frames import (
    AgentMessage,
    Artifact,
    ArtifactUpdate,
    Frame,
    MessageReply,
    Part,
    Received,
    Snapshot,
    StatusUpdate,
    TaskState,
)
from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.turn.events import (
    AgentIdle,
    AnswerReplaced,
    AnswerText,
    Attached,
    AuthCompleted,
    FinalAnswer,
    TaskEnded,
    TaskKnowledge,
    TaskKnown,
    ToolStarted,
)

from .consumer_side import Scene, chunk, snapshot, status


def result(task_id: str | None) -> ArtifactUpdate:
    return ArtifactUpdate(Artifact("a", "final_result", parts=(Part(text="R"),)), task_id, last_chunk=True)


HALF = ArtifactUpdate(Artifact("a", "answer", parts=(Part(text="half"),)))
REPLY = MessageReply(AgentMessage("m", parts=(Part(text="all"),), task_id="t"))


@pytest.mark.parametrize(
    ("frame", "closed", "cut"),
    [
        (status(TaskState.COMPLETED), True, True),
        (status(TaskState.FAILED), True, True),
        (status(TaskState.INPUT_REQUIRED), True, True),
        (status(TaskState.AUTH_REQUIRED), True, True),
        (status(TaskState.WORKING), False, False),
        (result("t"), True, False),
        (result(None), True, True),
        (chunk("half"), False, False),
        (HALF, True, False),
        (REPLY, True, False),
        (None, False, False),
    ],
)
async def test_cut_and_ended_are_different_things(frame: Frame | None, closed: bool, cut: bool) -> None:
    here = Scene()
    if frame is not None:
        await here.view.on_frame(Received({}, frame))
    assert (here.view.has_ended(cut=False), here.view.has_ended(cut=True)) == (closed, cut)


async def test_ids_are_learned_from_any_event() -> None:
    here = Scene()
    assert here.view.task_id is None
    await here.view.on_frame(Received({}, chunk("Hello ")))
    assert here.view.task_id == "t"
    assert here.reported.only(TaskKnown)[0].context_id == "c"


async def test_the_task_as_it_stands_gives_only_what_is_new() -> None:
    here = Scene()
    await here.view.on_frame(Received({}, chunk("one ")))
    assert await here.view.on_frame(Received({}, snapshot("one two ")), is_polled=True)
    assert not await here.view.on_frame(Received({}, snapshot("one two ")), is_polled=True)
    await here.view.on_frame(Received({}, chunk("three")))
    assert here.reported.text == "one two three"
    assert [event.text for event in here.reported.only(AnswerText)] == ["one ", "two ", "three"]


async def test_a_task_that_was_rewritten_is_told_whole() -> None:
    here = Scene()
    await here.view.on_frame(Received({}, chunk("one two ")))
    assert await here.view.on_frame(Received({}, snapshot("one")), is_polled=True)
    assert here.reported.only(AnswerReplaced) == [AnswerReplaced("one", "the task as it stands")]


@pytest.mark.parametrize("habit", ["artifact", ""])
@pytest.mark.parametrize("is_begun", [True, False])
async def test_unmarked_text_that_only_the_task_has_is_not_left_out(is_begun: bool, habit: str) -> None:
    """After a cut, or after another process. `habit`: such text is known to be this agent's answer."""
    here = Scene("t", habits={"answer_source": habit} if habit else {})
    if is_begun:
        await here.view.on_frame(Received({}, chunk("one ", append=False, name="streaming_result")))
    known = snapshot("one two ", name="streaming_result")
    await here.view.on_frame(Received({}, known), is_polled=True)
    await here.view.on_frame(Received({}, known))
    await here.view.on_frame(Received({}, chunk("three", name="streaming_result")))
    if habit:
        assert here.reported.text == "one two three"
    await here.view.on_frame(Received({}, status(TaskState.COMPLETED)))
    await here.view.finish()
    assert here.reported.text == "one two three"


async def test_how_the_task_ended_is_news() -> None:
    here = Scene()
    await here.view.on_frame(Received({}, chunk("one")))
    assert not here.view.is_over
    assert await here.view.on_frame(Received({}, snapshot("one", TaskState.COMPLETED)), is_polled=True)
    assert here.view.is_over
    assert len(here.reported.only(TaskEnded)) == 1
    await here.view.finish()
    assert here.reported.only(FinalAnswer)[0].text == "one"


async def test_a_question_ends_it_too() -> None:
    here = Scene()
    await here.view.on_frame(Received({}, status(TaskState.INPUT_REQUIRED, "Which?")))
    assert here.view.is_over and here.view.is_settled


async def test_a_task_that_goes_on_after_a_sign_in_is_told_before_what_it_says() -> None:
    for state in (TaskState.WORKING, TaskState.COMPLETED):
        here = Scene()
        await here.view.on_frame(Received({}, status(TaskState.WORKING, "Hm.")))
        await here.view.on_frame(Received({}, status(TaskState.AUTH_REQUIRED, "Sign in")))
        await here.view.on_frame(Received({}, chunk("text")))
        assert not here.reported.only(AuthCompleted)
        await here.view.on_frame(Received({}, status(state)))
        kinds = [type(event) for event in here.reported.events]
        assert AuthCompleted in kinds[-3:-1]
        assert not here.view.is_settled
    here = Scene()
    await here.view.on_frame(Received({}, status(TaskState.INPUT_REQUIRED, "Which?")))
    await here.view.on_frame(Received({}, status(TaskState.WORKING)))
    assert not here.reported.only(AuthCompleted)


@on_virtual_time
async def test_the_reader_is_told_of_a_silence_now_and_then() -> None:
    here = Scene(lost_notice_after=15)
    for _ in range(30):
        await asyncio.sleep(5)
        here.view.notify_waiting("asked", TaskKnowledge.WORKING)
    assert [event.seconds for event in here.reported.only(AgentIdle)] == [15, 75, 135]
    await here.view.on_frame(Received({}, chunk("x")))
    await asyncio.sleep(14)
    here.view.notify_waiting("asked", TaskKnowledge.WORKING)
    assert len(here.reported.only(AgentIdle)) == 3
    await asyncio.sleep(1)
    here.view.notify_waiting("asked", TaskKnowledge.WORKING)
    assert here.reported.only(AgentIdle)[-1].seconds == 15


async def turns_while(work: Awaitable[object]) -> int:
    """How many times the loop ran while `work` was done."""
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count())
    await work
    counting.cancel()
    return turns


async def test_the_loop_runs_while_a_large_event_is_read() -> None:
    text = '{"content": "x", ' + '"' * 200_000
    here = Scene()
    assert await turns_while(here.view.on_frame(Received({}, chunk(text), len(text)))) > 10
    assert here.reported.text == "x"


async def test_the_loop_runs_while_a_large_task_is_laid_against_what_is_known() -> None:
    parts = (Part(text="a "),) * 100_000
    task = Snapshot("t", "c", TaskState.COMPLETED, artifacts=(Artifact("a", parts=parts),))
    here = Scene()
    assert await turns_while(here.view.on_frame(Received({}, task), is_polled=True)) > 10
    assert await turns_while(here.view.finish()) > 0
    assert here.reported.text == "a " * 100_000


async def test_the_loop_runs_while_many_events_of_one_frame_are_told() -> None:
    call = {"adk_type": "function_call"}
    parts = tuple(Part(data={"name": "t", "id": f"{n}"}, has_data=True, metadata=call) for n in range(1000))
    here = Scene()
    frame = ArtifactUpdate(Artifact("a", parts=parts))
    assert await turns_while(here.view.on_frame(Received({}, frame))) >= 10
    assert len(here.reported.only(ToolStarted)) == 1000


async def test_the_loop_runs_while_many_tables_are_told_at_the_end() -> None:
    rows = [[{"a": n, "b": 1}, {"a": n, "b": 2}] for n in range(1000)]
    here = Scene()
    parts = tuple(Part(data=each, has_data=True) for each in rows)
    await here.view.on_frame(Received({}, ArtifactUpdate(Artifact("a", parts=parts))))
    await here.view.on_frame(Received({}, StatusUpdate("t", "c", TaskState.COMPLETED)))
    assert await turns_while(here.view.finish()) >= 100
    assert len(here.reported.only(Attached)) == 1000
