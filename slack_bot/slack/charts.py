"""PURE. A chart as Slack's `data_visualization`, where it is within its limits (facts: Slack 5, 14)."""

from ..text.words import CHART_UNTITLED
from ..turn.extras import Chart, ChartKind, Series
from .blocks import Block, shorten

_TITLE = _AXIS = 50  # characters
_SERIES = 12  # and segments of a pie
_POINTS = _LABEL = 20


def chart_block(chart: Chart) -> Block | None:
    """None: Slack would refuse it."""
    names = [each.name for each in chart.series]
    if not (_are_labels(names) and _are_labels(chart.categories)) or len(names) > _SERIES:
        return None
    title = shorten(" ".join(chart.title.split()), _TITLE) or CHART_UNTITLED
    if chart.kind is ChartKind.PIE:
        values = chart.series[0].values
        if len(values) > _SERIES or not all(value > 0 for value in values):
            return None
        segments = _points(chart, chart.series[0])
        return {"type": "data_visualization", "title": title, "chart": {"type": "pie", "segments": segments}}
    if len(chart.categories) > _POINTS:
        return None
    axes: Block = {"categories": list(chart.categories)}
    for name, label in (("x_label", chart.x_label), ("y_label", chart.y_label)):
        if label.strip():
            axes[name] = shorten(label, _AXIS)
    series = [{"name": each.name, "data": _points(chart, each)} for each in chart.series]
    drawn = {"type": chart.kind.value, "series": series, "axis_config": axes}
    return {"type": "data_visualization", "title": title, "chart": drawn}


def _are_labels(names: list[str] | tuple[str, ...]) -> bool:
    """There are some, unique and short enough, and each can be seen."""
    return (
        bool(names)
        and len(set(names)) == len(names)
        and all(0 < len(n.strip()) <= len(n) <= _LABEL for n in names)
    )


def _points(chart: Chart, series: Series) -> list[Block]:
    pairs = zip(chart.categories, series.values, strict=True)
    return [{"label": label, "value": value} for label, value in pairs]
