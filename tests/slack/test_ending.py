"""How an answer ends: in which order its text, its extras and its footer come. Driven without Slack."""

from __future__ import annotations

import pytest

from slack_bot.errors import SlackError
from slack_bot.slack.faults import CallResult
from slack_bot.slack.model import Batch, Ending
from slack_bot.turn.actions import CardState, TaskCard
from slack_bot.turn.extras import DataTable
from slack_bot.turn.record import Outcome
from tests.slack.pure_answer import OK, PureAnswer

START, APPEND, STOP = "chat.startStream", "chat.appendStream", "chat.stopStream"
POST, UPDATE, DELETE = "chat.postMessage", "chat.update", "chat.delete"
REST = "agents.sessions.setStatus"
TABLE = DataTable(("a", "b"), (("1", "2"),), "Numbers")


def end(pure: PureAnswer, ending: Ending) -> list[str]:
    """The methods that `ending` called."""
    count = len(pure.made)
    pure.run(pure.answer.ending.finish(ending))
    return pure.methods[count:]


def begun(*results: CallResult | Exception, text: str = "One.\n") -> PureAnswer:
    """An answer whose stream is open, and shows `text`."""
    pure = PureAnswer(OK, *results)
    pure.run(pure.answer.show(Batch(text, (TaskCard("a", "Search", CardState.RUNNING),))))
    return pure


@pytest.mark.parametrize(
    ("ending", "methods"),
    [
        (Ending(Outcome.ANSWERED), [STOP]),
        (Ending(Outcome.ANSWERED, rest="Two."), [APPEND, STOP]),
        (Ending(Outcome.FAILED, note="It broke.", offer_retry=True), [STOP]),
        (Ending(Outcome.STOPPED, rest="Two."), [STOP]),
        (Ending(Outcome.WATCHED, note="It goes on."), [STOP]),
        (Ending(Outcome.ANSWERED, rewrite="Another text."), [STOP, UPDATE]),
        (Ending(Outcome.ANSWERED, extras=(TABLE,)), [STOP, POST]),
        (Ending(Outcome.STOPPED, extras=(TABLE,)), [STOP]),  # nothing follows a stop
    ],
    ids=str,
)
def test_what_is_called(ending: Ending, methods: list[str]) -> None:
    assert end(begun(), ending) == methods


@pytest.mark.parametrize(
    ("outcome", "reads"),
    [
        (Outcome.ANSWERED, ("complete", "Search")),
        (Outcome.FAILED, ("error", "Search")),
        (Outcome.STOPPED, ("complete", "Search (stopped)")),
        (Outcome.WATCHED, ("complete", "Search (continues below)")),
    ],
)
def test_a_card_that_ran_ends_truthfully(outcome: Outcome, reads: tuple[str, str]) -> None:
    pure = begun()
    end(pure, Ending(outcome, note="Note."))
    (card,) = pure.answer.state.messages[0].cards.shown()
    assert (card.state, card.title) == reads


def test_an_answer_of_nothing_but_a_note_is_a_post() -> None:
    pure = PureAnswer()
    assert end(pure, Ending(Outcome.FAILED, note="It broke.")) == [POST]
    assert "It broke." in str(pure.made[-1].args)


def test_an_answer_that_is_nothing_at_all_is_a_bug() -> None:
    with pytest.raises(AssertionError, match="nothing to show"):
        end(PureAnswer(), Ending(Outcome.ANSWERED))


def test_a_second_call_ends_it_as_the_first_one_asked() -> None:
    pure = begun(ZeroDivisionError("on purpose"))
    with pytest.raises(ZeroDivisionError):
        end(pure, Ending(Outcome.ANSWERED, rest="Two."))
    end(pure, Ending(Outcome.FAILED, note="It broke."))
    assert "".join(pure.texts()).replace("\n", "") == "One.Two."
    assert "It broke." not in str(pure.made)


def test_where_the_first_ending_cannot_be_shown_the_second_is_said() -> None:
    broken = SlackError("on purpose", error="broken")
    pure = begun(broken, OK, OK, broken)
    with pytest.raises(SlackError):
        end(pure, Ending(Outcome.ANSWERED, rest="Two."))
    end(pure, Ending(Outcome.FAILED, note="It broke."))
    assert "It broke." in str(pure.made[-1].args)
    assert "error answer stays unfinished: %s" in pure.logged


def test_after_the_end_nothing_is_ended_again() -> None:
    pure = begun()
    end(pure, Ending(Outcome.ANSWERED))
    assert end(pure, Ending(Outcome.FAILED, note="It broke.")) == []
    assert pure.answer.ending.is_finished
