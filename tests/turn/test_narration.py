"""What an agent said of its work, put together as a reader expects it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.turn.narration import join_narration

WORDS = st.lists(st.from_regex("[abXYé]+(\\.[abXYé]+)*\\.?", fullmatch=True), min_size=1, max_size=12)


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        (["I look into the docs.", "Now I read page two."], "I look into the docs. Now I read page two."),
        (["Searching...", "reading..."], "Searching... reading..."),
        (["Searching…", "Reading…", ""], "Searching… Reading…"),
        (["I look. ", "I read.\n", "I write."], "I look. I read.\nI write."),
        (["What is it?", "", "Let me see."], "What is it? Let me see."),
        (["I look", " into", " Git", "Hub", ".", "com", "."], "I look into GitHub.com."),
        (["in the U.", "S. and in node.", "js and at 3.", "14"], "in the U.S. and in node.js and at 3.14"),
        (["**All is done.", "** Next"], "**All is done.** Next"),
        ([], ""),
    ],
)
def test_texts_of_their_own_are_kept_apart_and_deltas_are_not(pieces: list[str], text: str) -> None:
    assert join_narration(pieces) == text


@given(WORDS)
def test_tokens_are_put_together_as_they_were_written(words: list[str]) -> None:
    """As models write: a token is a word, or a part of one, with the blank before it."""
    tokens = [part for word in words for part in (f" {word[:2]}", word[2:])]
    text = "".join(tokens)
    assert join_narration(tokens) == text


@given(st.lists(st.text(), max_size=8))
def test_only_blanks_are_added_and_none_beside_white_space(pieces: list[str]) -> None:
    joined, rest = join_narration(pieces), "".join(pieces)
    assert joined.replace(" ", "") == rest.replace(" ", "")
    assert len(joined) <= len(rest) + max(0, len(pieces) - 1)
