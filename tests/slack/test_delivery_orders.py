"""How an answer gets from message to message: the calls, and what its reader sees. No Slack, no loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from slack_bot.errors import SlackError
from slack_bot.slack.cards import MAX_CARDS
from slack_bot.slack.faults import CallFailed, CallResult, Fault, SurfaceKind
from slack_bot.slack.model import Batch, Ending
from slack_bot.slack.orders import CallSlack
from slack_bot.slack.turn_calls import DROPPED
from slack_bot.turn.actions import CardState, TaskCard
from slack_bot.turn.progress import MessageRecord
from slack_bot.turn.record import Outcome
from tests.slack.pure_answer import OK, PureAnswer, failed

SILENT, WRONG, GONE = failed(Fault.UNKNOWN), failed(Fault.WRONG_CALL), failed(Fault.GONE)
LATER, NOT_HERE, SEALED = failed(Fault.LATER), failed(Fault.NOT_HERE), failed(Fault.SEALED)
LONG = "".join(f"Line {number}.\n" for number in range(40))
FIRST, SECOND = LONG[:80], LONG[80:120]
TABLE = "| a | b |\n|---|---|\n| 1 | 2 |\n"
SEARCH = TaskCard("a", "Search", CardState.RUNNING)


def write(pure: PureAnswer, text: str, *cards: TaskCard) -> list[str]:
    """The methods that it called."""
    count = len(pure.made)
    pure.run(pure.answer.show(Batch(text, cards)))
    pure.pass_time(3.0)  # edits have a distance
    return methods(pure, count)


def end(pure: PureAnswer, rest: str = "", **ending: Any) -> list[str]:
    """The methods that the end called."""
    count = len(pure.made)
    pure.run(pure.answer.ending.finish(Ending(Outcome.ANSWERED, rest=rest, **ending)))
    return methods(pure, count)


def methods(pure: PureAnswer, since: int = 0) -> list[str]:
    return [method.partition(".")[2] for method in pure.methods[since:]]


def read(pure: PureAnswer) -> list[str]:
    """What each message reads; the footer is a line."""
    messages = pure.answer.state.messages
    return [f"{message.text}{'---' if message.is_signed else ''}" for message in messages]


def ids_of(call: CallSlack) -> list[str]:
    """Of the cards that go along."""
    chunks: Sequence[dict[str, str]] = call.args["chunks"]  # type: ignore[assignment]
    return [each["id"] for each in chunks if "id" in each]


def cards(pure: PureAnswer) -> list[list[str]]:
    """How the cards of each message read."""
    messages = pure.answer.state.messages
    return [[f"{card.title}: {card.state}" for card in message.cards.shown()] for message in messages]


# -- where text goes


def test_only_what_is_whole_needs_no_slot() -> None:
    pure = PureAnswer()
    pure.has_slots = False
    assert write(pure, "One.\n") == []
    assert end(pure) == ["postMessage"]
    assert read(pure) == ["One.\n---"]


@pytest.mark.parametrize("can_stream", [True, False])
@pytest.mark.parametrize("running", [(), (SEARCH,)])
def test_only_the_last_message_has_the_footer(running: tuple[TaskCard, ...], can_stream: bool) -> None:
    pure = PureAnswer(can_stream=can_stream, rotate_bytes=100)
    write(pure, "", *running)
    end(pure, LONG)
    assert "".join(read(pure)) == f"{LONG}---"
    assert len(read(pure)) > 2
    assert cards(pure)[0] == ["Search (continues below): complete"] * len(running)


def test_another_process_knows_a_card_by_the_id_that_slack_does() -> None:
    pure = PureAnswer()
    write(pure, "One.\n", SEARCH)
    pure.pass_time(300.0)
    write(pure, "Two.\n")
    write(pure, "Three.\n")
    later = PureAnswer(shown=pure.answer.state.records)
    later.run(later.answer.delivery.take_over(900.0, ()))
    (started,) = [ids_of(call) for call in pure.made[1:] if call.method == "chat.startStream"]
    (stopped,) = [ids_of(call) for call in later.made if call.method == "chat.stopStream"]
    assert started == stopped != []


def test_an_edit_waits_for_its_distance() -> None:
    pure = PureAnswer(can_stream=False)
    pure.run(pure.answer.show(Batch("One.\n")))
    assert pure.answer.pace.due(pure.calls.now) is None
    pure.run(pure.answer.show(Batch("Two.\n")))
    assert pure.answer.pace.due(pure.calls.now) == pure.calls.now + 3.0
    pure.pass_time(2.5)
    pure.run(pure.answer.show(Batch("")))
    assert read(pure) == ["One.\n"]
    pure.pass_time(0.5)
    assert write(pure, "Three.\n") == ["update"]
    assert read(pure) == ["One.\nTwo.\nThree.\n"]


def test_more_cards_than_a_message_holds_go_into_the_next_one() -> None:
    pure = PureAnswer()
    for number in range(MAX_CARDS + 2):
        write(pure, "", TaskCard(str(number), f"Step {number}", CardState.DONE))
    end(pure, "One.")
    assert [len(each) for each in cards(pure)] == [50, 2]
    assert read(pure) == ["", "One.---"]


def test_a_card_that_ends_behind_the_last_message_is_told_there() -> None:
    pure = PureAnswer(rotate_after=10.0, rotate_grace=1.0)
    write(pure, "One.\n", SEARCH)
    pure.pass_time(20.0)
    assert write(pure, "") == ["stopStream"]
    assert write(pure, "", SEARCH) == []
    pure.answer.state.add(Batch("", (replace(SEARCH, state=CardState.ERROR),), "Plan"))
    assert end(pure) == ["update", "sessions.setStatus"]
    assert (read(pure), cards(pure)) == (["One.\n---"], [["Search: error"]])


# -- what follows a write that failed


@pytest.mark.parametrize(
    ("results", "can_stream", "called", "reads"),
    [
        # with cards: the text alone goes, in the same message or as a new one
        ([WRONG], True, ["startStream", "startStream", "appendStream", "stopStream"], ["One.\nTwo.\n---"]),
        (
            [OK, WRONG],
            True,
            ["startStream", "appendStream", "appendStream", "stopStream"],
            ["One.\nTwo.\n---"],
        ),
        ([OK, WRONG, OK, OK], False, ["postMessage", "update", "update", "update"], ["One.\nTwo.\n---"]),
        # nothing of the answer is there: it goes on in the place of that message
        ([NOT_HERE], True, ["startStream", "postMessage", "update", "update"], ["One.\nTwo.\n---"]),
        (
            [OK, NOT_HERE],
            True,
            ["startStream", "appendStream", "stopStream", "postMessage", "update", "sessions.setStatus"],
            ["One.\n", "Two.\n---"],
        ),
        ([NOT_HERE], False, ["postMessage", "postMessage"], ["One.\nTwo.\n---"]),
        ([OK, NOT_HERE], False, ["postMessage", "update", "update", "postMessage"], ["One.\n", "Two.\n---"]),
        (
            [OK, NOT_HERE, NOT_HERE],
            False,
            ["postMessage", "update", "update", "postMessage", "update"],
            ["One.\n", "Two.\n---"],
        ),
    ],
)
def test_what_is_refused_is_shown_in_another_way(
    results: list[CallResult], can_stream: bool, called: list[str], reads: list[str]
) -> None:
    pure = PureAnswer(*results, can_stream=can_stream)
    write(pure, "One.\n", SEARCH)
    write(pure, "Two.\n", replace(SEARCH, state=CardState.DONE))
    end(pure)
    assert methods(pure) == called
    assert read(pure) == reads


@pytest.mark.parametrize(
    ("results", "can_stream", "kinds"),
    [
        ([NOT_HERE], True, "edit"),
        ([OK, NOT_HERE], True, "edit"),
        ([NOT_HERE], False, "edit"),  # of a post nothing is known about edits
        ([OK, NOT_HERE], False, "post"),
        ([failed(Fault.NOT_THIS_ONE)], True, "stream"),
        ([LATER], True, "stream"),
    ],
)
def test_what_other_answers_learn_from_a_refusal(
    results: list[CallResult], can_stream: bool, kinds: SurfaceKind
) -> None:
    pure = PureAnswer(*results, can_stream=can_stream)
    write(pure, "One.\n")
    write(pure, "Two.\n")
    refusals, now = pure.calls.refusals, pure.calls.now
    assert str(refusals.best("T1", "C1", now, can_stream=can_stream)) == kinds


@pytest.mark.parametrize(
    ("writes", "is_shown", "reads", "surface"),
    [
        (3, False, ["0.1.2.3.end---"], SurfaceKind.EDIT),
        (4, False, ["0.", "1.2.3.4.end---"], SurfaceKind.POST),
        (4, True, ["0.1.2.3.4.end---"], SurfaceKind.EDIT),
    ],
)
def test_edits_without_an_answer_are_read_back_at_last(
    writes: int, is_shown: bool, reads: list[str], surface: SurfaceKind
) -> None:
    pure = PureAnswer(OK, *[SILENT] * 4 * writes, can_stream=False)
    write(pure, "0.")
    for number in range(1, writes + 1):
        if is_shown:
            shown = "".join(f"{each}." for each in range(number + 1))
            pure.messages = [{"ts": pure.answer.state.messages[0].ts, "text": shown}]
        write(pure, f"{number}.")
    end(pure, "end")
    assert (read(pure), pure.answer.state.surface.kind) == (reads, surface)


def test_an_edit_that_may_be_applied_is_undone_before_its_text_goes_into_the_next_message() -> None:
    pure = PureAnswer(OK, *[SILENT] * 4, failed(Fault.FULL), can_stream=False)
    write(pure, "One.\n")
    write(pure, "Two.\n")
    assert write(pure, "Three.\n") == ["update", "update"]
    assert "Two." not in str(pure.made[-1].args)
    assert write(pure, "") == ["postMessage"]
    assert read(pure) == ["One.\n", "Two.\nThree.\n"]


def test_a_table_that_was_held_back_is_shown_where_no_stream_has_to_draw_it() -> None:
    pure = PureAnswer(NOT_HERE, tables="no")
    write(pure, f"One.\n\n{TABLE}")
    assert read(pure) == [f"One.\n\n{TABLE}"]


def test_a_message_that_shows_nothing_is_deleted_and_another_is_in_its_place() -> None:
    pure = PureAnswer(SILENT)
    pure.messages = [{"bot_id": "B1", "streaming_state": "streaming", "ts": "1000.000001", "text": ""}]
    assert write(pure, "One.\n") == ["startStream", "stopStream", "delete", "startStream"]
    assert read(pure) == ["One.\n"]


@pytest.mark.parametrize("starts", [1, 3, 4])
def test_starts_without_an_answer_lead_to_a_post_at_last(starts: int) -> None:
    pure = PureAnswer(*[SILENT] * starts)
    write(pure, "One.\n")
    assert methods(pure) == ["startStream"] * starts + (["postMessage"] if starts == 4 else ["startStream"])
    assert pure.answer.state.surface.fallbacks == (["unknown"] if starts == 4 else [])


# -- the end of a message


@pytest.mark.parametrize(
    ("results", "called", "reads"),
    [
        ([], ["stopStream"], ["One.\n---"]),
        # the footer goes under the stopped stream
        ([WRONG], ["stopStream", "stopStream", "update"], ["One.\n---"]),
        ([WRONG, OK, WRONG], ["stopStream", "stopStream", "update", "update"], ["One.\n"]),
        ([WRONG, OK, GONE], ["stopStream", "stopStream", "update"], ["One.\n"]),
        (
            [WRONG, OK, failed(Fault.NO_WRITING)],
            ["stopStream", "stopStream", "update", "open", "postMessage"],
            ["One.\n"],
        ),
        ([WRONG, OK, LATER], ["stopStream", "stopStream", "update"], ["One.\n"]),
        ([SEALED], ["stopStream", "update"], ["One.\n---"]),
        ([LATER], ["stopStream", "update", "sessions.setStatus"], ["One.\n---"]),
        ([GONE], ["stopStream", "stopStream"], ["One.\n"]),
        ([failed(Fault.STOPPED)], ["stopStream", "update", "sessions.setStatus"], ["One.\n---"]),
    ],
)
def test_a_footer_that_is_not_taken(results: list[CallResult], called: list[str], reads: list[str]) -> None:
    pure = PureAnswer(OK, *results)
    write(pure, "One.\n", SEARCH)
    assert end(pure) == called
    assert read(pure) == reads


@pytest.mark.parametrize("can_stream", [True, False])
@pytest.mark.parametrize("fault", [Fault.GONE, Fault.STOPPED, Fault.NO_WRITING])
def test_nothing_follows_a_last_write_that_ends_the_answer(fault: Fault, can_stream: bool) -> None:
    pure = PureAnswer(OK, failed(fault), can_stream=can_stream)
    write(pure, "One.\n")
    end(pure, "Two.")
    assert "Two." not in "".join(read(pure))


@pytest.mark.parametrize("rewrite", [None, "New."])
def test_what_went_wrong_is_said_once_where_a_human_stopped_it_in_slack(rewrite: str | None) -> None:
    pure = PureAnswer(OK, failed(Fault.STOPPED))
    write(pure, "One.\n")
    pure.run(pure.answer.ending.finish(Ending(Outcome.FAILED, note="It broke.", rewrite=rewrite)))
    saying = [call.method for call in pure.made[2:] if "It broke." in str(call.args)]
    assert saying == ["chat.update"]
    assert read(pure) == ["One.\n---"]


# -- an answer in place of what is shown


@pytest.mark.parametrize(
    ("results", "is_stopped", "called", "reads"),
    [
        ([], False, ["stopStream", "update", "postMessage"], [FIRST, f"{SECOND}---"]),
        # the rest has no place: it is a file
        (
            [OK, OK, NOT_HERE],
            False,
            [
                "stopStream",
                "update",
                "postMessage",
                "getUploadURLExternal",
                "completeUploadExternal",
                "update",
            ],
            [f"{FIRST}---"],
        ),
        # a human stops it while it is tried again
        ([OK, OK, LATER], True, ["stopStream", "update", "postMessage", "update"], [f"{FIRST}---"]),
        ([OK, OK, GONE], False, ["stopStream", "update", "postMessage"], [FIRST]),
        ([OK, GONE], False, ["stopStream", "update"], []),
        (
            [OK, WRONG, WRONG, WRONG],
            False,
            ["stopStream", "update", "update", "update", "delete", "postMessage", "postMessage"],
            [FIRST, f"{SECOND}---"],
        ),
        (
            [OK, OK, SILENT],
            False,
            ["stopStream", "update", "postMessage", "postMessage"],
            [FIRST, f"{SECOND}---"],
        ),
        # a human stopped it in Slack: the text stays
        ([failed(Fault.STOPPED)], False, ["stopStream", "update", "sessions.setStatus"], ["Old.\n---"]),
        ([GONE], False, ["stopStream", "stopStream"], ["Old.\n"]),
        (
            [SILENT, SILENT, SILENT, SILENT],
            False,
            [
                "stopStream",
                "stopStream",
                "stopStream",
                "stopStream",
                "update",
                "postMessage",
                "sessions.setStatus",
            ],
            [FIRST, f"{SECOND}---"],
        ),
    ],
)
def test_an_answer_that_is_written_anew(
    results: list[CallResult], is_stopped: bool, called: list[str], reads: list[str]
) -> None:
    pure = PureAnswer(OK, *results, rotate_bytes=100)
    write(pure, "Old.\n")
    if is_stopped:
        pure.stops_at = pure.calls.now + 1.0
    assert end(pure, rewrite=FIRST + SECOND) == called
    assert read(pure) == reads


def test_text_in_doubt_is_settled_before_it_is_written_anew() -> None:
    pure = PureAnswer(OK, ZeroDivisionError())
    write(pure, "One.\n")
    with pytest.raises(ZeroDivisionError):
        write(pure, "Two.\n")
    assert end(pure, rewrite="New.") == ["stopStream", "update", "update", "sessions.setStatus"]
    assert read(pure) == ["New.---"]


def test_where_that_breaks_off_the_next_process_gets_no_text_that_was_replaced() -> None:
    pure = PureAnswer(OK, ZeroDivisionError(), ZeroDivisionError())
    write(pure, "Old.\n")
    pure.answer.state.add(Batch("Never shown."))
    with pytest.raises(ZeroDivisionError):
        end(pure, rewrite="New.")
    pure.run(pure.answer.hand_over.stop_for_next_process(is_sure=True))
    assert "Never shown." not in str(pure.made)


def test_where_only_a_file_is_taken_a_note_says_so() -> None:
    pure = PureAnswer(OK, OK, *[WRONG] * 4, OK, NOT_HERE)
    write(pure, "Old.\n")
    called = end(pure, rewrite="New.")
    assert called[-4:] == ["postMessage", "getUploadURLExternal", "completeUploadExternal", "postMessage"]
    assert "answer.md" in str(pure.made[-1].args)
    assert read(pure) == []


@pytest.mark.parametrize(("in_thread", "reads"), [("One. Two.", "One. Two.---"), ("One.", "One. ---")])
def test_a_stop_takes_back_no_text_that_its_reader_saw(in_thread: str, reads: str) -> None:
    def is_stopped(pure: PureAnswer) -> CallResult:
        pure.calls.are_writes_given_up = True
        return CallFailed(Fault.UNKNOWN, DROPPED)

    pure = PureAnswer(OK, is_stopped, WRONG)
    write(pure, "One. ")
    write(pure, "Two.")
    pure.messages = [{"ts": pure.answer.state.messages[0].ts, "text": in_thread}]
    end(pure)
    assert read(pure) == [reads]


def test_where_no_file_is_taken_either_it_is_an_error() -> None:
    pure = PureAnswer(OK, OK, OK, NOT_HERE, NOT_HERE, rotate_bytes=100)
    write(pure, "Old.\n")
    with pytest.raises(SlackError, match="not_here"):
        end(pure, rewrite=FIRST + SECOND)


def test_messages_that_are_not_needed_any_more_are_deleted() -> None:
    pure = PureAnswer(rotate_bytes=100)
    write(pure, LONG)
    assert len(read(pure)) > 2
    assert end(pure, rewrite="New.") == ["stopStream", "update", "delete", "delete", "delete", "delete"]
    assert read(pure) == ["New.---"]


# -- taken over


@pytest.mark.parametrize(
    ("records", "in_thread", "has_note", "called"),
    [
        (
            [("stream", True)],
            "",
            False,
            ["stopStream", "update", "update", "sessions.setStatus", "Part 3. More, and the end.---"],
        ),
        (
            [("stream", True)],
            "Part 3. ",
            False,
            ["stopStream", "startStream", "stopStream", "Part 3. ", "More, and the end.---"],
        ),
        (
            [("stream", True)],
            "Part 3. More",
            False,
            ["stopStream", "startStream", "stopStream", "Part 3. More, ", "and the end.---"],
        ),
        (
            [("stream", False)],
            "Part 3. More",
            False,
            ["startStream", "stopStream", "Part 3. ", "More, and the end.---"],
        ),
        (
            [("stream", True), ("stream", True)],
            "",
            False,
            [
                "stopStream",
                "update",
                "stopStream",
                "update",
                "update",
                "sessions.setStatus",
                "Part 3. ",
                "Part 4. More, and the end.---",
            ],
        ),
        (
            [("edit", False)],
            "Part 3. ",
            False,
            ["startStream", "stopStream", "Part 3. ", "More, and the end.---"],
        ),
        (
            [("edit", False)],
            "Part 3. More",
            False,
            ["startStream", "stopStream", "Part 3. More, ", "and the end.---"],
        ),
        (
            [("edit", False), ("edit", False)],
            "Part 3. More",
            False,
            ["update", "update", "Part 3. ", "Part 4. More, and the end.---"],
        ),
        (
            [("post", False)],
            "Part 3. More",
            False,
            ["startStream", "stopStream", "Part 3. ", "More, and the end.---"],
        ),
        (
            [("stream", False)],
            "Part 3. ",
            True,
            ["update", "startStream", "stopStream", "Part 3. ", "More, and the end.---"],
        ),
        (
            [("stream", True)],
            "Part 3. ",
            True,
            ["stopStream", "update", "startStream", "stopStream", "Part 3. ", "More, and the end.---"],
        ),
    ],
)
def test_what_another_process_left_is_settled(
    records: list[tuple[str, bool]], in_thread: str, has_note: bool, called: list[str]
) -> None:
    shown = [
        MessageRecord(f"100.00000{at}", surface, body=f"Part {at}. ", is_open=is_open)
        for at, (surface, is_open) in enumerate(records, start=3)
    ]
    pure = PureAnswer(shown=tuple(shown))
    pure.messages = [{"ts": "100.000003", "text": in_thread}] if in_thread else []
    pure.run(pure.answer.delivery.take_over(90.0, (), has_note=has_note))
    write(pure, "".join(record.text for record in shown))
    end(pure, "More, and the end.")
    assert [*methods(pure), *read(pure)] == called


def test_what_was_written_anew_needs_no_second_look() -> None:
    pure = PureAnswer(shown=(MessageRecord("100.000003", "stream", body="One. ", is_open=True),))
    pure.messages = [{"ts": "100.000003", "text": "One. More"}]
    pure.run(pure.answer.delivery.take_over(90.0, ()))
    assert [record.is_open for record in pure.answer.state.records] == [True]
    end(pure, rewrite="New.")
    assert [(record.text, record.is_open) for record in pure.answer.state.records] == [("New.", False)]


def test_a_thread_that_went_away_meanwhile_gets_nothing_more() -> None:
    pure = PureAnswer(GONE, shown=(MessageRecord("100.000003", "stream", body="One. ", is_open=True),))
    pure.run(pure.answer.delivery.take_over(90.0, ()))
    assert pure.answer.state.is_gone
    write(pure, "One. Two.")
    end(pure)
    assert "startStream" not in methods(pure)


def test_what_a_dead_process_did_not_record_is_deleted() -> None:
    pure = PureAnswer()
    stream = {"bot_id": "B1", "streaming_state": "completed", "text": "One."}
    before = {**stream, "ts": "1.000001"}
    pure.messages = [before, {**stream, "ts": "990.000001"}, {**stream, "ts": "990.000002"}]
    pure.run(pure.answer.delivery.take_over(980.0, ("990.000002",)))
    assert [call.args["ts"] for call in pure.made if call.method == "chat.delete"] == ["990.000001"]


def test_a_thread_that_cannot_be_read_is_told_in_the_log() -> None:
    pure = PureAnswer()
    pure.messages = NOT_HERE
    pure.run(pure.answer.delivery.take_over(980.0, ()))
    assert pure.logged == ["warning the thread cannot be read; text may be there twice"]
