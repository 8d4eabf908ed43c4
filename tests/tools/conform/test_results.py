"""What several runs come to."""

from __future__ import annotations

import pytest

from slack_bot.tools.conform.results import duration
from tests.tools.conform.measured import case_result, suite_result


def test_a_check_holds_if_it_held_in_every_run_in_which_it_applied() -> None:
    case = case_result("one", (True, None), (False, None), (True, None))
    live, tools = case.findings
    assert (live.ok, live.passes, live.runs, live.rate, live.detail) == (False, 2, 3, "2/3 (67%)", "detail 1")
    assert (tools.ok, tools.passes, tools.runs, tools.rate, tools.detail) == (None, 0, 0, "n/a", "detail 0")
    assert case.verdict == "FAIL"
    assert case.shown is case.runs[1]
    assert case.shown.seconds == 2.0


def test_without_a_failure_the_first_run_is_shown() -> None:
    case = case_result("one", (True, True), (True, True))
    assert case.verdict == "PASS"
    assert case.shown is case.runs[0]


def test_a_case_that_could_not_be_run_is_an_error() -> None:
    case = case_result("one", (False, False), error="no such setting")
    assert case.verdict == "ERROR"
    assert suite_result(case).verdict == "FAIL"


def test_the_whole() -> None:
    found = suite_result(case_result("a", (True, None)), case_result("b", (True, False)))
    assert ([found.count(ok) for ok in (True, False, None)], found.verdict) == ([2, 1, 1], "FAIL")
    assert suite_result(case_result("a", (True,))).verdict == "PASS"
    assert suite_result().verdict == "FAIL", "nothing was shown"


@pytest.mark.parametrize(
    ("seconds", "told"), [(0, "0.0s"), (12.34, "12.3s"), (59.94, "59.9s"), (59.96, "1m0s"), (65, "1m5s")]
)
def test_durations(seconds: float, told: str) -> None:
    assert duration(seconds) == told
