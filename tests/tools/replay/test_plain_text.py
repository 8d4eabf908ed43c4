"""The thread on a terminal."""

from __future__ import annotations

from typing import Any

from slack_bot.tools.replay.pace import Pace
from slack_bot.tools.replay.plain_text import FollowUp, as_text
from slack_bot.tools.replay.result import Shown, make_result


def result(*thread: Shown, **more: Any) -> dict[str, Any]:
    return {**make_result([], [], thread, 0.0), **more}


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
        paces=[Pace("answered", None, 2.5, 0.2, 0.97, 1.2, 2.5, 0, 0)],
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
        "-- answered, first text after 2.5 s, 97% live, longest gap 1.2 s, 0 Slack calls\n"
    )


def test_a_thread_with_nothing() -> None:
    nothing = Pace("not taken", "the bot did not take the question", None, None, None, None, 0.0, 0, 0)
    assert as_text(result(), asker="U1", question="q", paces=[nothing]) == (
        "U1: q\n\n-- not taken (the bot did not take the question), 0 Slack calls\n"
    )


def test_each_further_question_stands_where_it_was_asked() -> None:
    thread = [Shown(f"{n}.0", f"Answer {n}.", "sealed", is_answer=True) for n in range(3)]
    paces = [Pace(outcome, None, 1.0, None, 1.0, 0.0, 1.0, 3, 0) for outcome in ("asked", "answered")]
    got = as_text(result(*thread), asker="U1", question="one", more=[FollowUp(1, "two")], paces=paces)
    assert [part.split("\n")[0] for part in got.split("\n\n")] == [
        "U1: one",
        "bot (streamed):",
        "-- asked, first text after 1 s, 100% live, 3 Slack calls",
        "U1: two",
        "bot (streamed):",
        "bot (streamed):",
        "-- answered, first text after 1 s, 100% live, 3 Slack calls",
    ]
