"""Watchers are told every fact, in order, all of them."""

from __future__ import annotations

from slack_bot.observe.facts import Fact, TurnOpened, Watchers, ignore

OPENED = TurnOpened(0.0, "T:C:1", "U1", "C1", "1.1", "hello")


def test_all_watchers_are_told() -> None:
    one: list[Fact] = []
    two: list[Fact] = []
    watchers = Watchers(one.append, ignore)
    watchers(OPENED)
    watchers.add(two.append)
    watchers(OPENED)
    watchers.remove(two.append)
    watchers(OPENED)
    assert (len(one), len(two)) == (3, 1)
