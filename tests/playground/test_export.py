"""The head of a tape from the page."""

from __future__ import annotations

from typing import Any

import pytest

from slack_bot.playground.export import file_name, head_of
from slack_bot.tools.replay.scenario import Scenario

OPENED: dict[str, Any] = {"kind": "opened", "at": 10.0, "text": "why?"}


def decision(name: str, at: float) -> dict[str, Any]:
    return {"kind": "decision", "at": at, "event": {"name": name}}


def test_a_head_says_what_was_asked() -> None:
    assert head_of([OPENED, decision("AnswerText", 11.0)], 10.0) == {
        "question": "why?",
        "agent": "playground",
    }


def test_faults_and_a_stop_belong_to_the_scenario() -> None:
    faults = {"chat.appendStream": [None, "ratelimited:2"]}
    head = head_of([{**OPENED, "slack_faults": faults}, decision("StopRequested", 13.25)], 10.5)
    assert head["scenario"] == {"slack_faults": faults, "stop_at": 2.75}


def test_a_replay_that_is_kept_again_keeps_what_it_was_replayed_with() -> None:
    faults, settings = {"chat.update": ("fatal_error",)}, {"dialect": "caipe-0.2"}
    there = Scenario(slack_faults=faults, settings=settings, cut_after=3)
    head = head_of([{**OPENED, "slack_faults": {"chat.update": ["other"]}}], 10.0, there)
    assert head["scenario"] == {"slack_faults": {"chat.update": ["fatal_error"]}, "settings": settings}
    assert "scenario" not in head_of([OPENED], 10.0, Scenario())


def test_a_stop_stands_where_the_tape_has_it_and_not_before_its_beginning() -> None:
    """A tape begins with the agent's answer: counted from the question, a stop comes too late."""
    assert head_of([OPENED, decision("StopRequested", 13.25)], 13.0)["scenario"] == {"stop_at": 0.25}
    assert head_of([OPENED, decision("StopRequested", 13.25)], 14.0)["scenario"] == {"stop_at": 0.0}


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("What is AGNTCY?", "what-is-agntcy"),
        ("../../etc/passwd", "etc-passwd"),
        ("???", "answer"),
        ("word " * 40, "word-word-word-word-word-word-word-word"),
    ],
)
def test_a_file_is_named_for_its_question(question: str, name: str) -> None:
    assert file_name(question) == name
