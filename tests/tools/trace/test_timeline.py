"""Facts become rows, and the answer's growth a curve."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from slack_bot.observe.facts import AgentEvent, SlackCalled, TurnStarted
from slack_bot.tools.trace.timeline import EXCERPT, TimelineBuilder, build_timeline
from slack_bot.tools.turn_log import TurnLog
from slack_bot.turn.actions import AppendText, NoOp
from slack_bot.turn.events import (
    AnswerReplaced,
    AnswerText,
    FinalAnswer,
    InputRequired,
    Narrated,
    PlanChanged,
    StopRequested,
    TaskEnd,
    TaskEnded,
    TaskKnown,
    ToolStarted,
)
from slack_bot.turn.form import Form
from tests.tools.trace.turns import START, built, called, closed, decided, event, logged, opened, usual


def test_rows_in_their_order() -> None:
    rows = built(*usual()).rows
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
    found = built(*usual())
    assert found.written[0] == (4.0, 5)
    assert found.written[-1] == (6.0, 50)


def test_held_text_counts_until_an_answer_is_known() -> None:
    held = Narrated("I think so. ", reason="unmarked streaming_result: held")
    facts = [
        opened(),
        *(event(1.0, "I think so. "), decided(1.0, held)),
        *(event(2.0, "I think so. "), decided(2.0, held)),
        *(event(3.0, "Yes."), decided(3.0, AnswerText("Yes."))),
        *(event(4.0, "No."), decided(4.0, AnswerReplaced("No."))),
    ]
    found = built(*facts)
    found.settle()
    assert found.written == [(1.0, 12), (2.0, 24), (3.0, 4), (4.0, 3)]
    assert [row.kind for row in found.rows] == ["held", "held", "answer", "answer"]


@pytest.mark.parametrize(
    "what,kind",
    [
        (ToolStarted("t", "search"), "tool"),
        (PlanChanged(()), "plan"),
        (InputRequired(Form("Which?")), "question"),
        (TaskEnded(TaskEnd.COMPLETED), "status"),
        (FinalAnswer("x", "final_result"), "result"),
        (Narrated("Working.", reason="working-status text"), "other"),
        (Narrated("", reason="noise"), "other"),
    ],
)
def test_what_an_event_was(what: Any, kind: str) -> None:
    facts = [opened(), event(1.0, "x"), decided(1.0, TaskKnown("t")), decided(1.0, what), closed(2.0)]
    assert built(*facts).rows[0].kind == kind


def test_the_best_of_what_came_is_not_the_last_events_doing() -> None:
    guess = FinalAnswer("x", "unmarked text", certain=False, reason="best of what came")
    rows = built(opened(), event(1.0, "x"), decided(2.0, guess), closed(2.0)).rows
    assert [(row.lane, row.name) for row in rows] == [
        ("agent", "streaming_result"),
        ("decision", "FinalAnswer"),
    ]


def test_long_texts_are_not_kept() -> None:
    rows = built(
        opened(), event(1.0, "word " * 100_000), called(2.0, "chat.update", "x" * 10_000), closed(3.0)
    ).rows
    assert [(len(row.text), row.chars) for row in rows] == [(EXCERPT, 500_000), (EXCERPT, 10_000)]


@pytest.mark.parametrize(
    "args,text",
    [
        ({"chunks": [{"type": "task_update", "title": "Search"}, {"title": "Read"}]}, "Search, Read"),
        ({"markdown_text": "whole"}, "whole"),
        ({"text": "post"}, "post"),
        ({"status": "is thinking..."}, "is thinking..."),
        ({"text": "who", "blocks": [{"type": "markdown", "text": "whole"}, {"type": "divider"}]}, "whole"),
        ({"text": "a form", "blocks": [{"type": "section", "text": {"text": "a form"}}]}, "a form"),
        ({"chunks": None}, ""),
    ],
)
def test_what_a_call_says(args: dict[str, Any], text: str) -> None:
    call = SlackCalled(START, "q", "chat.update", args, True, None, 0.0)
    assert built(opened(), call).rows[0].text == text


def test_an_event_that_is_an_error_is_still_a_row() -> None:
    fact = event(1.0, "")
    object.__setattr__(fact, "raw", {"error": {"code": 1}})
    assert built(opened(), fact, closed(2.0)).rows[0].name == "streaming_result"


def look(t: float, *what: object) -> list[Any]:
    raw = {"kind": "task", "asked": True, "state": "working"}
    silent = Narrated("", reason="nothing new")
    return [
        AgentEvent(START + t, "q", "task", raw),
        *(what or (decided(t, silent, NoOp("nothing new: the task as it stands")),)),
    ]


def test_what_the_bot_read_is_no_event_of_the_agents_unless_it_brought_something() -> None:
    grown = decided(3.0, AnswerText("more", "the task"), AppendText("more", "answer grows"))
    facts = [opened(), event(1.0, "x"), *look(2.0), *look(3.0, grown), closed(4.0)]
    rows = built(*facts).rows
    assert [(row.lane, row.kind, row.name, row.chars) for row in rows[1:]] == [
        ("decision", "look", "task working", 0),
        ("agent", "answer", "task working", 4),
    ]
    assert [row.asked for row in rows] == [False, True, True]


def test_a_task_that_says_everything_again_says_only_what_is_new() -> None:
    artifact = {"artifactId": "", "name": "streaming_result", "parts": [{"kind": "text", "text": "one two"}]}
    task = {"kind": "task", "id": "t", "status": {"state": "working"}, "artifacts": [artifact]}
    facts = [opened(), event(1.0, "one"), AgentEvent(START + 2, "q", "task", task), closed(3.0)]
    assert [(row.chars, row.text) for row in built(*facts).rows] == [(3, "one"), (4, "two")]


def test_a_second_question_begins_anew() -> None:
    facts = [
        *(opened(), event(1.0, "one"), decided(1.0, AnswerText("one")), closed(2.0)),
        replace(cast(TurnStarted, opened("And then?")), at=START + 2.0),
        *(event(3.0, "three"), decided(3.0, FinalAnswer("three", "x")), closed(4.0)),
    ]
    found = built(*facts)
    assert found.written == [(1.0, 3), (3.0, 8)]
    assert [(row.t, row.kind, row.name, row.text) for row in found.rows if row.kind == "asking"] == [
        (2.0, "asking", "U1", "And then?")
    ]
    assert [(each.written, each.points, each.rows) for each in found.starts] == [(0, 0, 0), (3, 1, 1)]


def test_a_log_that_kept_everything_gives_the_same_rows() -> None:
    found, later = built(*usual()), build_timeline(logged(*usual()), START)
    assert (later.rows, later.written) == (found.rows, found.written)


def test_what_comes_before_the_question_is_left_out() -> None:
    builder = TimelineBuilder()
    logged(called(0.1, "auth.test"), *usual(), log=TurnLog(builder.take))
    assert (builder.asked_at, builder.rows[0].t) == (START, 1.0)


def test_a_stop_is_no_failure() -> None:
    sealed = called(3.0, "chat.stopStream", error="message_not_in_streaming_state")
    late = decided(2.5, FinalAnswer("x", "artifacts", certain=False), late=True)
    stopped = [opened(), decided(2.0, StopRequested("U1")), late, sealed, closed(4.0)]
    row = built(*stopped).rows[-1]
    assert (row.ok, row.name) == (True, "chat.stopStream: stopped by the human")
    assert not built(opened(), sealed).rows[-1].ok
    gone = called(3.0, "chat.appendStream", error="stopped_by_user")
    assert built(opened(), gone).rows[-1].ok


def test_a_call_stands_where_it_began_unless_later_rows_were_given_out() -> None:
    builder = TimelineBuilder()
    log = TurnLog(builder.take)
    for fact in (
        opened(),
        event(1.0, "One. "),
        event(1.3, "Two. "),
        called(0.99, "chat.startStream", took=0.5),
    ):
        log.take(fact)
    times = [row.t for row in builder.rows]
    assert times == sorted(times) and builder.rows[0].kind == "chat.startStream"
    assert [row.t for row in builder.give(1.2)] == [0.99, 1.0]
    log.take(called(1.1, "chat.appendStream", took=0.6))
    log.take(called(0.5, "assistant.threads.setStatus", took=1.3))
    assert [row.t for row in builder.give()] == [0.5, 1.1, 1.3]
    assert builder.give() == []
