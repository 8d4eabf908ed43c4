"""What a text asks."""

from __future__ import annotations

import pytest

from slack_bot.playground.reference.clauses import (
    asking_clauses,
    is_long_story,
    point_of,
    points_back,
    questions_in,
    without_code,
)


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


@pytest.mark.parametrize(
    ("text", "questions"),
    [
        ("Is it free, and is it secure?", ["Is it free", "is it secure?"]),
        ("Is it free? Does it speak Dutch?", ["Is it free?", "Does it speak Dutch?"]),
        ("what is it and who made it", ["what is it", "who made it"]),
        ("If I press Stop, does the agent end?", []),
        ("is it free, and why?", []),
        ("where is my data", []),
        ("word " * 50 + "Is it free, and is it secure?", []),
    ],
)
def test_the_questions_of_a_text_that_asks_several(text: str, questions: list[str]) -> None:
    assert questions_in(text) == questions


def test_what_points_back_cannot_stand_alone() -> None:
    assert points_back("can I change it?") and points_back("have the agent read a file")
    assert not points_back("is it secure?")
