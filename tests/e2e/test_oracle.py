"""Cases of another bot, made from its events: what a reader must see out of them, through the whole path."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from slack_bot.tools.replay import replay
from slack_bot.tools.scenario import make_scenario
from slack_bot.tools.tape import Recording, Tape, read_tape

from .predicates import holds

SHARED = Path(__file__).parents[3] / "shared"
CASES = SHARED / "oracle" / "cases.json"
CAPTURES = SHARED / "captures" / "caipe"

pytestmark = pytest.mark.skipif(not CASES.is_file(), reason="the shared oracle is not beside this repository")

_NEVER_AGAIN = (
    "all of it was confirmed before the stop failed: delivery.md 5 says, never the whole answer again"
)
_QUIET = "the quiet mode is optional and not built"
LATER = {
    "FLT-04": _NEVER_AGAIN,
    "FLT-05": _NEVER_AGAIN,
    "HITL-01": "forms with controls come later: until then the question is text in the streamed message",
    "OVT-01": _QUIET,
    "OVT-03": _QUIET,
    "OVT-04": _QUIET,
}
"""Cases that do not hold, and why."""


@cache
def cases(kind: str) -> list[dict[str, Any]]:
    return list(json.loads(CASES.read_text("utf-8"))[kind]) if CASES.is_file() else []


def params(kind: str) -> list[Any]:
    return [
        pytest.param(
            case,
            id=case["id"],
            marks=[pytest.mark.xfail(strict=True, reason=LATER[case["id"]])] if case["id"] in LATER else [],
        )
        for case in cases(kind)
    ]


def capture_of(case: dict[str, Any]) -> Tape | Recording:
    if case.get("events") is None:
        return capture(case["events_file"], case["events_key"])
    if not case["events"]:
        return Tape({}, ())
    return read_tape(json.dumps(case["events"]), case["id"])


def capture(file: str, key: str | None = None) -> Tape | Recording:
    return read_tape((CAPTURES / file).read_bytes(), file, key)


def scenario_of(case: dict[str, Any]) -> Any:
    document = {
        "user": case.get("user_id"),
        "context_id": case.get("context_id"),
        "slack_faults": case.get("slack_faults"),
    }
    if (error := case.get("a2a_raise_after")) is not None:
        document["agent_error"] = {"after": error[0], "message": error[1]}
    return make_scenario(document)


def final_of(capture: Tape | Recording) -> str:
    assert isinstance(capture, Tape)
    texts = [
        "".join(part.get("text", "") for part in artifact["parts"])
        for moment in capture.moments
        if (artifact := (moment.event or {}).get("artifact")) and artifact.get("name") == "final_result"
    ]
    return texts[-1] if texts else ""


def failures(case: dict[str, Any]) -> list[str]:
    events = capture_of(case)
    result = replay(events, scenario_of(case))
    final = final_of(events)
    failed = [json.dumps(p) for p in case["expect_recommended"] if not holds(p, result, final)]
    return [*failed, f"visible: {result['visible']!r}", f"outcome: {result['outcome']}"] if failed else []


@pytest.mark.parametrize("case", params("slack_cases"))
def test_slack_cases(case: dict[str, Any]) -> None:
    assert not failures(case)


@pytest.mark.parametrize("case", params("e2e_executor_cases"))
def test_whole_streams(case: dict[str, Any]) -> None:
    assert not failures(case)


def test_every_case_kept_for_later_exists() -> None:
    known = {case["id"] for kind in ("slack_cases", "e2e_executor_cases") for case in cases(kind)}
    assert set(LATER) <= known


@pytest.mark.parametrize("file", ["export_heavy_search.json", "real_a2a_heavy_search.json"])
def test_a_heavy_search_shows_its_final_result_and_nothing_else(file: str) -> None:
    events = capture(file)
    result = replay(events, make_scenario({}))
    shown = " ".join(result["visible"].split())
    assert shown == " ".join(final_of(events).split())
    assert "🔍" not in "".join(message["text"] for message in result["thread"])
    assert result["outcome"] == "answered"
    assert sum(len(message["text"].split()) for message in result["thread"]) == len(shown.split())
