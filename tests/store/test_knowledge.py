"""What is known of a thread; and a form is answered once, however many press at however many processes."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

import pytest

from slack_bot.store.collection import Ages
from slack_bot.store.knowledge import MOST_WAITS, AgentContext
from slack_bot.store.redis import open_redis
from tests.redis_server import RedisServer

from . import subjects
from .contract import opened


def test_a_new_conversation_knows_nothing() -> None:
    assert AgentContext() == AgentContext(None, {})


def test_each_person_is_waited_for_apart() -> None:
    both = AgentContext("c").asked("U1", "a").asked("U2", "b")
    assert both == AgentContext("c", {"U1": "a", "U2": "b"})
    assert both.answered("U1") == AgentContext("c", {"U2": "b"})
    assert both.answered("U3") == both


def test_who_is_asked_again_stands_last_with_the_new_task() -> None:
    again = AgentContext("c", {"U1": "a", "U2": "b"}).asked("U1", "d")
    assert list(again.waits.items()) == [("U2", "b"), ("U1", "d")]


def test_what_nobody_in_particular_was_asked_anybody_may_answer() -> None:
    known = AgentContext("c").asked("", "a").asked("U1", "b")
    assert (known.task_for("U1"), known.task_for("U2")) == ("b", "a")
    assert known.answered("U1") == AgentContext("c", {"": "a"})
    assert known.answered("U2") == AgentContext("c", {"U1": "b"})
    assert AgentContext("c").asked("", "a").asked("U1", "a") == AgentContext("c", {"U1": "a"})
    assert AgentContext("c", {"U1": "b"}).task_for("U2") is None


def test_of_too_many_people_the_first_is_let_go() -> None:
    known = AgentContext("c")
    for number in range(MOST_WAITS + 1):
        known = known.asked(f"U{number}", "task")
    assert list(known.waits) == [f"U{number}" for number in range(1, MOST_WAITS + 1)]
    assert len(known.asked("U7", "another").waits) == MOST_WAITS


def test_whom_an_agent_waits_for_cannot_be_changed_from_outside() -> None:
    given = {"U1": "a"}
    known = AgentContext("c", given)
    given["U2"] = "b"
    with pytest.raises(TypeError):
        known.waits["U3"] = "c"  # type: ignore[index]
    assert known == AgentContext("c", {"U1": "a"})
    assert hash(known) == hash(AgentContext("c", {"U1": "a"}))


@pytest.mark.parametrize("round_", range(5))
async def test_of_ten_presses_at_two_replicas_one_ends_the_form(
    round_: int, redis_server: RedisServer
) -> None:
    async with AsyncExitStack() as stack:
        stores = []
        for _ in range(2):
            stores.append(await open_redis(redis_server.url, Ages(), patience=60.0))
            stack.push_async_callback(stores[-1].close)
        handle = f"h{round_}"
        await subjects.open_form(stores[0], opened(handle))
        taken = await asyncio.gather(
            *(
                subjects.take_form(stores[number % 2], handle, f"key-{number}", f"U{number}", 1001.0)
                for number in range(10)
            )
        )
        winners = {each.taken_by for each in taken if each is not None}
        assert len(taken) == 10 and len(winners) == 1
        (kept,) = [await subjects.form_of(stores[1], handle)]
        assert kept is not None and {kept.taken_by} == winners
