"""The smallest tape: what can be left out is left out, and what shows it stays."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from slack_bot.testing.tape.builders import answer, chunk, task
from slack_bot.testing.tape.tape import Moment, Tape
from slack_bot.tools.replay.shrinker import Search, minimal, shrink, size_of, texts_of, words_of

TAPE = answer("one two three four five six seven eight", seconds=2.0)


@given(st.sets(st.integers(0, 60), max_size=5), st.integers(0, 61))
def test_what_is_needed_is_exactly_what_stays(needed: set[int], count: int) -> None:
    items = list(range(count))
    wanted = needed & set(items)
    assert set(minimal(items, lambda kept: wanted <= set(kept))) == wanted


@given(st.lists(st.integers(0, 3), max_size=30))
def test_nothing_more_can_be_left_out(items: list[int]) -> None:
    def shows(kept: list[int]) -> bool:
        return sum(kept) >= sum(items) // 2

    left = minimal(items, lambda kept: shows(list(kept)))
    assert shows(left)
    assert not any(shows(left[:at] + left[at + 1 :]) for at in range(len(left)))


def test_events_go_first_and_then_words() -> None:
    search = Search(lambda tape: "five" in words_of(tape), most=1_000)
    small = shrink(TAPE, search)
    assert words_of(small).strip() == "five"
    assert len(small.moments) == 1
    assert small.head == TAPE.head
    assert not search.is_over


def test_a_word_that_stands_alone_is_found_in_one_long_text() -> None:
    tape = Tape({}, (Moment(0.0, event=task()), Moment(1.0, event=chunk("so many words " * 20 + "here"))))
    small = shrink(tape, Search(lambda each: "here" in words_of(each), most=1_000))
    assert words_of(small) == "here"


def test_a_tape_without_anything_that_came_is_not_tried() -> None:
    tried = []
    shrink(TAPE, Search(lambda tape: bool(tried.append(tape)) or True, most=1_000))
    assert tried
    assert all(any(moment.event for moment in tape.moments) for tape in tried)


def test_the_search_ends_when_it_may_go_on_no_longer() -> None:
    told = list[int]()
    search = Search(lambda tape: "five" in words_of(tape), 5, lambda search: told.append(search.asked))
    small = shrink(TAPE, search)
    assert search.is_over
    assert told == [1, 2, 3, 4, 5]
    assert "five" in words_of(small)


def test_texts_are_found_wherever_they_stand_and_only_they_change() -> None:
    event = chunk("a b")
    assert [text for _, text in texts_of(event)] == ["a b"]
    small = shrink(Tape({}, (Moment(0.0, event=event),)), Search(lambda tape: True, most=100))
    assert small.moments[0].event == chunk("")
    assert event == chunk("a b")


def test_a_size_is_told_in_words() -> None:
    assert size_of(Tape({}, (Moment(0.0, event=chunk("abc")), Moment(1.0, end="closed")))) == (
        "2 moments with 3 characters"
    )
