import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.playground.reference.word_pieces import CHUNK, LONGEST_WORD, WordBuffer, chunks
from tests.playground.reference.oracle import cases


@pytest.mark.parametrize("case", cases("word_buffer_cases"), ids=lambda case: repr(case["delta"])[:20])
def test_the_oracle_s_words(case: dict[str, str]) -> None:
    words = WordBuffer(case["buffer"])
    assert words.feed(case["delta"]) == case["emitted"]
    assert words.held == case["left"]
    assert words.end() == case["left"], "what waited is said at the end; the original lost it"
    assert words.end() == ""


def test_a_word_longer_than_words_are_is_not_waited_for() -> None:
    words = WordBuffer()
    assert words.feed("a" * LONGEST_WORD) == ""
    assert words.feed("a") == "a" * (LONGEST_WORD + 1)


def test_not_even_then_is_a_character_halved() -> None:
    words = WordBuffer()
    assert words.feed("a" * LONGEST_WORD + "\N{WOMAN}\u200d") == "a" * LONGEST_WORD
    assert words.end() == "\N{WOMAN}\u200d"


@given(st.lists(st.text(max_size=30), max_size=20))
def test_nothing_is_lost_however_it_is_cut(pieces: list[str]) -> None:
    words = WordBuffer()
    said = [words.feed(piece) for piece in pieces]
    assert "".join([*said, words.end()]) == "".join(pieces)
    assert all(len(each) > LONGEST_WORD or not re.search(r"\w\Z", each) or each == "" for each in said)


@pytest.mark.parametrize("case", cases("deterministic_chunker_cases"), ids=lambda case: case["id"])
def test_the_oracle_s_chunks(case: dict[str, Any]) -> None:
    text = str(case["input"])
    found = list(chunks(text))
    assert "".join(found) == text, "the original lost the white space at the end"
    assert [len(each.rstrip()) for each in found[-1:]] == case["chunk_lens"][-1:]
    assert [len(each) for each in found[:-1]] == case["chunk_lens"][:-1]


@given(st.text(alphabet=st.sampled_from("ab \n\u0301\U0001f468\u200d"), max_size=900))
def test_chunks_join_to_the_text_and_are_no_longer_than_they_may_be(text: str) -> None:
    found = list(chunks(text))
    assert "".join(found) == text
    assert all(0 < len(each) <= CHUNK for each in found)
    assert all(each.endswith(" ") for each in found[:-1] if " " in each)


def test_a_chunk_without_a_space_halves_no_character() -> None:
    text = "a" * (CHUNK - 1) + "e\u0301" + "b"
    assert [len(each) for each in chunks(text)] == [CHUNK - 1, 3]
    assert list(chunks("")) == []
