"""How a turn that went wrong is told."""

import pytest

from slack_bot.turn.events import StreamEnd, StreamEnded, TaskEnd, TaskEnded
from slack_bot.turn.failures import stream_failure, task_failure
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
    close = task_failure(TaskEnded(end, text), shows_words=False, is_unfinished=False)
    assert (close.outcome, close.note, close.offer_retry) == (Outcome.FAILED, note, True)


@pytest.mark.parametrize("end", [TaskEnd.FAILED, TaskEnd.CANCELED, TaskEnd.REJECTED])
def test_the_agents_words_where_they_may_be_shown(end: TaskEnd) -> None:
    close = task_failure(TaskEnded(end, "out of\n quota"), shows_words=True, is_unfinished=True)
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
    close = stream_failure(ended, shows_words=shows, is_unfinished=False)
    note = "It went away. It says: Traceback." if shows else "It went away."
    assert (close.outcome, close.note, close.reason) == (outcome, note, "why")


def test_an_end_without_a_sentence() -> None:
    close = stream_failure(StreamEnded(StreamEnd.LOST), shows_words=True, is_unfinished=True)
    assert close.note == "The agent could not answer. What was written stays; the rest is missing."
