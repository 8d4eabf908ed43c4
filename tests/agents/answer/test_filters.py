"""Think tags, envelope and marker: each alone, and all in a row."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.agents.answer.filters import (
    JsonContentFilter,
    MarkerFilter,
    TextFilter,
    ThinkTagFilter,
    filter_text,
    result_text,
)
from slack_bot.agents.wire.frames import Artifact, Part


def through(*chunks: str) -> tuple[str, str, TextFilter]:
    """What is before the marker and behind it."""
    text_filter = TextFilter()
    sides = [*map(text_filter.feed, chunks), text_filter.end()]
    before, answer = map("".join, zip(*sides, strict=True))
    return before, answer, text_filter


def test_plain_text_passes() -> None:
    before, answer, text_filter = through("One ", "two [")
    assert (before, answer) == ("One two [", "")
    assert text_filter.envelope.is_plain and not text_filter.envelope.is_envelope
    assert not text_filter.marker.opened and text_filter.question is None


def test_a_marker_within_an_envelope() -> None:
    chunks = ('{"is_task_complete": true, "content": "hm [FINAL', ' ANSWER] Yes"}')
    before, answer, text_filter = through(*chunks)
    assert (before, answer) == ("hm ", "Yes")
    assert text_filter.marker.opened and text_filter.envelope.is_envelope


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
    before, answer, text_filter = through(text)
    assert (answer or before).strip() == "The fox."
    assert text_filter.tags.take_thoughts() == "Hm.\n"
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
    said = [*map(text_filter.feed, chunks), text_filter.feed("", is_end=True)]
    before, answer = map("".join, zip(*said, strict=True))
    assert text_filter.opened or not answer
    return before, answer


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
    assert text_filter.feed("No marker here") == ("No marker here", "")
    assert text_filter.feed("see [FI") == ("see ", "")
    assert text_filter.feed("GURE 1]") == ("[FIGURE 1]", "")
    assert text_filter.feed("") == ("", "")


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


# -- the envelope


FLAG = '{"is_task_complete": true, '


def shown(*chunks: str) -> tuple[list[str], JsonContentFilter]:
    json_filter = JsonContentFilter()
    seen = [json_filter.feed(chunk) for chunk in chunks]
    return [*seen, json_filter.end()], json_filter


@pytest.mark.parametrize(
    ("chunks", "seen"),
    [
        (['{"content": "Hello world"}'], ["Hello world", ""]),
        (['{"is_task_complete": true, ', '"content": "Ans', "wer", ' is"}'], ["", "Ans", "wer", " is", ""]),
        (['{"content": "Say \\"hi\\', '" and\\', 'nbye', '"}'], ['Say "hi', '" and', "\nbye", "", ""]),
        (['{"content": "caf\\u00', 'e9 ok"}'], ["caf", "é ok", ""]),
        (['{"content": "\\ud83d', '\\ude00!"}'], ["", "😀!", ""]),
        (['{"content": "\\ud83d', 'x\\ude00"}'], ["", "\ufffdx\ufffd", ""]),
        (['{"content": "\\ud83d'], ["", "\ufffd"]),
        (['{"content": "\\uZZZZ\\/\\q"}'], ["\ufffd/q", ""]),
        (["not json at all"], ["not json at all", ""]),
        (["{", " x"], ["", "{ x", ""]),
        (['{"name'], ["", '{"name']),
        (['{"name": 1}'], ['{"name": 1}', ""]),
        (['```json\n{"content": "an example"}\n```'], ['```json\n{"content": "an example"}\n```', ""]),
        (['```json\n{"is_task_complete": true, "content": "x"}\n```'], ["x", ""]),
        ([FLAG + '"metadata": {"content": "no", "a": ["content"]}, "content": "yes"}'], ["yes", ""]),
        (['{"is_task_complete": true, "status": "content", "content" : "y\\\\"}'], ["y\\", ""]),
        (['{"PlatformEngineerResponse": {"content": "in"}, "content": "out"}'], ["in", ""]),
        (['{"is_task_complete": true, "content": "broken off'], ["broken off", ""]),
        (['{"is_task_complete": true, "con'], ["", ""]),
        (['{"is_task_complete": true, "\\', '"x": 1, "content": "y"}'], ["", "y", ""]),
    ],
)  # fmt: skip
def test_what_a_reader_sees(chunks: list[str], seen: list[str]) -> None:
    assert shown(*chunks)[0] == seen


def test_the_whole_envelope_can_be_read_when_it_is_closed() -> None:
    _, json_filter = shown(
        '{"is_task_complete": false, "content": "a\nb", "metadata": {"user_input": true}}', " more"
    )
    assert (
        json_filter.is_envelope
        and json_filter.is_closed
        and json_filter.has_content
        and not json_filter.is_plain
    )
    assert json_filter.data == {
        "is_task_complete": False,
        "content": "a\nb",
        "metadata": {"user_input": True},
    }
    assert shown('{"is_task_complete": false')[1].data is None
    assert shown('{"is_task_complete": nonsense}')[1].data is None
    assert shown('{"ResponseFormat": {"is_task_complete": true}}')[1].data == {"is_task_complete": True}
    assert shown('{"ResponseFormat": [{"content": "no"}]}')[1].data is None
    assert shown("plain")[1].is_plain


VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text('con"\\{}tent', max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(
    st.text(st.characters(codec="utf-8") | st.sampled_from('"\\\n😀é{}'), max_size=30),
    st.dictionaries(st.sampled_from(["metadata", "was_task_successful", "x", "note"]), VALUES, max_size=3),
    st.booleans(),
    st.data(),
)
def test_the_content_comes_out_however_it_is_cut(
    content: str, others: dict[str, Any], ascii_only: bool, data: st.DataObject
) -> None:
    envelope = {"is_task_complete": True, **others, "content": content, "require_user_input": False}
    text = json.dumps(envelope, ensure_ascii=ascii_only)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=20)))
    chunks = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    seen, json_filter = shown(*chunks)
    assert "".join(seen) == content
    assert json_filter.data == envelope


@given(st.text('{}[]":,\\u0d8 ct', max_size=40), st.data())
def test_no_text_breaks_it_and_how_it_is_cut_changes_nothing(tail: str, data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(["", '{"content": "', '{"is_task_complete": ', '{"'])) + tail
    cut = data.draw(st.integers(0, len(text)))
    assert "".join(shown(text)[0]) == "".join(shown(text[:cut], text[cut:])[0])


def test_an_envelope_that_is_known_to_be_one_may_begin_with_any_key() -> None:
    raw = '{"metadata": {"content": "not this"}, "note": 1, "content": "this"}'
    unknown, known = JsonContentFilter(), JsonContentFilter(known=True)
    assert "".join(map(unknown.feed, raw)) + unknown.end() == raw
    assert "".join(map(known.feed, raw)) + known.end() == "this"
    assert known.data is not None
    nothing = JsonContentFilter(known=True)
    assert nothing.feed("not json at all") + nothing.end() == ""


def test_what_has_not_begun_after_pages_of_white_space_is_no_envelope() -> None:
    json_filter = JsonContentFilter()
    assert json_filter.feed(" " * 4_000) == ""
    assert json_filter.feed(" ") == " " * 4_001
    assert json_filter.is_plain
    assert JsonContentFilter().feed(" " * 10_000 + '{"content": "x"}') == "x", "which has, is one"
