"""Pages in sections."""

from __future__ import annotations

from slack_bot.playground.reference.pages import chapters, sections, words_of

PAGES = {
    "cats": "# About cats\n\nCats sleep.\n\n## Food\n\nA cat eats fish.\n\n```sh\n# not a heading\n```\n",
    "dogs": "# About dogs\n\nDogs bark at cats and at a cat.\n\n## Empty\n",
    "plain": "No heading here, only fishing stories.",
}


def test_a_page_is_divided_at_its_headings_and_fences_are_left_alone() -> None:
    first, second = sections("cats", PAGES["cats"])
    assert (first.title, first.heading, first.text) == ("About cats", "About cats", "Cats sleep.")
    assert (second.title, second.heading) == ("About cats", "Food")
    assert "# not a heading" in second.text


def test_a_section_without_text_is_none_and_a_page_without_heading_is_one() -> None:
    assert [section.heading for section in sections("dogs", PAGES["dogs"])] == ["About dogs"]
    assert sections("plain", PAGES["plain"])[0].title == "plain"
    assert sections("nothing", "") == []


def test_chapters_are_pages_with_their_headings_one_level_up() -> None:
    text = "# All\n\nLeft out.\n\n## Cats & dogs\n\nBoth.\n\n### Food\n\nFish.\n\n## Birds\n\nFly.\n"
    assert dict(chapters(text)) == {
        "cats-dogs": "# Cats & dogs\n\nBoth.\n\n## Food\n\nFish.\n\n",
        "birds": "# Birds\n\nFly.\n",
    }


def test_an_apostrophe_is_no_border() -> None:
    assert words_of("l'agent qu'il a, don't") == ["l", "agent", "qu", "il", "a", "dont"]
    assert words_of("What's not_authed, isn’t it?") == ["whats", "not_authed", "isnt", "it"]


def test_a_section_below_another_is_a_part_of_its_topic() -> None:
    text = "# All\n\nWhole.\n\n## Cats\n\nSleep.\n\n### Food\n\nFish.\n\n## Dogs\n\nBark.\n"
    assert [(each.heading, each.topic) for each in sections("all", text)] == [
        ("All", "All"),
        ("Cats", "Cats"),
        ("Food", "Cats"),
        ("Dogs", "Dogs"),
    ]


def test_the_first_sentence_is_the_answer_in_short() -> None:
    (section,) = sections("a", "It costs nothing (0.0). You may give it away.\n\n| a |\n")
    assert section.first_sentence == "It costs nothing (0.0)."
