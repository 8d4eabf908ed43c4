from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.agents.task.task_view import EventIds


def taken(ids: Iterable[str]) -> EventIds:
    found = EventIds()
    for each in ids:
        found.take(each)
    return found


@pytest.mark.parametrize(
    ("ids", "has_gap"),
    [
        (["1", "2", "3"], False),
        (["1", "", "2"], False),
        (["1", "3"], True),
        (["1", "3", "4"], True),
        (["7", "8", "1", "2"], False),  # counted anew on another connection
        (["1", "1"], False),
        (["a", "c"], False),
        (["1", "x", "9"], False),
        ([], False),
    ],
)
def test_a_gap_is_a_number_that_was_left_out(ids: list[str], has_gap: bool) -> None:
    assert taken(ids).has_gap is has_gap


@given(st.integers(0, 10**6), st.integers(2, 50), st.data())
def test_whichever_event_is_left_out_in_the_middle_is_missed(
    start: int, count: int, data: st.DataObject
) -> None:
    ids = [str(start + number) for number in range(count + 1)]
    assert not taken(ids).has_gap
    del ids[data.draw(st.integers(1, count - 1))]
    assert taken(ids).has_gap


@given(st.lists(st.text(max_size=4)))
def test_any_ids_are_taken(ids: list[str]) -> None:
    assert taken(ids).last == next((each for each in reversed(ids) if each), "")


def test_what_goes_on() -> None:
    ids = taken(["41"])
    assert ids.goes_on_with("42")
    assert not any(map(ids.goes_on_with, ("41", "43", "", "x")))
    assert not EventIds().goes_on_with("0")
