"""Words that are misspelt."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from slack_bot.playground.reference.spelling import spelled

KNOWN: Mapping[str, int] = {
    **{"how": 200, "much": 40, "does": 180, "cost": 30, "variables": 20, "agents": 60, "multiple": 9},
    **{"agent": 90, "agony": 20, "dose": 4, "four": 8, "for": 150, "setting": 90, "settings": 100},
}


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("Hwo mcuh dose it csot?", "how much does it cost?"),
        ("mulitple varibles", "multiple variables"),
        ("four seting, settin, settings", "four setting, setting, settings"),
        ("aHow many?", "aHow many?"),
        ("agnets über x_y 401", "agents über x_y 401"),
        ("hw mch does an agnt cst, pls?", "how mch does an agent cst, please?"),
        ("were r ur msgs", "were are your messages"),
        ("l'r, x_r, r-2", "l'r, x_r, r-2"),
        ("", ""),
    ],
)
def test_a_word_that_is_hardly_known_is_the_known_one_beside_it(text: str, meant: str) -> None:
    assert spelled(text, lambda word: KNOWN.get(word, 0)) == meant


def test_a_plural_is_no_mistake() -> None:
    assert spelled("variable", lambda word: KNOWN.get(word, 0)) == "variable"
