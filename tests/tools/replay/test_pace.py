"""How a turn went, on one line."""

from __future__ import annotations

from slack_bot.observe.facts import Fact
from slack_bot.tools.replay.pace import pace_of
from slack_bot.tools.replay.result import ReplayedTurn
from slack_bot.tools.turn_log import LoggedTurn, TurnLog
from slack_bot.turn.events import FinalAnswer, StopRequested
from tests.tools.trace.turns import called, closed, decided, logged, opened

LONG = "word " * 100


def line(*entries: Fact | tuple[float, str]) -> str:
    log = logged(opened(), *entries, log=TurnLog())
    return pace_of(ReplayedTurn(log.turns[0], log.text))


def test_an_agent_that_is_silent_and_says_everything_at_once() -> None:
    at_once = ((12.0 + n / 100, LONG[: 50 * (n + 1)]) for n in range(10))
    assert line(called(12.0, "chat.startStream"), *at_once, closed(12.2)) == (
        "answered, first text after 12 s, 100% of it within half a second, 100% live, "
        "longest gap 0.01 s, 1 Slack calls"
    )


def test_one_that_dies_keeps_its_reader_waiting() -> None:
    steady = ((1.0 + n, LONG[: 50 * (n + 1)]) for n in range(10))
    words = line(*steady, closed(70.0))
    assert "within half a second" not in words
    assert "first text after 1 s, 60 s without anything new, 100% live" in words


def test_a_sentence_always_comes_at_once() -> None:
    words = line((1.0, "Which day?"), closed(1.2))
    assert words == "answered, first text after 1 s, 100% live, 0 Slack calls"


def test_nothing_at_all() -> None:
    nothing = pace_of(ReplayedTurn(LoggedTurn(), ""))
    assert nothing == "not taken (the bot did not take the question), 0 Slack calls"


def test_what_only_found_that_the_human_had_stopped_did_not_fail() -> None:
    sealed = called(1.0, "chat.stopStream", error="message_not_in_streaming_state")
    assert line(decided(0.5, StopRequested("U1")), sealed, closed(2.0)).endswith("1 Slack calls")
    assert line(sealed, closed(2.0)).endswith("1 Slack calls, 1 of them failed")


def test_what_came_with_the_end_was_not_live() -> None:
    end = decided(2.0, FinalAnswer(LONG, "final_result"))
    assert "50% live" in line((1.0, LONG[:250]), end, (2.0, LONG), closed(2.1))
