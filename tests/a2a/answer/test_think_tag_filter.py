"""Thoughts in tags are no text, wherever the text is cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.a2a.answer.think_tag_filter import ThinkTagFilter

TEXTS = [
    ("<think>\nHm, a fox.\n</think>\n\nThe fox.", "The fox.", "Hm, a fox.\n"),
    ("\n<THINKING>a</Thinking>b <think>c</think>", "b <think>c</think>", "a\n"),
    ("<think></think>\n<reasoning>a < b</reasoning> c", "c", "\na < b\n"),
    ("<think>1 </thin> 2</think>", "", "1 </thin> 2\n"),
    ("<think>it never ends", "<think>it never ends", ""),
    ("<thinker> is no tag", "<thinker> is no tag", ""),
    ("`<think>` begins it", "`<think>` begins it", ""),
    ("  plain", "  plain", ""),
    ("<", "<", ""),
    (" ", " ", ""),
    ("", "", ""),
]


@pytest.mark.parametrize(("text", "said", "thoughts"), TEXTS)
def test_in_one_piece(text: str, said: str, thoughts: str) -> None:
    gate = ThinkTagFilter()
    assert gate.feed(text) + gate.end() == said
    assert gate.take_thoughts() == thoughts


@given(st.sampled_from(TEXTS), st.lists(st.integers(1, 7), min_size=1, max_size=30))
def test_in_any_pieces(case: tuple[str, str, str], sizes: list[int]) -> None:
    text, said, thoughts = case
    gate, told, at = ThinkTagFilter(), "", 0
    for size in sizes * len(text):
        told += gate.feed(text[at : at + size])
        at += size
    assert told + gate.end() == said
    assert gate.take_thoughts() == thoughts


def test_nothing_is_held_that_is_no_tag() -> None:
    gate = ThinkTagFilter()
    assert gate.feed("<") == ""
    assert gate.feed("b") == "<b"
    assert gate.feed("<think>") == "<think>"


def test_what_has_not_begun_after_pages_of_white_space_is_no_thought() -> None:
    gate = ThinkTagFilter()
    assert gate.feed(" " * 4_000) == ""
    assert gate.feed(" ") == " " * 4_001
    assert gate.feed("<think>a</think>") == "<think>a</think>"
    assert ThinkTagFilter().feed(" " * 10_000 + "<think>a</think>b") == "b"
