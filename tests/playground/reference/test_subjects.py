"""What a text names, and where that leads."""

from __future__ import annotations

import pytest

from slack_bot.playground.reference.agent import load_knowledge
from slack_bot.playground.reference.pages import sections
from slack_bot.playground.reference.subjects import Subjects, bundled_subjects

SUBJECTS = """
plain = "a about and do does how is of the what"
anchors = "pet"
names = "hamster; acme"
ours_alone = "differ"
vague = "old"
own = "pet; your"
courtesy = "can you tell"
outside = "moon; outer space"
strong = "dog"
general = "dog"
whole = ["About cats"]
[same]
cat = "kitten; kittens; cats"
dog = "my dog"
[groups]
cat = "cat"
dog = "dog"
food = "food; eat*; feed .. fish"
old = "old"
[weights]
3 = "food"
[sections]
"About cats" = { needs = ["cat & !food"], also = "old" }
"Food" = { needs = ["food & cat", "food & ours"] }
"About dogs" = { needs = ["dog"], also = "old" }
"""
SMALL = Subjects(SUBJECTS)


@pytest.mark.parametrize(
    ("text", "headings"),
    [
        ("what do cats eat", {"Food"}),
        ("kitens", {"About cats"}),
        ("feed a cat a fish", {"Food"}),
        ("the dogs and one mouse", {"About dogs"}),
        ("what is a dog", set[str]()),
        ("what is an old dog", {"About dogs"}),
        ("a cat of mice", set[str]()),
        ("a cat of mice, pet", {"About cats"}),
    ],
)
def test_all_subjects_must_be_named_and_strange_words_count_against(text: str, headings: set[str]) -> None:
    assert {heading for heading, *_ in SMALL.found_in(text)} == headings


def test_what_is_named_besides_counts_as_well() -> None:
    ((_, plain, _),), ((_, more, named),) = SMALL.found_in("a dog"), SMALL.found_in("the old dog")
    assert more > plain
    assert named == {"dog", "old"}


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("the moon in outer space", 2),
        ("does acme sell food for a cat", 1),
        ("is the food of a cat, pet, of Zorp", 0),
        ("what do cats eat", 0),
    ],
)
def test_what_is_certainly_not_in_the_pages_is_counted(text: str, number: int) -> None:
    assert SMALL.outside_in(text, lambda _: False) == number


def test_a_name_that_the_pages_have_is_no_other_thing() -> None:
    asked = "Tell me what Zorp does about food"
    assert (SMALL.outside_in(asked, lambda _: False), SMALL.outside_in(asked, "zorp".__eq__)) == (1, 0)


def test_a_word_says_that_this_project_is_meant() -> None:
    assert SMALL.is_about_us("what do pet cats eat") and SMALL.is_about_us("cats?")
    assert not SMALL.is_about_us("what do wild cats eat")


def test_words_are_those_of_the_lists() -> None:
    assert SMALL.words_in("My dog's kitens") == ["my", "dogs", "cat"]
    assert SMALL.wordings_of("About cats") == ["cat"]


def test_subjects_lead_to_sections_that_there_are() -> None:
    there = {each.heading for name, text in load_knowledge().items() for each in sections(name, text)}
    assert bundled_subjects().headings <= there
