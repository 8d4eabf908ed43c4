"""A problem in our words becomes a finding with its remedy."""

import pytest

from slack_bot.observe.findings import DiagnosisState, split


@pytest.mark.parametrize(
    ("problem", "text", "remedy"),
    [
        ("X is not set: copy it from there", "X is not set", "copy it from there"),
        ("There is no store at s: x; start the bot", "There is no store at s: x", "start the bot"),
        ("The disk is full.", "The disk is full.", ""),
    ],
)
def test_the_remedy_stands_behind_a_semicolon_or_else_a_colon(problem: str, text: str, remedy: str) -> None:
    found = split("store", problem)
    assert (found.check, found.state, found.text, found.remedy) == (
        "store",
        DiagnosisState.FAILED,
        text,
        remedy,
    )
