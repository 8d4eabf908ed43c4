"""One line that is redrawn, never longer than the terminal."""

from __future__ import annotations

import io

import pytest

from slack_bot.tools.live_line import LiveLine


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True

    def lines(self) -> list[str]:
        """What was shown, one after the other."""
        text = self.getvalue().replace("\x1b[?25l", "").replace("\x1b[?25h", "")
        return text.replace("\r", "").split("\x1b[2K")


def test_a_line_is_cut_where_the_terminal_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    out = Terminal()
    line = LiveLine(out)
    line.show("x" * 100)
    line.show("\u4e09" * 100)
    line.wipe()
    line.wipe()
    assert out.lines()[:2] == ["x" * 39 + "…", "\u4e09" * 19 + " …"]
    assert out.lines()[-1] == "", "the line is gone"


def test_a_line_moves_no_cursor_of_its_own() -> None:
    out = Terminal()
    line = LiveLine(out)
    line.show("twelve chars")
    line.show("two\x1b[2J")
    assert out.lines() == ["twelve chars", "two [2J"]
    line.wipe()
    assert out.getvalue().count("\x1b[?25l") == out.getvalue().count("\x1b[?25h") == 1


def test_elsewhere_there_is_nothing() -> None:
    out = io.StringIO()
    line = LiveLine(out)
    line.show("x")
    line.wipe()
    assert (out.getvalue(), line.is_terminal) == ("", False)
