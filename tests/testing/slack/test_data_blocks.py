"""What the emulated Slack takes of tables and charts, at each limit and one beyond."""

from __future__ import annotations

from typing import Any

import pytest

from slack_bot.testing.slack.blocks import check
from slack_bot.testing.slack.state import Refused
from slack_bot.testing.slack.workspace import Workspace

STATE = Workspace().state
CELL = {"type": "raw_text", "text": "x"}
RICH = {"type": "rich_text", "elements": []}


def data(rows: int = 2, columns: int = 1, cell: Any = CELL, **more: Any) -> dict[str, Any]:
    return {"type": "data_table", "caption": "C", "rows": [[cell] * columns for _ in range(rows)], **more}


def plain(rows: int = 1, columns: int = 1, cell: Any = CELL, **more: Any) -> dict[str, Any]:
    return {"type": "table", "rows": [[cell] * columns for _ in range(rows)], **more}


def long(chars: int) -> dict[str, Any]:
    return {"type": "raw_text", "text": "x" * chars}


def pie(count: int = 1, value: Any = 1, label: int = 20) -> dict[str, Any]:
    segments = [{"label": f"{number:0{label}d}", "value": value} for number in range(count)]
    return {"type": "data_visualization", "title": "T", "chart": {"type": "pie", "segments": segments}}


def bar(points: int = 1, series: int = 1, title: int = 50, axis: int = 50, name: int = 20) -> dict[str, Any]:
    labels = [f"{number:020d}" for number in range(points)]
    data = [{"label": label, "value": -1.5} for label in labels]
    drawn = [{"name": f"{number:0{name}d}", "data": data} for number in range(series)]
    chart = {"type": "bar", "series": drawn, "axis_config": {"categories": labels, "x_label": "x" * axis}}
    return {"type": "data_visualization", "title": "t" * title, "chart": chart}


def with_chart(block: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {**block, "chart": {**block["chart"], **more}}


GOOD: list[list[dict[str, Any]]] = [
    [data()],
    [data(201, 20)],
    [data(page_size=100, row_header_column_index=0)],
    [data(2, 1, long(10_000))],
    [plain()],
    [plain(100, 20)],
    [plain(1, 1, RICH)],
    [plain(column_settings=[{"align": "right", "is_wrapped": True}, None, {}])],
    [plain(column_settings=[{}] * 20)],
    [plain(1, 1, long(10_000))],
    [plain(1, 1, {"type": "raw_number", "value": 1, "text": "1"})],
    [pie(12)],
    [bar(20, 12)],
    [bar(), pie()],
]
BAD: list[list[dict[str, Any]]] = [
    [data(1)],
    [data(202)],
    [data(2, 21)],
    [data(2, 1, long(10_001))],
    [data(2, 1, long(5_001)), data(2, 1, long(5_000))],
    [data(2, 1, long(0))],
    [data(2, 1, RICH)],
    [data(2, 1, {"type": "raw_number", "value": "1"})],
    [data(2, 1, {"type": "markdown", "text": "x"})],
    [data(page_size=101)],
    [plain(column_settings=[{"align": "middle"}])],
    [plain(column_settings=[{"aligned": "left"}])],
    [plain(column_settings=["left"])],
    [plain(column_settings=[{}] * 21)],
    [data(page_size=0)],
    [{**data(), "rows": [[CELL], [CELL, CELL]]}],
    [{name: value for name, value in data().items() if name != "caption"}],
    [plain(0)],
    [plain(101)],
    [plain(1, 21)],
    [plain(1, 1, long(10_001))],
    [plain(1, 1, long(5_001)), plain(1, 1, long(5_000))],
    [pie(13)],
    [pie(0)],
    [pie(1, 0)],
    [pie(1, "1")],
    [pie(1, label=21)],
    [bar(21)],
    [bar(series=13)],
    [bar(title=51)],
    [bar(title=0)],
    [bar(axis=51)],
    [bar(name=21)],
    [bar(), pie(), bar()],
    [with_chart(bar(), type="radar")],
    [with_chart(bar(), legend=True)],
    [with_chart(bar(), axis_config={"categories": ["a"]})],
    [with_chart(bar(), axis_config={"categories": ["0" * 20, "0" * 20]})],
    [with_chart(bar(), series=bar()["chart"]["series"] * 2)],
]  # fmt: skip


def refusal(blocks: list[dict[str, Any]]) -> str | None:
    try:
        check(STATE, blocks)
    except Refused as refused:
        return refused.error
    return None


@pytest.mark.parametrize("blocks", GOOD)
def test_taken(blocks: list[dict[str, Any]]) -> None:
    assert refusal(blocks) is None


@pytest.mark.parametrize("blocks", BAD)
def test_refused(blocks: list[dict[str, Any]]) -> None:
    assert refusal(blocks) == "invalid_blocks"
