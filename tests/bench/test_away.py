"""Agents that are away after a cut: what the bot makes of it is the truth, in every way."""

from __future__ import annotations

import pytest

from slack_bot.testing.tape.builders import answer, on_wire

from .away import KEEPS, LOSES
from .fault_run import run
from .plans import Plan
from .verdict import Truth

TEXT = "One line of it, and a second line that goes on and on."
LOST = Truth(TEXT, frozenset({"lost", "watched"}), frozenset({"lost", "watched"}))


@pytest.mark.parametrize("wire", ["0.3", "1.0"])
@pytest.mark.parametrize("way", LOSES)
def test_what_cannot_be_learned_is_told(way: str, wire: str) -> None:
    report = run(Plan(0, "away", "", on_wire(answer(TEXT), wire), LOST, cut_after=5, way=way))
    assert report.verdict.is_right, report.verdict
    assert any(seen.text.startswith("One line") for seen in report.thread)


@pytest.mark.parametrize("wire", ["0.3", "1.0"])
@pytest.mark.parametrize("way", KEEPS)
def test_what_can_be_learned_is_shown(way: str, wire: str) -> None:
    report = run(Plan(0, "away", "", on_wire(answer(TEXT), wire), Truth(TEXT), cut_after=5, way=way))
    assert report.verdict.is_right, report.verdict


def test_nobody_is_away_where_nothing_is_cut() -> None:
    for way in (*LOSES, *KEEPS):
        assert run(Plan(0, "away", "", answer(TEXT), Truth(TEXT), way=way)).verdict.is_right
