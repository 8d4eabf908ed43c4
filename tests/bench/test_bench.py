"""The benchmark runs and prints sane figures. How quick is quick enough is not a test's to say."""

from __future__ import annotations

import re
import sys

import pytest

from .__main__ import main
from .figures import Figure, percentile, table


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="resident memory is read from /proc")
def test_the_quick_run_prints_every_figure(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--quick"]) == 0
    printed = capsys.readouterr().out
    for name in (
        "append request, p50",
        "append request, p99",
        "events/s",
        "memory, idle",
        "memory, a running turn",
        "start-up",
    ):
        assert name in printed
    shown = re.findall(r"([\d.,]+) (?:ms|s|MiB|events/s) ", printed)
    assert len(shown) >= 7
    assert all(float(number.replace(",", "")) > 0 for number in shown)


@pytest.mark.parametrize(
    "values,part,expected",
    [([1.0], 0.5, 1.0), ([3.0, 1.0, 2.0], 0.5, 2.0), ([1.0, 2.0], 0.5, 1.0), (list(range(1, 101)), 0.99, 99)],
)
def test_percentiles_are_values_that_were_measured(values: list[float], part: float, expected: float) -> None:
    assert percentile(values, part) == expected


def test_no_values_have_no_percentile() -> None:
    with pytest.raises(ValueError, match="no values"):
        percentile([], 0.5)


def test_a_table_has_one_line_a_figure() -> None:
    lines = table([Figure("one", 1234.5, "B", "said"), Figure("another", 0.5, "s", "so")]).splitlines()
    assert lines == ["one      1,234 B   said", "another    0.5 s   so"]
