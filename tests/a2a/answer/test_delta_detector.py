"""Chunks that append are deltas, or the whole so far; which of them shows itself."""

from __future__ import annotations

import re
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.a2a.answer.delta_detector import DeltaDetector, whole_of

FOX = "The quick brown fox jumps. It is quick."
WORDS = re.findall(r"\S+\s*", FOX)


def told(*chunks: str, growth: DeltaDetector | None = None) -> tuple[str, int]:
    """What the chunks add up to, and how often that had to be told anew."""
    growth, text, anew = growth or DeltaDetector(), "", 0
    for chunk in chunks:
        more, append = growth.take(chunk)
        text, anew = (text + more, anew) if append else (more, anew + 1)
    return text, anew


def test_deltas_are_added_up() -> None:
    assert told(*WORDS) == (FOX, 0)
    assert told("", "a", "") == ("a", 0)


def test_growing_snapshots_are_the_last_one_and_nothing_is_told_anew() -> None:
    assert told(*accumulate(WORDS)) == (FOX, 0)
    assert told("你", "你好", "你好啊") == ("你好啊", 0)


def test_snapshots_may_be_repeated() -> None:
    assert told("The fox", "The fox ran", "The fox ran", "The fox ran.", "The fox") == ("The fox ran.", 0)


def test_a_snapshot_that_begins_anew_is_the_next_paragraph() -> None:
    looked = list(accumulate(["Let me ", "look ", "that up."]))
    assert told(*looked, *accumulate(WORDS)) == (f"Let me look that up.\n\n{FOX}", 0)


def test_a_delta_that_looked_like_a_snapshot_is_one_after_all() -> None:
    assert told("Haha", "Hahaha", ", well.") == ("HahaHahaha, well.", 1)


def test_snapshots_that_begin_with_a_letter_are_found_later() -> None:
    assert told(*accumulate(FOX)) == (FOX, 1)


def test_a_beginning_that_was_known_counts_too() -> None:
    assert told("The fox ran", "The fox ran.", growth=DeltaDetector("The fox")) == (" ran.", 0)


@pytest.mark.parametrize(
    "deltas",
    [
        ["-", "--", "---", "----", "---------", "----------", "-----------"],  # a line that is drawn
        ["1", "10", "100", "1000"],
        ["a", "ab", "abc", "x"],
        ["| a ", "| b ", "| bc "],
        ["one = 1\n", " ", "   ", "    # two", "r"],  # white space and marks begin many a delta
        ["a ", "`", "```", "```markdown\nmore", " text"],
    ],
)
def test_what_says_too_little_is_no_snapshot(deltas: list[str]) -> None:
    assert told(*deltas) == ("".join(deltas), 0)


@given(st.lists(st.text("ab .\n", min_size=1, max_size=9), min_size=3, max_size=8))
def test_snapshots_of_anything_said_in_words_add_up(pieces: list[str]) -> None:
    pieces = ["Well, ", *pieces]
    assert told(*accumulate(pieces))[0] == "".join(pieces)


@pytest.mark.parametrize("growing", [False, True])
def test_a_task_holds_its_chunks_as_they_came(growing: bool) -> None:
    assert whole_of(list(accumulate(WORDS)) if growing else WORDS) == FOX
    assert whole_of(["a", "ab"]) == "aab"
