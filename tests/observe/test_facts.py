"""What facts say of themselves, and who gets those of single events."""

from __future__ import annotations

import pytest

from slack_bot.observe.facts import (
    Fact,
    MessageIgnored,
    ToAll,
    is_turn_name,
    reference_of,
    traceparent_of,
    wants_details,
    wants_events,
)


class Brief:
    """An observer that wants no details."""

    wants_details = False

    def __call__(self, fact: Fact) -> None:
        pytest.fail("it is never called here")


class Listening(Brief):
    """One that wants the agent's events."""

    wants_events = True


@pytest.mark.parametrize(
    ("text", "is_name"),
    [
        ("0123abcd", True),
        ("T1:C1:1.0", True),
        ("T1:C1:1.0:2", True),
        ("T1:C1:1.0:robot_face:U1", True),
        ("T1:C1:1.0:+1:U1:2", True),
        ("T1:C1", False),
        ("http://a:b", False),
        ("a.tape", False),
    ],
)
def test_what_names_a_turn(text: str, is_name: bool) -> None:
    assert is_turn_name(text) is is_name


def test_an_observer_gets_the_details_unless_it_does_without() -> None:
    assert wants_details([].append) and wants_events([].append)
    assert not wants_details(Brief()) and not wants_events(Brief())
    assert not wants_details(Listening()) and wants_events(Listening())
    both = ToAll(Brief(), Listening())
    assert not wants_details(both) and wants_events(both)


class Tracing(Brief):
    """One that makes traces of some turns."""

    def traceparent(self, turn: str) -> str | None:
        return f"00-{turn}" if turn == "sampled" else None


def test_requests_of_a_turn_carry_the_trace_of_the_observer_that_makes_one() -> None:
    both = ToAll(Brief(), Tracing())
    assert traceparent_of(both, "sampled") == "00-sampled"
    assert traceparent_of(both, "other") is traceparent_of(Brief(), "sampled") is None


def test_an_observer_that_is_added_gets_the_facts_from_then_on() -> None:
    first, second = list[Fact](), list[Fact]()
    observers, facts = ToAll(first.append), [MessageIgnored(0.0, "U1", "C1", "1.0", "2.0", "x", "y")] * 2
    observers(facts[0])
    observers.add(second.append)
    observers(facts[1])
    assert (len(first), len(second)) == (2, 1)


def test_a_message_that_is_ignored_has_a_key_of_its_own_and_a_turn_a_short_name() -> None:
    assert MessageIgnored(0.0, "U1", "C1", "1.0", "2.0", "lunch?", "why").turn == "ignored:C1:2.0"
    assert len(reference_of("T1:C1:1.0")) == 8
    assert reference_of("T1:C1:1.0") != reference_of("T1:C1:2.0")
