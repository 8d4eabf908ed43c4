"""Two texts are one answer when they read alike; what is missing is cut from the longer one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.turn.compare import contains, missing, preview, same, squeeze
from tests.examples import examples

WORDS = st.lists(st.text("abcé*#|", min_size=1, max_size=6), max_size=12)
GAPS = st.sampled_from([" ", "\n", "\n\n", "  ", "\t"])


def test_white_space_and_composition_do_not_make_a_difference() -> None:
    assert same("a  b\n\nc", " a b c ")
    assert same("e\u0301t\u00e9", "\u00e9te\u0301")
    assert not same("ab", "a b")
    assert squeeze("  ") == ""


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
    assert missing(shown, whole) == rest


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
    rest = missing(shown, whole)
    assert rest is not None
    assert same(shown + rest, whole)


@pytest.mark.parametrize(
    ("text", "words"), [("The fox...\n", "The fox"), ("The f…", "The f"), ("a.b", "a.b"), ("…", "…")]
)
def test_what_was_cut_short(text: str, words: str) -> None:
    assert preview(text) == words
