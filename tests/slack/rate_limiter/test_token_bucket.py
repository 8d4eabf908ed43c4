"""One budget: what it gives, what it learns from refusals, and how it recovers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.slack.rate_limiter.token_bucket import Rate, TokenBucket
from tests.examples import examples

TWENTY = Rate(20 / 60, 20)


def spent(bucket: TokenBucket, now: float) -> int:
    """Takes all there is; returns how many calls that were."""
    count = 0
    while bucket.has(1.0, now):
        bucket.take()
        count += 1
    return count


def test_a_burst_and_then_one_by_one() -> None:
    bucket = TokenBucket(TWENTY, 60, now=100)
    assert spent(bucket, 100) == 20
    assert bucket.when(1.0, 100) == pytest.approx(103)
    assert spent(bucket, 102.9) == 0
    assert spent(bucket, 103) == 1
    assert spent(bucket, 1000) == 20


def test_what_is_given_back_can_be_taken_again_and_no_more() -> None:
    bucket = TokenBucket(TWENTY, 60, now=0)
    spent(bucket, 0)
    bucket.put_back(0)
    assert spent(bucket, 0) == 1
    bucket.put_back(600)
    assert spent(bucket, 600) == 20


def test_a_refusal_blocks_for_as_long_as_slack_says_and_halves_the_rate() -> None:
    bucket = TokenBucket(TWENTY, 60, now=0)
    bucket.refuse(7, 0)
    assert (bucket.blocked_for(0), bucket.blocked_for(7), bucket.blocked_for(8)) == (7, 0, 0)
    assert bucket.when(1.0, 0) == 7
    assert not bucket.has(1.0, 6.9)
    assert spent(bucket, 7) == 1
    assert bucket.rate == TWENTY.per_second / 2
    assert bucket.when(1.0, 7) == pytest.approx(7 + 6)
    assert bucket.capacity == 10


def test_refusals_of_calls_under_way_together_are_one_refusal() -> None:
    bucket = TokenBucket(TWENTY, 60, now=0)
    for _ in range(5):
        bucket.refuse(7, 0)
    bucket.refuse(9, 1)
    assert bucket.rate == TWENTY.per_second / 2
    assert bucket.blocked_for(1) == 9
    bucket.refuse(1, 5)
    assert bucket.blocked_for(5) == 5, "a shorter block does not end a longer one"


def test_quiet_minutes_raise_the_rate_up_to_the_ceiling() -> None:
    bucket = TokenBucket(TWENTY, 60, now=0)
    bucket.refuse(10, 0)
    rates = []
    for now in (10, 69.9, 70, 130, 190, 1000):
        bucket.has(1.0, now)
        rates.append(round(bucket.rate * 60, 3))
    assert rates == [10, 10, 15, 20, 20, 20]


def test_it_never_learns_to_stand_still() -> None:
    bucket = TokenBucket(TWENTY, 60, now=0)
    for now in range(100):
        bucket.refuse(0, now)
    assert bucket.rate == TWENTY.per_second / 8
    assert spent(bucket, 100) == 1


def test_it_is_at_rest_when_there_is_nothing_to_remember() -> None:
    bucket = TokenBucket(TWENTY, 60, now=0)
    assert bucket.is_at_rest(0)
    bucket.take()
    assert not bucket.is_at_rest(0)
    assert bucket.is_at_rest(3)
    bucket.refuse(0, 3)
    assert not bucket.is_at_rest(50)
    assert bucket.is_at_rest(600)


@examples(1_000)
@given(
    st.lists(
        st.tuples(st.floats(0, 30), st.sampled_from(["take", "take", "take", "refuse", "put_back"])),
        max_size=60,
    )
)
def test_it_never_gives_more_than_slack_has(steps: list[tuple[float, str]]) -> None:
    """Against a bucket of Slack's that is refilled the same way: what ours gives, that one has."""
    bucket, now = TokenBucket(TWENTY, 60, now=0), 0.0
    slacks, taken = 20.0, 0
    for wait, step in steps:
        now += wait
        slacks = min(20.0, slacks + wait * TWENTY.per_second)
        if step == "refuse":
            bucket.refuse(wait, now)
        elif step == "put_back" and taken:
            bucket.put_back(now)
            slacks = min(20.0, slacks + 1)
            taken -= 1
        elif bucket.has(1.0, now):
            bucket.take()
            slacks -= 1
            taken += 1
        assert slacks >= -1e-3


@examples(1_000)
@given(st.floats(0, 1e6), st.integers(1, 20))
def test_when_is_when(start: float, tokens: int) -> None:
    bucket = TokenBucket(TWENTY, 60, now=start)
    spent(bucket, start)
    at = bucket.when(tokens, start)
    assert not bucket.has(tokens, start)
    assert not bucket.has(tokens, at - 0.1)
    assert bucket.has(tokens, at)
