"""Actions are frozen orders, each with its reason."""

from __future__ import annotations

from dataclasses import fields
from typing import get_args

import pytest

from slack_bot.turn.actions import Action, CardState, TaskCard


@pytest.mark.parametrize("kind", get_args(Action))
def test_every_action_carries_its_reason_last(kind: type) -> None:
    assert fields(kind)[-1].name == "reason"
    assert kind.__slots__


def test_a_card_begins_without_details() -> None:
    assert TaskCard("a", "Search", CardState.RUNNING) == TaskCard("a", "Search", CardState.RUNNING, "", "")
    assert [str(state) for state in CardState] == ["in_progress", "complete", "error"]
