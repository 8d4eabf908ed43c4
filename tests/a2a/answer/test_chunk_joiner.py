"""Chunks with ids of their own are one text; answers with ids of their own are several."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.a2a.answer.chunk_joiner import ChunkJoiner, begins_anew, goes_on


@pytest.mark.parametrize(
    ("before", "text"),
    [
        ("The ", "quick"),
        ("The", " quick"),
        ("Par", "is"),
        ("a", "1"),
        ("mill", "."),
        ("(", "Oslo"),
        ("**", "Bold"),
        ("##", "Part"),
        ("狐狸", "跑了"),
        ("狐狸", "。"),
    ],
)
def test_text_goes_on(before: str, text: str) -> None:
    assert goes_on(before, text)


@pytest.mark.parametrize(
    ("before", "text"),
    [
        ("All is well.", "Nothing broke."),
        ("well.", "nothing"),
        ("Oslo", "Bergen"),
        ("All is well", "nothing broke"),
        ("a line\n", "another"),
        ("a line", "\nanother"),
        ("**Done**", "Next"),
        ("狐狸跑了。", "狗醒了"),
        ("狐狸", "Fox"),
        ("x" * 40, "y"),
    ],
)
def test_text_does_not_go_on(before: str, text: str) -> None:
    assert not goes_on(before, text)


def test_after_one_chunk_all_that_follows_is_a_chunk() -> None:
    joiner = ChunkJoiner()
    assert not joiner.joins("", "", "Oslo", "Bergen")
    assert joiner.joins("", "", "The ", "quick")
    assert joiner.joins("", "", "mill", "Then")
    assert joiner.joins("", "", "mill.", "\n\n")
    assert not joiner.joins("", "", "", "quick")
    assert not joiner.joins("", "", "quick", "")


def test_a_sentence_right_behind_another_is_another_answer() -> None:
    joiner = ChunkJoiner()
    assert joiner.joins("", "", "The ", "quick")
    assert not joiner.joins("", "", "fox.", "Second thoughts")
    assert begins_anew("fox.", "Second")
    assert not begins_anew("3.", "14")


def test_only_chunks_of_one_name_are_one_text_and_numbers_are_no_names() -> None:
    joiner = ChunkJoiner()
    assert not joiner.joins("details", "summary", "The ", "quick")
    assert joiner.joins("result", "result", "The ", "quick")
    assert not joiner.joins("sources", "result", "brown", " fox")
    assert joiner.joins("12", "11", "The ", "quick")


def test_what_the_agent_appends_may_go_on_over_a_line_end() -> None:
    assert ChunkJoiner().joins("a", "b", "a line\n", "another", over_lines=True)
    assert not ChunkJoiner().joins("", "", "a line\n", "another")
    assert not ChunkJoiner().joins("a", "b", "All is well.", "Another", over_lines=True)


WORDS = st.lists(st.text("abc", min_size=1, max_size=5), min_size=2, max_size=9).map(" ".join)


@given(WORDS, st.sampled_from([r"\S+ ?", r" ?\S+", r"[^ ]{1,3}| "]))
def test_words_cut_anywhere_are_one_text(said: str, cut: str) -> None:
    joiner, text = ChunkJoiner(), ""
    for chunk in re.findall(cut, said):
        assert not text or joiner.joins("n", "n", text[-32:], chunk)
        text += chunk
    assert text == said
