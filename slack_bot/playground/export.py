"""PURE. The head of a tape that the page exports: what was asked, and what went wrong around the answer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..tools.replay.scenario import Scenario

_LONGEST_NAME = 40


def head_of(
    facts: Sequence[Mapping[str, Any]], began: float, replayed: Scenario | None = None
) -> dict[str, Any]:
    """The head, from the turn's facts as the page has them, the first of which says how it began.

    `scenario` says what a replay needs besides the events to come to the same thread. `began` is second 0 of
    the tape, on the clock of the facts: a stop must come in front of what the agent said because of it.
    `replayed` is the scenario of a turn that was a replay itself: its faults and its settings count.
    """
    opened, scenario = facts[0], dict[str, Any]()
    if faults := opened.get("slack_faults") if replayed is None else replayed.slack_faults:
        scenario["slack_faults"] = {method: list(entries) for method, entries in faults.items()}
    if replayed is not None and replayed.settings:
        scenario["settings"] = dict(replayed.settings)
    decisions = (fact for fact in facts if fact["kind"] == "decision")
    stopped = next((fact["at"] for fact in decisions if fact["event"]["name"] == "StopRequested"), None)
    if stopped is not None:
        scenario["stop_at"] = max(0.0, round(stopped - began, 4))
    return {"question": opened["text"], "agent": "playground", **({"scenario": scenario} if scenario else {})}


def file_name(question: str) -> str:
    """A name for the file that says what was asked."""
    words = re.sub(r"[^\w]+", "-", question.lower()).strip("-_")
    return words[:_LONGEST_NAME].strip("-_") or "answer"
