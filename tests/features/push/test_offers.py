"""Where an agent posts news of a task. That it does is in `tests/threads/test_watch.py`."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import replace

from slack_bot.features.push.offers import PushOffers
from slack_bot.turn.progress import TurnRecord
from slack_bot.turn.record import Question, ThreadKey
from tests.agents_of import agents_of, only
from tests.live_agent import live_agent

URL = "https://bot.example"

TURN = TurnRecord(Question(ThreadKey("T1", "C1", "1.0"), "1.0", "U1", "T1", "hi"), 1.0, task_id="t")


async def test_an_address_is_made_once_for_a_task_that_is_known() -> None:
    async with live_agent(("1.0",), push="no") as live, AsyncExitStack() as closers:
        offers = PushOffers(await agents_of(closers, only(live.url)), URL)
        assert offers.new_target(replace(TURN, task_id=None)) is None
        target = offers.new_target(TURN)
        assert target is not None
        assert target.url.startswith(f"{URL}/a2a/push/")
        assert offers.new_target(replace(TURN, push_id=target.push_id)) is None
        assert await offers.offer(TURN, target) is False, "the card offers no push"
        assert live.pushes == []


async def test_an_agent_that_is_away_is_none_that_posts() -> None:
    async with AsyncExitStack() as closers:
        offers = PushOffers(await agents_of(closers, only("http://127.0.0.1:9")), URL)
        target = offers.new_target(TURN)
        assert target is not None
        assert await offers.offer(TURN, target) is False


async def test_an_agent_that_was_taken_out_of_the_settings_is_not_told() -> None:
    async with AsyncExitStack() as closers:
        offers = PushOffers(await agents_of(closers, only("http://127.0.0.1:9")), URL)
        gone = replace(TURN, agent="ops", push_id="p")
        target = offers.new_target(replace(gone, push_id=None))
        assert target is not None
        assert await offers.offer(gone, target) is False
        await offers.withdraw(gone)
