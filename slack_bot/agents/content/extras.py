"""PURE. Finds what in data is certainly a table or a chart. Everything else stays text (`data_markdown`).

A table: rows of plain values, as objects with the same keys, or as lists next to their columns. A chart: an
object that says so in our own format, in Chart.js's or in Vega-Lite's.
"""

import base64
from binascii import Error as Base64Error
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from ...text.words import CHART_UNNAMED_SERIES, CHART_UNNAMED_VALUES, DATA_NO, DATA_YES
from ...turn.extras import Cell, Chart, ChartKind, DataTable, Extra, LinkedFile, OutFile, Series
from ...turn.json_values import object_of, text_of
from ..wire.frames import FileRef, Part
from .data_markdown import TextBeside, is_machine_data

_MOST_COLUMNS, _MOST_CELLS = 100, 50_000
_URL_SAFE = str.maketrans("-_", "+/")  # of the other alphabet
_MOST_EXACT = 2**53  # above, JSON readers round integers
_AROUND_ROWS = frozenset({"type", "title", "caption", "name", "columns", "headers", "rows"})
_TITLES = ("title", "caption", "name")
_COLUMN_NAMES = ("key", "field", "name", "id", "label", "title", "header")
_COLUMN_LABELS = ("label", "title", "header", "name", "key", "field", "id")
_KINDS = {"bar": ChartKind.BAR, "column": ChartKind.BAR, "line": ChartKind.LINE, "area": ChartKind.AREA} | {
    name: ChartKind.PIE for name in ("pie", "arc", "donut", "doughnut")
}
_KIND_KEYS = ("chart_type", "chartType", "kind", "chart", "mark")

Row: TypeAlias = Mapping[str, Any] | Sequence[Any]


def extra_in(part: Part, text_beside: TextBeside, description: str = "") -> Extra | None:
    """The extra in `part`; None if there is none, or if `text_beside` already says everything."""
    if part.file is not None:
        return _file(part.file, description)
    if not part.has_data or is_machine_data(part) or text_beside.contains(part.data):
        return None
    return chart_of(part.data) or table_of(part.data)


def _file(ref: FileRef, description: str) -> OutFile | LinkedFile | None:
    if ref.content is None:
        return None if ref.url is None else LinkedFile(ref.url, ref.name, ref.mime_type, description)
    code = "".join(ref.content.split()).translate(_URL_SAFE).rstrip("=")
    try:
        content = base64.b64decode(code + "=" * (-len(code) % 4), validate=True)
    except (Base64Error, ValueError):
        return None
    return OutFile(ref.name, ref.mime_type, content, description)


# -- tables ----------------------------------------------------------------------------------------------


def table_of(data: Any) -> DataTable | None:
    """The table that `data` as a whole is, or None."""
    if isinstance(data, list):
        return _table(data, None, "", least=2)
    if not isinstance(data, dict):
        return None
    says_so = data.get("type") == "table"
    if isinstance(data.get("rows"), list) and (says_so or data.keys() <= _AROUND_ROWS):
        title = next((data[key] for key in _TITLES if isinstance(data.get(key), str)), "")
        columns = data.get("columns") or data.get("headers")
        return _table(data["rows"], columns, title, least=1 if says_so or columns else 2)
    if len(data) == 1 and isinstance(rows := next(iter(data.values())), list):
        return _table(rows, None, str(next(iter(data))).replace("_", " "), least=2)
    return None


def _table(rows: Sequence[Any], columns: Any, title: str, *, least: int) -> DataTable | None:
    if len(rows) < least:
        return None
    if isinstance(columns, list):
        keys, labels = _columns(columns, _COLUMN_NAMES), _columns(columns, _COLUMN_LABELS)
    elif isinstance(rows[0], dict) and len(rows[0]) >= least:
        keys = list(rows[0])
        labels = [key.replace("_", " ") for key in keys]
    else:
        return None
    if not 1 <= len(keys) <= _MOST_COLUMNS or len(keys) * len(rows) > _MOST_CELLS or not all(labels):
        return None
    cells = [_cells(row, keys) for row in rows]
    complete = tuple(each for each in cells if each is not None)
    return DataTable(tuple(labels), complete, title) if len(complete) == len(cells) else None


def _columns(columns: Sequence[Any], names: Sequence[str]) -> list[str]:
    """The name of each column; [] if a column has none."""
    column_names = [
        each
        if isinstance(each, str)
        else next((text for n in names if (text := text_of(object_of(each).get(n)))), "")
        for each in columns
    ]
    return column_names if all(column_names) else []


def _cells(row: Any, keys: Sequence[str]) -> tuple[Cell, ...] | None:
    if isinstance(row, dict):
        values = [row.get(key) for key in keys] if row.keys() == set(keys) else None
    else:
        values = row if isinstance(row, list) and len(row) == len(keys) else None
    if values is None or not all(map(_is_plain, values)):
        return None
    return tuple(map(_cell, values))


def _is_plain(value: Any) -> bool:
    return not isinstance(value, dict | list) and not (isinstance(value, str) and "\n" in value)


def _cell(value: Any) -> Cell:
    if isinstance(value, bool):
        return DATA_YES if value else DATA_NO
    if value is None or isinstance(value, str):
        return value or ""
    number = _number(value)
    return str(value) if number is None else number


def _number(value: Any) -> int | float | None:
    """The number, or None if it is none or JSON cannot write it exactly.

    Servers on protobuf send 1 as 1.0.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not abs(value) <= _MOST_EXACT:  # what is not a number is not less either
        return None
    return int(value) if float(value).is_integer() else value


# -- charts ----------------------------------------------------------------------------------------------


def chart_of(data: Any) -> Chart | None:
    """The chart that `data` as a whole is, or None."""
    if not isinstance(data, dict):
        return None
    kind, spec = data.get("type"), object_of(data.get("spec")) or data
    if kind == "vega-lite" or "vega-lite" in text_of(spec.get("$schema")):
        return _vega(spec)
    if kind == "chart":
        kind_name = next((data[key] for key in _KIND_KEYS if isinstance(data.get(key), str)), "")
        return _chart(kind_name, data)
    inner = object_of(data.get("data"))
    if isinstance(inner.get("labels"), list) and isinstance(inner.get("datasets"), list):  # Chart.js
        options = {"categories": inner["labels"], "series": inner["datasets"], "title": data.get("title")}
        return _chart(text_of(kind), options)
    return None


def _chart(kind_name: str, data: Mapping[str, Any]) -> Chart | None:
    kind, points = _KINDS.get(kind_name.lower()), data.get("segments") or data.get("data")
    categories = data.get("categories") or data.get("labels")
    series = data.get("series") or data.get("datasets")
    if not isinstance(series, list):
        series = [{"name": data.get("title") or CHART_UNNAMED_VALUES, "data": points or data.get("values")}]
    if not isinstance(categories, list):
        categories = [object_of(each).get("label") for each in _points(series[0] if series else None)]
    if kind is None or not categories or not all(isinstance(each, str | int | float) for each in categories):
        return None
    labels = tuple(map(_label, categories))
    all_series = [_series(number, each, labels) for number, each in enumerate(series, start=1)]
    complete = tuple(each for each in all_series if each is not None)
    return _whole(kind, labels, complete, len(all_series), data)


def _whole(
    chart_kind: ChartKind,
    labels: tuple[str, ...],
    series: tuple[Series, ...],
    number: int,
    data: Mapping[str, Any],
) -> Chart | None:
    if not series or len(series) != number or len(labels) * len(series) > _MOST_CELLS:
        return None
    if chart_kind is ChartKind.PIE and len(series) > 1:
        chart_kind = ChartKind.BAR
    names = (("title",), ("x_label", "xLabel"), ("y_label", "yLabel"))
    title, x, y = (next((text_of(data[n]) for n in each if n in data), "") for each in names)
    return Chart(chart_kind, labels, series, title, x, y)


def _label(value: Any) -> str:
    return str(_cell(value))


def _points(series: Any) -> list[Any]:
    series_json = object_of(series)
    points = series_json.get("data") or series_json.get("values")
    return points if isinstance(points, list) else []


def _series(number: int, series: Any, labels: Sequence[str]) -> Series | None:
    """The values in the order of `labels`; None if one is missing."""
    points: Iterable[Any] = _points(series)
    if all(isinstance(each, dict) for each in points):
        by_label = {_label(each.get("label")): each.get("value") for each in points}
        points = [by_label.get(label) for label in labels]
    values = [_number(each) for each in points]
    numbers = tuple(each for each in values if each is not None)
    about = object_of(series)
    name = text_of(about.get("name")) or text_of(about.get("label")) or CHART_UNNAMED_SERIES.format(number)
    return Series(name, numbers) if len(numbers) == len(values) == len(labels) else None


def _vega(spec: Mapping[str, Any]) -> Chart | None:
    """Read Vega-Lite: bar, line, area and arc over rows that the spec itself contains."""
    mark, coding = spec.get("mark"), object_of(spec.get("encoding"))
    rows = object_of(spec.get("data")).get("values")
    kind = _KINDS.get(text_of(object_of(mark).get("type") or mark).lower())
    if kind is None or not isinstance(rows, list) or not rows:
        return None
    is_pie = kind is ChartKind.PIE
    x, y, by = (
        text_of(object_of(coding.get(name)).get("field"))
        for name in (("color", "theta", "") if is_pie else ("x", "y", "color"))
    )
    points: dict[str, dict[str, Any]] = {}
    for row in rows:
        if not isinstance(row, dict) or x not in row or y not in row:
            return None
        points.setdefault(_label(row.get(by)) if by else y, {})[_label(row[x])] = row[y]
    labels = tuple(dict.fromkeys(_label(row[x]) for row in rows))
    if sum(map(len, points.values())) != len(rows):
        return None  # a point twice: it would have to be aggregated
    all_series = [
        _series(1, {"name": name, "data": [each.get(n) for n in labels]}, labels)
        for name, each in points.items()
    ]
    complete = tuple(each for each in all_series if each is not None)
    title = spec.get("title")
    title_text = title if isinstance(title, str) else text_of(object_of(title).get("text"))
    return _whole(kind, labels, complete, len(all_series), {"title": title_text, "x_label": x, "y_label": y})
