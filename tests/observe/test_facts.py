"""Watchers are told every fact, in order, all of them."""

from __future__ import annotations

from slack_bot.observe.facts import Fact, Observers, TurnStarted

OPENED = TurnStarted(0.0, "T:C:1", "U1", "C1", "1.1", "hello")


def test_all_watchers_are_told() -> None:
    one: list[Fact] = []
    two: list[Fact] = []
    observers = Observers(one.append)
    observers(OPENED)
    observers.add(two.append)
    observers(OPENED)
    observers.remove(two.append)
    observers(OPENED)
    assert (len(one), len(two)) == (3, 1)
