"""The results as text, JSON, JUnit XML and Markdown, and what is shown while a suite runs."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from rich.console import Console

from slack_bot.text.redaction import Redactor
from slack_bot.tools.conform.checks import CheckResult
from slack_bot.tools.conform.reports import (
    SuiteProgress,
    as_json,
    as_junit,
    as_markdown,
    as_table,
    as_text,
    file_name,
)
from tests.tools.conform.measured import TEXT, case_result, suite_result

MASKS = Redactor(["hunter2"])
ODD = CheckResult(False, "said hunter2 \x1b[2J[bold]")

SECTIONS = [
    "# Slack Streaming Conformance Report",
    "## Scenario Results",
    "## Per-Query Streaming Metrics",
    "## Conformance Check Details",
    "## State Flags Per Scenario",
    "## Event Counts",
]


def rows(report: str, section: str) -> list[str]:
    text = report.partition(f"{section}\n")[2].partition("\n---\n")[0]
    return [line for line in text.splitlines() if line.startswith("|")]


def test_five_sections_and_a_table() -> None:
    report = as_markdown(suite_result(case_result("one", (True, False)), case_result("two", (True, None))))
    assert [line for line in report.splitlines() if line.startswith(("# ", "## "))] == SECTIONS
    assert report.count("\n---\n") == 6
    assert rows(report, SECTIONS[0]) == [
        "| Field | Value |",
        "|---|---|",
        "| **Date** | 2023-11-14 22:13:20 UTC |",
        "| **Target** | `http://agent/` |",
        "| **Scenarios** | 2 |",
        "| **Total Checks** | 3 |",
        "| **Passed** | 2 |",
        "| **Failed** | 1 |",
        "| **Verdict** | **FAIL** |",
        "| **Suite Duration** | 1m5s |",
    ]
    assert rows(report, SECTIONS[1])[2:] == [
        "| 1 | `one` | why \\| how? | 1.0s | 1/2 | **FAIL** |",
        "| 2 | `two` | why \\| how? | 1.0s | 1/1 | **PASS** |",
    ]
    size = len(TEXT)
    assert (
        rows(report, SECTIONS[2])[2] == f"| `one` | {size} | {size} | 0 | 1 | 2 | search(1) | live stream |"
    )
    assert rows(report, SECTIONS[3])[:4] == [
        "| Check | Description | Result | Detail |",
        "|---|---|---|---|",
        "| `live_streamed` | About live_streamed | PASS | detail 0 |",
        "| `no_tools` | About no_tools | **FAIL** | detail 0 |",
    ]
    assert "| `no_tools` | About no_tools | n/a | detail 0 |" in report
    assert rows(report, SECTIONS[4])[2] == "| `one` | True | True | 2 | True |"
    assert (
        rows(report, SECTIONS[5])[0]
        == "| Scenario | final_result | streaming_result | tool_notification_start |"
    )
    assert rows(report, SECTIONS[5])[2] == "| `one` | 1 | 3 | 1 |"


def test_only_times_differ() -> None:
    one = suite_result(case_result("one", (True, True)))
    later = replace(one, started=one.started + 9_999.0, seconds=1.0)
    pairs = zip(as_markdown(one).splitlines(), as_markdown(later).splitlines(), strict=True)
    different = [a.split("|")[1] for a, b in pairs if a != b]
    assert different == [" **Date** ", " **Suite Duration** "]
    assert as_markdown(one) == as_markdown(suite_result(case_result("one", (True, True))))


def test_what_could_not_be_run_has_no_figures_and_what_was_left_out_is_named() -> None:
    broken = case_result("one", (False, False), error="no such setting")
    report = as_markdown(suite_result(broken, skipped=(("two", "it plays a tape"),)))
    assert "| `one` | - | - | - | - | - | - | - |" in report
    assert "| `one` | - | - | - | - |" in rows(report, SECTIONS[4])
    assert rows(report, SECTIONS[5]) == ["| Scenario |", "|---|", "| `one` |"]
    assert "Could not be run: no such setting" in report
    assert "`two` was left out: it plays a tape" in report


def test_several_runs_have_a_rate() -> None:
    report = as_markdown(suite_result(case_result("one", (True, True), (False, True))))
    assert "| `live_streamed` | About live_streamed | **FAIL** | detail 1 | 1/2 (50%) |" in report
    assert "| `no_tools` | About no_tools | PASS | detail 0 | 2/2 (100%) |" in report


def test_a_case_may_say_what_it_is_about() -> None:
    case = case_result("one", (True, True))
    told = replace(case, case=replace(case.case, about="Two\nlines", then=("and then?",)))
    report = as_markdown(suite_result(told))
    assert "### `one`\n\nTwo lines\n" in report
    assert "why \\| how? / and then?" in report


def test_the_usual_name() -> None:
    assert file_name(1_700_000_000.0) == "streaming_2023-11-14_221320.md"


# -- on stdout ----------------------------------------------------------------------------------------------


def test_the_summary_tells_rates_errors_and_what_was_left_out() -> None:
    broken = case_result("b", (False, False), error="no such setting")
    found = suite_result(
        case_result("a", (True, True), (False, None)), broken, skipped=(("c", "it plays a tape"),)
    )
    said = as_text(found).splitlines()
    assert said[1] == "      live_streamed: detail 1 [1/2 (50%)]"
    assert said[3] == "      no such setting"
    assert said[4] == "left out: 1 (such as c): it plays a tape"
    assert said[5] == "1 of 4 checks passed: FAIL (http://agent/)"


def test_a_terminal_gets_a_table_without_secrets_and_control_characters() -> None:
    failed = case_result("a", (True, False))
    odd = replace(failed, runs=(replace(failed.runs[0], results=(failed.runs[0].results[0], ODD)),))
    out = io.StringIO()
    console = Console(file=out, width=100)
    console.print(as_table(suite_result(odd, case_result("b"), skipped=(("c", "it plays a tape"),)), MASKS))
    lines = [" ".join(line.split()) for line in out.getvalue().splitlines()]
    assert "FAIL a 1/2 1.0s no_tools: said [secret removed] [2J[bold]" in lines
    assert "PASS b 2/2 1.0s" in lines
    assert lines[-2:] == [
        "left out: 1 (such as c): it plays a tape",
        "3 of 4 checks passed: FAIL (http://agent/)",
    ]


# -- JSON and JUnit -----------------------------------------------------------------------------------------


def test_as_json_it_is_plain_data() -> None:
    found = as_json(
        suite_result(
            case_result("a", (True, None)),
            case_result("b", (False, False), error="broken"),
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


def test_a_suite_a_case_and_a_test_a_check() -> None:
    found = suite_result(case_result("one", (True, False)), case_result("two", (True, None), (False, None)))
    root = ElementTree.fromstring(as_junit(found))
    assert (root.get("tests"), root.get("failures"), root.get("skipped"), root.get("time")) == (
        "4",
        "2",
        "1",
        "65.000",
    )
    one, two = root
    assert (one.get("name"), one.get("tests"), one.get("failures"), one.get("skipped")) == (
        "one",
        "2",
        "1",
        "0",
    )
    passed, failed = one
    assert (passed.get("classname"), passed.get("name"), len(passed)) == ("mine.one", "live_streamed", 0)
    assert failed[0].tag == "failure"
    assert failed[0].get("message") == "About no_tools: detail 0"
    assert failed[0].text is None
    assert two[0][0].text == "passed in 1 of 2 runs"
    assert two[1][0].tag == "skipped"


def test_what_xml_cannot_hold_is_replaced() -> None:
    case = case_result("one", (False,))
    odd = replace(case, case=replace(case.case, name='<"&\x00\ud800>'))
    root = ElementTree.fromstring(as_junit(suite_result(odd)).encode())
    assert root[0].get("name") == '<"&\ufffd\ufffd>'


# -- while it runs ------------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(out: io.StringIO, *, verbose: bool = False, tells_failures: bool = False) -> str:
    result = case_result("one", (True, False), (True, None))
    progress = SuiteProgress(out, verbose=verbose, tells_failures=tells_failures)
    with progress:
        progress.begin(2)
        for _ in result.runs:
            progress.on_run(result.case)
        progress.on_result(result)
    assert progress.position == "it was at 2 of 2"
    return out.getvalue()


def test_a_line_a_case_where_there_is_no_terminal_with_what_failed_where_no_table_follows() -> None:
    assert shown(io.StringIO()) == "[2/2] FAIL one 1.0s\n"
    assert shown(io.StringIO(), tells_failures=True) == "[2/2] FAIL one 1.0s\n    no_tools: detail 0\n"


def test_a_bar_on_a_terminal_that_is_gone_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    printed = shown(Terminal())
    assert "1/2 one: why | how?" in re.sub(r"\x1b\[[0-9;]*m", "", printed)
    assert printed.endswith("\x1b[2K"), "the bar's line is erased"
    assert "FAIL" not in printed


def test_every_check_where_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    printed = shown(io.StringIO(), verbose=True)
    assert "    pass live_streamed: detail 0 [2/2 (100%)]\n" in printed
    assert "    FAIL no_tools: detail 0\n" in printed
    assert "[2/2] FAIL one 1.0s\n" in shown(Terminal(), verbose=True)


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_the_seconds_in_its_bar() -> None:
    out = _Terminal()
    with SuiteProgress(out) as progress:
        progress.begin(1, 300.0)
        progress.on_run(case_result("held", (True,)).case)
        progress.on_wait(42.3)
    assert "42 s, at most 300 s an answer (--limit); held: " in re.sub(
        r"\x1b\[[0-9;?]*[A-Za-z]", "", out.getvalue()
    )
