from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.tools.replay.diff import Match, matches

WORDS = st.lists(st.sampled_from(["one", "two", "three", " ", "\n", "*", "äö", "字"]), max_size=30)
TEXTS = WORDS.map("".join)


def shared(one: str, other: str, least: int = 1) -> list[str]:
    return [one[each.one : each.one + each.size] for each in matches(one, other, least)]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("", "", []),
        ("abc", "", []),
        ("abc", "abc", ["abc"]),
        ("abc", "abcdef", ["abc"]),
        ("def", "abcdef", ["def"]),
        ("aXc", "aYc", ["a", "c"]),
        ("aa", "aaa", ["aa"]),
    ],
)
def test_beginning_and_end_are_shared_by_letters(one: str, other: str, expected: list[str]) -> None:
    assert shared(one, other) == expected


def test_what_lies_between_is_shared_by_words() -> None:
    one = "Splunk's tools are **many** and old, says Splunk"
    other = "The company's tools are **many** and old, says the company"
    assert shared(one, other) == ["'s tools are **many** and old, says "]


def test_what_is_too_short_between_the_ends_is_chance() -> None:
    one, other = "A quick brown fox, it is said.", "Yesterday a brown dog fell ill!"
    assert " brown " in "".join(shared(one, other))
    assert shared(one, other, least=20) == []


def test_where_a_match_stands() -> None:
    assert matches("xabc", "abc") == [Match(1, 0, 3)]


@given(TEXTS, TEXTS)
def test_matches_are_true_in_order_and_apart(one: str, other: str) -> None:
    before = Match(0, 0, 0)
    for each in matches(one, other):
        assert one[each.one : each.one + each.size] == other[each.other : each.other + each.size] != ""
        assert each.one >= before.one + before.size and each.other >= before.other + before.size
        before = each


@given(TEXTS, TEXTS)
def test_a_text_that_grew_is_all_shared(one: str, more: str) -> None:
    assert sum(each.size for each in matches(one, one + more)) == len(one)
    assert sum(each.size for each in matches(one, more + one)) == len(one)
