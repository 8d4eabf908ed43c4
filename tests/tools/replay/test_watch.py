"""A replay in real time says how it goes, on a terminal only."""

from __future__ import annotations

import io

from slack_bot.tools.replay.watch import Watching


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_is_told_what_can_be_read_by_now() -> None:
    out = Terminal()
    watching = Watching(out)
    watching.look(10.0, "One")
    watching.look(12.5, "One two")
    assert "0.0 s  3 characters can be read  ...One" in out.getvalue()
    assert "2.5 s  7 characters can be read  ...One two" in out.getvalue()
    watching.end()
    assert out.getvalue().endswith(" \r")
    assert [sample.chars for sample in watching.samples] == [3, 7]


def test_a_file_is_told_nothing() -> None:
    out = io.StringIO()
    watching = Watching(out)
    watching.look(10.0, "One")
    watching.end()
    assert out.getvalue() == ""
