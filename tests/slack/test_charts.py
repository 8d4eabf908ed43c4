"""A chart at each of Slack's limits, and one beyond."""

from __future__ import annotations

from dataclasses import replace

import pytest

from slack_bot.slack.charts import chart_block
from slack_bot.testing.slack.blocks import check
from slack_bot.testing.slack.workspace import Workspace
from slack_bot.turn.extras import Chart, ChartKind, Series

STATE = Workspace().state


def chart(points: int = 2, series: int = 1, kind: ChartKind = ChartKind.BAR, label: int = 20) -> Chart:
    names = tuple(f"{number:0{label}d}" for number in range(points))
    values = tuple(Series(f"{n:0{label}d}", tuple(range(1, points + 1))) for n in range(series))
    return Chart(kind, names, values, "t" * 60, "x" * 60, "y" * 60)


PIE = ChartKind.PIE
ONE = chart(1)


@pytest.mark.parametrize(
    ("made", "fits"),
    [
        *((chart(kind=kind), True) for kind in ChartKind),
        (chart(20), True),
        (chart(21), False),
        (chart(series=12), True),
        (chart(series=13), False),
        (chart(label=21), False),
        (chart(12, kind=PIE), True),
        (chart(13, kind=PIE), False),
        (replace(ONE, kind=PIE, series=(Series("a", (0,)),)), False),
        (replace(ONE, series=(Series("a", (-1,)),)), True),
        (replace(ONE, series=(Series("a", (1,)), Series("a", (2,)))), False),
        (replace(chart(), categories=("a", "a")), False),
        (replace(ONE, categories=(" ",)), False),
        (replace(ONE, title="", x_label="", y_label=" "), True),
    ],
)
def test_what_slack_takes_is_drawn(made: Chart, *, fits: bool) -> None:
    block = chart_block(made)
    assert (block is not None) == fits
    if block is not None:
        check(STATE, [block])


def test_the_block() -> None:
    drawn = chart_block(Chart(ChartKind.LINE, ("Mon",), (Series("web", (3,)),), "Visits", "day"))
    assert drawn == {
        "type": "data_visualization",
        "title": "Visits",
        "chart": {
            "type": "line",
            "series": [{"name": "web", "data": [{"label": "Mon", "value": 3}]}],
            "axis_config": {"categories": ["Mon"], "x_label": "day"},
        },
    }
