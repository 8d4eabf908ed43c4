"""What a text asks."""

from __future__ import annotations

import pytest

from slack_bot.playground.reference.clauses import (
    asking_clauses,
    clauses_beside,
    is_long_story,
    last_question,
    names_several,
    point_of,
    points_back,
    questions_in,
    questions_in_story,
    said_before,
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
        ("when I ask, how is it shown, and who sees it?", ["when I ask, how is it shown", "who sees it?"]),
        (
            "where are token and secret kept, and who sees both",
            ["where are token and secret kept", "who sees both"],
        ),
        ("is it free or does it cost, or do I pay later?", []),
        ("Kann er Deutsch, und ist das sicher?", ["Kann er Deutsch", "ist das sicher?"]),
        ("is it free, and why?", []),
        (
            "what CPU and memory does it need, and who decides that?",
            ["what CPU and memory does it need", "who decides that?"],
        ),
        ("where is my data", []),
        ("word " * 50 + "Is it free, and is it secure?", []),
    ],
)
def test_the_questions_of_a_text_that_asks_several(text: str, questions: list[str]) -> None:
    assert questions_in(text) == questions


def test_the_questions_of_a_story_are_apart_from_what_it_tells() -> None:
    story = "We had a bot once, which was slow and did nothing that we wanted, " + "so nobody used it, " * 12
    asked = (
        "and our board wants to know who reads what was asked, the ops people say they do not want to run a"
        " database, so given all that, is it a fit, and can it talk to both? It has one agent."
    )
    assert questions_in_story(story + asked) == [
        "who reads what was asked",
        "the ops people say they do not want to run a database",
        "is it a fit",
        "can it talk to both?",
    ]
    assert questions_in_story(story + "is it free?") == []
    assert questions_in_story("Is it free, and is it secure?") == []


def test_what_a_story_demands_of_one_thing_is_asked_apart() -> None:
    story = "Our people sit in Slack all day and copy from a web page, " * 5
    asked = "I'd like one bot that knows our agents, asks a human before a ticket is made, and doesn't leak."
    assert questions_in_story(story + asked + " And it never tells others what was said.") == [
        "I'd like one bot that knows our agents",
        "asks a human before a ticket is made, and doesn't leak.",
    ]
    more = "I'd like one bot that knows our agents, and doesn't tell others what was said."
    assert questions_in_story(story + more)[1:] == ["doesn't tell others what was said."]


def test_what_points_back_cannot_stand_alone() -> None:
    assert points_back("can I change it?") and points_back("have the agent read a file")
    assert points_back("is that the fault of the agent?") and points_back("why is each of them needed?")
    assert points_back("and for how long?") and points_back("or by whom")
    assert not points_back("is it secure?") and not points_back("how long may an answer be")


def test_the_last_question_of_a_story_comes_with_what_it_points_to() -> None:
    story = "We are many, and we tried a lot. " * 8 + "People want our agent in Slack. "
    assert last_question(story + "What does it cost? We wait.") == "What does it cost?"
    asked = "Which steps are there to do that?"
    assert last_question(story + asked) == f"People want our agent in Slack. {asked}"
    assert last_question("word " * 50 + "is it?") == last_question(story) == ""


def test_what_is_told_beside_the_questions() -> None:
    text = "We have a proxy, and no port is open. Is it free? We pay much."
    assert said_before(text) == "We have a proxy, and no port is open."
    assert clauses_beside(text) == ["We have a proxy", "no port is open.", "We pay much."]
    assert said_before("Is it free?") == ""
    assert clauses_beside("We have a proxy.") == []


def test_several_things_may_be_named() -> None:
    assert names_several("keep or delete data") and names_several("token, secret")
    assert not names_several("delete data")
