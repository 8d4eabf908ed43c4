"""The structured json_filter: `content`, character by character, out of JSON that is still being written."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.a2a.answer.json_filter import JsonContentFilter

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
