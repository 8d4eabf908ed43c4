"""The thread on a terminal."""

from __future__ import annotations

from typing import Any

from slack_bot.tools.replay.plain_text import FollowUp, as_text
from slack_bot.tools.replay.result import Shown, make_result
from slack_bot.tools.turn_log import TurnLog


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
