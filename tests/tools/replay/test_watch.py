"""A replay in real time says how it goes, on a terminal only."""

from __future__ import annotations

import io

from slack_bot.tools.replay.watch import WatchedLog


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_is_told_what_can_be_read_by_now() -> None:
    out = Terminal()
    log = WatchedLog(out)
    log.look(10.0, "One")
    log.look(12.5, "One two")
    assert "0.0 s  3 characters can be read  ...One" in out.getvalue()
    assert "2.5 s  7 characters can be read  ...One two" in out.getvalue()
    log.end()
    assert out.getvalue().endswith(" \r")
    assert [change.chars for change in log.turns[0].changes] == [3, 7]


def test_a_file_is_told_nothing() -> None:
    out = io.StringIO()
    log = WatchedLog(out)
    log.look(10.0, "One")
    log.end()
    assert out.getvalue() == ""
