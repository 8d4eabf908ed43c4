"""The thread on a terminal."""

from __future__ import annotations

from typing import Any

from slack_bot.observe.facts import Fact
from slack_bot.tools.replay.plain_text import FollowUp, as_text, pace_of
from slack_bot.tools.replay.result import ReplayedTurn, Shown, make_result
from slack_bot.tools.turn_log import LoggedTurn, TurnLog
from slack_bot.turn.events import FinalAnswer, StopRequested
from tests.tools.trace.turns import called, closed, decided, logged, opened


def result(*thread: Shown, **more: Any) -> dict[str, Any]:
    return {**make_result(TurnLog(), thread, 0.0), **more}


def test_a_thread_with_everything() -> None:
    thread = [
        Shown(
            "1.0",
            "# Answer\nBody.\n",
            "sealed",
            blocks=(
                {"type": "markdown", "text": "# Answer\nBody."},
                {"type": "context", "elements": [{"type": "mrkdwn", "text": "sources"}]},
                {
                    "type": "actions",
                    "elements": [{"type": "button", "text": {"type": "plain_text", "text": "Retry"}}],
                },
                {"type": "context_actions", "elements": [{"type": "button", "text": "Plain"}]},
                {"type": "divider"},
            ),
            tasks=(
                {
                    "id": "a",
                    "title": "Search",
                    "status": "complete",
                    "details": "12 hits\nread 3\n",
                    "output": "",
                },
                {"id": "b", "title": "Fetch", "status": "error", "output": None},
                {"id": "c", "title": "Odd", "status": "novel"},
            ),
            status_line="is thinking...",
            is_answer=True,
        )
    ]
    got = as_text(
        result(*thread),
        asker="U1",
        question="why?",
        paces=["answered, 0 Slack calls"],
    )
    assert got == (
        "U1: why?\n\n"
        "bot (streamed):\n"
        "  [x] Search - complete\n"
        "      12 hits\n"
        "      read 3\n"
        "  [!] Fetch - error\n"
        "  [?] Odd - novel\n"
        "# Answer\nBody.\n"
        "  | sources\n"
        "  | [Retry]\n"
        "  | [Plain]\n"
        "  | <divider>\n"
        "  (is thinking...)\n\n"
        "-- answered, 0 Slack calls\n"
    )


def test_a_thread_with_nothing() -> None:
    assert as_text(result(), asker="U1", question="q", paces=["not taken"]) == "U1: q\n\n-- not taken\n"


def test_each_further_question_stands_where_it_was_asked() -> None:
    thread = [Shown(f"{n}.0", f"Answer {n}.", "sealed", is_answer=True) for n in range(3)]
    paces = ["asked, 3 Slack calls", "answered, 3 Slack calls"]
    got = as_text(result(*thread), asker="U1", question="one", more=[FollowUp(1, "two")], paces=paces)
    assert [part.split("\n")[0] for part in got.split("\n\n")] == [
        "U1: one",
        "bot (streamed):",
        "-- asked, 3 Slack calls",
        "U1: two",
        "bot (streamed):",
        "bot (streamed):",
        "-- answered, 3 Slack calls",
    ]


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
