"""Many at once under Slack's real rates: all get all of it, nobody is refused, nobody sees nothing."""

from __future__ import annotations

from tests.bench.crowd import Load
from tests.bench.load import crowded
from tests.bench.rivals import ours


def test_twenty_answers_live_at_once() -> None:
    report, broken = crowded(Load(20, 400), ours)
    assert (report.whole, broken, report.left_open) == (20, [], 0)
    assert report.refused == 0
    assert max(report.first) < 1.5, "every stream starts at once: a minute's starts are there"
    assert max(report.lags) < 16, "a round of twenty appends takes 13.3 s at the rate that is used"
    assert report.stood_still < 16
    assert max(report.waits) / min(report.waits) < 2


def test_forty_questions_within_a_minute() -> None:
    report, broken = crowded(Load(40, 200, within=60), ours)
    assert (report.whole, broken, report.left_open) == (40, [], 0)
    assert report.refused == 0
    assert report.silent <= 1, "a status or text stands there within seconds, and stays"
    assert sorted(report.first)[20] < 1.5


def test_forty_questions_at_the_same_moment() -> None:
    report, broken = crowded(Load(40, 200), ours, seed=2)
    assert (report.whole, broken, report.left_open) == (40, [], 0)
    assert report.refused == 0
    assert report.silent <= 1


def test_a_tenth_of_all_calls_fails() -> None:
    report, broken = crowded(Load(20, 200, failing=0.1), ours)
    assert (report.whole, broken, report.left_open) == (20, [], 0)
    assert report.refused == 0
