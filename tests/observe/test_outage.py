"""An outage is two lines in the log."""

from __future__ import annotations

import pytest

from slack_bot.clock import Clock
from slack_bot.observe.outage import Outage


def test_an_outage_is_said_once_and_its_end_once_though_calls_pass_in_between(
    caplog: pytest.LogCaptureFixture,
) -> None:
    now = 100.0
    outage = Outage(Clock(monotonic=lambda: now, wall=lambda: now))
    for passes in (True, False, False, True, False):
        outage.passed() if passes else outage.failed("refused")
        now += 4.0
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    assert "does not answer (refused): new questions are not acknowledged" in caplog.text
    now += 1.0
    outage.passed()
    outage.passed()
    assert [record.levelname for record in caplog.records] == ["ERROR", "WARNING"]
    assert "answers again, after 17 s" in caplog.text
    outage.failed("timeout")
    assert len(caplog.records) == 3
