"""Strict JSON, and one sentence with file and line for what is wrong with it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.errors import UnreadableInput
from slack_bot.testing.tape.json_file import load_document, load_json, load_row

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@given(VALUES)
def test_json_is_read(value: object) -> None:
    assert load_json(json.dumps(value), "f") == value


def test_a_line_that_ends_in_the_middle_may_be_left_out() -> None:
    with pytest.raises(UnreadableInput, match=r"line 3: .* take this line out to read the others"):
        load_row('{"a": ', "f", 3)
    with pytest.raises(UnreadableInput, match=r"^f: the file is empty; name another one$"):
        load_document(" \n", "f")


@given(VALUES.filter(lambda value: isinstance(value, list | dict)), st.data())
def test_json_that_ends_early_is_refused(value: object, data: st.DataObject) -> None:
    text = json.dumps(value)
    size = data.draw(st.integers(1, len(text) - 1))
    with pytest.raises(UnreadableInput, match=r"^f, line 1: "):
        load_json(text[:size], "f")


@pytest.mark.parametrize(
    "text,reason",
    [
        ('{\n"a": 1,\n', "f, line 12: the JSON ends in the middle; the file is truncated"),
        ('{"a": "x', "f, line 10: the JSON ends in the middle; the file is truncated"),
        ('{"a" 1}', "f, line 10: not valid JSON (Expecting ':' delimiter)"),
        ("[" * 200_000, "f, line 10: the JSON is nested too deep"),
        ("[Infinity]", "f, line 10: the JSON holds a number that cannot be read"),
        ("[-1e999]", "f, line 10: the JSON holds a number that cannot be read"),
        ("9" * 5000, "f, line 10: the JSON holds a number that cannot be read"),
    ],
)
def test_what_is_wrong_and_where(text: str, reason: str) -> None:
    with pytest.raises(UnreadableInput) as caught:
        load_json(text, "f", line=10)
    assert str(caught.value) == reason
