"""What a reader is told while nothing comes, and when a turn went wrong."""

from __future__ import annotations

import pytest

from slack_bot.turn.actions import CardState, TaskCard
from slack_bot.turn.events import (
    AgentIdle,
    PlanChanged,
    PlanStep,
    StepState,
    StreamEnd,
    StreamEnded,
    TaskEnd,
    TaskEnded,
    TaskKnowledge,
)
from slack_bot.turn.notices import IdleNotice, PlanTitle, failure
from slack_bot.turn.record import Outcome


@pytest.mark.parametrize(
    ("end", "text", "note"),
    [
        (TaskEnd.FAILED, "", "The agent could not finish this."),
        (TaskEnd.FAILED, "KeyError: 'x'", "The agent could not finish this."),
        (TaskEnd.CANCELED, "shut down", "The agent cancelled this."),
        (TaskEnd.REJECTED, "Not\nallowed.", "The agent declined this. It says: Not allowed."),
        (TaskEnd.REJECTED, "x" * 400, f"The agent declined this. It says: {'x' * 299}…"),
    ],
)
def test_a_task_is_told_in_our_words_and_a_rejected_one_in_its_own(
    end: TaskEnd, text: str, note: str
) -> None:
    close = failure(TaskEnded(end, text), shows_words=False, is_unfinished=False)
    assert (close.outcome, close.note, close.offer_retry) == (Outcome.FAILED, note, True)


@pytest.mark.parametrize("end", [TaskEnd.FAILED, TaskEnd.CANCELED, TaskEnd.REJECTED])
def test_the_agents_words_where_they_may_be_shown(end: TaskEnd) -> None:
    close = failure(TaskEnded(end, "out of\n quota"), shows_words=True, is_unfinished=True)
    assert close.note.endswith(" It says: out of quota. What was written stays; the rest is missing.")
    assert close.reason == f"task {end}"


@pytest.mark.parametrize(
    ("end", "outcome"),
    [
        (StreamEnd.REFUSED, Outcome.REFUSED),
        (StreamEnd.FAILED, Outcome.FAILED),
        (StreamEnd.LOST, Outcome.LOST),
    ],
)
@pytest.mark.parametrize("shows", [True, False])
def test_a_stream_that_did_not_end_well(end: StreamEnd, outcome: Outcome, shows: bool) -> None:
    ended = StreamEnded(end, "It went away.", reason="why", text="Traceback")
    close = failure(ended, shows_words=shows, is_unfinished=False)
    note = "It went away. It says: Traceback." if shows else "It went away."
    assert (close.outcome, close.note, close.reason) == (outcome, note, "why")


def test_an_end_without_a_sentence() -> None:
    close = failure(StreamEnded(StreamEnd.LOST), shows_words=True, is_unfinished=True)
    assert close.note == "The agent could not answer. What was written stays; the rest is missing."


# -- silence -------------------------------------------------------------------------------------------------

QUIET, WORKING, UNKNOWN = TaskKnowledge.QUIET, TaskKnowledge.WORKING, TaskKnowledge.UNKNOWN


@pytest.mark.parametrize(
    ("known", "seconds", "says"),
    [
        (QUIET, 45, "is waiting for the agent..."),
        (QUIET, 300, "is waiting for the agent..."),
        (WORKING, 20, "is still working..."),
        (WORKING, 60, "is still working, nothing new for 1 min..."),
        (WORKING, 7 * 60 + 59, "is still working, nothing new for 7 min..."),
        (UNKNOWN, 20, "is waiting for the agent..."),
        (UNKNOWN, 130, "is waiting for the agent, silent for 2 min..."),
    ],
)
def test_a_status_says_no_more_than_is_known(known: TaskKnowledge, seconds: float, says: str) -> None:
    assert IdleNotice().show(AgentIdle(seconds, known=known), in_message=False) == says
    assert len(says) <= 50


def told(silence: IdleNotice, seconds: float, known: TaskKnowledge = WORKING) -> TaskCard | str:
    return silence.show(AgentIdle(seconds, known=known), in_message=True)


def test_in_a_message_a_card_runs_for_a_while_and_then_stands_for_good() -> None:
    silence = IdleNotice()
    assert told(silence, 20) == TaskCard(
        "waiting-1", "Waiting for the agent", CardState.RUNNING, "nothing new yet\n"
    )
    assert told(silence, 60) == TaskCard(
        "waiting-1", "Waiting for the agent", CardState.RUNNING, "nothing new for 1 min\n"
    )
    assert told(silence, 120) == TaskCard("waiting-1", "No news from the agent for 2 min", CardState.DONE)
    assert told(silence, 240) == "is still working, nothing new for 4 min..."
    assert silence.end() is None


def test_a_card_that_runs_is_closed_when_the_agent_is_heard_again() -> None:
    silence = IdleNotice()
    assert silence.end() is None
    told(silence, 20)
    assert silence.end() == TaskCard("waiting-1", "Waiting for the agent", CardState.DONE)
    assert silence.end() is None
    assert told(silence, 130) == TaskCard("waiting-2", "No news from the agent for 2 min", CardState.DONE)


def test_a_pause_in_an_answer_is_not_worth_a_word() -> None:
    silence = IdleNotice()
    assert told(silence, 45, QUIET) == ""
    assert silence.end() is None


# -- the plan's title ----------------------------------------------------------------------------------------

STATES = {"-": StepState.PENDING, ">": StepState.RUNNING, "+": StepState.DONE, "!": StepState.FAILED}


@pytest.mark.parametrize(
    ("plans", "outcome", "titles"),
    [
        ((">-", "+>", "++"), Outcome.ANSWERED, ["Step 1 of 2: Do 1", "Step 2 of 2: Do 2", "2 steps done"]),
        (("+>", "+!"), Outcome.FAILED, ["Step 2 of 2: Do 2", "1 of 2 steps done, 1 failed"]),
        ((">-",), Outcome.ANSWERED, ["Step 1 of 2: Do 1", "1 of 2 steps done"]),
        ((">-",), Outcome.FAILED, ["Step 1 of 2: Do 1", "0 of 2 steps done, 1 failed"]),
        ((">-",), Outcome.STOPPED, ["Step 1 of 2: Do 1", "0 of 2 steps done"]),
        (("+>",), Outcome.STOPPED, ["Step 2 of 2: Do 2", "1 of 2 steps done"]),
        (("++", "++"), Outcome.ANSWERED, ["2 steps done"]),
        (("--", "+-"), Outcome.ASKED, ["1 of 2 steps done"]),
        ((">", "+"), Outcome.ANSWERED, []),
        (("--",), Outcome.ANSWERED, []),
        ((), Outcome.ANSWERED, []),
        ((">-",), Outcome.WATCHED, ["Step 1 of 2: Do 1", "Continues below"]),
        ((), Outcome.WATCHED, ["Continues below"]),
        (("++",), Outcome.WATCHED, ["2 steps done"]),
    ],
)
def test_the_title_follows_the_plan(plans: tuple[str, ...], outcome: Outcome, titles: list[str]) -> None:
    title, found = PlanTitle(), []
    for plan in plans:
        steps = tuple(PlanStep(f"s{n}", f"Do {n}", STATES[sign]) for n, sign in enumerate(plan, 1))
        found += title.follow(PlanChanged(steps), shows=True)
    found += title.end(outcome)
    assert [each.title for each in found] == titles


def test_the_agent_names_a_plan_that_is_over_and_a_step_that_shows_no_card_changes_nothing() -> None:
    title, steps = PlanTitle(), tuple(PlanStep(f"s{n}", "Do", StepState.DONE) for n in range(2))
    running = (PlanStep("s0", "Do", StepState.RUNNING), steps[1])
    assert title.follow(PlanChanged(running, "Mine"), shows=False) == []
    (done,) = title.follow(PlanChanged(steps, " Searched 2 pages "), shows=True)
    assert done.title == "Searched 2 pages"
