"""Who goes when: budgets, order, fairness, refusals. Time is a number here."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.slack.rate_limiter.governor import CallRequest, Governor, Priority, RateLimits, priority_of
from slack_bot.slack.rate_limiter.token_bucket import Rate
from tests.examples import examples

LIMITS = RateLimits(
    methods={
        "start": Rate(20 / 60, 20),
        "stop": Rate(20 / 60, 20),
        "append": Rate(100 / 60, 100),
        "status": Rate(10, 600),
        "chat.postMessage": Rate(1, 1),
    },
    others=Rate(50 / 60, 50),
)


class Counter:
    """A governor whose wants are numbered."""

    def __init__(self, limits: RateLimits = LIMITS) -> None:
        self.governor = Governor(limits)
        self.count = 0

    def ask(
        self,
        method: str = "append",
        now: float = 0.0,
        *,
        rank: Priority = Priority.LATER,
        unseen_since: float | None = None,
        patience: float = 60.0,
        channel: str = "C1",
        workspace: str = "T1",
    ) -> CallRequest:
        self.count += 1
        since = now if unseen_since is None else unseen_since
        want = CallRequest(self.count, method, rank, now, since, patience, channel, workspace)
        self.governor.ask(want, now)
        return want

    def granted(self, now: float) -> list[int]:
        return [each.want.number for each in self.governor.decide(now) if each.blocked_for is None]

    def spend(self, method: str, now: float = 0.0, *, rank: Priority = Priority.FIRST) -> None:
        """Use up a budget."""
        while True:
            want = self.ask(method, now, rank=rank)
            if not self.granted(now):
                self.governor.drop(want, now)
                return


def test_who_comes_goes_while_there_is_a_budget() -> None:
    line = Counter()
    assert line.governor.next_at(0) is None
    wants = [line.ask("start", rank=Priority.START) for _ in range(23)]
    assert line.governor.next_at(0) == 0
    assert line.granted(0) == [want.number for want in wants[:20]]
    assert line.granted(0) == []
    assert line.governor.next_at(0) == pytest.approx(3)
    assert line.granted(3) == [21]
    assert line.granted(9) == [22, 23]
    assert line.governor.next_at(9) is None


def test_budgets_are_counted_for_each_workspace_and_method() -> None:
    line = Counter()
    line.spend("start")
    stop, there = line.ask("stop", rank=Priority.STOP), line.ask("start", rank=Priority.START, workspace="T2")
    line.ask("start", rank=Priority.START, channel="C2")
    assert line.granted(0) == [stop.number, there.number]
    assert line.governor.next_at(0) == pytest.approx(3)


def test_posts_are_counted_for_each_channel() -> None:
    line = Counter()
    one = line.ask("chat.postMessage")
    line.ask("chat.postMessage")
    other = line.ask("chat.postMessage", channel="C2")
    assert line.granted(0) == [one.number, other.number]
    assert line.governor.next_at(0) == pytest.approx(1)


def test_a_method_nobody_named_has_a_budget_too() -> None:
    line = Counter()
    for _ in range(60):
        line.ask("views.open", rank=Priority.STOP)
    assert len(line.granted(0)) == 50


def test_the_order() -> None:
    line = Counter()
    line.spend("append")
    wants = [line.ask(rank=rank) for rank in reversed(Priority)]
    assert line.granted(60) == [want.number for want in reversed(wants)]


def test_among_equals_the_one_whose_reader_has_seen_nothing_for_the_longest_goes_first() -> None:
    line = Counter()
    line.spend("append")
    seen_lately, seen_long_ago = line.ask(unseen_since=-1), line.ask(unseen_since=-9)
    first_come, second_come = line.ask(unseen_since=-5), line.ask(unseen_since=-5)
    assert line.granted(60) == [
        seen_long_ago.number,
        first_come.number,
        second_come.number,
        seen_lately.number,
    ]


def test_a_part_of_a_budget_is_kept_for_what_goes_first() -> None:
    line = Counter()
    for _ in range(100):
        line.ask(rank=Priority.LATER)
    assert len(line.granted(0)) == 80
    for _ in range(30):
        line.ask(rank=Priority.CARDS)
    assert len(line.granted(0)) == 10
    for _ in range(30):
        line.ask(rank=Priority.FIRST)
    assert len(line.granted(0)) == 10


def test_the_rank_may_change_while_it_waits() -> None:
    line = Counter()
    line.spend("append")
    first, second = line.ask(unseen_since=-2), line.ask(unseen_since=-1)
    line.governor.ask(replace(second, rank=Priority.FIRST), 0)
    assert line.granted(60) == [second.number, first.number]


def test_cards_cannot_starve_text() -> None:
    """Two streams of cards could use up the whole budget; the text waits ten seconds and then its turn."""
    line = Counter()
    line.spend("append")
    text = line.ask(now=0, unseen_since=0)
    now, waited = 0.0, 0
    while text.number in line.governor._lines["T1", "append", ""].waiting:
        for _ in range(2):
            line.ask(rank=Priority.CARDS, now=now, unseen_since=now)
        now = line.governor.next_at(now) or now
        line.granted(now)
        waited += 1
        assert waited < 200
    assert 10 <= now < 20


def test_nothing_is_kept_back_where_there_is_little() -> None:
    line = Counter(RateLimits(methods={"append": Rate(1, 5)}, others=Rate(1, 5)))
    for _ in range(9):
        line.ask()
    assert len(line.granted(0)) == 5
    line = Counter()
    line.governor.refused(line.ask(), 1, 0)
    line.ask()
    assert line.granted(1) == [1], "what Slack allows after a refusal is for whoever waits"


def test_what_does_not_wait_any_more_gets_nothing() -> None:
    line = Counter()
    want = line.ask()
    line.governor.drop(want, 0)
    line.governor.drop(want, 0)
    assert line.granted(0) == []


def test_what_is_put_back_goes_to_the_next() -> None:
    line = Counter()
    line.spend("start")
    first, second = (line.ask("start", rank=Priority.START) for _ in range(2))
    assert line.granted(3) == [first.number]
    line.governor.put_back(first, 3)
    assert line.granted(3) == [second.number]


def test_a_refusal_blocks_the_method_and_who_cannot_wait_is_told() -> None:
    line = Counter()
    want = line.ask()
    assert line.granted(0) == [want.number]
    line.governor.refused(want, 30, 0)
    patient, hasty, status = line.ask(patience=30), line.ask(patience=29), line.ask("status")
    verdicts = {each.want.number: each.blocked_for for each in line.governor.decide(0)}
    assert verdicts == {hasty.number: 30, status.number: None}
    assert line.governor.next_at(0) == 30
    assert line.granted(29.9) == []
    assert line.granted(30) == [patient.number]
    assert line.governor.rate("append", 30, workspace="T1") == pytest.approx(50 / 60)
    assert line.governor.rate("append", 150, workspace="T1") == pytest.approx(100 / 60)


def test_who_waits_only_so_long_is_told_in_time() -> None:
    line = Counter()
    line.spend("start", rank=Priority.START)
    for ends_at in (2.0, 5.0):
        want = line.ask("start", rank=Priority.START)
        line.governor.ask(replace(want, ends_at=ends_at), 0)
    assert line.governor.next_at(0) == 2
    assert [each.blocked_for for each in line.governor.decide(2)] == [0]
    assert line.governor.next_at(2) == pytest.approx(3)
    assert [each.blocked_for for each in line.governor.decide(5)] == [None], "its turn has come by then"


def test_channels_of_long_ago_are_forgotten_but_not_what_was_learned() -> None:
    line = Counter()
    refused = line.ask("chat.postMessage", channel="C-learned")
    line.governor.refused(refused, 1, 0)
    for number in range(400):
        line.ask("chat.postMessage", float(number), channel=f"C{number}")
        line.granted(float(number))
    assert len(line.governor._lines) < 300
    assert line.governor.rate("chat.postMessage", 5, channel="C-learned", workspace="T1") == 1.0
    line = Counter()
    for number in range(400):
        line.ask("chat.postMessage", 0.0, channel=f"C{number}")
    assert len(line.granted(0)) == 400, "nobody is forgotten who waits"


def test_calls_without_a_rank_end_something_unless_they_begin_it() -> None:
    assert priority_of("chat.startStream") is Priority.START
    assert priority_of("assistant.threads.setStatus") is Priority.STATUS
    assert priority_of("chat.stopStream") is priority_of("chat.appendStream") is Priority.STOP


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
    line, now = Counter(), 0.0
    waiting: set[int] = set()
    for wait, method, rank in asks:
        now += wait
        for at, seconds in [each for each in refusals if each[0] <= now]:
            refusals.remove((at, seconds))
            line.governor.refused(CallRequest(0, method, rank, now, now, 60, "", "T1"), seconds, now)
        waiting.add(line.ask(method, now, rank=rank).number)
        waiting -= set(line.granted(now))
    steps = 0
    while waiting:
        due = line.governor.next_at(now)
        assert due is not None and due >= now
        now = max(due, now + 1e-3)
        waiting -= set(line.granted(now))
        steps += 1
        assert steps < 500
    assert line.governor.next_at(now) is None
