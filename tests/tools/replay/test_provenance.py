"""An account of a turn: what brought which text, and which call showed it."""

from __future__ import annotations

from itertools import groupby

from hypothesis import given, settings
from hypothesis import strategies as st

from slack_bot.observe.facts import AgentEvent, EventHandled, Fact
from slack_bot.tools.replay.provenance import Cause, Provenance, Sources, TurnProvenance
from slack_bot.tools.turn_log import failed_calls
from slack_bot.turn.actions import (
    AppendText,
    CardState,
    EndTurn,
    FlushText,
    NoOp,
    RewriteAnswer,
    SetPlanTitle,
    ShowStatus,
    TaskCard,
    UpdateCard,
)
from slack_bot.turn.events import (
    AnswerReplaced,
    AnswerText,
    FinalAnswer,
    Narrated,
    StopRequested,
    StreamEnd,
    StreamEnded,
    TaskEnd,
    TaskEnded,
    TurnBegun,
)
from slack_bot.turn.record import Outcome
from tests.tools.trace.turns import START, called, closed, decided, event, logged, opened


def account(*facts: Fact | tuple[float, str]) -> Provenance:
    """What stands there of facts, and of looks at the visible text."""
    found = Provenance()
    logged(opened(), *facts, log=found.log)
    return found


def stretches(seen: Provenance) -> list[tuple[int, int]]:
    """How many characters each showing brought, one after the other."""
    return [(len(list(group)), number) for number, group in groupby(seen.shown_by)]


def turn_of(seen: Provenance) -> TurnProvenance:
    (turn,) = seen.turns
    return turn


def grows(t: float, text: str) -> list[Fact]:
    return [event(t, text), decided(t, AnswerText(text, "flag"), AppendText(text, f"grows: {text}"))]


def test_each_character_knows_the_call_that_showed_it() -> None:
    seen = account(
        *grows(1.0, "one "), (1.1, "one "), called(1.05, "chat.startStream", "one "),
        *grows(2.0, "two"), (2.1, "one two"), called(2.05, "chat.appendStream", "two"),
    )  # fmt: skip
    assert seen.text == "one two"
    assert stretches(seen) == [(4, 0), (3, 1)]
    assert [(each.at, each.method, each.error) for each in seen.showings] == [
        (1.1, "chat.startStream", None),
        (2.1, "chat.appendStream", None),
    ]
    assert [(text, cause.number, cause.reason) for text, cause in turn_of(seen).produced] == [
        ("one ", 1, "grows: one "),
        ("two", 2, "grows: two"),
    ]


def test_a_call_that_was_applied_and_answered_with_an_error_showed_it_all_the_same() -> None:
    seen = account(
        *grows(1.0, "one"), (1.1, "one"), called(1.0, "chat.startStream", "one", error="internal_error")
    )
    assert seen.showings[0].error == "internal_error"
    assert [(each.method, each.error) for each in seen.failed] == [("chat.startStream", "internal_error")]


def test_a_status_call_in_between_shows_no_text() -> None:
    seen = account(
        (1.1, "one"), called(1.0, "assistant.threads.setStatus"), called(1.0, "chat.startStream", "one")
    )
    assert seen.showings[0].method == "chat.startStream"


def test_what_is_written_anew_in_the_middle_keeps_what_stands_around_it() -> None:
    seen = account(
        (1.0, "the wrong end"),
        called(0.9, "chat.startStream"),
        (2.0, "the right end"),
        called(1.9, "chat.update"),
    )
    assert stretches(seen) == [(4, 0), (5, 1), (4, 0)]
    assert stretches(account((1.0, "gone"), called(0.9, "chat.startStream"), (2.0, ""))) == []


def test_narration_late_text_and_duplicates_are_kept_apart() -> None:
    seen = account(
        event(1.0, "let me see"),
        decided(
            1.0, Narrated("let me see", reason="flag"), ShowStatus("is responding...", "narration: flag")
        ),
        event(2.0, "thus", "final_result"),
        decided(2.0, FinalAnswer("thus", "final_result"), NoOp("equal to what was delivered")),
        event(3.0, "more"),
        decided(3.0, AnswerText("more", "flag"), late=True),
        decided(4.0, Narrated("", reason="nothing"), NoOp("nothing")),
    )
    assert [
        (each.what, each.cause.number, each.cause.reason, each.chars) for each in turn_of(seen).unshown
    ] == [
        ("for the status line: is responding...", 1, "narration: flag", 10),
        ("not shown", 2, "equal to what was delivered", 4),
        ("dropped, it came too late", 3, "flag", 4),
    ]


def test_a_result_that_was_shown_already_is_not_among_what_was_not_shown() -> None:
    equal = NoOp("equal to what was delivered: the result")
    seen = account(
        *grows(1.0, "one "), *grows(1.5, "two"),
        event(2.0, "one two", "final_result"),
        decided(2.0, FinalAnswer("one  two\n", "final_result", reason="the result"), equal),
        decided(3.0, FinalAnswer("other", "final_result", reason="another"), NoOp("differs")),
        decided(4.0, StreamEnded(StreamEnd.CLOSED), RewriteAnswer("other", "what stands there is not it")),
        decided(5.0, FinalAnswer("other", "final_result", reason="another"), equal),
    )  # fmt: skip
    assert [(each.what, each.cause.number, each.chars) for each in turn_of(seen).repeated] == [
        ("the same answer", 3, 9),
        ("the same answer", 3, 5),
    ]
    assert turn_of(seen).unshown == [], "what differed was written in the end"


def test_a_rewriting_names_the_event_that_brought_the_other_text() -> None:
    seen = account(
        *grows(1.0, "one"),
        event(2.0, "two", "final_result"),
        decided(2.0, FinalAnswer("two", "final_result", reason="the result"), NoOp("differs")),
        decided(3.0, StreamEnded(StreamEnd.CLOSED), RewriteAnswer("two", "what stands there is not it")),
    )
    turn = turn_of(seen)
    [(text, cause)] = turn.produced
    assert (text, cause.number, cause.at, turn.rewritten_at) == ("two", 2, 2.0, 3.0)
    assert cause.reason == "what stands there is not it: the result"
    assert [text for text, _ in turn.rewritten] == ["one"]


def test_cards_and_the_end() -> None:
    seen = account(
        decided(0.0, TurnBegun(), ShowStatus("is thinking...", "begun")),
        event(1.0, "x"),
        decided(1.0, AnswerText("x"), UpdateCard(TaskCard("a", "Search", CardState.RUNNING), "tool started")),
        decided(1.0, AnswerText("x"), SetPlanTitle("Step 1", "the running step changed")),
        decided(2.0, StreamEnded(StreamEnd.CLOSED), EndTurn(Outcome.ANSWERED, reason="closed")),
        closed(2.1),
    )
    assert [(each.what, each.cause.number) for each in turn_of(seen).cards] == [
        ("Search - in_progress", 1),
        ("the line above the cards: Step 1", 1),
    ]
    closing = turn_of(seen).closing
    assert closing is not None and closing[1].number is None
    assert closing[1].name == "StreamEnded"
    assert seen.events == 1


def test_what_is_seen_twice_before_a_call_returns_was_shown_by_that_call() -> None:
    seen = account((1.0, "one "), (1.0, "one "), (1.1, "one two"), called(0.9, "chat.startStream"))
    assert stretches(seen) == [(7, 0)]
    assert [each.method for each in seen.showings] == ["chat.startStream"]


def test_the_bots_own_word_for_the_end_names_the_event_that_said_it() -> None:
    whole = "the whole answer in full. P.S. done."
    own = FinalAnswer(whole, "the terminal status message", certain=False, reason="best of what came")
    ended = TaskEnded(TaskEnd.COMPLETED)
    seen = account(
        *grows(1.0, "the whole answer in full."),
        event(2.0, whole, "status completed"), decided(2.0, ended, FlushText("task completed")),
        decided(3.0, own, AppendText(" P.S. done.", "the missing rest")),
    )  # fmt: skip
    text, cause = turn_of(seen).produced[-1]
    assert (text, cause.number, cause.reason) == (" P.S. done.", 2, "the missing rest")
    assert [(each.what, each.cause.number, each.chars) for each in turn_of(seen).repeated] == [
        ("the same answer", 2, 25)
    ]


def test_the_bots_own_word_for_an_answer_it_has_shown_is_nothing_sent_again() -> None:
    own = FinalAnswer("one two", "artifacts", certain=False, reason="best of what came")
    seen = account(*grows(1.0, "one two"), decided(2.0, own, NoOp("equal to what was delivered")))
    assert (turn_of(seen).repeated, turn_of(seen).unshown) == ([], [])


def test_a_rewriting_of_two_events_names_both() -> None:
    body, sources = "The right answer, in full.", "Sources: here and there"
    whole = f"{body}\n\n{sources}"
    differs = NoOp("differs from what was delivered")
    seen = account(
        *grows(1.0, "The wrong answer, in part."), *grows(1.5, sources),
        event(2.0, body), decided(2.0, AnswerReplaced(whole, "artifact"), differs),
        decided(3.0, FinalAnswer(whole, "artifacts", certain=False), differs),
        decided(3.0, StreamEnded(StreamEnd.CLOSED), RewriteAnswer(whole, "not the answer")),
    )  # fmt: skip
    assert [(text, cause.number) for text, cause in turn_of(seen).produced] == [
        (body, 3),
        ("\n\n", 3),
        (sources, 2),
    ]
    assert turn_of(seen).unshown == []


def test_what_the_bot_read_of_the_task_is_no_event() -> None:
    looked = AgentEvent(START + 2, "q", "task", {"kind": "task", "asked": True, "state": "working"})
    seen = account(*grows(1.0, "one "), looked, decided(2.0, AnswerText("two"), AppendText("two", "grows")))
    assert seen.events == 1
    _, cause = turn_of(seen).produced[-1]
    assert (cause.number, cause.name) == (None, "reading the task working")


def test_after_a_stop_nothing_is_late_or_failed() -> None:
    own = FinalAnswer("one", "artifacts", certain=False, reason="best of what came")
    more = EventHandled(START + 2.5, "q", AnswerText("more", "flag"), (), "stopping", True)
    late = EventHandled(START + 3, "q", own, (), "stopping", True)
    sealed = called(3.0, "chat.stopStream", error="message_not_in_streaming_state")
    seen = account(*grows(1.0, "one"), decided(2.0, StopRequested("U1")), more, late, sealed)
    assert [(each.what, each.chars) for each in turn_of(seen).unshown] == [
        ("not shown, the human had stopped it", 4)
    ]
    assert seen.failed == []


def test_a_call_that_slack_refused_before_the_stop_was_known_did_not_fail_either() -> None:
    sealed = called(1.9, "chat.appendStream", error="message_not_in_streaming_state")
    seen = account(*grows(1.0, "one"), sealed, decided(2.0, StopRequested("U1")))
    assert (seen.failed, failed_calls(turn_of(seen).turn)) == ([], [])


# -- text that was put together in the end ------------------------------------------------------------------

BOT = Cause(9.0, None, "FinalAnswer", "the missing rest")


def heard(*texts: str) -> Sources:
    found = Sources()
    for number, text in enumerate(texts, 1):
        found.hear(text, Cause(float(number), number, "event", ""))
    return found


def pieces_of(sources: Sources, text: str) -> list[tuple[str, int | None]]:
    return [(piece, cause.number) for piece, cause in sources.of(text, BOT)]


def test_one_event_said_all_of_it() -> None:
    sources = heard("The answer. P.S. done.", "The answer. P.S. done.", "bye")
    assert pieces_of(sources, "\n\nP.S. done.") == [("\n\nP.S. done.", 2)]
    [(_, cause)] = sources.of("P.S. done.", BOT)
    assert (cause.at, cause.reason) == (2.0, "the missing rest")


def test_it_came_in_pieces() -> None:
    assert pieces_of(heard("So ", "it ", "is."), "\nit is.") == [("\nit ", 2), ("is.", 3)]


def test_two_events_put_together() -> None:
    sources = heard("noise", "Sources: here and there", "The answer itself.")
    assert pieces_of(sources, "The answer itself.\n\nSources: here and there") == [
        ("The answer itself.", 3),
        ("\n\n", 3),
        ("Sources: here and there", 2),
    ]


def test_what_nobody_said_is_the_bots() -> None:
    assert pieces_of(heard("something else"), "my own") == [("my own", None)]
    assert pieces_of(heard(), "") == [("", None)]
    assert pieces_of(heard("The answer itself."), "Well. The answer itself.") == [
        ("Well. ", None),
        ("The answer itself.", 1),
    ]


@given(st.lists(st.text("ab \n", max_size=15), max_size=8), st.text("ab \n", max_size=40))
@settings(max_examples=60, deadline=None)
def test_nothing_is_lost(texts: list[str], text: str) -> None:
    assert "".join(piece for piece, _ in heard(*texts).of(text, BOT)) == text
