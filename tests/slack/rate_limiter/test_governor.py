"""Who goes when: budgets, order, fairness, refusals. Time is a number here."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.slack.methods import Priority
from slack_bot.slack.rate_limiter.governor import CallRequest, Governor, Rate, TokenBucket, key_of
from tests.examples import examples

BUDGETS = {
    "start": Rate(20 / 60, 20),
    "stop": Rate(20 / 60, 20),
    "append": Rate(100 / 60, 100),
    "status": Rate(10, 600),
    "chat.postMessage": Rate(1, 1),
    "": Rate(50 / 60, 50),
}


class Counter:
    """A governor and those who ask it."""

    def __init__(self, budgets: Mapping[str, Rate] = BUDGETS) -> None:
        self.governor = Governor(budgets)

    def ask(
        self,
        method: str = "append",
        now: float = 0.0,
        *,
        priority: Priority = Priority.LATER,
        unseen_since: float | None = None,
        patience: float = 60.0,
        channel: str = "C1",
        turn: str = "",
    ) -> CallRequest:
        since = now if unseen_since is None else unseen_since
        request = CallRequest(method, priority, patience, channel, since, turn=turn, asked_at=now)
        self.governor.ask(request, now)
        return request

    def rate(self, method: str, now: float, channel: str = "") -> float:
        """What a budget has learned."""
        bucket = self.governor._buckets[method, channel]
        bucket.has(0.0, now)
        return bucket.rate

    def granted(self, now: float) -> list[CallRequest]:
        return [request for request, blocked_for in self.governor.decide(now) if blocked_for is None]

    def spend(self, method: str, now: float = 0.0, *, priority: Priority = Priority.FIRST) -> None:
        """Use up a budget."""
        while True:
            request = self.ask(method, now, priority=priority)
            if not self.granted(now):
                self.governor.drop(request, now)
                return


def test_who_comes_goes_while_there_is_a_budget() -> None:
    counter = Counter()
    assert counter.governor.next_at(0) is None
    requests = [counter.ask("start", priority=Priority.START) for _ in range(23)]
    assert counter.governor.next_at(0) == 0
    assert counter.granted(0) == requests[:20]
    assert counter.granted(0) == []
    assert counter.governor.next_at(0) == pytest.approx(3)
    assert counter.granted(3) == requests[20:21]
    assert counter.granted(9) == requests[21:]
    assert counter.governor.next_at(9) is None


def test_budgets_are_counted_for_each_method() -> None:
    counter = Counter()
    counter.spend("start")
    stop = counter.ask("stop", priority=Priority.STOP)
    counter.ask("start", priority=Priority.START, channel="C2")
    assert counter.granted(0) == [stop]
    assert counter.governor.next_at(0) == pytest.approx(3)


def test_posts_are_counted_for_each_channel() -> None:
    counter = Counter()
    one = counter.ask("chat.postMessage")
    counter.ask("chat.postMessage")
    other = counter.ask("chat.postMessage", channel="C2")
    assert counter.granted(0) == [one, other]
    assert counter.governor.next_at(0) == pytest.approx(1)


def test_a_method_nobody_named_has_a_budget_too() -> None:
    counter = Counter()
    for _ in range(60):
        counter.ask("views.open", priority=Priority.STOP)
    assert len(counter.granted(0)) == 50


def test_the_order() -> None:
    counter = Counter()
    counter.spend("append")
    requests = [counter.ask(priority=priority) for priority in reversed(Priority)]
    assert counter.granted(60) == requests[::-1]


def test_among_equals_the_one_whose_reader_has_seen_nothing_for_the_longest_goes_first() -> None:
    counter = Counter()
    counter.spend("append")
    seen_lately, seen_long_ago = counter.ask(unseen_since=-1), counter.ask(unseen_since=-9)
    first_come, second_come = counter.ask(unseen_since=-5), counter.ask(unseen_since=-5)
    assert counter.granted(60) == [
        seen_long_ago,
        first_come,
        second_come,
        seen_lately,
    ]


def test_a_part_of_a_budget_is_kept_for_what_goes_first() -> None:
    counter = Counter()
    for _ in range(100):
        counter.ask(priority=Priority.LATER)
    assert len(counter.granted(0)) == 80
    for _ in range(30):
        counter.ask(priority=Priority.CARDS)
    assert len(counter.granted(0)) == 10
    for _ in range(30):
        counter.ask(priority=Priority.FIRST)
    assert len(counter.granted(0)) == 10


def test_the_background_leaves_half_of_a_budget_and_goes_last() -> None:
    counter = Counter()
    for _ in range(50):
        counter.ask("read", priority=Priority.BACKGROUND)
    assert len(counter.granted(0)) == 25
    for _ in range(30):
        counter.ask("read", priority=Priority.STOP)
    assert [each.priority for each in counter.granted(0)] == [Priority.STOP] * 25
    assert [each.priority for each in counter.granted(6)] == [Priority.STOP] * 5


def test_a_burst_is_spread_over_its_horizon() -> None:
    """Twelve answers, eighty tokens for them: 12 / (100/60 + 80/10) seconds from one append to the next."""
    counter = Counter()
    requests = [counter.ask(turn=str(number), unseen_since=0) for number in range(12)]
    assert counter.granted(0) == []
    due = counter.governor.next_at(0)
    assert due == pytest.approx(12 / (100 / 60 + 8))
    assert counter.granted(due - 0.01) == []
    assert counter.granted(due)[0] == requests[0]


def test_who_went_lately_counts_for_three_seconds() -> None:
    counter = Counter()
    for number in range(12):
        counter.ask(turn=str(number), unseen_since=-9)
    assert len(counter.granted(0)) == 12
    last = counter.ask(turn="12", unseen_since=0)
    assert counter.governor.next_at(0) == pytest.approx(13 / (100 / 60 + 6.8))
    assert counter.granted(1) == []
    counter = Counter({"append": Rate(1 / 6, 20)})
    for number in range(12):
        counter.ask(turn=str(number), unseen_since=-90)
    assert len(counter.granted(0)) == 12
    last = counter.ask(turn="12", unseen_since=0)
    assert counter.governor.next_at(0) == 3, "though thirteen would wait for 22 s"
    assert counter.granted(2.9) == []
    assert counter.granted(3) == [last]


def test_few_answers_go_as_they_like() -> None:
    counter = Counter()
    for turn in ("one", "two"):
        for _ in range(35):
            request = counter.ask(turn=turn)
            assert counter.granted(0) == [request]


def test_only_the_text_that_follows_is_paced() -> None:
    counter = Counter()
    for number in range(40):
        counter.ask(turn=str(number))
    assert counter.granted(0) == []
    requests = [
        counter.ask(priority=priority, turn=f"{priority}")
        for priority in (Priority.STOP, Priority.FIRST, Priority.CARDS)
    ]
    assert counter.granted(0) == requests
    refused = counter.ask(turn="refused")
    counter.governor.refused(refused, 1, 0)
    assert len(counter.granted(1)) == 1, "after a refusal a token is for whoever waits"


def test_the_rank_may_change_while_it_waits() -> None:
    counter = Counter()
    counter.spend("append")
    first, second = counter.ask(unseen_since=-2), counter.ask(unseen_since=-1)
    second.priority = Priority.FIRST
    assert counter.granted(60) == [second, first]


def test_cards_cannot_starve_text() -> None:
    """Two streams of cards could use up the whole budget; the text waits ten seconds and then its turn."""
    counter = Counter()
    counter.spend("append")
    text = counter.ask(now=0, unseen_since=0)
    now, waited = 0.0, 0
    while text in counter.governor._buckets["append", ""].waiting:
        for _ in range(2):
            counter.ask(priority=Priority.CARDS, now=now, unseen_since=now)
        now = counter.governor.next_at(now) or now
        counter.granted(now)
        waited += 1
        assert waited < 200
    assert 10 <= now < 20


def test_nothing_is_kept_back_where_there_is_little() -> None:
    counter = Counter({"append": Rate(1, 5)})
    for _ in range(9):
        counter.ask()
    assert len(counter.granted(0)) == 5
    counter = Counter()
    first = counter.ask()
    counter.governor.refused(first, 1, 0)
    counter.ask()
    assert counter.granted(1) == [first], "what Slack allows after a refusal is for whoever waits"


def test_what_does_not_wait_any_more_gets_nothing() -> None:
    counter = Counter()
    request = counter.ask()
    counter.governor.drop(request, 0)
    assert counter.granted(0) == []


def test_what_is_put_back_goes_to_the_next() -> None:
    counter = Counter()
    counter.spend("start")
    first, second = (counter.ask("start", priority=Priority.START) for _ in range(2))
    assert counter.granted(3) == [first]
    counter.governor.drop(first, 3)
    assert counter.granted(3) == [second]


def test_a_refusal_blocks_the_method_and_who_cannot_wait_is_told() -> None:
    counter = Counter()
    request = counter.ask()
    assert counter.granted(0) == [request]
    counter.governor.refused(request, 30, 0)
    patient, hasty, status = counter.ask(patience=30), counter.ask(patience=29), counter.ask("status")
    decisions = {request: blocked_for for request, blocked_for in counter.governor.decide(0)}
    assert decisions == {hasty: 30, status: None}
    assert counter.governor.next_at(0) == 30
    assert counter.granted(29.9) == []
    assert counter.granted(30) == [patient]
    assert counter.rate("append", 30) == pytest.approx(50 / 60)
    assert counter.rate("append", 150) == pytest.approx(100 / 60)


def test_who_waits_only_so_long_is_told_in_time() -> None:
    counter = Counter()
    counter.spend("start", priority=Priority.START)
    for ends_at in (2.0, 5.0):
        request = counter.ask("start", priority=Priority.START)
        request.ends_at = ends_at
    assert counter.governor.next_at(0) == 2
    assert [blocked_for for _, blocked_for in counter.governor.decide(2)] == [0]
    assert counter.governor.next_at(2) == pytest.approx(3)
    assert [blocked_for for _, blocked_for in counter.governor.decide(5)] == [None], (
        "its turn has come by then"
    )


def test_channels_of_long_ago_are_forgotten_but_not_what_was_learned() -> None:
    counter = Counter()
    refused = counter.ask("chat.postMessage", channel="C-learned")
    counter.governor.refused(refused, 1, 0)
    for number in range(400):
        counter.ask("chat.postMessage", number / 10, channel=f"C{number}")
        counter.granted(number / 10)
    assert len(counter.governor._buckets) < 300
    assert counter.rate("chat.postMessage", 40, "C-learned") == 0.5
    counter = Counter()
    for number in range(400):
        counter.ask("chat.postMessage", 0.0, channel=f"C{number}")
    assert len(counter.granted(0)) == 400, "nobody is forgotten who waits"


@examples(1_000)
@given(
    st.lists(
        st.tuples(
            st.floats(0, 20),
            st.sampled_from(["start", "append", "status"]),
            st.sampled_from(list(Priority)[1:]),
        ),
        max_size=80,
    ),
    st.lists(st.tuples(st.floats(0, 100), st.floats(0, 20)), max_size=3),
)
def test_everyone_who_waits_goes_in_the_end_and_the_next_time_is_true(
    asks: list[tuple[float, str, Priority]], refusals: list[tuple[float, float]]
) -> None:
    counter, now = Counter(), 0.0
    waiting: set[CallRequest] = set()
    for wait, method, priority in asks:
        now += wait
        for at, seconds in [each for each in refusals if each[0] <= now]:
            refusals.remove((at, seconds))
            counter.governor.refused(CallRequest(method, priority, 60), seconds, now)
        waiting.add(counter.ask(method, now, priority=priority))
        waiting -= set(counter.granted(now))
    steps = 0
    while waiting:
        due = counter.governor.next_at(now)
        assert due is not None and due >= now
        now = max(due, now + 1e-3)
        waiting -= set(counter.granted(now))
        steps += 1
        assert steps < 500
    assert counter.governor.next_at(now) is None


class Crowd:
    """Answers that write all the time: each has text again some time after its last was shown."""

    def __init__(self, pauses: list[float], horizon: float = 10.0) -> None:
        self.governor = Governor(BUDGETS, burst_horizon=horizon)
        self.asks = {str(number): pause for number, pause in enumerate(pauses)}  # by turn, when
        self.pauses = dict(self.asks)
        self.shown = {turn: [0.0] for turn in self.asks}
        self.calls: list[float] = []

    def until(self, end: float) -> None:
        now = 0.0
        while True:
            due = self.governor.next_at(now)
            after = min([*self.asks.values(), *([] if due is None else [max(due, now + 1e-3)])])
            if after > end:
                return
            now = after
            for turn in [turn for turn, at in self.asks.items() if at <= now]:
                self.asks.pop(turn)
                since = self.shown[turn][-1]
                self.ask(turn, Priority.LATER, since, now)
            for request, blocked_for in self.governor.decide(now):
                assert blocked_for is None
                self.calls.append(now)
                self.shown[request.turn].append(now)
                self.asks[request.turn] = now + self.pauses[request.turn]

    def ask(self, turn: str, priority: Priority, since: float, now: float) -> CallRequest:
        request = CallRequest("append", priority, 60, "C1", since, turn=turn, asked_at=now)
        self.governor.ask(request, now)
        return request

    def longest_gap(self, end: float) -> float:
        return max(
            later - earlier
            for times in self.shown.values()
            for earlier, later in itertools.pairwise([*times, end])
        )


@examples(100)
@given(
    st.lists(st.floats(0.2, 1.0), min_size=1, max_size=30),
    st.floats(1, 40),
    st.sampled_from([5.0, 10.0, 20.0]),
)
def test_answers_that_write_all_the_time_share_evenly(
    pauses: list[float], end: float, horizon: float
) -> None:
    crowd = Crowd(pauses, horizon)
    crowd.until(end)
    rate, burst = BUDGETS["append"].per_second, BUDGETS["append"].burst
    for number, at in enumerate(crowd.calls, start=1):
        assert number <= burst + at * rate + 1e-3, "never above the rate"
    later = 0.8 * burst  # the rest is kept for what goes first
    spent = later * math.exp(-end / horizon)
    even = len(pauses) / (rate + spent / horizon)
    assert crowd.longest_gap(end) <= max(2.0, 1.25 * min(even, 10.0) + 1.0), "none starves, a burst lasts"
    ending = crowd.ask("ending", Priority.STOP, end, end)
    assert (ending, None) in crowd.governor.decide(end), "what ends an answer goes at once"


# -- one budget ----------------------------------------------------------------------------------------------

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


# -- one of several replicas


def test_a_share_is_a_part_of_the_rate_and_of_the_burst() -> None:
    bucket = TokenBucket(TWENTY, 60, now=0, share=0.25)
    assert spent(bucket, 0) == 5
    assert bucket.when(1, 0) == pytest.approx(12)
    assert spent(bucket, 1000) == 5


def test_a_share_moves_with_the_tokens_in_it() -> None:
    bucket = TokenBucket(TWENTY, 60, now=0)
    assert bucket.resize(0.25, 0.0, 0) == pytest.approx(15)
    assert bucket.resize(0.75, 4.0, 0) == 0.0
    assert spent(bucket, 0) == 9
    assert bucket.resize(0.5, 0.0, 0) == 0.0, "an empty one has nothing to give"


def test_without_a_share_nothing_goes_until_there_is_one() -> None:
    governor = Governor({"": TWENTY})
    governor.first_share = 0.0
    request = CallRequest("start", Priority.START, 60)
    governor.ask(request, 0)
    assert governor.decide(1000) == []
    assert governor.next_at(1000) == math.inf
    (bucket,) = governor.buckets().values()
    bucket.resize(0.5, 10.0, 1000)
    assert governor.decide(1000) == [(request, None)]
    governor.forget(key_of(request))
    assert not governor.buckets()


def test_what_others_were_refused_counts_here_too() -> None:
    bucket = TokenBucket(TWENTY, 60, now=0)
    bucket.learn(0.5, 30.0, 0.0, 0, drained=True)
    assert (bucket.blocked_for(0), bucket.part) == (30, 0.5)
    assert spent(bucket, 29) == 0
    assert bucket.when(1, 30) == pytest.approx(36), "the one call that is good then is another's"
    bucket.learn(0.5, 0.0, 59.0, 100, drained=False)
    assert bucket.quiet_for(100) == 59
    assert bucket.rate == TWENTY.per_second / 2
    bucket.left(101)
    assert bucket.part == 0.75


def test_the_answers_of_a_budget_wait_or_had_text_of_late() -> None:
    bucket = TokenBucket(TWENTY, 60, now=0)
    bucket.waiting[CallRequest("append", Priority.LATER, 60, turn="a")] = None
    bucket.went_at["b"] = 1.0
    assert bucket.answers(2) == {"a", "b"}
    assert bucket.answers(4) == {"a"}


def test_what_nobody_waits_for_leaves_half_of_a_small_part_of_a_burst_too() -> None:
    """A replica of several has so little that it would keep nothing else for higher priorities."""
    counter = Counter({"": Rate(6 / 60, 6)})
    background = [counter.ask("read", priority=Priority.BACKGROUND) for _ in range(6)]
    assert counter.granted(0) == background[:3]
    reader = counter.ask("read", priority=Priority.STOP, unseen_since=0.0)
    assert counter.granted(0) == [reader]
