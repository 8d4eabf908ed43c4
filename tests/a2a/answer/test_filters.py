"""Think tags, envelope and marker: each alone, and all in a row."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.a2a.answer.filters import (
    MarkedText,
    MarkerFilter,
    TextFilter,
    ThinkTagFilter,
    filter_text,
    result_text,
)
from slack_bot.a2a.wire.frames import Artifact, Part


def through(*chunks: str) -> tuple[list[MarkedText], TextFilter]:
    text_filter = TextFilter()
    return [each for chunk in chunks for each in text_filter.feed(chunk)] + text_filter.end(), text_filter


def test_plain_text_passes() -> None:
    said, text_filter = through("One ", "two [")
    assert "".join(each.text for each in said) == "One two ["
    assert (
        text_filter.is_plain
        and not text_filter.is_envelope
        and not text_filter.has_marker
        and text_filter.question is None
    )


def test_a_marker_within_an_envelope() -> None:
    said, text_filter = through('{"is_task_complete": true, "content": "hm [FINAL', ' ANSWER] Yes"}')
    assert said == [MarkedText("hm ", False), MarkedText("Yes", True)]
    assert text_filter.has_marker and text_filter.is_envelope


def test_what_an_envelope_holds_besides_is_not_lost() -> None:
    assert filter_text('{"content": "The fox", "sources": ["a", "b"]}') == "The fox\n\n- **sources**: a, b"
    assert filter_text('{"is_task_complete": true, "content": {"fox": 1}}') == "- **fox**: 1"
    assert filter_text('{"is_task_complete": true, "content": null}') == ""
    assert filter_text('{"is_task_complete": true}') == ""


def test_a_whole_text() -> None:
    assert filter_text("thinking [FINAL ANSWER]\n\nYes") == "Yes"
    assert filter_text("no marker") == "no marker"
    assert filter_text("[FINAL ANSWER]") == ""


@pytest.mark.parametrize(
    "text",
    [
        "<think>Hm.</think>\n\nThe fox.",
        '<think>Hm.</think>{"is_task_complete": true, "content": "The fox."}',
        "<think>Hm.</think>More thoughts. [FINAL ANSWER] The fox.",
    ],
)
def test_thoughts_in_tags_come_before_all_else(text: str) -> None:
    text_filter = TextFilter()
    said = [*text_filter.feed(text), *text_filter.end()]
    assert (
        "".join(each.text for each in said if each.is_answer or not text_filter.has_marker).strip()
        == "The fox."
    )
    assert text_filter.take_thoughts() == "Hm.\n"
    assert filter_text(text).strip() == "The fox."


def test_a_tag_that_is_never_closed_is_text() -> None:
    assert filter_text("<think> is a tag") == "<think> is a tag"


def text(value: str) -> Part:
    return Part(text=value)


def data(value: Any) -> Part:
    return Part(data=value, has_data=True)


@pytest.mark.parametrize(
    ("artifact", "answer"),
    [
        (Artifact(parts=(text("as it is"),)), "as it is"),
        (Artifact(parts=(text('{"is_task_complete": true, "content": "inside"}'),)), "inside"),
        # JSON around nothing but a content is an envelope too: a reader never wants JSON
        (Artifact(parts=(text('{"content": "inside"}'),)), "inside"),
        (Artifact(parts=(text("{not json"),)), "{not json"),
        (Artifact(parts=(data({"content": "from data"}),)), "from data"),
        (Artifact(parts=(data({"content": {"x": 1}}),)), "- **x**: 1"),
        (Artifact(parts=(data({"other": 1}),)), "- **other**: 1"),
        (Artifact(parts=(text("x [FINAL ANSWER] y"),)), "y"),
        (Artifact(parts=(text("thoughts [FINAL ANSWER]\n\nThe answer"),)), "The answer"),
    ],
)
def test_the_answer_in_a_result(artifact: Artifact, answer: str) -> None:
    assert result_text(artifact) == answer


# -- think tags


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
    text_filter = ThinkTagFilter()
    assert text_filter.feed(text) + text_filter.end() == said
    assert text_filter.take_thoughts() == thoughts


@given(st.sampled_from(TEXTS), st.lists(st.integers(1, 7), min_size=1, max_size=30))
def test_in_any_pieces(case: tuple[str, str, str], sizes: list[int]) -> None:
    text, said, thoughts = case
    text_filter, told, at = ThinkTagFilter(), "", 0
    for size in sizes * len(text):
        told += text_filter.feed(text[at : at + size])
        at += size
    assert told + text_filter.end() == said
    assert text_filter.take_thoughts() == thoughts


def test_nothing_is_held_that_is_no_tag() -> None:
    text_filter = ThinkTagFilter()
    assert text_filter.feed("<") == ""
    assert text_filter.feed("b") == "<b"
    assert text_filter.feed("<think>") == "<think>"


def test_what_has_not_begun_after_pages_of_white_space_is_no_thought() -> None:
    text_filter = ThinkTagFilter()
    assert text_filter.feed(" " * 4_000) == ""
    assert text_filter.feed(" ") == " " * 4_001
    assert text_filter.feed("<think>a</think>") == "<think>a</think>"
    assert ThinkTagFilter().feed(" " * 10_000 + "<think>a</think>b") == "b"


# -- the marker


def split(*chunks: str) -> tuple[str, str]:
    """What is narration, what is answer."""
    text_filter = MarkerFilter()
    said = [each for chunk in chunks for each in text_filter.feed(chunk)] + text_filter.end()
    assert text_filter.opened or not any(each.is_answer for each in said)
    return (
        "".join(each.text for each in said if not each.is_answer),
        "".join(each.text for each in said if each.is_answer),
    )


@pytest.mark.parametrize(
    ("chunks", "narration", "answer"),
    [
        (["Some thinking...[FINAL ANSWER]Here it is"], "Some thinking...", "Here it is"),
        (["Thinking[FINAL_ANSWER]\n\n", "\nHere it is"], "Thinking", "Here it is"),
        (["Hello"], "Hello", ""),
        (["Done. [FINAL", " ANSWER]Text"], "Done. ", "Text"),
        (["[FINAL ANSWER]A ", "[FINAL ANSWER]B"], "", "A B"),
        (["a[FINAL_ANSWER]b[FINAL ANSWER]c"], "a", "bc"),
        (["t[FINAL ANSWER]\n"], "t", ""),
        (
            ["I write `[FINAL ANSWER]` later. ", "[Final Answer] Yes"],
            "I write `[FINAL ANSWER]` later. ",
            "Yes",
        ),
        (['say "[FINAL ANSWER]', '" first'], 'say "[FINAL ANSWER]" first', ""),
        (['so "[FINAL ANSWER]', "Yes"], 'so "', "Yes"),
        (["an [array] and [FIN"], "an [array] and [FIN", ""),
        (["[FINAL ANSWER]it ends in [FINAL"], "", "it ends in [FINAL"),
        (["[", "[FINAL ANSWER", "]x"], "[", "x"),
        (["`[FINAL ANSWER]", "[FINAL ANSWER]`"], "`", "`"),
    ],
)
def test_both_sides_of_the_marker(chunks: list[str], narration: str, answer: str) -> None:
    assert split(*chunks) == (narration, answer)


def test_only_what_may_be_a_marker_is_held() -> None:
    text_filter = MarkerFilter()
    assert [each.text for each in text_filter.feed("No marker here")] == ["No marker here"]
    assert [each.text for each in text_filter.feed("see [FI")] == ["see "]
    assert [each.text for each in text_filter.feed("GURE 1]")] == ["[FIGURE 1]"]
    assert text_filter.feed("") == []


PIECES = st.lists(
    st.sampled_from(
        ["[FINAL ANSWER]", "[FINAL_ANSWER]", "[", "]", "FINAL", " ", "\n", "`", '"', "word", "é"]
    ),
    max_size=12,
).map("".join)


@given(PIECES, st.data())
def test_how_it_is_cut_changes_nothing(text: str, data: st.DataObject) -> None:
    whole = split(text)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)))))
    chunks = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert split(*chunks) == whole
    plain = re.sub(r"\[FINAL[ _]ANSWER\]", "", text)
    said = re.sub(r"\[FINAL[ _]ANSWER\]", "", "".join(whole))
    assert "".join(said.split()) == "".join(plain.split()), "no visible character is lost"
