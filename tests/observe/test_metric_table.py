"""The rows of the metrics: each once, each exported, and no label that names somebody."""

from __future__ import annotations

import re

from slack_bot.clock import system_clock
from slack_bot.observe.health import Health
from slack_bot.observe.metric_table import GROUPS, MetricKind
from slack_bot.observe.metrics import Metrics

EVERY = [metric for group in GROUPS.values() for metric in group]


def test_each_metric_of_a_scrape_is_in_one_group_and_each_of_a_group_is_scraped() -> None:
    metrics, health = Metrics(system_clock(), by_team=True), Health()
    health.workspace_passed("T1")
    metrics.watch(lambda: {"running": 0, "waiting": 0, "watched": 0}, lambda: None, health)
    told = re.findall(r"# TYPE (slack_bot_\w+) ", metrics.scrape()[1].decode())
    scraped = sorted(name for name in told if not name.endswith("_created"))
    assert scraped == sorted(metric.family for metric in EVERY)


def test_no_label_names_a_person_a_channel_or_a_turn() -> None:
    labels = {label for metric in EVERY for label in metric.labels}
    assert labels == {"agent", "outcome", "surface", "reason", "method", "fault", "target", "team"}


def test_times_have_bounds_and_seconds_and_nothing_else_has_bounds() -> None:
    for metric in EVERY:
        assert bool(metric.buckets) == (metric.kind is MetricKind.TIMES), metric
        assert (metric.unit == "s") == metric.family.endswith("_seconds"), metric
        assert list(metric.buckets) == sorted(set(metric.buckets)), metric


def test_of_workspaces_nothing_is_told_where_there_is_one_only() -> None:
    metrics = Metrics(system_clock())
    metrics.watch(lambda: {"running": 0, "waiting": 0, "watched": 0}, lambda: None, Health())
    text = metrics.scrape()[1].decode()
    assert "team" not in text
    assert "workspaces" not in text
