"""PURE. Tables and charts in blocks: what Slack takes of them, what a person reads (facts: Slack 5, 14)."""

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from ...settings.slack_rules import OK
from .rules import WorkspaceRules

Json: TypeAlias = dict[str, Any]
Limit: TypeAlias = int | tuple[str, int]
"""A number; with the rule of the catalogue by which a workspace may have another one."""

_DRAWN = frozenset({"type", "series", "axis_config"})
_CHART_FIELDS = {"pie": frozenset({"type", "segments"}), "bar": _DRAWN, "line": _DRAWN, "area": _DRAWN}


class BadBlock(Exception):
    """Slack does not take it. `is_size`: something is too long."""

    def __init__(self, why: str, at: str, *, is_size: bool = False) -> None:
        super().__init__(f"{why} [json-pointer:{at}]")
        self.is_size = is_size


def limit_of(limit: Limit, rules: WorkspaceRules) -> int:
    """The number of a limit in a workspace."""
    return limit if isinstance(limit, int) else rules.size(*limit)


_ALIGNS = ("left", "center", "right")


def check_data_rows(rows: Any, at: str, rules: WorkspaceRules) -> None:
    """Of a `data_table`."""
    _check_rows(rows, at, 2, "data_table", 201, rules)
    if any(len(row) != len(rows[0]) for row in rows) and rules.word("data_table.uneven", "") != OK:
        raise BadBlock("all rows must have the same number of cells", at)
    if any(cell["type"] == "rich_text" for cell in rows[0]):
        raise BadBlock("a header cell cannot be rich_text", at)


def check_table_rows(rows: Any, at: str, rules: WorkspaceRules) -> None:
    """Of a `table`."""
    _check_rows(rows, at, 1, "table", 100, rules)


def check_columns(settings: Any, at: str, rules: WorkspaceRules) -> None:
    """Of a `table`: how its first columns are drawn."""
    _check_list(settings, at, 0, 20, rules)
    for number, each in enumerate(settings):
        is_known = isinstance(each, dict) and each.keys() <= {"align", "is_wrapped"}
        if each is not None and not (is_known and each.get("align", "left") in _ALIGNS):
            raise BadBlock("must have align (left, center, right) or is_wrapped", f"{at}/{number}")


def _check_rows(rows: Any, at: str, least: int, kind: str, most: int, rules: WorkspaceRules) -> None:
    _check_list(rows, at, least, (f"{kind}.rows", most), rules)
    for number, row in enumerate(rows):
        _check_list(row, f"{at}/{number}", 1, (f"{kind}.columns", 20), rules)
        for column, cell in enumerate(row):
            _check_cell(cell, f"{at}/{number}/{column}", rules)


def _check_cell(cell: Any, at: str, rules: WorkspaceRules) -> None:
    kind = cell.get("type") if isinstance(cell, dict) else None
    known = {"raw_text": {"type", "text"}, "raw_number": {"type", "text", "value"}}
    if kind == "rich_text" and isinstance(cell.get("elements"), list):
        return
    if kind not in known or set(cell) - known[kind]:
        raise BadBlock("must be a rich_text, raw_text or raw_number cell", at)
    if kind == "raw_number":
        _check_number(cell.get("value"), at, rules)
    if kind == "raw_text" or "text" in cell:
        _check_words(cell.get("text"), at, 1, 10**9, rules)


def check_page_size(size: Any, at: str, rules: WorkspaceRules) -> None:
    """Of a `data_table`."""
    if not isinstance(size, int) or not 1 <= size <= 100:
        raise BadBlock("must be 1 to 100", at)


def check_chart_title(title: Any, at: str, rules: WorkspaceRules) -> None:
    """Of a `data_visualization`."""
    _check_words(title, at, 1, ("chart.title_chars", 50), rules)


def check_chart(chart: Any, at: str, rules: WorkspaceRules) -> None:
    """Of a `data_visualization`."""
    kind = chart.get("type") if isinstance(chart, dict) else None
    if kind not in _CHART_FIELDS or set(chart) != _CHART_FIELDS[kind]:
        raise BadBlock("must be a pie, bar, line or area chart", at)
    if kind == "pie":
        _check_points(
            chart["segments"], f"{at}/segments", ("chart.segments", 12), lambda value: value > 0, rules
        )
        return
    axes = chart["axis_config"]
    if not isinstance(axes, dict) or set(axes) - {"categories", "x_label", "y_label"}:
        raise BadBlock("must be an axis config", f"{at}/axis_config")
    categories: list[Any] = axes.get("categories") or []
    _check_list(categories, f"{at}/axis_config/categories", 1, ("chart.points", 20), rules)
    _check_names(categories, f"{at}/axis_config/categories", rules)
    for name in ("x_label", "y_label"):
        if name in axes:
            _check_words(axes[name], f"{at}/axis_config/{name}", 1, 50, rules)
    _check_series(chart["series"], categories, f"{at}/series", rules)


def _check_series(series: Any, categories: list[str], at: str, rules: WorkspaceRules) -> None:
    _check_list(series, at, 1, ("chart.series", 12), rules)
    for number, each in enumerate(series):
        if not isinstance(each, dict) or set(each) != {"name", "data"}:
            raise BadBlock("must have a name and data", f"{at}/{number}")
        _check_points(each["data"], f"{at}/{number}/data", ("chart.points", 20), lambda value: True, rules)
        if sorted(point["label"] for point in each["data"]) != sorted(categories):
            raise BadBlock("must have every category once", f"{at}/{number}/data")
    _check_names([each["name"] for each in series], at, rules)


def _check_points(
    points: Any, at: str, most: Limit, is_right: Callable[[float], bool], rules: WorkspaceRules
) -> None:
    _check_list(points, at, 1, most, rules)
    for number, point in enumerate(points):
        if not isinstance(point, dict) or set(point) != {"label", "value"}:
            raise BadBlock("must have a label and a value", f"{at}/{number}")
        _check_words(point["label"], f"{at}/{number}/label", 1, ("chart.label_chars", 20), rules)
        _check_number(point["value"], f"{at}/{number}/value", rules)
        if not is_right(point["value"]):
            raise BadBlock("must be greater than 0", f"{at}/{number}/value")


def _check_names(names: list[Any], at: str, rules: WorkspaceRules) -> None:
    for name in names:
        _check_words(name, at, 1, ("chart.label_chars", 20), rules)
    if len(set(names)) != len(names):
        raise BadBlock("must be unique", at)


def _check_list(value: Any, at: str, least: int, most: Limit, rules: WorkspaceRules) -> None:
    most = limit_of(most, rules)
    if not isinstance(value, list) or not least <= len(value) <= most:
        raise BadBlock(f"must be an array of {least} to {most} items", at)


def _check_words(value: Any, at: str, least: int, most: Limit, rules: WorkspaceRules) -> None:
    most = limit_of(most, rules)
    if not isinstance(value, str) or not least <= len(value) <= most:
        raise BadBlock(f"must be {least} to {most} characters", at)


def _check_number(value: Any, at: str, rules: WorkspaceRules) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadBlock("must be a number", at)


# -- a whole message


def check_message(blocks: list[Any], rules: WorkspaceRules) -> str:
    """What Slack calls too much of all tables and charts of a message; "" for nothing."""
    for kind, most in (("data_table", 20_000), ("table", 10_000)):
        cells = (cell for block in blocks if block["type"] == kind for row in block["rows"] for cell in row)
        most = rules.size(f"{kind}.chars", most)
        if sum(len(_words(cell)) for cell in cells) > most:
            return f"the cells of a message hold more than {most} characters"
    most = rules.size("chart.count", 2)
    if sum(block["type"] == "data_visualization" for block in blocks) > most:
        return f"no more than {most} data_visualization blocks in a message"
    return ""


def _words(cell: Json) -> str:
    return str(cell.get("text", "")) or str(cell.get("value", ""))


def as_markdown(block: Json, words: Callable[[Any], str]) -> str:
    """A table as it would be written. `words`: those of a rich text."""
    lines = [
        [words(cell) if cell["type"] == "rich_text" else _words(cell) for cell in row]
        for row in block["rows"]
    ]
    lines.insert(1, ["---"] * len(lines[0]))
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def read(block: Json) -> Iterator[str]:
    """The lines that a person reads in a table or a chart."""
    if block["type"] == "data_visualization":
        chart = block["chart"]
        yield block["title"]
        for series in chart.get("series") or [{"name": "", "data": chart["segments"]}]:
            points = ", ".join(f"{point['label']} {point['value']:g}" for point in series["data"])
            yield f"{series['name']}: {points}" if series["name"] else points
        return
    if "caption" in block:
        yield block["caption"]
    for row in block["rows"]:
        yield " | ".join(map(_words, row))
