"""The text of a turn, however its chunks came."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from slack_bot.a2a.assembly import Changed, Grown, Pieces, Running


def pieces() -> Pieces:
    return Pieces(budget=1000)


def test_chunks_grow_and_a_blank_line_stands_between_artifacts() -> None:
    text = pieces()
    assert text.put("a", "One ", append=False) == Grown("One ")
    assert text.put("a", "two.", append=True) == Grown("two.")
    assert text.put("b", "Three.", append=True) == Grown("\n\nThree.")
    assert text.whole == "One two.\n\nThree."
    assert text.has("a")
    assert not text.has("c")


def test_the_same_text_again_is_nothing_new() -> None:
    text = pieces()
    text.put("a", "One.", append=False)
    assert text.put("a", "One.", append=False) is None
    assert text.put("a", "", append=True) is None
    assert text.put("b", " \n", append=False) is None


def test_a_replacement_that_continues_grows_and_one_that_does_not_changes() -> None:
    text = pieces()
    text.put("a", "The fox", append=False)
    assert text.put("a", "The fox ran", append=False) == Grown(" ran")
    assert text.put("a", "A cat", append=False) == Changed("A cat")
    assert text.put("a", "", append=False) == Changed("")


def test_text_that_comes_for_an_earlier_artifact_is_put_where_it_belongs() -> None:
    text = pieces()
    text.put("a", "A1", append=False)
    text.put("b", "B1", append=False)
    assert text.put("a", "A2", append=True) == Changed("A1A2\n\nB1")


def test_a_snapshot_is_laid_against_what_was_there() -> None:
    text = pieces()
    text.put("a", "One ", append=False)
    assert text.snapshot([("a", "One two"), ("b", "Three")]) == Grown("two\n\nThree")
    assert text.snapshot([("a", "One two")]) is None


def test_the_budget_holds() -> None:
    text = Pieces(budget=5)
    assert text.put("a", "12345", append=False) == Grown("12345")
    assert not text.overflow
    assert text.put("a", "6", append=True) is None
    assert text.overflow
    assert text.whole == "12345"
    assert Pieces(budget=2).snapshot([("a", "12345")]) == Grown("12")


@given(st.lists(st.tuples(st.sampled_from("abc"), st.text("xy \n", max_size=4), st.booleans()), max_size=25))
def test_what_is_told_adds_up_to_the_whole(chunks: list[tuple[str, str, bool]]) -> None:
    """Whoever follows the changes holds the same text as the pieces."""
    text, told = pieces(), ""
    for key, chunk, append in chunks:
        match text.put(key, chunk, append=append):
            case Grown(more):
                told += more
            case Changed(whole):
                told = whole
            case None:
                pass
        assert told == text.whole


def test_running_text_takes_deltas_snapshots_and_replacements() -> None:
    running = Running(budget=100)
    for text in ("The", "The quick", "The quick fox"):
        running.put(text)
    assert running.text == "The quick fox"
    running.put(" ran")
    assert running.text == "The quick fox ran"
    running.put("new", append=False)
    assert running.text == "new"
    bounded = Running(budget=3)
    bounded.put("12")
    bounded.put("345")
    assert bounded.text == "123"
