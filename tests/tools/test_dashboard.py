"""deploy/dashboard.json: what the metrics say, all of them, and queries that Prometheus answers."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from slack_bot.observe.metric_table import Metric, MetricKind
from slack_bot.tools.dashboard import dashboard
from tests.deploy.test_alerts import ALERTS, PROMTOOL
from tests.observe.test_metric_table import EVERY

FILE = Path(__file__).parents[2] / "deploy" / "dashboard.json"


def panels() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(FILE.read_text("utf-8"))["panels"]
    return found


def queries() -> list[str]:
    return [target["expr"] for panel in panels() for target in panel.get("targets", ())]


def test_it_is_generated_from_the_metrics() -> None:
    """`python -m slack_bot.tools.dashboard > deploy/dashboard.json` makes it again."""
    assert FILE.read_text("utf-8") == dashboard()


def test_it_shows_each_metric_that_there_is_and_no_other() -> None:
    shown = {name for query in queries() for name in re.findall(r"slack_bot_\w+", query)}
    assert {re.sub(r"_(bucket|count)$", "", name) for name in shown} == {metric.family for metric in EVERY}


def test_its_panels_stand_beside_one_another() -> None:
    covered: set[tuple[int, int]] = set()
    for panel in panels():
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & covered, panel["title"]
        assert max(x for x, _ in cells) < 24, panel["title"]
        covered |= cells
    assert len({panel["id"] for panel in panels()}) == len(panels())
    assert len({panel["title"] for panel in panels()}) >= len(panels()) - 2


def test_its_colours_change_where_the_alerts_begin() -> None:
    alerts = ALERTS.read_text("utf-8")
    steps = [
        step["value"]
        for panel in panels()
        if panel["type"] == "stat"
        for step in panel["fieldConfig"]["defaults"]["thresholds"]["steps"][1:]
        if panel["title"] != "Processes that take questions"
    ]
    assert len(steps) == 3
    assert [value for value in steps if not re.search(rf"[<>] {value}\n", alerts)] == []


def series_of(metric: Metric) -> Iterator[str]:
    labels = "".join(f', {label}="x"' for label in metric.labels)
    place = f'job="bot", namespace="a", instance="1"{labels}'
    if metric.kind is MetricKind.TIMES:
        for bound in (*metric.buckets, "+Inf"):
            yield f'{metric.family}_bucket{{{place}, le="{bound}"}}'
        yield f"{metric.family}_count{{{place}}}"
    else:
        yield f"{metric.family}{{{place}}}"


@pytest.mark.skipif(PROMTOOL is None, reason="no promtool: apt-get install prometheus")
def test_prometheus_answers_each_query_for_a_bot_that_works(tmp_path: Path) -> None:
    """Where the variables say all bots, and where they name one."""
    assert PROMTOOL is not None
    firing = 'ALERTS{alertstate="firing", alertname="SlackBotDown", job="bot", namespace="a"}'
    series = [*(each for metric in EVERY for each in series_of(metric)), firing]
    for job, namespace, answers in ((".*", ".*", "1"), ("(bot|other)", "a", "1"), ("other", ".*", "0")):
        values = {"$job": job, "$namespace": namespace, "$__rate_interval": "5m", "$__range": "30m"}
        asked = []
        for query in queries():
            expr = query
            for name, value in values.items():
                expr = expr.replace(name, value)
            assert "$" not in expr
            asked.append({
                "expr": f"(count({expr}) or vector(0)) > bool 0",
                "eval_time": "50m",
                "exp_samples": [{"labels": "{}", "value": float(answers)}],
            })  # fmt: skip
        cases = {
            "evaluation_interval": "1m",
            "tests": [
                {
                    "interval": "1m",
                    "input_series": [{"series": each, "values": "0+1x60"} for each in series],
                    "promql_expr_test": asked,
                }
            ],
        }
        file = tmp_path / "cases.json"  # which is YAML too
        file.write_text(json.dumps(cases), encoding="utf-8")
        ran = subprocess.run(
            [PROMTOOL, "test", "rules", file], capture_output=True, text=True, check=False, timeout=60
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
