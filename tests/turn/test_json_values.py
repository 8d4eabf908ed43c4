"""JSON of others: nothing in it makes these functions raise."""

from __future__ import annotations

import pytest

from slack_bot.turn.json_values import object_of, objects_of, text_in, text_of

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
