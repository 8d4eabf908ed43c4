"""What a text asks."""

from __future__ import annotations

from slack_bot.playground.reference.clauses import asking_clauses, is_long_story, point_of, without_code


def test_the_clauses_that_ask_are_found_among_others() -> None:
    assert asking_clauses("We are forty people. Is it free, and where is my data stored?") == [
        "Is it free",
        "where is my data stored?",
    ]
    assert asking_clauses("my printer is broken, it smells") == ["my printer is broken", " it smells"]
    assert asking_clauses("") == [""]


def test_of_a_long_story_the_point_is_kept() -> None:
    story = "word " * 50
    assert is_long_story(story) and not is_long_story("a short one")
    assert point_of(f"{story} What I want to know is, can I try it?").strip(" ,") == "can I try it?"
    assert point_of("my question is: is it free?") == "my question is: is it free?"


def test_code_and_addresses_are_left_out() -> None:
    assert without_code("see https://example.org/x now").split() == ["see", "now"]
    assert without_code("before\n```\nredis\n```\nafter").split() == ["before", "after"]
