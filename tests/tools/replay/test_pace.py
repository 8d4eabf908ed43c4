"""How a turn went, on one line."""

from __future__ import annotations

from slack_bot.observe.facts import Fact
from slack_bot.tools.replay.pace import as_words, pace_of
from slack_bot.tools.replay.result import ReplayedTurn, Sample
from slack_bot.turn.events import FinalAnswer
from tests.tools.trace.turns import START, called, closed, decided, opened

LONG = "word " * 100


def turn(*facts: Fact, looks: tuple[tuple[float, str], ...] = ()) -> ReplayedTurn:
    samples = [Sample(START + at, text) for at, text in looks]
    return ReplayedTurn([opened(), *facts], samples, "", samples[-1].visible if samples else "")


def test_an_agent_that_is_silent_and_says_everything_at_once() -> None:
    at_once = tuple((12.0 + n / 100, LONG[: 50 * (n + 1)]) for n in range(10))
    pace = pace_of(turn(called(12.0, "chat.startStream"), closed(12.2), looks=at_once))
    assert (pace.first_visible, pace.burst, pace.waited) == (12.0, 1.0, 12.0)
    assert as_words(pace) == (
        "answered, first text after 12 s, 100% of it within half a second, 100% live, "
        "longest gap 0.01 s, 1 Slack calls"
    )


def test_one_that_dies_keeps_its_reader_waiting() -> None:
    steady = tuple((1.0 + n, LONG[: 50 * (n + 1)]) for n in range(10))
    pace = pace_of(turn(closed(70.0), looks=steady))
    assert (pace.burst, pace.waited) == (0.1, 60.0)
    assert "within half a second" not in as_words(pace)
    assert "first text after 1 s, 60 s without anything new, 100% live" in as_words(pace)


def test_a_sentence_always_comes_at_once() -> None:
    pace = pace_of(turn(closed(1.2), looks=((1.0, "Which day?"),)))
    assert (pace.burst, pace.live) == (None, 1.0)


def test_nothing_at_all() -> None:
    nothing = ReplayedTurn([], [], "", "")
    assert as_words(pace_of(nothing)) == "not taken (the bot did not take the question), 0 Slack calls"


def test_what_only_found_that_the_human_had_stopped_did_not_fail() -> None:
    sealed = called(1.0, "chat.stopStream", error="message_not_in_streaming_state")
    ended = closed(2.0)
    object.__setattr__(ended, "outcome", "stopped")
    assert pace_of(turn(sealed, ended)).failed == 0
    assert pace_of(turn(sealed, closed(2.0))).failed == 1
    assert as_words(pace_of(turn(sealed, closed(2.0)))).endswith("1 Slack calls, 1 of them failed")


def test_what_came_with_the_end_was_not_live() -> None:
    end = decided(2.0, FinalAnswer(LONG, "final_result"))
    assert pace_of(turn(end, closed(2.1), looks=((1.0, LONG[:250]), (2.0, LONG)))).live == 0.5
