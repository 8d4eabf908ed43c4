"""The thread on a terminal."""

from __future__ import annotations

from typing import Any

from slack_bot.tools.plain import as_text
from slack_bot.tools.result import Shown, make_result


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
        result(*thread, outcome="answered", reason=None, first_visible=2.5, live_share=0.97, longest_gap=1.2),
        asker="U1",
        question="why?",
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
    assert as_text(result(), asker="U1", question="q") == (
        "U1: q\n\n-- not taken (the bot did not take the question), 0 Slack calls\n"
    )


def test_failed_calls_are_counted() -> None:
    calls = [{"ok": True}, {"ok": False}]
    got = as_text(result(Shown("1.0", "", "new"), calls=calls), asker="U1", question="q")
    assert "bot (new):\n\n-- not taken" in got
    assert got.endswith("2 Slack calls, 1 of them failed\n")
