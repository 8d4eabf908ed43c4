"""The judge of long answers sees what a reader would complain of."""

from __future__ import annotations

from dataclasses import replace

import pytest

from slack_bot.testing.slack.workspace import SeenMessage, SeenTask

from .long_answers import FEEDBACK, HEADER, RULE, WORD, Writer, faults_of

TEXT = f"w00001 w00002\n\n{HEADER}\n{RULE}\n| w00003 |\n| w00004 |\n\n```py\n    call('w00005')\n```\nw00006"
FIRST = f"w00001 w00002\n\n{HEADER}\n{RULE}\n| w00003 |"
SECOND = f"{HEADER}\n{RULE}\n| w00004 |\n\n```py\n    call('w00005')\n```\nw00006"


def message(text: str, *extras: str) -> SeenMessage:
    return SeenMessage("1.2", "U0BOT", True, text, state="sealed", extras=extras)


def complaints(first: str = FIRST, second: str = SECOND) -> list[str]:
    return faults_of([message(first), message(second, FEEDBACK)], TEXT)


def test_a_readable_thread_has_none() -> None:
    assert complaints() == []
    assert faults_of([message(TEXT, FEEDBACK)], TEXT) == []


@pytest.mark.parametrize(
    ("first", "second", "complaint"),
    [
        (FIRST.replace("w00002", ""), SECOND, "1 words lost, 0 twice, of 6"),
        (FIRST, f"w00003 {SECOND}", "0 words lost, 1 twice, of 6"),
        (SECOND, FIRST, "0 words lost, 0 twice, of 6"),
        (FIRST, SECOND.replace(f"{HEADER}\n{RULE}\n", ""), "message 2: a row without its header: | w00004 |"),
        (FIRST, SECOND.replace("```\n", ""), "message 2: a fence is not closed"),
        (FIRST, SECOND.replace("```py\n", ""), "message 2: code outside of a fence:     call('w00005')"),
        (FIRST, SECOND.replace("```\nw00006", "w00006\n```"), "message 2: prose in a fence: w00006"),
    ],
)
def test_texts(first: str, second: str, complaint: str) -> None:
    assert complaint in complaints(first, second)


def test_messages() -> None:
    open_card = SeenTask("1", "Look", "in_progress")
    whole = message(TEXT, FEEDBACK)
    for change, complaint in (
        ({"state": "streaming"}, "message 1: still open"),
        ({"expired": True}, "message 1: sealed by Slack"),
        ({"plan_failed": True}, "message 1: a card is open"),
        ({"tasks": (open_card,)}, "message 1: a card is open"),
        ({"extras": ()}, "feedback stands on messages [] of 1"),
    ):
        assert faults_of([replace(whole, **change)], TEXT) == [complaint]


def test_every_word_is_written_once() -> None:
    text = Writer().report(5_000)
    words = WORD.findall(text.lower())
    assert len(words) == len(set(words)) > 500
    assert faults_of([message(text, FEEDBACK)], text) == []
    assert faults_of([message(text + text, FEEDBACK)], text) != []
