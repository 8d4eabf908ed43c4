"""What facts say of themselves, and who gets those of single events."""

from __future__ import annotations

import pytest

from slack_bot.observe.facts import Fact, MessageIgnored, ToAll, reference_of, wants_details, wants_events


class Brief:
    """An observer that wants no details."""

    wants_details = False

    def __call__(self, fact: Fact) -> None:
        pytest.fail("it is never called here")


class Listening(Brief):
    """One that wants the agent's events."""

    wants_events = True


def test_an_observer_gets_the_details_unless_it_does_without() -> None:
    assert wants_details([].append) and wants_events([].append)
    assert not wants_details(Brief()) and not wants_events(Brief())
    assert not wants_details(Listening()) and wants_events(Listening())
    both = ToAll(Brief(), Listening())
    assert not wants_details(both) and wants_events(both)


def test_a_message_that_is_ignored_has_a_key_of_its_own_and_a_turn_a_short_name() -> None:
    assert MessageIgnored(0.0, "U1", "C1", "1.0", "2.0", "lunch?", "why").turn == "ignored:C1:2.0"
    assert len(reference_of("T1:C1:1.0")) == 8
    assert reference_of("T1:C1:1.0") != reference_of("T1:C1:2.0")
