"""Which questions are asked together, and as what."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.threads.commands import Edit
from slack_bot.threads.edits import edited
from slack_bot.threads.waiting import WaitingQuestion, WaitingQuestions, belongs_to, merged
from slack_bot.turn.files import SlackFile
from slack_bot.turn.progress import Stage, TurnRecord
from slack_bot.turn.record import Question, ThreadKey

THREAD = ThreadKey("T1", "C1", "1.0")
FILE = SlackFile("F1", "notes.txt", "text/plain", 5, "https://files.slack.com/notes.txt")


def asked(ts: str, user: str = "U1", text: str = "what?", **more: object) -> TurnRecord:
    return TurnRecord(replace(Question(THREAD, ts, user, "T1", text), **more), float(ts))  # type: ignore[arg-type]


def waiting(*turns: TurnRecord) -> WaitingQuestions:
    return WaitingQuestions([WaitingQuestion(turn, turn.accepted_at) for turn in turns])


def test_questions_are_one_in_the_order_in_which_they_were_written() -> None:
    first, late = asked("2.0", text="second"), asked("1.5", text="first")
    whole = merged([first, late]).question
    assert (whole.ts, whole.text, whole.merged) == ("2.0", "first\nsecond", ("1.5",))


def test_what_was_merged_before_stays_so() -> None:
    """A process that took a question over, made of two, asks a third one with it."""
    whole = merged([asked("1.0", merged=("2.0",)), asked("3.0", merged=("4.0",))]).question
    assert whole.merged == ("2.0", "3.0", "4.0")


@pytest.mark.parametrize(
    "other",
    [
        asked("2.0", "U2"),
        asked("2.0", attempt=1),
        asked("2.0", handle="form"),
        replace(asked("2.0"), stage=Stage.SENT),
        replace(asked("2.0"), stopped_by="U1"),
    ],
)
def test_what_is_asked_alone(other: TurnRecord) -> None:
    assert belongs_to(asked("1.0"), asked("2.0"))
    assert not belongs_to(asked("1.0"), other)
    assert not belongs_to(other, asked("3.0"))


def test_what_nobody_asked_is_asked_alone() -> None:
    assert not belongs_to(asked("1.0", ""), asked("2.0", ""))


@pytest.mark.parametrize(
    ("turn", "text", "left"),
    [
        (asked("1.0"), "else", "else"),
        (asked("1.0"), "", None),
        (asked("1.0"), None, None),
        (asked("1.0", files=(FILE,)), "", ""),
        (asked("1.0", files=(FILE,)), None, None),
    ],
)
def test_what_an_edit_leaves_of_a_question(turn: TurnRecord, text: str | None, left: str | None) -> None:
    changed = edited(turn, Edit(turn.key, text))
    assert (None if changed is None else changed.question.text) == left


@given(st.lists(st.sampled_from(["U1", "U2", "U3"]), min_size=1, max_size=12), st.booleans())
def test_the_place_is_the_number_of_times_that_something_is_asked_until_then(
    users: list[str], merges: bool
) -> None:
    turns = [asked(f"{number}.0", user) for number, user in enumerate(users, start=1)]
    line, places = waiting(*turns), dict[str, int]()
    while line:
        first, *joined = line.take_next(merges=merges)
        number = 1 + max(places.values(), default=0)
        places |= {first.turn.key: number, **dict.fromkeys((each.turn.key for each in joined), 0)}
    told = {turn.key: waiting(*turns).place_of(turn, merges=merges) for turn in turns}
    assert told == places
