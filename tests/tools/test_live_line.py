"""One line that is redrawn, never longer than the terminal."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import struct
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from slack_bot.tools.live_line import LiveLine


@contextmanager
def terminal(columns: int) -> Iterator[tuple[TextIO, int]]:
    """A terminal of so many columns to write to, and the other side of it."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    try:
        with open(theirs, "w", encoding="utf-8", closefd=False) as out:
            yield out, ours
    finally:
        os.close(ours)
        os.close(theirs)


def read(out: TextIO, ours: int) -> list[str]:
    """What came out on the other side, a piece for each return to the line's beginning."""
    out.write("END")
    out.flush()
    found = b""
    while not found.endswith(b"END"):
        found += os.read(ours, 10_000)
    return found.decode().removesuffix("END").split("\r")


def test_a_line_is_cut_where_the_terminal_ends() -> None:
    with terminal(40) as (out, ours):
        line = LiveLine(out)
        line.show("x" * 100)
        line.show("\u4e09" * 100)
        line.wipe()
        line.wipe()
        shown = read(out, ours)
    assert shown == ["", "x" * 38 + "…", "\u4e09" * 19 + "…", " " * 39, ""]


def test_a_shorter_line_takes_the_longer_one_back() -> None:
    with terminal(20) as (out, ours):
        line = LiveLine(out)
        line.show("twelve chars")
        line.show("two\x1b[2J")
        shown = read(out, ours)
    assert shown == ["", "twelve chars".ljust(19), "two [2J".ljust(19)]


class Odd(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_that_does_not_say_how_wide_it_is() -> None:
    out = Odd()
    LiveLine(out).show("x" * 200)
    assert len(out.getvalue()) == 80


def test_elsewhere_there_is_nothing() -> None:
    out = io.StringIO()
    line = LiveLine(out)
    line.show("x")
    line.wipe()
    assert (out.getvalue(), line.is_terminal) == ("", False)
