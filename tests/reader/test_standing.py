"""What a stream said and what the task says are one picture: nothing is told twice."""

from __future__ import annotations

import asyncio

from slack_bot.a2a.frames import TaskState
from slack_bot.turn.events import (
    AnswerReplaced,
    AnswerText,
    FinalAnswer,
    Known,
    TaskEnded,
    TaskKnown,
    Waited,
    WentOn,
)
from tests.whole_bot import on_virtual_time

from .hearing import chunk, scene, snapshot, status


async def test_ids_are_learned_from_any_event() -> None:
    async with scene() as here:
        assert here.standing.task_id is None
        here.standing.hear(chunk("Hello "), {})
        assert here.standing.task_id == "t"
        assert here.told.only(TaskKnown)[0].context_id == "c"


async def test_the_task_as_it_stands_gives_only_what_is_new() -> None:
    async with scene() as here:
        here.standing.hear(chunk("one "), {})
        assert here.standing.lay(snapshot("one two "), {})
        assert not here.standing.lay(snapshot("one two "), {})
        here.standing.hear(chunk("three"), {})
        assert here.told.text == "one two three"
        assert [event.text for event in here.told.only(AnswerText)] == ["one ", "two ", "three"]


async def test_a_task_that_was_rewritten_is_told_whole() -> None:
    async with scene() as here:
        here.standing.hear(chunk("one two "), {})
        assert here.standing.lay(snapshot("one"), {})
        assert here.told.only(AnswerReplaced) == [AnswerReplaced("one", "the task as it stands")]


async def test_how_the_task_ended_is_news() -> None:
    async with scene() as here:
        here.standing.hear(chunk("one"), {})
        assert not here.standing.is_over
        assert here.standing.lay(snapshot("one", TaskState.COMPLETED), {})
        assert here.standing.is_over
        assert len(here.told.only(TaskEnded)) == 1
        here.standing.finish()
        assert here.told.only(FinalAnswer)[0].text == "one"


async def test_a_question_ends_it_too() -> None:
    async with scene() as here:
        here.standing.hear(status(TaskState.INPUT_REQUIRED, "Which?"), {})
        assert here.standing.is_over and here.standing.is_settled


async def test_a_task_that_goes_on_after_a_sign_in_is_told_before_what_it_says() -> None:
    for state in (TaskState.WORKING, TaskState.COMPLETED):
        async with scene() as here:
            here.standing.hear(status(TaskState.WORKING, "Hm."), {})
            here.standing.hear(status(TaskState.AUTH_REQUIRED, "Sign in"), {})
            here.standing.hear(chunk("text"), {})
            assert not here.told.only(WentOn)
            here.standing.hear(status(state), {})
            kinds = [type(event) for event in here.told.events]
            assert WentOn in kinds[-3:-1]
            assert not here.standing.is_settled
    async with scene() as here:
        here.standing.hear(status(TaskState.INPUT_REQUIRED, "Which?"), {})
        here.standing.hear(status(TaskState.WORKING), {})
        assert not here.told.only(WentOn)


@on_virtual_time
async def test_the_reader_is_told_of_a_silence_now_and_then() -> None:
    async with scene(silence_told=15) as here:
        for _ in range(30):
            await asyncio.sleep(5)
            here.standing.waited("asked", Known.WORKING)
        assert [event.seconds for event in here.told.only(Waited)] == [15, 75, 135]
        here.standing.hear(chunk("x"), {})
        await asyncio.sleep(14)
        here.standing.waited("asked", Known.WORKING)
        assert len(here.told.only(Waited)) == 3
        await asyncio.sleep(1)
        here.standing.waited("asked", Known.WORKING)
        assert here.told.only(Waited)[-1].seconds == 15
