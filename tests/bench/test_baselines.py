"""The two other bots are real ones: with nobody else about, they answer."""

from __future__ import annotations

import pytest

from .load import BOTS, crowded
from .load_model import Load


@pytest.mark.parametrize("bot", sorted(BOTS))
def test_one_asker_gets_the_whole_answer_live(bot: str) -> None:
    report, broken = crowded(Load(1, 200), BOTS[bot])
    assert (report.whole, broken, report.left_open, report.refused) == (1, [], 0, 0)
    assert max(report.lags) < 3.5, "it shows while it is written"


def test_a_bot_on_chat_stream_loses_the_answer_of_a_refused_call() -> None:
    report, _ = crowded(Load(25, 60), BOTS["chat_stream"])
    assert report.whole < 25
