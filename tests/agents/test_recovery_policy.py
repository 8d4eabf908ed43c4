"""A question is offered again only while it cannot have been taken."""

from __future__ import annotations

import pytest

from slack_bot.agents.recovery_policy import PollPolicy, PollResult, RetryPolicy, TaskLost
from slack_bot.errors import AgentError, AgentFailed, AgentRefused, AgentUnreachable, CardError, StreamCut

STEPS = (1.0, 2.0, 3.0, 5.0)


def test_the_looks_at_a_task_grow_apart() -> None:
    each = pursuit()
    assert [each.after(PollResult.RUNNING, 0.0) for _ in range(6)] == [1.0, 2.0, 3.0, 5.0, 5.0, 5.0]


def test_the_looks_of_two_turns_do_not_come_together_and_one_turn_s_are_repeatable() -> None:
    turns = [pursuit(jitter=0.2, seed=seed) for seed in ("a", "b", "a")]
    one, two, again = ([each.after(PollResult.RUNNING, 0.0) for _ in range(20)] for each in turns)
    assert one == again != two
    assert all(isinstance(pause, float) and 4.0 <= pause <= 6.0 for pause in one[3:])


def refused(status: int, after: float | None = None) -> AgentRefused:
    return AgentRefused("no", status=status, retry_after=after)


@pytest.mark.parametrize(
    ("errors", "found"),
    [
        ([AgentUnreachable("no")] * 3, [1.0, 2.0, None]),
        ([refused(401)] * 2, [0.0, None]),
        ([refused(403)], [None]),
        ([refused(429, 7.0), refused(503, 2.0)], [7.0, 2.0]),
        ([refused(429), refused(503)], [None, None]),
        ([refused(503, 31.0)], [None]),
        ([refused(500, 1.0)], [None]),
        ([StreamCut("cut"), CardError("no"), AgentFailed("x", code=-32603)], [None, None, None]),
    ],
)
def test_only_a_question_that_was_not_taken_is_offered_again(
    errors: list[AgentError], found: list[float | None]
) -> None:
    offers = RetryPolicy(retries=2, until=30.0)
    assert [offers.pause_after(error, now=0.0) for error in errors] == found


def test_an_offer_is_not_made_for_ever() -> None:
    offers = RetryPolicy(retries=9, until=30.0)
    assert offers.pause_after(refused(429, 5.0), now=25.0) == 5.0
    assert offers.pause_after(refused(429, 5.0), now=25.1) is None


def pursuit(
    *, joins: bool = False, patience: float = 20.0, jitter: float = 0.0, seed: str = "x"
) -> PollPolicy:
    return PollPolicy(STEPS, jitter, seed, patience=patience, joins=joins, now=0.0)


def test_where_a_stream_cannot_be_joined_the_task_is_looked_at_again_and_again() -> None:
    each = pursuit()
    found = [
        each.after(look, 0.0) for look in [PollResult.RUNNING] * 5 + [PollResult.NEWS, PollResult.RUNNING]
    ]
    assert found == [1.0, 2.0, 3.0, 5.0, 5.0, 1.0, 2.0]


def test_a_stream_is_joined_at_once_and_not_in_a_hurry_when_that_brings_nothing() -> None:
    each = pursuit(joins=True)
    assert each.after(PollResult.RUNNING, 0.0) is None
    each.joined(brought_news=False, possible=True)
    assert [each.after(PollResult.RUNNING, 0.0) for _ in range(4)] == [
        1.0,
        None,
        2.0,
        None,
    ]
    each.joined(brought_news=True, possible=True)
    assert each.after(PollResult.RUNNING, 0.0) is None


def test_an_agent_that_lets_nobody_join_is_polled() -> None:
    each = pursuit(joins=True)
    assert each.after(PollResult.NEWS, 0.0) is None
    each.joined(brought_news=False, possible=False)
    assert [each.after(PollResult.RUNNING, 0.0) for _ in range(2)] == [1.0, 2.0]


def test_a_task_is_forgotten_when_that_was_said_twice_in_a_row() -> None:
    each = pursuit()
    assert each.after(PollResult.UNKNOWN, 0.0) == 1.0
    assert each.after(PollResult.RUNNING, 1.0) == 2.0
    assert each.after(PollResult.UNKNOWN, 3.0) == 3.0
    end = each.after(PollResult.UNKNOWN, 6.0)
    assert isinstance(end, TaskLost) and end.is_forgotten


def test_an_agent_that_gives_no_answer_is_asked_for_so_long_and_no_longer() -> None:
    each = pursuit(patience=10.0)
    assert each.after(PollResult.AWAY, 0.0, retry_after=4.0) == 4.0
    assert each.after(PollResult.RUNNING, 4.0) == 2.0
    assert each.after(PollResult.AWAY, 6.0) == 3.0
    assert each.after(PollResult.AWAY, 9.0) == 5.0
    assert isinstance(each.after(PollResult.AWAY, 14.0), TaskLost)


def test_an_agent_without_a_way_to_ask_for_tasks_is_not_asked_again() -> None:
    end = pursuit().after(PollResult.CANNOT, 0.0)
    assert isinstance(end, TaskLost) and not end.is_forgotten
