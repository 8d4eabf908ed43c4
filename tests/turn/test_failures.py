"""How a task that did not complete is told."""

import pytest

from slack_bot.turn.events import TaskEnd, TaskEnded
from slack_bot.turn.failures import failure
from slack_bot.turn.record import Outcome


@pytest.mark.parametrize(
    ("end", "text", "note"),
    [
        (TaskEnd.FAILED, "", "The agent could not finish this."),
        (TaskEnd.CANCELED, " \n", "The agent cancelled this."),
        (TaskEnd.REJECTED, "Not\nallowed.", "The agent declined this. It says: Not allowed."),
        (TaskEnd.FAILED, "x" * 400, f"The agent could not finish this. It says: {'x' * 299}…"),
    ],
)
def test_it_is_told_in_our_words_and_then_in_its_own(end: TaskEnd, text: str, note: str) -> None:
    close = failure(TaskEnded(end, text))
    assert (close.outcome, close.note, close.offer_retry) == (Outcome.FAILED, note, True)
