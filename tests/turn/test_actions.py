"""Actions are frozen orders, each with its reason."""

from __future__ import annotations

from dataclasses import fields
from typing import get_args

import pytest

from slack_bot.text.sanitize import LONGEST
from slack_bot.turn.actions import Action, CardState, TaskCard


@pytest.mark.parametrize("kind", get_args(Action))
def test_every_action_carries_its_reason_last(kind: type) -> None:
    assert fields(kind)[-1].name == "reason"
    assert kind.__slots__


def test_a_card_begins_without_details() -> None:
    assert TaskCard("a", "Search", CardState.RUNNING) == TaskCard("a", "Search", CardState.RUNNING, "")
    assert [str(state) for state in CardState] == ["in_progress", "complete", "error"]


def test_a_newer_card_replaces_an_older_one_and_their_details_add_up() -> None:
    card = TaskCard("a", "A", CardState.RUNNING, details="one")
    newer = TaskCard("a", "A!", CardState.DONE, details="two")
    assert card.then(newer) == TaskCard("a", "A!", CardState.DONE, "one\ntwo")


def test_a_card_that_changes_thousands_of_times_holds_no_more_than_a_call_takes() -> None:
    change = TaskCard("a", "Search", CardState.RUNNING, details="one more line\n")
    card = change
    for _ in range(5_000):
        card = card.then(change)
    assert LONGEST < len(card.details) < LONGEST + 20
