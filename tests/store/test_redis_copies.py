"""What a process last wrote of its turns is kept as long as Redis may lose it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from slack_bot.store.redis_copies import TurnCopies
from slack_bot.turn.progress import Stage

from .contract import THREAD, turn

QUESTION = turn("1.0", 1000.0)
OTHER = turn("2.0", 1000.0, thread="9.0")
LONG = 100  # renewals


def test_a_turn_under_way_is_kept_with_its_last_state_and_lease() -> None:
    copies = TurnCopies()
    copies.accept(QUESTION)
    copies.claim(QUESTION, 7)
    asked = replace(QUESTION, stage=Stage.SENT)
    first, last = copies.save(QUESTION, 7), copies.save(asked, 7)
    for _ in range(LONG):
        copies.renewed()
    (copy,) = copies
    assert (copy.turn, copy.fence, copy.number) == (asked, 7, last) and last > first


@pytest.mark.parametrize("fence", [0, 3])
def test_an_end_is_kept_for_a_while_with_its_lease(fence: int) -> None:
    """Also where the lease was given back before the end was written."""
    copies, ended = TurnCopies(), replace(QUESTION, ended_at=2000.0)
    copies.claim(QUESTION, 3)
    copies.save(ended, fence)
    copies.renewed()
    assert [(each.turn, each.fence) for each in copies] == [(ended, 3)]
    for _ in range(LONG):
        copies.renewed()
    assert list(copies) == []


def test_what_was_accepted_and_nobody_began_is_kept_for_a_while() -> None:
    """Another process may find it, and nobody says so: it must not come back after its end."""
    copies = TurnCopies()
    copies.accept(QUESTION)
    copies.save(replace(QUESTION, agent="other"), 0)
    copies.renewed()
    assert [each.turn.agent for each in copies] == ["other"]
    for _ in range(LONG):
        copies.renewed()
    assert list(copies) == []


def test_a_turn_of_another_process_is_not_kept() -> None:
    """It writes that a question was edited, and nothing else of it."""
    copies = TurnCopies()
    assert copies.save(QUESTION, 0) < copies.save(QUESTION, 0)
    assert list(copies) == []


def test_what_was_withdrawn_is_kept_as_that_for_a_while() -> None:
    copies = TurnCopies()
    copies.claim(QUESTION, 3)
    copies.withdraw(QUESTION.key)
    copies.renewed()
    assert [(each.fence, each.is_withdrawn) for each in copies] == [(0, True)]
    for _ in range(LONG):
        copies.renewed()
    assert list(copies) == []


def test_what_others_have_is_kept_under_no_lease_and_what_they_wrote_not_at_all() -> None:
    copies = TurnCopies()
    copies.claim(QUESTION, 3)
    copies.claim(OTHER, 4)
    copies.pass_on_thread(THREAD)
    assert [(each.turn.key, each.fence) for each in copies] == [(QUESTION.key, 0), (OTHER.key, 4)]
    copies.forget(OTHER.key, "unknown")
    copies.pass_on("unknown")
    copies.withdraw("unknown")
    assert [each.turn.key for each in copies] == [QUESTION.key]
    for _ in range(LONG):
        copies.renewed()
    assert list(copies) == []
