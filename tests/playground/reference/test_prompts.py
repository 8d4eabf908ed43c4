import json

import pytest

from slack_bot.playground.reference.model import ASK, PLAN, RESPONSE, Mode, Prompt
from slack_bot.playground.reference.prompts import opening, system_prompt, tools
from slack_bot.playground.reference.toolbox import FETCH, SEARCH


@pytest.mark.parametrize(
    ("mode", "marked", "last"),
    [(Mode.HYBRID, True, ASK), (Mode.MARKER, True, ASK), (Mode.STRUCTURED, False, RESPONSE)],
)
def test_a_model_is_told_the_way_of_its_mode(mode: Mode, marked: bool, last: str) -> None:
    assert ("[FINAL ANSWER]" in system_prompt(Prompt("q", mode))) == marked
    assert [each["function"]["name"] for each in tools(mode)] == [SEARCH, FETCH, PLAN, last]
    assert json.dumps(tools(mode))


def test_a_skill_is_told_too() -> None:
    bare, skilled = Prompt("q", Mode.MARKER), Prompt("q", Mode.MARKER, skills=("deep-research",))
    assert system_prompt(skilled).startswith(system_prompt(bare))
    assert "several sides" in system_prompt(skilled)


def test_a_reply_comes_behind_what_was_asked() -> None:
    assert [each["role"] for each in opening(Prompt("q", Mode.MARKER))] == ["system", "user"]
    _, *rest = opening(Prompt("deploy", Mode.MARKER, "staging", "Which?"))
    assert [(each["role"], each["content"]) for each in rest] == [
        ("user", "deploy"),
        ("assistant", "Which?"),
        ("user", "staging"),
    ]
