"""What one turn uses, as agents report it, and what stands below its answer."""

from __future__ import annotations

import pytest

from slack_bot.features.usage.meter import Prices, TurnMeter, money
from slack_bot.turn.usage import Usage


def report(**usage: object) -> dict[str, object]:
    return {"kind": "status-update", "metadata": {"usage": usage}}


def metered(*raw: object, prices: Prices | None = None, shows: str = "cost") -> TurnMeter:
    meter = TurnMeter(prices or Prices(), shows, is_limited=False)
    for each in raw:
        meter.take(each)
    return meter


def test_what_is_not_reported_is_not_known() -> None:
    meter = metered({"kind": "task"}, "no object", None)
    assert meter.usage is None
    assert [metered(shows=each).footer(12.0) for each in ("none", "tokens", "cost")] == ["", "", ""]


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        ({"input_tokens": 1000, "output_tokens": 200}, Usage(1000, 200, 1200)),
        ({"input_tokens": 1000, "output_tokens": 200, "cost": 0.02}, Usage(1000, 200, 1200, 0.02)),
        ({"total_cost": 0.5}, Usage(cost=0.5)),
        ({"prompt_tokens": 5, "completion_tokens": 1, "total_tokens": 9, "cost": -1}, Usage(5, 1, 9)),
        ({"prompt_tokens": 5, "cost": True}, Usage(5, 0, 5)),
        ({"prompt_tokens": 5, "cost": 1e300}, Usage(5, 0, 5)),
        ({"prompt_tokens": 5, "cost": "0.1"}, Usage(5, 0, 5)),
    ],
)
def test_tokens_and_money_are_read(usage: dict[str, object], counted: Usage) -> None:
    assert metered(report(**usage)).usage == counted


def test_prices_count_where_the_agent_names_no_cost() -> None:
    prices = Prices(2.0, 10.0)
    meter = metered(report(input_tokens=1_000_000, output_tokens=100_000), prices=prices)
    assert meter.usage == Usage(1_000_000, 100_000, 1_100_000, 3.0)
    meter = metered(report(input_tokens=10, output_tokens=1, cost=7.0), prices=prices)
    assert meter.usage == Usage(10, 1, 11, 7.0)
    assert metered(report(input_tokens=10), prices=Prices(2.0)).usage == Usage(10, 0, 10)


def test_reports_of_the_same_run_are_not_added() -> None:
    meter = metered(report(input_tokens=10, cost=0.1), report(input_tokens=30, cost=0.3))
    assert meter.usage == Usage(30, 0, 30, 0.3)


def test_calls_of_the_model_are_added() -> None:
    calls = [
        {"metadata": {"adk_event_id": name, "adk_usage_metadata": {"promptTokenCount": 10, "cost": 0.25}}}
        for name in ("a", "b", "b")
    ]
    assert metered(*calls).usage == Usage(20, 0, 20, 0.5)


@pytest.mark.parametrize(
    ("shows", "text"),
    [
        ("none", ""),
        ("time", "Took 12 s"),
        ("tokens", "1,200 tokens (1,000 in, 200 out)"),
        ("cost", "0.0200 USD · 1,200 tokens (1,000 in, 200 out)"),
    ],
)
def test_the_line_below_an_answer(shows: str, text: str) -> None:
    used = report(input_tokens=1000, output_tokens=200, cost=0.02)
    assert metered(used, shows=shows).footer(12.3) == text


def test_cost_without_tokens_and_tokens_without_cost() -> None:
    assert metered(report(cost=2)).footer(1.0) == "2.00 USD"
    assert metered(report(input_tokens=7)).footer(1.0) == "7 tokens (7 in, 0 out)"


@pytest.mark.parametrize(
    ("amount", "text"), [(0, "0.00"), (0.00004, "0.0000"), (0.5, "0.5000"), (1234.5, "1,234.50")]
)
def test_money(amount: float, text: str) -> None:
    assert money(amount) == text
