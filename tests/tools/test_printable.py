"""What an agent sends does not control the terminal."""

from __future__ import annotations

from slack_bot.tools.printable import printable


def test_control_characters_become_spaces() -> None:
    assert printable("a\x1b[2J\nb\r\u202ec \u4e09") == "a [2J b  c \u4e09"
