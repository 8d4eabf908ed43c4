"""What the health of an agent says after a refusal."""

from __future__ import annotations

import pytest

from slack_bot.agents.reachability import Reachability
from slack_bot.errors import AgentRefused, AgentUnreachable
from slack_bot.observe.health import Health


@pytest.mark.parametrize(
    ("is_for_people", "safe"), [(False, "I cannot log in"), (True, "does not let you in")]
)
def test_a_refused_person_says_nothing_of_the_others(is_for_people: bool, safe: str) -> None:
    seen = Reachability(Health(), "ops", is_for_people=is_for_people)
    seen.question_failed(error := AgentRefused("no", status=403))
    assert safe in error.safe
    assert seen.is_locked_out == error.is_lasting == (not is_for_people)
    seen.question_was_taken()
    assert not seen.is_locked_out
    seen.question_failed(AgentUnreachable("away"))
    assert not seen.is_locked_out
