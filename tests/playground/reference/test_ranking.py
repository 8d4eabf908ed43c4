"""Texts ranked by the rare words of a question."""

from __future__ import annotations

import pytest

from slack_bot.playground.reference.ranking import Ranking

TEXTS = {
    "cats": "cats sleep and sleeping cats eat fish",
    "dogs": "dogs sleep and bark",
    "birds": "birds sleep and sing and eat",
}
RANKING = Ranking({name: text.split() for name, text in TEXTS.items()}, ["and"])


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        ("fish", ["cats"]),
        ("who eats", ["birds", "cats"]),
        ("sleeping birds", ["birds", "cats", "dogs"]),
        ("and", []),
        ("horses", []),
        ("", []),
    ],
)
def test_who_has_the_rarer_words_is_first(asked: str, names: list[str]) -> None:
    assert list(RANKING.scores(asked.split())) == names


def test_a_share_is_what_a_text_has_of_a_question() -> None:
    assert RANKING.share(["fish"], "cats") == 1
    assert 0 < RANKING.share(["fish", "horses"], "cats") < 0.5
    assert RANKING.share(["fish"], "dogs") == 0
    assert RANKING.share(["and"], "cats") == 0


def test_what_a_text_has_and_what_is_known() -> None:
    assert RANKING.had(["sleep", "and", "sleeping", "horses"], "dogs") == {"sleep"}
    assert RANKING.knows("barking") and not RANKING.knows("horses")


def test_no_texts_have_no_scores() -> None:
    assert Ranking({}).scores(["fish"]) == {}
