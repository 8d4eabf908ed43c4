"""PURE. Generates `deploy/dashboard.json`, for Grafana, from the metrics, so that none is missing in it.

python -m slack_bot.tools.dashboard > deploy/dashboard.json
"""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ..observe import metric_table as rows
from ..observe.metric_table import GROUPS, Metric, MetricKind

_Json: TypeAlias = dict[str, Any]

_COLUMNS = 24  # of Grafana's grid
_SOURCE = {"type": "prometheus", "uid": "${source}"}
_CHOSEN = 'job=~"$job",namespace=~"$namespace"'
_WINDOW = "$__rate_interval"
_SCHEMA = 39  # of dashboards: Grafana 10.2 and newer read it; newer ones bring it to theirs


@dataclass(frozen=True, slots=True)
class _Query:
    expr: str
    legend: str = "__auto"
    is_table: bool = False


@dataclass(frozen=True, slots=True)
class _Panel:
    """`kind`: Grafana's type. `steps`: from which value which colour; `mappings`: words for values."""

    kind: str
    title: str
    about: str
    queries: tuple[_Query, ...]
    unit: str = ""
    steps: Sequence[tuple[float | None, str]] = ((None, "green"),)
    mappings: Mapping[str, tuple[str, str]] | None = None
    width: int = 8
    height: int = 8


def dashboard() -> str:
    """The dashboard as JSON."""
    panels = list(
        _placed([("At a glance", _overview()), *((name, _drawn(group)) for name, group in GROUPS.items())])
    )
    shown = {
        "title": "slack_bot",
        "uid": "slack-bot-a2a",
        "description": "Generated from the bot's metrics; what each says: docs/watch.md",
        "tags": ["slack", "a2a"],
        "schemaVersion": _SCHEMA,
        "editable": True,
        "graphTooltip": 1,  # one cross for all panels
        "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "timezone": "browser",
        "templating": {"list": list(_variables())},
        "panels": panels,
    }
    return json.dumps(shown, indent=1) + "\n"


def _variables() -> Iterator[_Json]:
    yield {"name": "source", "label": "Prometheus", "type": "datasource", "query": "prometheus"}
    for name, query in (
        ("job", f"label_values({rows.READY.family}, job)"),
        ("namespace", f'label_values({rows.READY.family}{{job=~"$job"}}, namespace)'),
    ):
        yield {
            "name": name,
            "type": "query",
            "datasource": _SOURCE,
            "query": {"query": query, "refId": name},
            "definition": query,
            "refresh": 2,  # when the time changes
            "sort": 1,
            "includeAll": True,
            "multi": True,
            "allValue": ".*",  # a target without the label has it empty
            "current": {"text": ["All"], "value": ["$__all"]},
        }


# -- what is drawn


def _series(metric: Metric, ending: str = "") -> str:
    return f"{metric.family}{ending}{{{_CHOSEN}}}"


def _rate(metric: Metric, ending: str = "", window: str = _WINDOW) -> str:
    return f"rate({_series(metric, ending)}[{window}])"


def _share(part: str, whole: str) -> str:
    """0 where nothing of the part was ever counted."""
    return f"(sum({part}) or vector(0)) / sum({whole})"


def _overview() -> Iterator[_Panel]:
    """What somebody looks at first. The colours change where the alerts begin."""
    whole = _share(_rate(rows.ANSWERS_WHOLE, window="$__range"), _rate(rows.ANSWERS, window="$__range"))
    limited = _share(_rate(rows.SLACK_RATE_LIMITED), _rate(rows.SLACK_CALL, "_count"))
    yield _stat("Processes that take questions", f"sum({_series(rows.READY)})", "", "red", (1, "green"))
    yield _stat("Answers that were whole, in the time shown", whole, "percentunit", "red", (0.99, "green"))
    yield _stat("Turns that ended, an hour", f"sum({_rate(rows.TURNS)}) * 3600", "", "blue")
    yield _stat(rows.RUNNING.about, f"sum({_series(rows.RUNNING)})", "", "blue")
    yield _stat("Oldest text that waits", f"max({_series(rows.OLDEST_UNSEEN)})", "s", "green", (30, "red"))
    yield _stat(rows.SLACK_RATE_LIMITED.about, limited, "percentunit", "green", (0.05, "red"))
    firing = f'ALERTS{{alertstate="firing",alertname=~"SlackBot.*",{_CHOSEN}}}'
    about = "Those of deploy/alerts.yml that fire now"
    yield _Panel("table", "Alerts", about, (_Query(firing, is_table=True),), width=_COLUMNS, height=5)


def _stat(title: str, expr: str, unit: str, usual: str, *steps: tuple[float, str]) -> _Panel:
    return _Panel("stat", title, "", (_Query(expr),), unit, ((None, usual), *steps), width=4, height=4)


def _drawn(group: Iterable[Metric]) -> Iterator[_Panel]:
    checks = tuple(rows.CHECKS.values())
    for metric in group:
        if metric is rows.READY:
            yield _readiness((metric, *checks))
        elif metric not in checks:
            yield _panel_of(metric)


def _readiness(metrics: Iterable[Metric]) -> _Panel:
    queries = tuple(
        _Query(f"min by (job) ({_series(metric)})", f"{metric.name.removeprefix('check_')} {{{{job}}}}")
        for metric in metrics
    )
    words = {"0": ("no", "red"), "1": ("ok", "green")}
    about = "What /readyz says: of several processes the one that is worst"
    return _Panel("state-timeline", "Ready, and each check", about, queries, mappings=words)


def _panel_of(metric: Metric) -> _Panel:
    legend = " ".join(f"{{{{{label}}}}}" for label in metric.labels)
    match metric.kind:
        case MetricKind.COUNTER:
            by = f" by ({', '.join(metric.labels)})" if metric.labels else ""
            query = _Query(f"sum{by} ({_rate(metric)}) * 60", legend or metric.name)
            return _Panel("timeseries", metric.about, f"{metric.family}, a minute", (query,))
        case MetricKind.TIMES:
            by = ", ".join(("le", *metric.labels))
            queries = tuple(
                _Query(
                    f"histogram_quantile({share}, sum by ({by}) ({_rate(metric, '_bucket')}))",
                    f"{word} {legend}".strip(),
                )
                for share, word in ((0.5, "50 %"), (0.95, "95 %"))
            )
            about = f"{metric.family}: 50 and 95 % are faster"
            return _Panel("timeseries", metric.about.removesuffix(", in seconds"), about, queries, "s")
        case MetricKind.GAUGE:
            query = _Query(_series(metric), "{{instance}}")
            title = metric.about.removesuffix(", in seconds")
            return _Panel("timeseries", title, metric.family, (query,), metric.unit)


# -- Grafana's form of it


def _placed(groups: Iterable[tuple[str, Iterable[_Panel]]]) -> Iterator[_Json]:
    """Rows of panels from left to right, below a heading for each group."""
    y = number = 0
    for heading, panels in groups:
        number += 1
        place = {"x": 0, "y": y, "w": _COLUMNS, "h": 1}
        yield {
            "id": number,
            "type": "row",
            "title": heading,
            "collapsed": False,
            "gridPos": place,
            "panels": [],
        }
        x, y, height = 0, y + 1, 0
        for panel in panels:
            if x + panel.width > _COLUMNS:
                x, y = 0, y + height
            number += 1
            yield _as_grafana(panel, number, {"x": x, "y": y, "w": panel.width, "h": panel.height})
            x, height = x + panel.width, panel.height
        y += height


def _as_grafana(panel: _Panel, number: int, place: _Json) -> _Json:
    steps = [{"value": value, "color": color} for value, color in panel.steps]
    defaults: _Json = {"unit": panel.unit or "short", "thresholds": {"mode": "absolute", "steps": steps}}
    if panel.mappings is not None:
        options = {value: {"text": text, "color": color} for value, (text, color) in panel.mappings.items()}
        defaults["mappings"] = [{"type": "value", "options": options}]
    if panel.kind in ("stat", "state-timeline"):
        defaults["color"] = {"mode": "thresholds"}
    if panel.kind == "timeseries":
        defaults["min"] = 0
    return {
        "id": number,
        "type": panel.kind,
        "title": panel.title,
        "description": panel.about,
        "datasource": _SOURCE,
        "gridPos": place,
        "fieldConfig": {"defaults": defaults, "overrides": []},
        "targets": [_target(query, at) for at, query in enumerate(panel.queries)],
    }


def _target(query: _Query, at: int) -> _Json:
    asked = {"instant": True, "format": "table"} if query.is_table else {"range": True}
    return {
        "refId": chr(ord("A") + at),
        "datasource": _SOURCE,
        "expr": query.expr,
        "legendFormat": query.legend,
        **asked,
    }


if __name__ == "__main__":
    sys.stdout.write(dashboard())
