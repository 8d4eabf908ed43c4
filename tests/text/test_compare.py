"""Two texts are one answer when they read alike; what is missing is cut from the longer one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.text.compare import (
    compare_in_steps,
    contains,
    contains_letters,
    equivalent,
    missing_suffix,
    normalize,
    preview,
)
from tests.examples import examples
from tests.turn.work import HOSTILE, grows_like_its_text, steps, work

WORDS = st.lists(st.text("abcé*#|", min_size=1, max_size=6), max_size=12)
GAPS = st.sampled_from([" ", "\n", "\n\n", "  ", "\t"])


def test_white_space_and_composition_do_not_make_a_difference() -> None:
    assert equivalent("a  b\n\nc", " a b c ")
    assert equivalent("e\u0301t\u00e9", "\u00e9te\u0301")
    assert not equivalent("ab", "a b")
    assert normalize("  ") == ""


def test_white_space_alone_can_be_left_out_of_the_comparison() -> None:
    assert contains_letters("Look:\n\n## A\n\ne\u0301", "Look:## A \u00e9")
    assert not contains_letters("Look:\n\n## A", "Look: B")
    assert not contains_letters("Look", " ")


@pytest.mark.parametrize(
    ("shown", "whole", "rest"),
    [
        ("", "all of it", "all of it"),
        ("Would you like to know ", "Would you like to know more", "more"),
        ("Would you like to know", "Would you like to know more", " more"),
        ("\n# Hi", "# Hi there", " there"),
        ("One.\n\nTwo.", "One.\nTwo.\nThree.", "\nThree."),
        ("same ", "same", ""),
        ("First attempt ", "Recovered answer.", None),
        ("ab", "a b", None),
        ("a b", "ab", None),
        ("longer than", "longer", None),
        (" \n", "text", "text"),
    ],
)
def test_what_is_missing(shown: str, whole: str, rest: str | None) -> None:
    assert missing_suffix(shown, whole) == rest


def test_containing() -> None:
    assert contains("one  two\nthree", "two three")
    assert not contains("anything", " ")


@examples(1_000)
@given(WORDS, WORDS, st.data())
def test_the_missing_rest_completes_the_answer(
    first: list[str], second: list[str], data: st.DataObject
) -> None:
    """Whatever the white space in between: shown + rest reads like the whole."""
    whole = data.draw(GAPS).join([*first, *second])
    shown = data.draw(GAPS).join(first) + (data.draw(GAPS) if first else "")
    rest = missing_suffix(shown, whole)
    assert rest is not None
    assert equivalent(shown + rest, whole)


@pytest.mark.parametrize(
    ("text", "words"), [("The fox...\n", "The fox"), ("The f…", "The f"), ("a.b", "a.b"), ("…", "…")]
)
def test_what_was_cut_short(text: str, words: str) -> None:
    assert preview(text) == words


@pytest.mark.parametrize("piece", HOSTILE)
def test_comparing_takes_linear_work(piece: str) -> None:
    def both(size: int) -> int:
        text = (piece * size)[:size]
        return work(
            lambda: (missing_suffix(f" {text}", f"{text} more"), equivalent(f" {text}x", f"{text} y"))
        )

    assert both(8_000) < 2.2 * both(4_000) + 50


@pytest.mark.parametrize("piece", ["a\u0301\u0327", "\u0301\u0327", "e\u0301 ", "x", "a "])
def test_normalising_takes_linear_time(piece: str) -> None:
    """A run of combining marks costs its square, where it is brought into order as a whole."""
    assert grows_like_its_text(normalize, piece)
    assert grows_like_its_text(lambda text: equivalent(text, f" {text[:-1]}"), piece)


def test_a_long_comparison_comes_in_steps_of_one_size() -> None:
    text = "some words " * 100_000
    short, long = (steps(compare_in_steps(f" {text[:size]}", text[:size])) for size in (300_000, 1_100_000))
    assert len(long) > 2 * len(short)
    assert max(long) <= 1.01 * max(short)
    assert equivalent(f" {text}", text)


def test_long_words_are_composed_piece_by_piece() -> None:
    assert normalize("e\u0301" * 600) == "é" * 600
    assert equivalent("x" + "e\u0301" * 100, "x" + "é" * 100)
    assert normalize("e\u0301" * 6_000) == "e\u0301" * 6_000  # too long to be worth it


@pytest.mark.parametrize(
    ("shown", "whole", "missing"),
    [
        ("one  tw", "one two three", "o three"),
        ("one  two ", "one two three", "three"),
        ("one  x", "one two", None),
    ],
)
def test_what_is_missing_begins_within_a_word_too(shown: str, whole: str, missing: str | None) -> None:
    assert missing_suffix(shown, whole) == missing
