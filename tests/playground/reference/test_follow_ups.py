"""What a short message wants of the answer before it."""

from __future__ import annotations

import pytest

from slack_bot.playground.reference.follow_ups import (
    FollowUp,
    asks_whether,
    correction_in,
    has_few_words,
    is_cut_short,
    language_wanted,
    place_wanted,
    question_word,
    read_together,
    wanted,
    without_beginning,
    word_asked_for,
)


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("go on", FollowUp.GO_ON),
        ("and now?", FollowUp.GO_ON),
        ("tell me more", FollowUp.GO_ON),
        ("more details please", FollowUp.DETAIL),
        ("can you explain that in more detail?", FollowUp.DETAIL),
        ("a longer explanation please", FollowUp.DETAIL),
        ("shorter", FollowUp.SHORTER),
        ("that is too long", FollowUp.SHORTER),
        ("show me an example", FollowUp.EXAMPLE),
        ("do you have an example?", FollowUp.EXAMPLE),
        ("for example?", FollowUp.EXAMPLE),
        ("can I see one?", FollowUp.EXAMPLE),
        ("really?", FollowUp.DOUBT),
        ("are you sure about that?", FollowUp.DOUBT),
        ("where does that come from?", FollowUp.DOUBT),
        ("I dont understand", FollowUp.EXPLAIN),
        ("huh?", FollowUp.EXPLAIN),
        ("what do you mean by that?", FollowUp.EXPLAIN),
        ("what does it cost?", None),
        ("show me a table", None),
        ("who sees it?", None),
        ("thanks", None),
        ("", None),
    ],
)
def test_what_is_wanted(message: str, kind: FollowUp | None) -> None:
    assert wanted(message) is kind


@pytest.mark.parametrize(
    ("message", "language"),
    [
        ("in German please", "German"),
        ("can you say that in Spanish?", "Spanish"),
        ("auf Deutsch bitte", "Deutsch"),
        ("and in French?", "French"),
        ("translate it into Japanese", "Japanese"),
        ("in private channels", None),
        ("does it speak German?", None),
    ],
)
def test_the_language_that_is_wanted(message: str, language: str | None) -> None:
    found = language_wanted(message)
    assert (found[0] if found else None) == language


@pytest.mark.parametrize(
    ("message", "place"),
    [
        ("the second one", 1),
        ("2", 1),
        ("2.", 1),
        ("number 3 please", 2),
        ("and what about the first point on your list?", 0),
        ("the last one", -1),
        ("the latter", -1),
        ("what is the first step to install it?", None),
        ("20", None),
        ("is it safe?", None),
    ],
)
def test_the_place_of_the_point_that_is_meant(message: str, place: int | None) -> None:
    assert place_wanted(message) == place


@pytest.mark.parametrize(
    ("message", "is_short"),
    [
        ("and on Kubernetes?", True),
        ("is that safe?", True),
        ("which licence?", True),
        ("how do I change that in our channel?", True),
        ("how many people can use the bot at once?", False),
        ("is it possible to run the bot behind a proxy with a certificate of our own?", False),
    ],
)
def test_a_short_question_may_need_what_came_before(message: str, is_short: bool) -> None:
    assert is_cut_short(message) is is_short


def test_two_questions_become_one() -> None:
    assert without_beginning("ok, and for 100 users?") == "for 100 users?"
    assert without_beginning("what about Teams?") == "what about Teams?"
    assert read_together("what does it cost?", "for 100 users?") == "what does it cost for 100 users?"
    assert read_together("what does it cost?", "who pays it?") == "what does it cost, who pays it?"


@pytest.mark.parametrize(
    ("message", "meant"),
    [
        ("no, I meant the logs", "the logs"),
        ("I mean for direct messages", "for direct messages"),
        ("sorry, I was asking about the price", "the price"),
        ("not the bot, but the agent", "the agent"),
        ("what do you mean?", ""),
        ("is it safe?", ""),
    ],
)
def test_what_was_meant_instead(message: str, meant: str) -> None:
    assert correction_in(message) == meant


@pytest.mark.parametrize(
    ("message", "word"),
    [
        ("what do you mean by masked?", "masked"),
        ('what does "latch" mean here?', "latch"),
        ("what is a tape?", "tape"),
        ("define lease", "lease"),
        ("what does it mean for me?", ""),
        ("what is the price?", ""),
        ("is it safe?", ""),
    ],
)
def test_the_word_whose_meaning_is_asked_for(message: str, word: str) -> None:
    assert word_asked_for(message) == word


def test_who_asks_whether_it_can_be_shorter_wants_no_shorter_answer() -> None:
    assert asks_whether("can I make that shorter?") and wanted("can I make that shorter?") is None
    assert not asks_whether("can you make that shorter?")
    assert wanted("can you make that shorter?") is FollowUp.SHORTER


def test_how_a_question_begins() -> None:
    assert question_word("and who sees that?") == "who"
    assert question_word("How long may an answer be?") == "how long"
    assert question_word("is it safe?") == ""
    assert has_few_words("who may press it") and not has_few_words("word " * 10)
