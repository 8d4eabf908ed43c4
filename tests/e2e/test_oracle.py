"""Cases of another bot, made from its events: what a reader must see out of them, through the whole path."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from slack_bot.testing.tape.tape import Recording, Tape, read_tape
from slack_bot.tools.replay.replay import replayed
from slack_bot.tools.replay.scenario import make_scenario

from .predicates import holds

SHARED = Path(__file__).parents[3] / "shared"
CASES = SHARED / "oracle" / "cases.json"
CAPTURES = SHARED / "captures" / "caipe"

pytestmark = pytest.mark.skipif(not CASES.is_file(), reason="the shared oracle is not beside this repository")

KINDS = ("slack_cases", "e2e_executor_cases")


@cache
def cases(kind: str) -> list[dict[str, Any]]:
    return list(json.loads(CASES.read_text("utf-8"))[kind]) if CASES.is_file() else []


def params(kind: str) -> list[Any]:
    return [
        pytest.param(case, id=case["id"])
        for case in cases(kind)
        if case["expect_recommended"] and case["id"] not in OURS
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


def _once(result: dict[str, Any]) -> None:
    """The call that failed carried no text: all of the answer was confirmed before, so none is repeated."""
    everything = "".join(message["text"] for message in result["thread"])
    assert everything == result["visible"] == "Line one.\nLine two.\n"
    assert result["outcome"] == "answered"
    assert [card["status"] for message in result["thread"] for card in message["tasks"]] == ["complete"]


def _question_with_controls(result: dict[str, Any]) -> None:
    """A reply in the thread answers, too."""
    assert result["outcome"] == "asked"
    (message,) = result["thread"]
    assert "Create ticket" in message["text"]
    blocks = json.dumps(message["blocks"])
    for part in ("Project", "OPS", "Summary", "form_send", "reply in this thread"):
        assert part in blocks


def _shown_as_said(text: str) -> Callable[[dict[str, Any]], None]:
    """There is no quiet mode: whoever mentions the bot sees what the agent wrote."""

    def check(result: dict[str, Any]) -> None:
        assert (result["outcome"], result["visible"]) == ("answered", text)
        assert len(result["thread"]) == 1

    return check


def _error_told(result: dict[str, Any]) -> None:
    """There is no quiet mode: whoever asked learns that it failed, without the agent's own words."""
    assert (result["outcome"], result["visible"]) == ("failed", "")
    (message,) = result["thread"]
    says = json.dumps(message["blocks"])
    assert "The agent reported an error." in says
    assert "boom" not in says
    assert '"retry"' in says


def _cut_is_told(result: dict[str, Any]) -> None:
    """A clean end without a terminal state is not success: the task is asked, and nobody knows it here."""
    assert (result["outcome"], result["visible"]) == ("watched", "Line one.\nLine two.\n")
    says = json.dumps(result["thread"][-1]["blocks"])
    assert "I still check, and write here when it is done" in says
    assert '"retry"' in says


def _newest_context(result: dict[str, Any]) -> None:
    """An agent may move a conversation to a context of its own; the next question must follow it there."""
    assert (result["outcome"], result["visible"], result["context_id"]) == ("answered", "x", "ctx-other")


def _feedback_below(result: dict[str, Any]) -> None:
    (message,) = result["thread"]
    assert (result["outcome"], message["text"]) == ("answered", "ok")
    elements = [element for block in message["blocks"] for element in block["elements"]]
    assert [element["action_id"] for element in elements if "action_id" in element] == ["feedback"]


OURS: dict[str, Callable[[dict[str, Any]], None]] = {
    "FLT-04": _once,
    "FLT-05": _once,
    "FLT-11": _cut_is_told,
    "HITL-01": _question_with_controls,
    "MSC-05": _newest_context,
    "MSC-14": _feedback_below,
    "OVT-01": _shown_as_said("[DEFER]"),
    "OVT-03": _shown_as_said("Use External Secrets.\nSources: …\n[CONFIDENCE: HIGH]"),
    "OVT-04": _error_told,
}
"""Cases that expect nothing, or what this project decided otherwise; each says why."""


def failures(case: dict[str, Any]) -> list[str]:
    events = capture_of(case)
    result = replayed(events, scenario_of(case)).result()
    final = final_of(events)
    failed = [json.dumps(p) for p in case["expect_recommended"] if not holds(p, result, final)]
    return [*failed, f"visible: {result['visible']!r}", f"outcome: {result['outcome']}"] if failed else []


@pytest.mark.parametrize("case", params("slack_cases"))
def test_slack_cases(case: dict[str, Any]) -> None:
    assert not failures(case)


@pytest.mark.parametrize("case", params("e2e_executor_cases"))
def test_whole_streams(case: dict[str, Any]) -> None:
    assert not failures(case)


@pytest.mark.parametrize("case_id", sorted(OURS))
def test_where_we_answer_otherwise_the_reader_sees_this(case_id: str) -> None:
    (case,) = [each for kind in KINDS for each in cases(kind) if each["id"] == case_id]
    OURS[case_id](replayed(capture_of(case), scenario_of(case)).result())


def test_every_case_is_asserted() -> None:
    silent = {each["id"] for kind in KINDS for each in cases(kind) if not each["expect_recommended"]}
    assert silent <= set(OURS)


@pytest.mark.parametrize("file", ["export_heavy_search.json", "real_a2a_heavy_search.json"])
def test_a_heavy_search_shows_its_final_result_and_nothing_else(file: str) -> None:
    events = capture(file)
    result = replayed(events, make_scenario({})).result()
    shown = " ".join(result["visible"].split())
    assert shown == " ".join(final_of(events).split())
    assert "🔍" not in "".join(message["text"] for message in result["thread"])
    assert result["outcome"] == "answered"
    assert sum(len(message["text"].split()) for message in result["thread"]) == len(shown.split())
