"""Facts become rows, and the answer's growth a curve."""

from __future__ import annotations

from typing import Any

import pytest

from slack_bot.a2a.decode import decode
from slack_bot.observe.facts import SlackCalled
from slack_bot.tools.heard import name_of, text_of
from slack_bot.tools.timeline import EXCERPT
from slack_bot.turn.events import (
    AnswerReplaced,
    AnswerText,
    FinalAnswer,
    HumanAsked,
    Narrated,
    PlanChanged,
    TaskEnd,
    TaskEnded,
    TaskKnown,
    ToolStarted,
)
from slack_bot.turn.form import Form
from tests.tools.turns import START, called, closed, decided, event, opened, story, usual


def test_rows_in_their_order() -> None:
    rows = story(usual()).rows
    assert [(row.t, row.lane, row.kind) for row in rows[:3]] == [
        (1.0, "agent", "narration"),
        (1.0, "slack", "assistant.threads.setStatus"),
        (4.0, "agent", "answer"),
    ]
    assert rows[0].decisions[0].actions == (("ShowStatus", "narration"),)
    assert rows[0].decisions[0].kinds == ("status",)
    assert (rows[2].name, rows[2].text, rows[2].chars) == ("streaming_result", "word", 5)
    failed = next(row for row in rows if not row.ok)
    assert (failed.name, failed.took) == ("chat.appendStream: ratelimited", 0.1)
    assert [row.name for row in rows if row.lane == "decision"] == ["StreamEnded", "AnswerText"]
    assert rows[-1].decisions[0].kinds == ("dropped",)


def test_what_the_agent_had_written() -> None:
    found = story(usual())
    assert found.first_answer == 4.0
    assert found.produced[0] == (4.0, 5)
    assert found.produced[-1] == (6.0, 50)
    assert found.chars == {"narration": 12, "answer": 50, "result": 50}
    assert found.ending is not None and found.ending.outcome == "answered"
    assert found.question == "What?"


def test_held_text_counts_until_an_answer_is_known() -> None:
    held = Narrated("I think so. ", why="unmarked streaming_result: held")
    facts = [
        opened(),
        *(event(1.0, "I think so. "), decided(1.0, held)),
        *(event(2.0, "I think so. "), decided(2.0, held)),
        *(event(3.0, "Yes."), decided(3.0, AnswerText("Yes."))),
        *(event(4.0, "No."), decided(4.0, AnswerReplaced("No."))),
    ]
    found = story(facts)
    found.settle()
    assert found.produced == [(1.0, 12), (2.0, 24), (3.0, 4), (4.0, 3)]
    assert [row.kind for row in found.rows] == ["held", "held", "answer", "answer"]
    assert found.first_answer == 3.0


@pytest.mark.parametrize(
    "what,kind",
    [
        (ToolStarted("t", "search"), "tool"),
        (PlanChanged(()), "plan"),
        (HumanAsked(Form("Which?")), "question"),
        (TaskEnded(TaskEnd.COMPLETED), "status"),
        (FinalAnswer("x", "final_result"), "result"),
        (Narrated("Working.", why="working-status text"), "other"),
        (Narrated("", why="noise"), "other"),
    ],
)
def test_what_an_event_was(what: Any, kind: str) -> None:
    facts = [opened(), event(1.0, "x"), decided(1.0, TaskKnown("t")), decided(1.0, what), closed(2.0)]
    assert story(facts).rows[0].kind == kind


def test_the_best_of_what_came_is_not_the_last_events_doing() -> None:
    guess = FinalAnswer("x", "unmarked text", certain=False, why="best of what came")
    rows = story([opened(), event(1.0, "x"), decided(2.0, guess), closed(2.0)]).rows
    assert [(row.lane, row.name) for row in rows] == [
        ("agent", "streaming_result"),
        ("decision", "FinalAnswer"),
    ]


def test_long_texts_are_not_kept() -> None:
    rows = story(
        [opened(), event(1.0, "word " * 100_000), called(2.0, "chat.update", "x" * 10_000), closed(3.0)]
    ).rows
    assert [(len(row.text), row.chars) for row in rows] == [(EXCERPT, 500_000), (EXCERPT, 10_000)]


@pytest.mark.parametrize(
    "args,text",
    [
        ({"chunks": [{"type": "task_update", "title": "Search"}, {"title": "Read"}]}, "Search, Read"),
        ({"markdown_text": "whole"}, "whole"),
        ({"text": "post"}, "post"),
        ({"status": "is thinking..."}, "is thinking..."),
        ({"chunks": None}, ""),
    ],
)
def test_what_a_call_says(args: dict[str, Any], text: str) -> None:
    call = SlackCalled(START, "q", "chat.update", args, True, None, 0.0)
    assert story([opened(), call]).rows[0].text == text


def test_names_and_texts_of_events() -> None:
    part = [{"kind": "text", "text": "hi"}]
    message = {"kind": "message", "role": "agent", "parts": part}
    events: list[tuple[dict[str, Any], str, str]] = [
        ({"kind": "artifact-update", "artifact": {"parts": part}}, "artifact", "hi"),
        (
            {"kind": "status-update", "status": {"state": "working", "message": message}},
            "status working",
            "hi",
        ),
        ({"kind": "status-update", "status": {"state": "working"}}, "status working", ""),
        (
            {"kind": "task", "status": {"state": "completed"}, "artifacts": [{"parts": part}]},
            "task completed",
            "hi",
        ),
        (message, "message", "hi"),
        ({"kind": "odd"}, "unknown", ""),
    ]
    for each, name, text in events:
        assert (name_of(decode(each)), text_of(decode(each))) == (name, text)


def test_an_event_that_is_an_error_is_still_a_row() -> None:
    fact = event(1.0, "")
    object.__setattr__(fact, "raw", {"error": {"code": 1}})
    assert story([opened(), fact, closed(2.0)]).rows[0].name == "streaming_result"
