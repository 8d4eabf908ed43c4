"""A turn that no person waits for: nothing is seen of it before its answer, and nothing without one."""

from __future__ import annotations

import pytest

from slack_bot.text.words import NO_ANSWER
from slack_bot.turn.actions import Action, AppendText, CardState, EndTurn, ShowForm, ShowStatus, UpdateCard
from slack_bot.turn.events import (
    AgentIdle,
    AnswerText,
    Event,
    FinalAnswer,
    InputRequired,
    Narrated,
    PlanChanged,
    PlanStep,
    StepState,
    TaskEnd,
    TaskEnded,
    ToolEnded,
    ToolStarted,
    TurnBegun,
)
from slack_bot.turn.form import Form
from slack_bot.turn.machine import Turn
from slack_bot.turn.record import Outcome

from .test_machine import CLOSED, SAMPLES, Attached, only, run, shown


def unaddressed(*events: Event) -> tuple[Turn, list[Action]]:
    turn = Turn(may_be_silent=True)
    return turn, [action for event in events for action in turn.handle(event)]


@pytest.mark.parametrize(
    "sent",
    [
        [],
        [Narrated("looking")],
        [ToolStarted("t", "search"), ToolEnded("t", "search")],
        [PlanChanged((PlanStep("s1", "Search", StepState.RUNNING),), title="Plan")],
        [AgentIdle(20.0), AgentIdle(200.0)],
        [FinalAnswer("", "final_result")],
    ],
)
@pytest.mark.parametrize("end", [[TaskEnded(TaskEnd.COMPLETED)], []])
def test_without_text_a_question_to_nobody_ends_silently(sent: list[Event], end: list[Event]) -> None:
    _, actions = unaddressed(TurnBegun(), *sent, *end, CLOSED)
    seen = (ShowStatus, UpdateCard, AppendText, ShowForm)
    assert not [action for action in actions if isinstance(action, seen)]
    (ended,) = only(actions, EndTurn)
    assert isinstance(ended, EndTurn) and ended.outcome is Outcome.SILENT and not ended.note


def test_what_the_agent_did_is_shown_with_the_first_text() -> None:
    tool, ended = ToolStarted("t", "search"), ToolEnded("t", "search")
    plan = PlanChanged((PlanStep("s1", "Search", StepState.RUNNING),), title="Plan")
    _, actions = unaddressed(TurnBegun(), plan, tool, ended, AnswerText("Yes."), CLOSED)
    shown_at = next(n for n, action in enumerate(actions) if isinstance(action, AppendText))
    cards = {action.card.id: action.card.state for action in actions if isinstance(action, UpdateCard)}
    assert cards == {"s1": CardState.RUNNING, "t": CardState.DONE}
    assert len(only(actions[shown_at - 2 : shown_at], UpdateCard)) == 2
    assert [action.outcome for action in actions if isinstance(action, EndTurn)] == [Outcome.ANSWERED]


@pytest.mark.parametrize("final", [FinalAnswer("Nothing to add.", "status"), SAMPLES[Attached]])
def test_an_agent_may_say_that_nothing_is_to_be_shown(final: Event) -> None:
    ended = TaskEnded(TaskEnd.COMPLETED, "Nothing to add.", no_reply=True)
    _, actions = unaddressed(TurnBegun(), ended, final, CLOSED)
    assert shown(actions) == ""
    assert [action.outcome for action in actions if isinstance(action, EndTurn)] == [Outcome.SILENT]


def test_what_was_written_before_stays() -> None:
    ended = TaskEnded(TaskEnd.COMPLETED, no_reply=True)
    _, actions = unaddressed(AnswerText("Yes."), ended, CLOSED)
    assert shown(actions) == "Yes."
    assert [action.outcome for action in actions if isinstance(action, EndTurn)] == [Outcome.ANSWERED]


def test_who_addressed_the_bot_gets_an_answer_all_the_same() -> None:
    ended = TaskEnded(TaskEnd.COMPLETED, no_reply=True)
    _, actions = run(TurnBegun(), ended, FinalAnswer("Nothing to add.", "status"), CLOSED)
    assert shown(actions) == "Nothing to add."
    _, actions = run(TurnBegun(), ended, CLOSED)
    assert shown(actions) == NO_ANSWER


@pytest.mark.parametrize("end", [TaskEnd.FAILED, TaskEnd.REJECTED, TaskEnd.CANCELED])
def test_a_failure_is_never_silent(end: TaskEnd) -> None:
    _, actions = unaddressed(TurnBegun(), TaskEnded(end, no_reply=True), CLOSED)
    (ended,) = only(actions, EndTurn)
    assert isinstance(ended, EndTurn) and ended.note and ended.outcome is not Outcome.SILENT


def test_a_form_shows_what_was_done_before_it() -> None:
    _, actions = unaddressed(TurnBegun(), ToolStarted("t", "search"), InputRequired(Form("Which?")), CLOSED)
    assert only(actions, UpdateCard) and only(actions, ShowForm)
