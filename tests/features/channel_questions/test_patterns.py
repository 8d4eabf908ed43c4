"""Which messages have a word that an operator looks for."""

from __future__ import annotations

import fnmatch
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.features.channel_questions.patterns import fits, has_match


@pytest.mark.parametrize(
    ("text", "pattern", "has"),
    [
        ("The deploy failed!", "failed", True),
        ("The deploy FAILED", "Failed", True),
        ("It is unfailed", "failed", False),
        ("deployment broke", "deploy", False),
        ("deployment broke", "deploy*", True),
        ("it is p95", "p??", True),
        ("it is p9", "p??", False),
        ('("timeout")', "timeout", True),
        ("who is #oncall", "#oncall", True),
        ("how do I log in?", "how do", True),
        ("how would I do", "how do", False),
        ("how to do it", "how * do", True),
        ("Straße", "STRASSE", True),
        ("what?!", "what", True),
        ("", "*", False),
        ("anything", "*", True),
        ("a.*b is no pattern", "a.*b", True),
        ("axxb", "a.*b", False),
        ("one two", "two three", False),
    ],
)
def test_words_and_globs(text: str, pattern: str, has: bool) -> None:
    assert has_match(text, [pattern]) is has


_letters = st.text(alphabet="abc*?", max_size=12)


@given(st.text(alphabet="abc", max_size=12), _letters)
def test_a_glob_means_what_it_means_elsewhere(word: str, glob: str) -> None:
    assert fits(word, glob) is fnmatch.fnmatchcase(word, glob)


@given(st.text(max_size=60), st.lists(st.text(max_size=20), max_size=3))
def test_no_text_and_no_pattern_breaks_it(text: str, patterns: list[str]) -> None:
    assert has_match(text, patterns) in (True, False)


def test_the_worst_text_takes_little_time() -> None:
    text, pattern = " ".join(["a" * 4_000] * 2_000), "*a" * 49 + "b"
    began = time.process_time()
    assert not has_match(text, [pattern] * 5)
    assert time.process_time() - began < 20.0
