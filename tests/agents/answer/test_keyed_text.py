"""The text of a turn, however its chunks came."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.agents.answer import keyed_text
from slack_bot.agents.answer.keyed_text import KeyedText, StringBuilder, TextUpdate
from slack_bot.text.compare import equivalent
from tests.examples import examples


def pieces() -> KeyedText:
    return KeyedText(budget=1000)


def test_chunks_grow_and_a_blank_line_stands_between_artifacts() -> None:
    text = pieces()
    assert text.put("a", "One ", append=False) == TextUpdate("One ")
    assert text.put("a", "two.", append=True) == TextUpdate("two.")
    assert text.put("b", "Three.", append=True) == TextUpdate("\n\nThree.")
    assert text.whole == "One two.\n\nThree."
    assert "a" in text
    assert "c" not in text


def test_the_same_text_again_is_nothing_new() -> None:
    text = pieces()
    text.put("a", "One.", append=False)
    assert text.put("a", "One.", append=False) is None
    assert text.put("a", "", append=True) is None
    assert text.put("b", " \n", append=False) is None


def test_a_replacement_that_continues_grows_and_one_that_does_not_changes() -> None:
    text = pieces()
    text.put("a", "The fox", append=False)
    assert text.put("a", "The fox ran", append=False) == TextUpdate(" ran")
    assert text.put("a", "A cat", append=False) == TextUpdate("A cat", replaces=True)
    assert text.put("a", "", append=False) is None, "once it changed, the end tells what it is"
    assert text.final.text == ""


def test_text_that_comes_for_an_earlier_artifact_is_put_where_it_belongs() -> None:
    text = pieces()
    text.put("a", "A1", append=False)
    text.put("b", "B1", append=False)
    assert text.put("a", "A2", append=True) == TextUpdate("A1A2\n\nB1", replaces=True)


def test_a_snapshot_is_laid_against_what_was_there() -> None:
    text = pieces()
    text.put("a", "One ", append=False)
    assert text.snapshot([("a", "One two"), ("b", "Three")]) == TextUpdate("two\n\nThree")
    assert text.snapshot([("a", "One two")]) is None


def test_two_short_texts_of_one_key_may_be_one_sentence_that_was_cut() -> None:
    texts = KeyedText(1_000)
    assert not texts.is_cut("a", "fox", 80)
    assert texts.text_of("a") == ""
    texts.put("a", "The ", append=False)
    assert texts.text_of("a") == "The "
    assert texts.is_cut("a", "quick ", 80)
    assert not texts.is_cut("a", "The quick ", 80)
    assert not texts.is_cut("a", "quick ", 5)


def test_the_budget_holds() -> None:
    text = KeyedText(budget=5)
    assert text.put("a", "12345", append=False) == TextUpdate("12345")
    assert not text.overflow
    assert text.put("a", "6", append=True) is None
    assert text.overflow
    assert text.whole == "12345"


@examples(1_000)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.text("xy \n", max_size=4), st.booleans()), max_size=25))
def test_what_is_told_adds_up_to_the_whole(chunks: list[tuple[str, str, bool]]) -> None:
    """Whoever follows the changes holds the same text as the pieces, until it changes."""
    text, told, has_changed = pieces(), "", False
    for key, chunk, append in chunks:
        change = text.put(key, chunk, append=append)
        if has_changed:
            assert change is None
            continue
        if change is not None and change.replaces:
            assert change == TextUpdate(text.whole, replaces=True)
            has_changed = True
            continue
        told += change.text if change else ""
        assert told == text.whole or equivalent(told, text.whole)


@examples(1_000)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.text("xy \n", max_size=4)), max_size=25))
def test_text_that_only_grows_at_its_end_is_told_to_the_last_character(chunks: list[tuple[str, str]]) -> None:
    text, told, said = pieces(), "", dict[str, str]()
    for key, chunk in sorted(chunks, key=lambda each: each[0]):
        change = text.put(key, chunk, append=True)
        assert not (change is not None and change.replaces)
        told += change.text if change else ""
        said[key] = said.get(key, "") + chunk
    assert told == text.whole
    assert "".join(told.split()) == "".join("".join(said.values()).split())


def test_the_whole_again_under_another_name_is_nothing_new() -> None:
    text = pieces()
    text.put("a", "The quick ", append=False)
    text.put("a", "fox", append=True)
    assert text.put("b", "The quick\nfox", append=False) is None
    assert text.put("c", "The quick fox ran", append=False) == TextUpdate(" ran")
    assert text.final.text == text.whole == "The quick fox ran"
    assert text.last_key == "c"


def test_a_piece_that_says_an_earlier_one_again_is_said_once_in_the_end() -> None:
    text = pieces()
    for word in ("One ", "two"):
        text.put("a", word, append=True)
    for word in ("One ", "two"):
        text.put("b", word, append=True)
    assert text.whole == "One two\n\nOne two"
    assert text.final.text == "One two"


def test_what_was_set_aside_is_no_answer_if_something_follows() -> None:
    text = pieces()
    text.put("a", "Let me look.", append=False)
    text.set_aside()
    assert text.final.text == "Let me look.", "nothing followed"
    text.put("b", "The fox.", append=False)
    assert text.whole == "Let me look.\n\nThe fox."
    assert text.final.text == "The fox."
    text.put("a", " Really.", append=True)
    assert text.final.text == "Let me look. Really.\n\nThe fox.", "who goes on with it means it"


def test_a_snapshot_may_name_the_pieces_anew() -> None:
    text = pieces()
    text.put("stream", "One", append=False)
    assert text.snapshot([("stored", "One two")]) == TextUpdate(" two")
    assert text.whole == "One two"


@given(st.lists(st.sampled_from(["a", "b", "c"]), min_size=1), st.integers(200, 400))
def test_nothing_is_copied_for_a_chunk(keys: list[str], times: int) -> None:
    """The pieces a text is kept in are as many as the chunks: nobody joined them on the way."""
    builder = StringBuilder()
    for number in range(times):
        builder.add(keys[number % len(keys)])
    assert builder.size == times
    assert len(builder._parts) == times
    assert builder.ending(3) == builder.text[-3:]
    assert StringBuilder().ending(2) == ""


def test_a_replaced_piece_makes_room_in_the_budget() -> None:
    text = KeyedText(budget=6)
    text.put("a", "123456", append=False)
    assert text.put("a", "654321", append=False) == TextUpdate("654321", replaces=True)
    assert text.shown.text == "123456"
    assert not text.overflow
    assert text.has_text
    assert KeyedText(budget=1).last_key == ""
    text.put("b", "", append=True)
    assert text.shown.ending(3) == "456"


def test_a_snapshot_beyond_the_budget_is_not_cut_short_in_silence() -> None:
    text = KeyedText(budget=5)
    assert text.snapshot([("a", "123"), ("b", "456")]) is None
    assert text.overflow
    assert text.whole == ""


def test_a_part_that_goes_on_behind_others_grows_wherever_it_stands() -> None:
    text = pieces()
    text.put("a", "", append=False)
    text.put("b", "", append=False)
    assert text.put("a", "One", append=False) == TextUpdate("One")
    assert text.put("b", "Two", append=False) == TextUpdate("\n\nTwo")
    assert text.put("b", "Two three", append=False) == TextUpdate(" three")
    assert text.put("a", "One", append=False) is None
    assert text.snapshot([("c", "Four"), ("b", "Two three!")]) == TextUpdate("!\n\nFour")
    assert text.shown.text == text.whole == "One\n\nTwo three!\n\nFour"


def test_among_thousands_of_new_names_an_old_part_is_not_sought_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    renamed = [(f"b{n}", f"Part {n}.") for n in range(10)]
    for most, told in ((1000, None), (0, TextUpdate("\n\n" + "\n\n".join(text for _, text in renamed)))):
        monkeypatch.setattr(keyed_text, "_MOST_COMPARISONS", most)
        text = pieces()
        text.snapshot([(f"a{n}", f"Part {n}.") for n in range(10)])
        assert text.snapshot(renamed) == told
        assert text.final.text.count("Part 3.") == 1, "in the end it is said once all the same"


def test_what_must_be_compared_again_and_again_is_told_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyed_text, "_MOST_COMPARED", 100)
    text = pieces()
    text.put("a", "x", append=False)
    text.put("b", "x\n\n" * 20 + "x", append=False)
    found = [text.put("a", "x" + "\n\nx" * n, append=False) for n in range(1, 5)]
    assert [each and each.replaces for each in found] == [False, True, None, None]


def test_a_short_text_said_twice_in_a_row_does_not_stand_for_all_before_it() -> None:
    text = pieces()
    text.put("a", "The fox ran.", append=False)
    text.put("b", "Done 1!", append=False)
    text.put("c", "Done 1!", append=False)
    assert text.final.text == "The fox ran.\n\nDone 1!"
