"""The sentence that says what a short question asks for."""

from __future__ import annotations

import pytest

from slack_bot.playground.reference.agent import bundled_library
from slack_bot.playground.reference.pages import PageSection
from slack_bot.playground.reference.search import Library
from slack_bot.playground.reference.thread_sentences import is_of_kind, mention_in, sentence_for

LIBRARY = bundled_library()
PAGES = Library(
    {
        "trains": "# Trains\n\nTrains leave every hour, at most 200 m long. They wait ten minutes, "
        "because of the mail. An operator sets `TRAIN_SPEED=80`, and else they are slow. Write "
        "`train stop` to stop one. What is too long is cut.\n\n## Ferries\n\nFerries take two hours.\n"
    }
)


def told_for(question: str) -> list[PageSection]:
    return [LIBRARY.search(question)[0].section]


def sentence(question: str) -> str:
    found = sentence_for(PAGES, question, ["Trains"], PAGES.sections_of("trains")[:1])
    return "" if found is None else found.text


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("how long?", "They wait ten minutes"),
        ("how often", "Trains leave every hour"),
        ("why?", "They wait ten minutes, because"),
        ("and why is that?", "They wait ten minutes, because"),
        ("where do I set that?", "An operator sets"),
        ("can I change it?", "An operator sets"),
        ("who decides that?", "An operator sets"),
        ("what if nobody does it?", "An operator sets"),
        ("how?", "An operator sets"),
        ("and if it is longer?", "Trains leave every hour, at most"),
        ("how many?", "Trains leave every hour, at most 200"),
        ("how big?", ""),
        ("is it nice?", ""),
        ("", ""),
    ],
)
def test_what_a_question_wants_is_found_where_it_was_said(question: str, said: str) -> None:
    assert sentence(question).startswith(said) and bool(sentence(question)) == bool(said)


def test_what_else_a_question_names_must_be_there() -> None:
    before = "does it run on kubernetes?"
    told = told_for(before)
    found = sentence_for(LIBRARY, "how many replicas?", [before], told)
    assert found is not None and "two replicas" in found.text
    assert found.is_told
    assert sentence_for(LIBRARY, "how many elephants?", [before], told) is None


def test_what_was_shown_earlier_is_read_too() -> None:
    feedback, cost = told_for("can I give feedback?"), told_for("what does it cost?")
    found = sentence_for(LIBRARY, "and commercial use?", ["what does it cost?"], [*cost, *feedback])
    assert found is not None and found.section == cost[0]


def test_a_sentence_that_points_back_comes_with_the_one_before_it() -> None:
    pages = Library({"one": "# One\n\nCats sleep. That takes two hours.\n"})
    found = sentence_for(pages, "how long?", ["One"], pages.sections_of("one"))
    assert found is not None and found.text == "Cats sleep. That takes two hours."


def test_what_was_said_of_a_word_is_found_again() -> None:
    told = told_for("does it work with Teams?")

    def mentioned(question: str, *, even_bare: bool = False) -> str:
        found = mention_in(LIBRARY, question, told, even_bare=even_bare)
        return "" if found is None else found.text

    assert mentioned("why not with Discord?").startswith("There is nothing for Microsoft Teams, Discord")
    assert mentioned("with Zulip?") == mentioned("why?") == mentioned("does it work?") == ""
    assert mentioned("does it work?", even_bare=True).startswith("It works with Slack only.")


def test_a_section_has_what_is_wanted_or_has_it_not() -> None:
    trains, ferries = PAGES.sections
    assert is_of_kind("why?", trains) and not is_of_kind("why?", ferries)
    assert is_of_kind("is it nice?", ferries)
