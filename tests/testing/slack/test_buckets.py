"""How often a method may be called: budgets, pauses, and the two forms of a refusal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.testing.slack.buckets import Buckets, Limited
from slack_bot.testing.slack.rules import MethodRate

NOW = 1_700_000_000.0
POSTS = {"post": (MethodRate(1, 1.0, burst=2, per_channel=True), MethodRate(6))}


def taken(buckets: Buckets, method: str, times: int, *, now: float = NOW, channel: str = "C1") -> int:
    return sum(buckets.take(method, channel, now) is None for _ in range(times))


@pytest.mark.parametrize("rates", [None, {}, {"other": (MethodRate(1),)}])
def test_what_has_no_rate_has_no_limit(rates: dict[str, tuple[MethodRate, ...]] | None) -> None:
    assert taken(Buckets(rates), "call", 1_000) == 1_000


def test_a_bucket_fills_evenly_up_to_its_burst() -> None:
    buckets = Buckets({"call": (MethodRate(20),)})
    assert taken(buckets, "call", 20) == 20
    assert taken(buckets, "call", 1, now=NOW + 3) == 1
    assert taken(buckets, "call", 3, now=NOW + 9) == 2
    assert taken(buckets, "call", 100, now=NOW + 10_000) == 20


def test_a_refusal_closes_the_method_until_it_is_over() -> None:
    buckets = Buckets({"call": (MethodRate(20),)})
    taken(buckets, "call", 20)
    assert buckets.take("call", "", NOW + 0.5) == Limited(3, in_band=False)
    assert buckets.take("call", "", NOW + 3.4) == Limited(1, in_band=False)
    assert buckets.take("call", "", NOW + 4.5) is None


def test_of_two_rates_the_harder_one_decides() -> None:
    buckets = Buckets(POSTS)
    assert taken(buckets, "post", 3) == 2
    assert taken(buckets, "post", 3, channel="C2") == 2
    assert taken(buckets, "post", 3, channel="C3") == 2
    assert buckets.take("post", "C4", NOW) == Limited(10, in_band=False)
    assert buckets.take("post", "C1", NOW + 9.5) == Limited(1, in_band=False)
    assert buckets.take("post", "C4", NOW + 10.5) is None


def test_streams_hear_of_it_in_the_body_every_second_time() -> None:
    rates = {"chat.startStream": (MethodRate(1),), "chat.update": (MethodRate(1),)}
    for method, forms in (("chat.startStream", [False, True, False]), ("chat.update", [False] * 3)):
        buckets = Buckets(rates)
        taken(buckets, method, 1)
        refused = [buckets.take(method, "", NOW) for _ in range(3)]
        assert [limited and limited.in_band for limited in refused] == forms


@given(st.lists(st.floats(0, 30), max_size=60))
def test_no_minute_holds_more_than_a_burst_and_a_minutes_calls(pauses: list[float]) -> None:
    buckets, now, times = Buckets({"call": (MethodRate(4, burst=2),)}), NOW, []
    for pause in pauses:
        now += pause
        if buckets.take("call", "", now) is None:
            times.append(now)
    for first in times:
        assert sum(first <= at < first + 60 for at in times) <= 2 + 4


@given(st.lists(st.floats(0, 30), max_size=60))
def test_who_waits_as_told_is_taken(pauses: list[float]) -> None:
    buckets, now = Buckets(POSTS), NOW
    for pause in pauses:
        now += pause
        limited = buckets.take("post", "C1", now)
        if limited is not None:
            now += limited.retry_after
            assert buckets.take("post", "C1", now) is None
