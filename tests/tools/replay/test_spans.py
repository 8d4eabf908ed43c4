"""`replay --spans`: the trace of a recorded answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from slack_bot.cli import main

CAPTURE = Path(__file__).parents[2] / "captures" / "frameworks" / "adk-sse_tool.sse"


def spans(capsys: pytest.CaptureFixture[str], *options: str) -> list[dict[str, Any]]:
    assert main(["replay", str(CAPTURE), "--spans", *options]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_one_trace_with_the_times_of_the_recording(capsys: pytest.CaptureFixture[str]) -> None:
    found = spans(capsys)
    root, *others = found
    assert (root["name"], root["parent"], root["start"]) == ("turn", None, 0.0)
    assert {each["trace"] for each in found} == {root["trace"]}
    assert {each["parent"] for each in others} <= {each["id"] for each in found}
    assert {"accept", "wait", "agent", "first event", "first text", "message"} <= {
        each["name"] for each in others
    }
    assert max(each["end"] for each in found) == root["end"] > 5
    assert root["attributes"]["slack_bot.outcome"] == "answered"
    assert found == spans(capsys)


def test_what_went_wrong_is_marked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scenario = tmp_path / "scenario.json"
    scenario.write_text(json.dumps({"slack_faults": {"chat.appendStream": ["ratelimited:3"]}}))
    found = spans(capsys, "--scenario", str(scenario))
    errors = [each["error"] for each in found if "error" in each]
    assert set(errors) == {"ratelimited"}


def test_golden_prints_its_own_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", str(CAPTURE), "--spans", "--golden", str(tmp_path)]) == 2
    assert "leave --json, --spans and --play out" in capsys.readouterr().err
