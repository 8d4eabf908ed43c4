"""Texts are deltas, or the whole so far; which of them shows itself."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import accumulate
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.agents.answer.delta_detector import AppendDetector, DeltaDetector, stored_text
from slack_bot.agents.wire.frames import Artifact, Part
from tests.examples import examples

FOX = "The quick brown fox jumps. It is quick."
WORDS = re.findall(r"\S+\s*", FOX)


class Reader:
    """What a reader sees of a source, and how often it was told again."""

    def __init__(self, *, max_chars: int = 10_000) -> None:
        self.detector = DeltaDetector(max_chars=max_chars)
        self.text, self.retold = "", 0

    def take(self, *texts: str, by_line: bool = False) -> tuple[str, int]:
        for text in texts:
            more, append = self.detector.take(text, by_line=by_line)
            self.text = self.text + more if append else more
            self.retold += not append
        assert self.text == self.detector.text
        return self.text, self.retold


def sent(*texts: str) -> tuple[str, int]:
    return Reader().take(*texts)


def appended(*texts: str) -> tuple[str, int]:
    detector, shown, retold = AppendDetector(), "", 0
    for text in texts:
        more, append = detector.take(text)
        shown = shown + more if append else more
        retold += not append
    assert shown == detector.text
    return shown, retold


WAYS = pytest.mark.parametrize("add_up", [sent, appended])


# -- any source


@WAYS
def test_deltas_are_added_up(add_up: Callable[..., tuple[str, int]]) -> None:
    assert add_up(*WORDS) == (FOX, 0)
    assert add_up("", "a", "") == ("a", 0)


@WAYS
def test_growing_snapshots_are_the_last_one_and_nothing_is_told_again(
    add_up: Callable[..., tuple[str, int]],
) -> None:
    assert add_up(*accumulate(WORDS)) == (FOX, 0)
    assert add_up("你", "你好", "你好啊") == ("你好啊", 0)


@WAYS
def test_deltas_and_then_the_whole_is_the_whole(add_up: Callable[..., tuple[str, int]]) -> None:
    assert add_up(*WORDS, FOX) == (FOX, 0)
    assert add_up(*WORDS[:3], FOX, " Yes.") == (FOX + " Yes.", 0)


@st.composite
def deliveries(draw: st.DrawFn, first: str) -> tuple[str, list[tuple[str, str]]]:
    """A text that begins with `first` and repeats nothing, cut anywhere and sent in any way."""
    numbers = draw(st.lists(st.integers(100, 999), min_size=3, max_size=12, unique=True))
    words = st.sampled_from(["Word", "word", "β", "#", "-", "."])
    text = first + "".join(f"{draw(words)}{number} \n" for number in numbers)
    cuts = sorted(draw(st.sets(st.integers(len(first) + 1, len(text) - 1), max_size=12)))
    found = []
    for start, end in zip([len(first), *cuts], [*cuts, len(text)], strict=True):
        delta, whole = ("append", text[start:end]), ("append", text[:end])
        ways = [[delta], [whole], [whole, whole], [delta, whole], [("replace", text[:end])]]
        found += draw(st.sampled_from(ways))
    return text, found


@examples(1_000)
@given(deliveries("Text: "))
def test_however_a_text_is_cut_and_sent_it_is_the_text(case: tuple[str, list[tuple[str, str]]]) -> None:
    reader = Reader()
    reader.take("Text: ")
    for how, each in case[1]:
        if how == "append":
            reader.take(each)
        else:
            reader.detector.replace(each)
            reader.text = each
    reader.text += reader.detector.take_held()  # as at the end of a stream
    assert (reader.text, reader.retold) == (case[0], 0)


@examples(1_000)
@given(deliveries("Here is the text: "))
def test_appended_texts_of_any_kind_are_the_text_once_two_deltas_were_seen(
    case: tuple[str, list[tuple[str, str]]],
) -> None:
    assert appended("Here is ", "the text: ", *(each for _, each in case[1])) == (case[0], 0)


@examples(1_000)
@given(st.lists(st.text("ab \n", min_size=1, max_size=5), max_size=12))
def test_snapshots_of_anything_make_the_last_one(deltas: list[str]) -> None:
    assert sent(*accumulate(deltas)) == ("".join(deltas), 0)


@given(st.lists(st.text("ab .\n", min_size=1, max_size=9), min_size=3, max_size=8))
def test_appended_snapshots_of_anything_said_in_words_add_up(pieces: list[str]) -> None:
    pieces = ["Well, ", *pieces]
    assert appended(*accumulate(pieces))[0] == "".join(pieces)


def test_a_text_with_all_deltas_in_it_is_the_whole_although_some_were_missed() -> None:
    whole = "The first half is fine. It goes on for a while with plain words until it ends."
    seen = [" fine.", " It goes on", " with plain words", " until it ends."]
    assert sent(*seen, whole) == (whole, 1)
    assert sent(" fine.", whole) == (f" fine.{whole}", 0)  # one delta proves nothing
    assert sent(*seen, f"{whole} And more.") == (f"{''.join(seen)}{whole} And more.", 0)


# -- a source that says `append`


def test_appended_snapshots_may_be_repeated() -> None:
    assert appended("The fox", "The fox ran", "The fox ran", "The fox ran.", "The fox") == ("The fox ran.", 0)


def test_an_appended_snapshot_that_begins_again_is_the_next_paragraph() -> None:
    looked = list(accumulate(["Let me ", "look ", "that up."]))
    assert appended(*looked, *accumulate(WORDS)) == (f"Let me look that up.\n\n{FOX}", 0)


def test_an_appended_delta_that_looked_like_a_snapshot_is_one_after_all() -> None:
    assert appended("Haha", "Hahaha", ", well.") == ("HahaHahaha, well.", 1)
    assert appended("Row, ", "Row, row", " the boat", " the boats", "!") == (
        "Row, Row, row the boat the boats!", 1,
    )  # fmt: skip


def test_appended_snapshots_that_begin_with_a_letter_are_found_later() -> None:
    assert appended(*accumulate(FOX)) == (FOX, 1)
    assert appended("So: ", *accumulate(FOX)) == ("So: " + FOX, 1)


def test_a_beginning_that_was_known_counts_too() -> None:
    detector = AppendDetector("The fox")
    assert [detector.take(text) for text in ("The fox ran", "The fox ran.")] == [(" ran", True), (".", True)]


@pytest.mark.parametrize(
    "deltas",
    [
        ["-", "--", "---", "----", "---------", "----------", "-----------"],  # a line that is drawn
        ["1", "10", "100", "1000"],
        ["a", "ab", "abc", "x"],
        ["| a ", "| b ", "| bc "],
        ["one = 1\n", " ", "   ", "    # two", "r"],  # white space and marks begin many a delta
        ["a ", "`", "```", "```markdown\nmore", " text"],
        ["ha", "ha", "haha"],
    ],
)
def test_what_says_too_little_is_no_appended_snapshot(deltas: list[str]) -> None:
    assert appended(*deltas) == ("".join(deltas), 0)


# -- a source without `append`


def test_a_text_may_be_replaced_and_restarted() -> None:
    reader = Reader()
    reader.take("The", "The quick", "The quick fox", " ran")
    reader.detector.replace("new")
    assert (reader.detector.text, reader.detector.steps) == ("new", 5)
    reader.detector.restart()
    assert (reader.detector.text, reader.detector.steps) == ("", 0)


def test_no_more_is_kept_than_may_be() -> None:
    assert Reader(max_chars=3).take("12", "345") == ("123", 0)
    assert Reader(max_chars=0).take("nothing fits") == ("", 0)


def test_a_model_turn_said_again_after_its_deltas_is_no_delta() -> None:
    reader = Reader()
    whole = "Before. The quick fox"
    assert reader.take("Before. ", "The ", "quick ", "fox", "The quick fox") == (whole, 0)
    assert reader.take("fox") == (whole + "fox", 0), "one delta may well come twice"
    assert reader.detector.steps == 5


def test_signs_that_the_next_delta_begins_with_are_not_lost() -> None:
    """Whether "### the" follows "#" or grew from it, only the text after it tells."""
    reader = Reader()
    assert reader.take("#", "### the") == ("### the", 0)
    assert reader.take(" fox") == ("#### the fox", 1)
    assert reader.take(".") == ("#### the fox.", 1)
    assert sent("#", "# A", "# A fox", "# A fox") == ("# A fox", 0)
    assert sent("#", "##", "###", " A") == ("###### A", 1)
    assert Reader(max_chars=6).take("-", "- a", "bcd", "e") == ("-- abc", 1)


IN_TOKENS = ("Let ", "me ", "look.")


@pytest.mark.parametrize(
    ("texts", "told"),
    [
        (
            (*IN_TOKENS, "## ", "## What ", "## What is ", "## What is this"),
            "Let me look.\n\n## What is this",
        ),
        (("a ", "Found it", "Found it today", "Found it today."), "a Found it today."),
        (("a ", "b", "bc", "bcd", "bcd e"), "a bbcbcdbcd e"),
        (("We ", "In", "In ", "dia"), "We InIn dia"),
        ((*IN_TOKENS, "I", "In", "two"), "Let me look.IIntwo"),
        (("| web | ", "running ", "running | ", "3 |"), "| web | running running | 3 |"),
        (("| web | ", "running ", "running | 3", " |"), "| web | running running | 3 |"),
        (("| web |\n", "running ", "running on", "running on 3"), "| web |\nrunning on 3"),
        (("Look.", " ", "Found it", "Found it today"), "Look. Found it today"),
        (("See ", "the pods of all clusters", "the pods of all clusters."), "See the pods of all clusters."),
    ],
)
def test_what_begins_with_all_of_the_last_text_is_a_snapshot_however_the_turn_began(
    texts: tuple[str, ...], told: str
) -> None:
    detector = DeltaDetector()
    taken = [detector.take(text) for text in texts]
    assert all(append for _, append in taken)
    assert "".join(text for text, _ in taken) + detector.take_held() == told == detector.text


def test_another_text_is_announced_when_its_snapshots_prove_to_be_some() -> None:
    detector = DeltaDetector()
    for text in (*IN_TOKENS, "## ", "## What "):
        assert not detector.begins_anew(text)
        detector.take(text)
    assert detector.begins_anew("## What is ")


def test_lines_of_their_own_become_paragraphs_only_where_they_may() -> None:
    lines = ("Reading it.", "Writing it.", "and so on.")
    assert Reader().take(*lines, by_line=True) == ("Reading it.\n\nWriting it.and so on.", 0)
    assert sent(*lines) == ("".join(lines), 0)


# -- the text of an artifact


def part(value: str, **metadata: Any) -> Part:
    return Part(text=value, metadata=metadata)


@pytest.mark.parametrize(
    ("artifact", "said"),
    [
        (Artifact(parts=(part("a "), part("b"))), "a b"),
        (Artifact(parts=(part("The "), part("fox "), part("ran."))), "The fox ran."),
        (Artifact(parts=(part("The "), part("The fox "), part("The fox ran."))), "The fox ran."),
        (Artifact(parts=(part("a"), part("ab"))), "aab"),
        (Artifact(parts=(part("hm", thought=True), part("Yes"))), "Yes"),
        (Artifact(parts=(part("hm"),), metadata={"type": "thinking"}), ""),
        (Artifact(parts=(Part(has_data=True, data={"x": 1}),)), "- **x**: 1"),
    ],
)
def test_an_artifact_as_a_task_holds_it(artifact: Artifact, said: str) -> None:
    assert stored_text(artifact) == said
