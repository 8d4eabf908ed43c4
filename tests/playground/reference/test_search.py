"""Search over pages: which section comes first, and what nobody wrote about."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.errors import BotError
from slack_bot.playground.reference import search
from slack_bot.playground.reference.search import Library, sections, words

PAGES = {
    "cats": "# About cats\n\nCats sleep.\n\n## Food\n\nA cat eats fish.\n\n```sh\n# not a heading\n```\n",
    "dogs": "# About dogs\n\nDogs bark at cats and at a cat.\n\n## Empty\n",
    "plain": "No heading here, only fishing stories.",
}


@pytest.fixture
def library() -> Library:
    return Library(PAGES)


def test_a_page_is_divided_at_its_headings_and_fences_are_left_alone() -> None:
    first, second = sections("cats", PAGES["cats"])
    assert (first.title, first.heading, first.text) == ("About cats", "About cats", "Cats sleep.")
    assert (second.title, second.heading) == ("About cats", "Food")
    assert "# not a heading" in second.text


def test_a_section_without_text_is_none_and_a_page_without_heading_is_one() -> None:
    assert [section.heading for section in sections("dogs", PAGES["dogs"])] == ["About dogs"]
    assert sections("plain", PAGES["plain"])[0].title == "plain"
    assert sections("nothing", "") == []


def test_the_best_section_comes_first(library: Library) -> None:
    assert library.search("what do cats eat?")[0].section.heading == "Food"
    assert library.search("dogs")[0].section.page == "dogs"
    hits = library.search("cats")
    assert hits[0].section.heading == "About cats"
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_what_nobody_wrote_about_is_not_found(library: Library) -> None:
    assert library.search("weather") == []
    assert library.search("") == []
    assert library.search("the of and") == []


@pytest.mark.parametrize(
    ("query", "known"),
    [
        ("cats and dogs", True),
        ("a fishing story", True),
        ("cats and weather", True),
        ("weather in San Francisco", False),
        ("cats, birds and mice", False),
        ("", False),
    ],
)
def test_a_query_is_known_where_half_of_its_words_stand_in_one_section(
    library: Library, query: str, known: bool
) -> None:
    assert library.knows(query) is known


def test_a_single_word_that_stands_everywhere_is_no_subject_but_a_heading_is() -> None:
    pages = {f"page-{number}": f"# Page {number}\n\nA word and more." for number in range(5)}
    library = Library({**pages, "cats": "# The word\n\nA word more."})
    assert not library.knows("more")
    assert library.knows("word")
    assert library.knows("page")


def test_pages_by_name(library: Library) -> None:
    assert library.names == ("cats", "dogs", "plain")
    assert library.fetch("cats") == PAGES["cats"]
    assert library.fetch("birds") is None
    assert library.sections_of("birds") == []


def test_endings_do_not_matter() -> None:
    for forms in (
        "stream streams streaming streamed",
        "message messages",
        "setting settings",
        "identity identities",
        "deploy deployment",
        "communicate communication communicates",
    ):
        assert len(set(words(forms))) == 1, forms
    assert words("pass the class") == ["pass", "class"]


def test_words_of_the_index_own_language_are_words(library: Library) -> None:
    assert library.search('NEAR "cats" AND (fish*) OR names : eats')[0].section.heading == "Food"


def test_without_fts5_one_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "_NEW_INDEX", search._NEW_INDEX.replace("fts5", "fts5_missing"))
    with pytest.raises(BotError, match=r"no such module: fts5_missing.; use a Python"):
        Library(PAGES)


def test_a_page_without_a_word_that_counts_is_not_found() -> None:
    assert Library({"the": "the of and"}).search("the cat") == []


def test_an_empty_library_answers_nothing() -> None:
    assert Library({}).search("anything") == []


@given(st.text())
def test_any_question_gets_the_same_hits_twice(question: str) -> None:
    library = Library(PAGES)
    assert library.search(question) == library.search(question)
