"""Probes of the sizes of blocks, tables and charts: each is posted, and what Slack took counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .port import Place, ProbeResult, SlackPort, probe
from .stream_probes import TEXT
from .text_probes import POST, add_size, paragraph

Block = dict[str, Any]
_CELLS = 50  # over which the characters of a table are spread
_LABELS = [f"{number}" for number in range(1_000)]


def _words(size: int) -> Block:
    return {"type": "plain_text", "text": "x" * size}


def _button(**fields: Any) -> Block:
    return {"type": "button", "text": _words(4), "action_id": "a", **fields}


def _actions(*elements: Block) -> Block:
    return {"type": "actions", "elements": list(elements)}


def _buttons(count: int) -> Block:
    return _actions(*(_button(action_id=f"a{number}") for number in range(count)))


def _menu(count: int) -> Block:
    options = [{"text": _words(4), "value": label} for label in _LABELS[:count]]
    return _actions({"type": "static_select", "action_id": "a", "options": options})


def _cell(size: int = 1) -> Block:
    return {"type": "raw_text", "text": "x" * size}


def _rows(rows: int, columns: int) -> list[list[Block]]:
    return [[_cell()] * columns for _ in range(rows)]


def _spread(size: int) -> list[list[Block]]:
    """Rows of two cells with `size` characters in all."""
    share, rest = divmod(size, _CELLS)
    cells = [_cell(share + (number < rest)) for number in range(_CELLS)]
    return [cells[at : at + 2] for at in range(0, _CELLS, 2)]


def _data_table(rows: list[list[Block]]) -> Block:
    return {"type": "data_table", "caption": "Measured", "rows": rows}


def _table(rows: list[list[Block]]) -> Block:
    return {"type": "table", "rows": rows}


def _chart(points: int = 2, series: int = 1, title: str = "Measured", label: str = "") -> Block:
    labels = [label] if label else _LABELS[:points]
    data = [{"label": each, "value": 1} for each in labels]
    drawn = {"type": "bar", "axis_config": {"categories": labels}}
    lines = [{"name": f"s{number}", "data": data} for number in range(series)]
    return {"type": "data_visualization", "title": title, "chart": {**drawn, "series": lines}}


def _pie(count: int) -> Block:
    segments = [{"label": label, "value": 1} for label in _LABELS[:count]]
    return {"type": "data_visualization", "title": "Measured", "chart": {"type": "pie", "segments": segments}}


def _section(**fields: Any) -> Block:
    return {"type": "section", **fields}


_MAKERS: dict[str, Callable[[int], Block]] = {
    "data_table.rows": lambda size: _data_table(_rows(size, 1)),
    "data_table.columns": lambda size: _data_table(_rows(2, size)),
    "data_table.chars": lambda size: _data_table(_spread(size)),
    "table.rows": lambda size: _table(_rows(size, 1)),
    "table.columns": lambda size: _table(_rows(2, size)),
    "table.chars": lambda size: _table(_spread(size)),
    "chart.title_chars": lambda size: _chart(title="x" * size),
    "chart.label_chars": lambda size: _chart(label="x" * size),
    "chart.series": lambda size: _chart(series=size),
    "chart.points": lambda size: _chart(size),
    "chart.segments": _pie,
    "section.chars": lambda size: _section(text=_words(size)),
    "section.fields": lambda size: _section(fields=[_words(4)] * size),
    "header.chars": lambda size: {"type": "header", "text": _words(size)},
    "context.elements": lambda size: {"type": "context", "elements": [_words(4)] * size},
    "actions.elements": _buttons,
    "button.chars": lambda size: _actions(_button(text=_words(size))),
    "button.value_chars": lambda size: _actions(_button(value="x" * size)),
    "action_id.chars": lambda size: _actions(_button(action_id="x" * size)),
    "block_id.chars": lambda size: {"type": "divider", "block_id": "x" * size},
    "select.options": _menu,
    "markdown_block.chars": lambda size: {"type": "markdown", "text": paragraph(size)},
}


def _add(rule: str, make: Callable[[int], Block]) -> None:
    add_size(rule, POST, lambda size: {"blocks": [make(size)]})


for _rule, _make in _MAKERS.items():
    _add(_rule, _make)
add_size("chart.count", POST, lambda size: {"blocks": [_chart()] * size})


@probe("data_table.uneven")
async def _uneven(slack: SlackPort, place: Place) -> ProbeResult:
    table = _data_table([[_cell()] * 2, [_cell()]])
    return await slack.answer_to(POST, **place.thread, text=TEXT, blocks=[table])


@probe("button.hidden")
async def _hidden(slack: SlackPort, place: Place) -> ProbeResult:
    blocks = [_actions(_button(visible_to_user_ids=[place.user]))]
    return ProbeResult(await slack.takes(POST, **place.thread, text=TEXT, blocks=blocks))
