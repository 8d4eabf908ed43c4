"""The pace of an answer, and that all verbs say the same of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.observe.facts import Fact
from slack_bot.tools.pace import burst_share, is_burst, lag, longest, rises, seconds, share, spans
from slack_bot.tools.replay.result import make_result
from slack_bot.tools.trace.figures import timeline
from slack_bot.tools.trace.timeline import build_timeline
from tests.tools.trace.turns import START, closed, logged, opened

LOOKS = st.lists(st.text("ab \n", max_size=6), max_size=6)


def first_visible(*looks: tuple[float, str]) -> tuple[float | None, float | None]:
    """What trace and replay say."""
    entries: list[Fact | tuple[float, str]] = [opened(), *looks, closed(60.0)]
    log = logged(*entries)
    line = timeline("", build_timeline(log, START), log, START)
    return line.summary.first_visible, make_result(log, (), START)["first_visible"]


@pytest.mark.parametrize(
    "looks,expected",
    [
        ([(1.0, "one"), (2.0, "one two")], 1.0),
        ([(1.0, "\n\n"), (2.0, "\n\none")], 2.0),
        ([(1.0, "Let me see."), (2.0, "")], None),
        ([(1.0, "Let me see."), (2.0, ""), (3.0, "one")], 1.0),
    ],
    ids=["text", "white space", "taken back", "taken back before the answer"],
)
def test_trace_and_replay_say_when_text_could_be_read_first(
    looks: list[tuple[float, str]], expected: float | None
) -> None:
    assert first_visible(*looks) == (expected, expected)


@given(LOOKS)
def test_trace_and_replay_never_differ(looks: list[str]) -> None:
    one, other = first_visible(*((float(n), look) for n, look in enumerate(looks, 1)))
    assert one == other


@pytest.mark.parametrize(
    "growths,expected",
    [
        ([], None),
        ([(1.0, 0)], None),
        ([(1.0, 10)], 1.0),
        ([(0.0, 10), (0.5, 10), (1.1, 10), (9.0, 10)], 0.5),
        ([(float(n), 1) for n in range(100)], 0.01),
        ([(17.8 + n / 1000, 9) for n in range(290)], 1.0),
    ],
)
def test_the_burst_share(growths: list[tuple[float, int]], expected: float | None) -> None:
    assert burst_share(growths) == expected


@given(st.lists(st.tuples(st.floats(0, 100), st.integers(1, 50)), min_size=1, max_size=30))
def test_a_burst_is_a_share(growths: list[tuple[float, int]]) -> None:
    share = burst_share(sorted(growths))
    assert share is not None
    total = sum(size for _, size in growths)
    assert round(max(size for _, size in growths) / total, 3) <= share <= 1


def test_the_lag_is_the_longest_wait_for_what_was_written() -> None:
    assert lag(((1, 10), (2, 100)), ((1.5, 10), (6, 100)), 9, 0) == 4.0
    assert lag(((1, 10), (2, 100)), ((1.5, 10), (6, 100)), 9, 90) == 0.0
    assert lag(((1, 10),), (), 9, 0) == 8.0
    assert lag(((1, 10),), (), 9, 10) == 0.0
    assert lag((), (), 9, 0) == 0.0


def test_a_short_answer_is_no_burst() -> None:
    assert [is_burst(1.0, 200), is_burst(1.0, 201), is_burst(0.5, 900), is_burst(None, 900)] == [
        False, True, False, False,
    ]  # fmt: skip


def test_the_longest_time_between() -> None:
    assert longest(spans([1.0, 1.0, 2.5, 2.0])) == 1.5
    assert longest(spans([])) == 0.0


def test_a_curve_rises_where_it_is_higher_than_ever() -> None:
    assert rises(((1.0, 5), (2.0, 3), (3.0, 9)), 2) == ((1.0, 3), (3.0, 4))


def test_figures_for_people() -> None:
    assert [seconds(each) for each in (None, 0.0, 9.994, 17.8014)] == ["–", "0.00 s", "9.99 s", "17.8 s"]
    assert [share(each) for each in (None, 0.068, 1.0)] == ["–", "7%", "100%"]
