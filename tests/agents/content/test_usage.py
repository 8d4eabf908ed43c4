"""Tokens as frameworks tell them, in metadata as they send it."""

from __future__ import annotations

from typing import Any

import pytest

from slack_bot.agents.content.usage import TokenUsage

ADK = {"promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120}


def usage_of(*events: dict[str, Any]) -> dict[str, int]:
    usage = TokenUsage()
    for event in events:
        usage.take(event)
    return usage.as_json()


def adk(call: str, **counts: int) -> dict[str, Any]:
    """ADK's metadata stand on the event, which repeats them with each piece of one call."""
    return {"kind": "status-update", "metadata": {"adk_event_id": call, "adk_usage_metadata": ADK | counts}}


def test_each_call_of_the_model_counts_once_as_it_was_last_said() -> None:
    found = usage_of(adk("a", totalTokenCount=101), adk("a"), adk("b"), adk("a"))
    assert found == {"input": 200, "output": 40, "total": 240}


def test_the_total_of_a_task_may_be_older_than_the_turn() -> None:
    event = adk("a")
    event["metadata"]["kagent_usage_total"] = {"totalTokenCount": 9_999}
    assert usage_of(event)["total"] == 120


OPENAI = {"prompt_tokens": 7, "completion_tokens": 3}
LANGCHAIN = {"input_tokens": 7.0, "output_tokens": 3, "total_tokens": 10}
KAGENT = {"promptTokenCount": 7, "candidatesTokenCount": 3}


@pytest.mark.parametrize(
    "event",
    [
        {"kind": "task", "metadata": {"usage": OPENAI}},
        {"task": {"metadata": {"usage": OPENAI | {"total_tokens": 10}}}},
        {"kind": "artifact-update", "artifact": {"metadata": {"metrics": LANGCHAIN}}},
        {"statusUpdate": {"status": {"message": {"metadata": {"usage_metadata": LANGCHAIN}}}}},
        {"message": {"metadata": {"token_usage": OPENAI}}},
        {"kind": "message", "metadata": {"kagent_usage_metadata": KAGENT}},
    ],
)
def test_wherever_it_stands(event: dict[str, Any]) -> None:
    assert usage_of(event, event) == {"input": 7, "output": 3, "total": 10}


@pytest.mark.parametrize("usage", [None, "many", [], {}, {"total_tokens": "1"}, {"total_tokens": -1}])
def test_what_says_nothing_is_nothing(usage: object) -> None:
    found = TokenUsage()
    found.take({"kind": "task", "metadata": {"usage": usage}, "status": None, "artifact": [1]})
    assert found.calls == {}


def test_an_agent_cannot_fill_the_memory() -> None:
    usage = TokenUsage()
    for number in range(5_000):
        usage.take(adk(str(number)))
    assert len(usage.calls) == 1_000
