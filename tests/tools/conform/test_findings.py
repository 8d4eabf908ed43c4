"""What several runs of a case come to."""

from __future__ import annotations

import json

from slack_bot.tools.conform.findings import as_json
from tests.tools.conform.measured import examination, examined


def test_a_check_holds_if_it_held_in_every_run_in_which_it_applied() -> None:
    case = examined("one", (True, None), (False, None), (True, None))
    live, tools = case.findings
    assert (live.ok, live.passes, live.runs, live.rate, live.detail) == (False, 2, 3, "2/3 (67%)", "detail 1")
    assert (tools.ok, tools.passes, tools.runs, tools.rate, tools.detail) == (None, 0, 0, "n/a", "detail 0")
    assert case.verdict == "FAIL"
    assert case.shown is case.runs[1]
    assert case.seconds == 2.0


def test_without_a_failure_the_first_run_is_shown() -> None:
    case = examined("one", (True, True), (True, True))
    assert case.verdict == "PASS"
    assert case.shown is case.runs[0]


def test_a_case_that_could_not_be_run_is_an_error() -> None:
    case = examined("one", (False, False), error="no such setting")
    assert case.verdict == "ERROR"
    assert examination(case).verdict == "FAIL"


def test_the_whole() -> None:
    found = examination(examined("a", (True, None)), examined("b", (True, False)))
    assert (found.passed, found.failed, found.idle, found.verdict) == (2, 1, 1, "FAIL")
    assert not found.repeated
    assert examination(examined("a", (True,), (True,))).repeated
    assert examination(examined("a", (True,))).verdict == "PASS"
    assert examination().verdict == "FAIL", "nothing was shown"


def test_as_json_it_is_plain_data() -> None:
    found = as_json(
        examination(
            examined("a", (True, None)),
            examined("b", (False, False), error="broken"),
            skipped=(("c", "why"),),
        )
    )
    assert json.loads(json.dumps(found)) == found
    assert (found["verdict"], found["passed"], found["failed"], found["not_applicable"]) == ("FAIL", 1, 2, 1)
    assert found["date"] == "2023-11-14T22:13:20+00:00"
    assert found["skipped"] == [{"name": "c", "reason": "why"}]
    first, second = found["cases"]
    assert [check["result"] for check in first["checks"]] == ["pass", "n/a"]
    assert first["measures"]["tool_counts"] == {"search": 1}
    assert (second["measures"], second["error"], second["result"]) == (None, "broken", "ERROR")
