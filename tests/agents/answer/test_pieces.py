"""Which pieces make one text, where each has an id of its own."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from slack_bot.agents.answer.keyed_text import KeyedText
from slack_bot.agents.answer.pieces import ArtifactPieces, ChunkJoiner, MessagePieces


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
    assert joiner.joins("", "", "3.", "14")


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


PHRASES = st.lists(st.text("abc", min_size=1, max_size=5), min_size=2, max_size=9).map(" ".join)


@given(PHRASES, st.sampled_from([r"\S+ ?", r" ?\S+", r"[^ ]{1,3}| "]))
def test_words_cut_anywhere_are_one_text(said: str, cut: str) -> None:
    joiner, text = ChunkJoiner(), ""
    for chunk in re.findall(cut, said):
        assert not text or joiner.joins("n", "n", text[-32:], chunk)
        text += chunk
    assert text == said


def test_pieces_under_ids_of_their_own_are_one_artifact_until_an_id_comes_again() -> None:
    texts = KeyedText(1_000)
    pieces = ArtifactPieces(texts)
    for artifact_id, text, key in (("1", "The ", "1"), ("2", "quick ", "1")):
        assert pieces.find_key(artifact_id, "", text, append=True) == (key, True)
        texts.put(key, text, append=True)
    assert list(pieces.join([("1", "", "The "), ("2", "", "quick ")])) == [("1", "The quick ")]
    assert pieces.find_key("1", "", "brown", append=True) == ("1", True)
    assert pieces.is_split
    assert pieces.split() == [("1", "", "The "), ("2", "", "quick ")]
    assert not pieces.is_split


def test_a_piece_behind_a_tool_begins_a_text() -> None:
    texts = KeyedText(1_000)
    pieces = ArtifactPieces(texts)
    texts.put("1", "The ", append=True)
    pieces.end_text()
    assert pieces.find_key("2", "", "quick ", append=True) == ("2", True)


def test_messages_in_pieces_are_put_under_the_id_of_the_first() -> None:
    texts, pieces = KeyedText(1_000), MessagePieces(1_000)
    for message_id, text in (("1", "The "), ("2", "quick "), ("3", "fox")):
        key, fresh, append = pieces.take(message_id, text, texts)
        texts.put(key, fresh, append=append)
    assert texts.whole == texts.text_of("1") == "The quick fox"
    assert list(pieces.take_held()) == []
