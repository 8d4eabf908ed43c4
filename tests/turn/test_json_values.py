"""JSON of others: nothing in its values makes these functions raise."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.turn.json_values import has_halves, list_of, object_of, objects_of, read_json, text_in, text_of

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
OTHER = [None, 1, 1.5, True, "text"]


@pytest.mark.parametrize("value", [*OTHER, [], [{}]])
def test_what_is_no_object_is_an_empty_one(value: object) -> None:
    assert object_of(value) == {}
    assert text_of(value) == text_in({"name": value}, "name") == (value if value == "text" else "")


@pytest.mark.parametrize("value", [*OTHER, {}, {"a": {}}])
def test_what_is_no_list_has_no_objects(value: object) -> None:
    assert objects_of(value) == []


def test_what_is_there_is_given() -> None:
    known = {"a": "b"}
    assert object_of(known) is known
    assert objects_of([1, known, "c", {}]) == [known, {}]
    assert text_in(known, "a") == "b"
    assert text_in(known, "c") == ""


@given(VALUES)
def test_what_is_read_can_be_written_as_json_and_is_the_same_where_it_was_json(value: object) -> None:
    text = json.dumps(value)
    read = read_json(text)
    json.dumps(read, allow_nan=False)
    assert read == json.loads(text, parse_constant=str)


@pytest.mark.parametrize(
    "text",
    [
        "123456789012345678901234567890",
        "-9223372036854775809",
        "9007199254740993",
        "-0",
        "1E5",
        "0.1",
        r'"\ud83d\ude00"',
        r'"\ud83d"',
        '"\ud83d"',
        r'"\u0000"',
        '{"a": 1, "a": 2}',
        "\r\n[]\t ",
    ],
)
def test_it_is_read_as_python_s_own_reader_does(text: str) -> None:
    assert repr(read_json(text)) == repr(json.loads(text))


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1.5e400"])
def test_a_number_that_json_does_not_have_is_its_text(number: str) -> None:
    assert read_json(f"[{number}, 1.5, 2, 1e3]") == [number, 1.5, 2, 1000.0]


def test_white_space_around_it_is_no_part_of_it() -> None:
    assert read_json("\r\n\t {}\r\n\t ") == {}


@pytest.mark.parametrize(
    "text,error",
    [(text, ValueError) for text in ("{", "", " ", "{} x", "{}{}", "\xa0{}", "{}\f", "\ufeff{}")]
    + [("[" * 100_000, RecursionError)],
)
def test_what_cannot_be_read(text: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        read_json(text)


@pytest.mark.parametrize("text", ["a", "\u00e4", "\U0001f600", "\ud83d", "\ude00 b"])
def test_half_of_a_surrogate_pair_is_found_wherever_it_is(text: str) -> None:
    expected = "\ud83d" in text or "\ude00" in text
    for value in (text, [1, [text]], {"a": {text: None}}, {"a": [True, 1.5, {"b": text}]}):
        assert has_halves(value) is expected


@pytest.mark.parametrize("value", [*OTHER, {}, {"a": [1]}])
def test_what_is_no_list_is_an_empty_one(value: object) -> None:
    assert list_of(value) == []
    assert list_of([value]) == [value]
