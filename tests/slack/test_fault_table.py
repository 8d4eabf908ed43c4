"""What follows a write that failed: the calls that come next, for each fault, surface and place in a message.

The answer is driven by hand: first "One.", where a message is open, then "Two.", whose write fails so, then
the end of the turn with "Three.". All later calls succeed.
"""

from __future__ import annotations

import pytest

from slack_bot.errors import SlackError
from slack_bot.slack.faults import Fault
from slack_bot.slack.model import Batch, Ending, WriteResult
from slack_bot.turn.record import Outcome
from tests.slack.pure_answer import OK, PureAnswer, failed

START, APPEND, STOP = "chat.startStream", "chat.appendStream", "chat.stopStream"
POST, UPDATE, OPEN = "chat.postMessage", "chat.update", "conversations.open"
REST = "agents.sessions.setStatus"  # the session, where no stream's stop put it to rest

Row = tuple[list[str], list[str]]
"""The calls from the failing one to the end, and what the messages read then."""

STREAM_BEGINS: dict[Fault, Row] = {
    Fault.LATER: ([START, POST, UPDATE], ["Two.\nThree."]),
    Fault.WRONG_CALL: ([START, START, APPEND, STOP], ["Two.\nThree."]),  # once more, its text only
    Fault.UNKNOWN: ([START, START, APPEND, STOP], ["Two.\nThree."]),  # looked for, and not found
    Fault.SEALED: ([START, POST, UPDATE], ["Two.\nThree."]),
    Fault.FULL: ([START, POST, UPDATE], ["Two.\nThree."]),
    Fault.STILL_OPEN: ([START, START, APPEND, STOP], ["Two.\nThree."]),
    Fault.NOT_HERE: ([START, POST, UPDATE], ["Two.\nThree."]),
    Fault.NOT_THIS_ONE: ([START, POST, UPDATE], ["Two.\nThree."]),
}
STREAM_GOES_ON: dict[Fault, Row] = {
    Fault.LATER: ([APPEND, STOP, POST, UPDATE, REST], ["One.\n", "Two.\nThree."]),
    Fault.WRONG_CALL: ([APPEND, STOP, POST, UPDATE, REST], ["One.\n", "Two.\nThree."]),
    # stopped, and not to be read: made to read so
    Fault.UNKNOWN: ([APPEND, STOP, UPDATE, START, STOP], ["One.\nTwo.\n", "Three."]),
    Fault.SEALED: ([APPEND, START, APPEND, STOP], ["One.\n", "Two.\nThree."]),
    Fault.FULL: ([APPEND, STOP, START, APPEND, STOP], ["One.\n", "Two.\nThree."]),
    Fault.STILL_OPEN: ([APPEND, STOP, UPDATE, START, STOP], ["One.\nTwo.\n", "Three."]),
    Fault.NOT_HERE: ([APPEND, STOP, POST, UPDATE, REST], ["One.\n", "Two.\nThree."]),
    Fault.NOT_THIS_ONE: ([APPEND, STOP, POST, UPDATE, REST], ["One.\n", "Two.\nThree."]),
}
EDIT_BEGINS: dict[Fault, Row] = {
    Fault.LATER: ([POST, POST], ["Two.\nThree."]),
    Fault.WRONG_CALL: ([POST, POST, UPDATE], ["Two.\nThree."]),  # the next form
    Fault.UNKNOWN: ([POST, POST, UPDATE], ["Two.\nThree."]),  # looked for, and not found
    Fault.SEALED: ([POST, POST], ["Two.\nThree."]),
    Fault.FULL: ([POST, POST], ["Two.\nThree."]),
    Fault.STILL_OPEN: ([POST, POST], ["Two.\nThree."]),
    Fault.NOT_HERE: ([POST, POST], ["Two.\nThree."]),
    Fault.NOT_THIS_ONE: ([POST, POST], ["Two.\nThree."]),
}
EDIT_GOES_ON: dict[Fault, Row] = {
    Fault.LATER: ([UPDATE, POST], ["One.\n", "Two.\nThree."]),
    Fault.WRONG_CALL: ([UPDATE, UPDATE, UPDATE], ["One.\nTwo.\nThree."]),
    Fault.UNKNOWN: ([UPDATE, UPDATE, UPDATE], ["One.\nTwo.\nThree."]),
    Fault.SEALED: ([UPDATE, POST], ["One.\n", "Two.\nThree."]),
    Fault.FULL: ([UPDATE, POST], ["One.\n", "Two.\nThree."]),
    Fault.STILL_OPEN: ([UPDATE, STOP, UPDATE, UPDATE], ["One.\nTwo.\nThree."]),
    Fault.NOT_HERE: ([UPDATE, POST], ["One.\n", "Two.\nThree."]),
    Fault.NOT_THIS_ONE: ([UPDATE, POST], ["One.\n", "Two.\nThree."]),
}
TABLES = {
    (True, True): STREAM_BEGINS,
    (True, False): STREAM_GOES_ON,
    (False, True): EDIT_BEGINS,
    (False, False): EDIT_GOES_ON,
}
ENDS = {Fault.STOPPED, Fault.NO_WRITING, Fault.GONE, Fault.DEAD}


def write_until(fault: Fault, *, is_stream: bool, begins: bool) -> tuple[PureAnswer, int]:
    """The answer after the write that failed, and how many calls came before it."""
    before = [] if begins else [OK]
    pure = PureAnswer(*before, failed(fault), can_stream=is_stream)
    if not begins:
        pure.run(pure.answer.show(Batch("One.\n")))
        pure.pass_time(3.0)  # edits have a distance
    count = len(pure.made)
    pure.run(pure.answer.show(Batch("Two.\n")))
    pure.pass_time(3.0)
    return pure, count


@pytest.mark.parametrize("is_stream", [True, False])
@pytest.mark.parametrize("begins", [True, False])
@pytest.mark.parametrize("fault", [fault for fault in Fault if fault not in ENDS])
def test_the_answer_goes_on_and_is_whole(fault: Fault, begins: bool, is_stream: bool) -> None:
    pure, count = write_until(fault, is_stream=is_stream, begins=begins)
    pure.run(pure.answer.ending.finish(Ending(Outcome.ANSWERED, rest="Three.")))
    assert (pure.methods[count:], pure.texts()) == TABLES[is_stream, begins][fault]
    assert pure.answer.state.last is not None
    assert pure.answer.state.last.is_signed


@pytest.mark.parametrize("is_stream", [True, False])
@pytest.mark.parametrize("begins", [True, False])
def test_nothing_of_the_answer_follows_a_human_stop(begins: bool, is_stream: bool) -> None:
    pure, count = write_until(Fault.STOPPED, is_stream=is_stream, begins=begins)
    assert pure.answer.state.ended is WriteResult.STOPPED
    pure.run(pure.answer.ending.finish(Ending(Outcome.ANSWERED, rest="Three.")))
    later = [str(call.args) for call in pure.made[count + 1 :]]
    assert not any("Two." in args or "Three." in args for args in later)
    assert any("Stopped." in args for args in later)


@pytest.mark.parametrize("is_stream", [True, False])
@pytest.mark.parametrize("begins", [True, False])
@pytest.mark.parametrize("fault", [Fault.NO_WRITING, Fault.GONE])
def test_where_nothing_can_be_written_nothing_is(fault: Fault, begins: bool, is_stream: bool) -> None:
    pure, count = write_until(fault, is_stream=is_stream, begins=begins)
    assert pure.answer.state.is_gone
    private = [OPEN, POST] if fault is Fault.NO_WRITING else []  # the asker is told, once
    assert pure.methods[count + 1 :] == private
    assert pure.run(pure.answer.show(Batch("More."))) is WriteResult.GONE
    pure.run(pure.answer.ending.finish(Ending(Outcome.ANSWERED, rest="Three.")))
    stop = [STOP] if is_stream and not begins else []  # no stream stays open
    assert pure.methods[count + 1 :] == [*private, *stop]


@pytest.mark.parametrize("is_stream", [True, False])
@pytest.mark.parametrize("begins", [True, False])
def test_a_dead_token_is_an_error(begins: bool, is_stream: bool) -> None:
    with pytest.raises(SlackError, match="no longer accepts the bot token"):
        write_until(Fault.DEAD, is_stream=is_stream, begins=begins)


def test_after_four_calls_without_an_answer_nothing_is_streamed() -> None:
    silent = failed(Fault.UNKNOWN)
    pure = PureAnswer(silent, silent, silent, silent)
    pure.run(pure.answer.show(Batch("One.")))
    assert pure.methods == [START, START, START, START, POST]
    assert pure.texts() == ["One."]


@pytest.mark.parametrize("begins", [True, False])
def test_a_call_that_is_given_out_and_never_answered_is_in_doubt(begins: bool) -> None:
    pure = PureAnswer()
    if not begins:
        pure.run(pure.answer.show(Batch("One.\n")))
    step = pure.answer.show(Batch("Two.\n"))
    order = next(step)
    while type(order).__name__ != "CallSlack":
        order = step.send(True)
    step.close()  # the process ends
    assert pure.answer.state.ledger.in_doubt
    assert pure.answer.state.ledger.text == ("Two.\n" if begins else "One.\nTwo.\n")
