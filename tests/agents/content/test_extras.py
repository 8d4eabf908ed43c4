"""What in data is certainly a table or a chart, and what is not."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from slack_bot.agents.content.data_markdown import TextBeside
from slack_bot.agents.content.extras import chart_of, extra_in, table_of
from slack_bot.agents.wire.frames import FileRef, Part
from slack_bot.turn.extras import Chart, ChartKind, DataTable, LinkedFile, OutFile, Series

ROWS = [{"city": "Oslo", "n": 1.0}, {"city": "Rome", "n": 2.5}]
CELLS = (("Oslo", 1), ("Rome", 2.5))
COLUMNS = ("city", "n")
DRAWN = (ChartKind.BAR, ("a", "b"), (Series("x", (1, 2)),))


@pytest.mark.parametrize(
    ("data", "table"),
    [
        (ROWS, DataTable(COLUMNS, CELLS)),
        ({"orders_today": ROWS}, DataTable(COLUMNS, CELLS, "orders today")),
        ({"type": "table", "title": "T", "rows": ROWS}, DataTable(COLUMNS, CELLS, "T")),
        ({"columns": ["c", "n"], "rows": [["Oslo", 1], ["Rome", 2.5]]}, DataTable(("c", "n"), CELLS)),
        (
            {"type": "table", "columns": [{"key": "city", "label": "City"}, {"name": "n"}], "rows": ROWS},
            DataTable(("City", "n"), CELLS),
        ),
        ({"type": "table", "rows": [{"a": None}, {"a": True}]}, DataTable(("a",), (("",), ("yes",)))),
        (
            [{"a": 1, "b": 1e400}, {"a": 2**60, "b": "x"}],
            DataTable(("a", "b"), ((1, "inf"), (str(2**60), "x"))),
        ),
        # text as before
        ([{"city": "Oslo", "n": 1}], None),
        ([{"city": "Oslo"}, {"city": "Rome"}], None),
        ([{"a": 1, "b": 2}, {"a": 1, "c": 2}], None),
        ([{"a": 1, "b": [2]}, {"a": 1, "b": [2]}], None),
        ([{"a": 1, "b": "x\ny"}, {"a": 1, "b": ""}], None),
        ({"summary": "Two cities", "rows": ROWS}, None),
        ({"columns": ["c"], "rows": [["Oslo", 1]]}, None),
        ({"type": "table", "rows": []}, None),
        ({"type": "table", "columns": [1], "rows": [[1]]}, None),
        ([[1, 2], [3, 4]], None),
        ({}, None),
        ("text", None),
    ],
)
def test_tables(data: Any, table: DataTable | None) -> None:
    assert table_of(data) == table


@pytest.mark.parametrize(
    ("data", "chart"),
    [
        (
            {"type": "chart", "chart_type": "bar", "categories": ["a", "b"],
             "series": [{"name": "x", "data": [1, 2]}]},
            Chart(*DRAWN),
        ),
        (
            {"type": "bar", "data": {"labels": ["a", "b"], "datasets": [{"label": "x", "data": [1, 2.0]}]}},
            Chart(*DRAWN),
        ),
        (
            {"type": "chart", "chart": "line", "title": "T", "x_label": "day", "categories": ["a", "b"],
             "series": [{"name": "x", "data": [{"label": "b", "value": 2}, {"label": "a", "value": 1}]}]},
            Chart(ChartKind.LINE, ("a", "b"), (Series("x", (1, 2)),), "T", "day"),
        ),
        (
            {"type": "chart", "kind": "pie",
             "segments": [{"label": "a", "value": 1}, {"label": "b", "value": 2}]},
            Chart(ChartKind.PIE, ("a", "b"), (Series("Value", (1, 2)),)),
        ),
        (
            {"$schema": "https://vega.github.io/schema/vega-lite/v5.json", "title": "T",
             "mark": {"type": "area"},
             "data": {"values": [{"d": "a", "v": 1}, {"d": "b", "v": 2}]},
             "encoding": {"x": {"field": "d"}, "y": {"field": "v"}}},
            Chart(ChartKind.AREA, ("a", "b"), (Series("v", (1, 2)),), "T", "d", "v"),
        ),
        ({"type": "chart", "chart": "radar", "categories": ["a"], "series": [{"data": [1]}]}, None),
        ({"type": "chart", "chart": "bar", "categories": ["a", "b"], "series": [{"data": [1]}]}, None),
        ({"type": "chart", "chart": "bar", "categories": ["a"], "series": [{"data": ["much"]}]}, None),
        ({"type": "chart"}, None),
        ({"type": "vega-lite", "spec": {"mark": "bar", "data": {"url": "https://x"}}}, None),
    ],
)  # fmt: skip
def test_charts(data: Any, chart: Chart | None) -> None:
    assert chart_of(data) == chart


def test_a_file_by_value_is_one_and_what_cannot_be_read_is_none() -> None:
    ref = FileRef("a.txt", "text/plain", content=base64.b64encode(b"hi").decode())
    assert extra_in(Part(file=ref), TextBeside(""), "notes") == OutFile("a.txt", "text/plain", b"hi", "notes")
    assert extra_in(Part(file=FileRef("a.txt", content="!")), TextBeside("")) is None
    linked = LinkedFile("https://x/a.txt", "a.txt")
    assert extra_in(Part(file=FileRef("a.txt", url="https://x/a.txt")), TextBeside("")) == linked


def test_what_the_text_says_already_is_not_shown_again() -> None:
    part = Part(data=ROWS, has_data=True)
    assert isinstance(extra_in(part, TextBeside("Oslo has 1")), DataTable)
    assert extra_in(part, TextBeside("Oslo has 1, Rome 2.5")) is None
