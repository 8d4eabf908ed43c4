"""The judge of a crash finds each thing that may go wrong, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from slack_bot.slack.status import WAITING_REACTION
from slack_bot.testing.slack.workspace import SeenMessage, SeenTask

from .crash_cases import Asked, Kind, answer_lines
from .crash_judge import Deliveries, Fact, Seen, abridged, judge_asked, judge_question, leftovers, notices

ASKED = Asked("q1x0", "plain", 6, 1.0)
LINES = answer_lines("q1x0", 6)
RESTARTED = "I was restarted and cannot find out what became of this question. Reference: ab12."
FOOTER = ("Helpful Not helpful", "Mention me in this thread to go on.")


def said(text: str, *extras: str, **fields: Any) -> SeenMessage:
    return SeenMessage("1.2", "U0BOT", True, text, extras=extras, state="sealed", **fields)


def judged(
    *messages: SeenMessage,
    kind: Kind = "plain",
    told: Deliveries | None = None,
    killed: float = 10.0,
    stopped_at: int | None = None,
) -> Fact:
    asked = Asked("q1x0", kind, 6, 1.0)
    told = told or Deliveries(1, 1)
    return judge_question(asked, messages, told, killed=[killed], stopped_at=stopped_at)


def test_an_answer_over_several_messages_is_whole() -> None:
    text = "".join(LINES)
    assert judged(said(text, *FOOTER)).fate == "whole"
    assert judged(said(text[:100]), said(text[100:170]), said(text[170:], *FOOTER)).fate == "whole"
    other = said("".join(answer_lines("q1x1", 3)), *FOOTER)
    assert judged(said(text, *FOOTER), other).fate == "whole"


@pytest.mark.parametrize(
    "messages,fate",
    [
        ([*LINES, LINES[-1]], "doubled"),
        ([*LINES, *LINES], "doubled"),
        ([*LINES[:2], *LINES[3:]], "wrong"),
        ([*LINES[:3], LINES[4], LINES[3]], "wrong"),
        ([LINES[0], "Something else.\n", *LINES[1:]], "wrong"),
        ([*LINES[:5], LINES[5][:20]], "wrong"),
        (LINES[:4], "silent"),
        ([""], "silent"),
    ],
)
def test_what_is_not_the_answer_is_told_apart(messages: list[str], fate: str) -> None:
    assert judged(*map(said, messages)).fate == fate


def test_a_note_between_two_messages_is_no_part_of_the_answer() -> None:
    note = said("Others write in this thread now. Mention me with your next question here.")
    assert judged(said("".join(LINES[:4])), note, said("".join(LINES[4:]))).fate == "whole"


def test_a_question_that_nobody_heard_of_is_lost() -> None:
    assert judged(told=Deliveries()).fate == "lost"
    assert judged(said("", *FOOTER), told=Deliveries()).fate == "lost"


def test_a_true_notice_counts_where_nothing_else_could_be_done() -> None:
    cut = said("".join(LINES[:2]), RESTARTED, "Try again")
    assert judged(cut).fate == "notice"
    assert judged(cut, told=Deliveries(1, 1, first=9.9)).fate == "notice"
    assert judged(cut, told=Deliveries(1, 1, first=5.0)).fate == "wrong"
    assert judged(cut, told=Deliveries(1, 1, first=5.0), kind="message").fate == "notice"
    assert judged(said("".join(LINES[:2]), "Have a nice day.")).fate == "silent"


def test_nothing_may_come_after_a_stop() -> None:
    assert judged(said("".join(LINES[:2]), "Stopped."), stopped_at=2).fate == "stopped"
    assert judged(said("".join(LINES[:2])), stopped_at=2).fate == "silent"
    assert judged(said("".join(LINES[:3]), "Stopped."), stopped_at=2).fate == "wrong"
    assert judged(said("".join(LINES[:2]), "Stopped.")).fate == "silent"


def test_the_bots_own_sentences_are_told_from_all_else() -> None:
    assert notices([said("".join(LINES), *FOOTER), said(RESTARTED)]) == [RESTARTED]


@pytest.mark.parametrize(
    "told,replies,is_right",
    [
        (Deliveries(1, 1, tasks=("t",)), 0, True),
        (Deliveries(2, 2, tasks=("t", "t")), 1, True),
        (Deliveries(1, 2), 0, False),
        (Deliveries(2, 2), 0, False),
        (Deliveries(2, 2, tasks=("t", "u")), 1, False),
    ],
)
def test_what_was_asked_twice_is_found(told: Deliveries, replies: int, is_right: bool) -> None:
    assert (judge_asked(ASKED, told, replies) is None) == is_right


def left(message: SeenMessage, session: str | None = "active") -> list[str]:
    return leftovers({("C1", "1.1"): Seen([message], session)})


def test_what_is_left_behind_is_found() -> None:
    card = SeenTask("t", "Search", "in_progress")
    assert left(said("all of it", tasks=(SeenTask("t", "Search", "complete"),))) == []
    assert "an open stream" in left(SeenMessage("1.2", "U0BOT", True, "x", state="streaming"))[0]
    assert "status" in left(said("x", status_line="is thinking..."))[0]
    assert "in_progress" in left(said("x", tasks=(card,)))[0]
    assert "plan that failed" in left(said("x", plan_failed=True))[0]
    assert "question that waits" in left(said("x", reactions={WAITING_REACTION: ("U0BOT",)}))[0]
    assert "busy" in left(said("x"), "processing")[0]
    assert "had to end" in left(said("x", expired=True))[0]


def test_long_answers_are_printed_short() -> None:
    assert abridged("".join(LINES) + "Stopped.") == "[q1x0w0001 to line 6]\nStopped."
