"""The load bench runs, prints its table, and its figures are repeatable. What they should be: tests/e2e."""

from __future__ import annotations

import pytest

from . import load
from .load import BOTS, crowded, main
from .load_model import Load


def test_one_row_with_all_bots(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "LOADS", (Load(2, 30),))
    assert main([]) == 0
    table = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    assert len(table) == 2 + len(BOTS)
    assert {line.count("|") for line in table} == {len(load.HEAD) + 1}
    assert [line.split(" | ")[2] for line in table[2:]] == ["2 of 2"] * 3


def test_a_row_that_is_not_whole_ends_badly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "LOADS", (Load(25, 10),))
    monkeypatch.setattr(load, "BOTS", {"slack_bot": BOTS["line ends"]})
    assert main(["--row", "1"]) == 1


@pytest.mark.parametrize("bot", sorted(BOTS))
def test_the_same_seed_gives_the_same_figures(bot: str) -> None:
    few = Load(4, 60, within=2, failing=0.2)
    assert crowded(few, BOTS[bot], 3) == crowded(few, BOTS[bot], 3)
