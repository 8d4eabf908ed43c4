"""The report: five sections under a table, and the same bytes for the same findings."""

from __future__ import annotations

from dataclasses import replace

import pytest

from slack_bot.tools.conform.report import as_markdown, duration, file_name
from tests.tools.conform.measured import TEXT, examination, examined

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
    report = as_markdown(examination(examined("one", (True, False)), examined("two", (True, None))))
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
    one = examination(examined("one", (True, True)))
    later = replace(one, started=one.started + 9_999.0, seconds=1.0)
    pairs = zip(as_markdown(one).splitlines(), as_markdown(later).splitlines(), strict=True)
    different = [a.split("|")[1] for a, b in pairs if a != b]
    assert different == [" **Date** ", " **Suite Duration** "]
    assert as_markdown(one) == as_markdown(examination(examined("one", (True, True))))


def test_what_could_not_be_run_has_no_figures_and_what_was_left_out_is_named() -> None:
    broken = examined("one", (False, False), error="no such setting")
    report = as_markdown(examination(broken, skipped=(("two", "it plays a tape"),)))
    assert "| `one` | - | - | - | - | - | - | - |" in report
    assert "| `one` | - | - | - | - |" in rows(report, SECTIONS[4])
    assert rows(report, SECTIONS[5]) == ["| Scenario |", "|---|", "| `one` |"]
    assert "Could not be run: no such setting" in report
    assert "`two` was left out: it plays a tape" in report


def test_several_runs_have_a_rate() -> None:
    report = as_markdown(examination(examined("one", (True, True), (False, True))))
    assert "| `live_streamed` | About live_streamed | **FAIL** | detail 1 | 1/2 (50%) |" in report
    assert "| `no_tools` | About no_tools | PASS | detail 0 | 2/2 (100%) |" in report


def test_a_case_may_say_what_it_is_about() -> None:
    case = examined("one", (True, True))
    told = replace(case, case=replace(case.case, about="Two\nlines", then=("and then?",)))
    report = as_markdown(examination(told))
    assert "### `one`\n\nTwo lines\n" in report
    assert "why \\| how? / and then?" in report


@pytest.mark.parametrize(
    ("seconds", "told"), [(0, "0.0s"), (12.34, "12.3s"), (59.94, "59.9s"), (59.96, "1m0s"), (65, "1m5s")]
)
def test_durations(seconds: float, told: str) -> None:
    assert duration(seconds) == told


def test_the_usual_name() -> None:
    assert file_name(1_700_000_000.0) == "streaming_2023-11-14_221320.md"
