"""What a process last wrote of its turns is kept as long as Redis may lose it."""

from __future__ import annotations

from dataclasses import replace

from slack_bot.store.redis_copies import TurnCopies
from slack_bot.turn.progress import Stage

from .contract import THREAD, turn

QUESTION = turn("1.0", 1000.0)
OTHER = turn("2.0", 1000.0, thread="9.0")
LONG = 100  # renewals


def test_a_turn_under_way_is_kept_with_its_last_state_and_lease() -> None:
    copies = TurnCopies()
    first = copies.write(QUESTION)
    copies.write(QUESTION, fence=7)
    asked = replace(QUESTION, stage=Stage.SENT)
    last = copies.write(asked)  # its lease was given back meanwhile
    for _ in range(LONG):
        copies.renewed()
    (copy,) = copies
    assert (copy.turn, copy.fence, copy.number > first, copy.number) == (asked, 7, True, last)


def test_what_has_ended_was_passed_on_or_withdrawn_is_kept_for_a_while() -> None:
    copies = TurnCopies()
    for each in (QUESTION, OTHER):
        copies.write(each, fence=3)
    copies.write(replace(QUESTION, ended_at=2000.0), fence=3)
    copies.withdraw(OTHER.key)
    copies.renewed()
    assert {(each.turn.key, each.fence, each.is_withdrawn) for each in copies} == {
        (QUESTION.key, 3, False),
        (OTHER.key, 0, True),
    }
    for _ in range(LONG):
        copies.renewed()
    assert list(copies) == []


def test_what_others_have_is_written_under_no_lease_and_what_they_wrote_not_at_all() -> None:
    copies = TurnCopies()
    copies.write(QUESTION, fence=3)
    copies.write(OTHER, fence=4)
    copies.pass_on_thread(THREAD)
    assert [(each.turn.key, each.fence) for each in copies] == [(QUESTION.key, 0), (OTHER.key, 4)]
    copies.forget(OTHER.key, "unknown")
    copies.pass_on("unknown")
    copies.withdraw("unknown")
    assert [each.turn.key for each in copies] == [QUESTION.key]
