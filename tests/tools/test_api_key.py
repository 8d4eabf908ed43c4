"""`slack-bot api-key`."""

from __future__ import annotations

import io
import sys
import tomllib

import pytest

from slack_bot.cli import main
from slack_bot.features.api.keys import hash_of


def test_the_key_is_shown_once_and_its_hash_is_for_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["api-key", "ci"]) == 0
    told = capsys.readouterr()
    key = told.out.strip()
    assert key.startswith("sbk_") and "[keys.ci]" in told.err
    assert "1. The key went to standard output" in told.err
    assert hash_of(key) in told.err and key not in told.err


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_who_reads_it_on_a_terminal_sees_which_part_is_what(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setattr(sys, "stderr", screen)
    assert main(["api-key", "ci"]) == 0
    about_key, key, empty, about_table, name, line, channels = screen.getvalue().splitlines()
    assert about_key.startswith("# 1. The key: for the program that calls.")
    assert (key[:4], empty, name) == ("sbk_", "", "[keys.ci]")
    assert about_table.startswith("# 2. The table: for the file that SLACK_BOT_CONFIG names.")
    assert line == f'hash = "{hash_of(key)}"' and channels.startswith("channels = []")
    assert tomllib.loads("\n".join((about_table, name, line, channels)))["keys"]["ci"]["channels"] == []


def test_a_name_that_the_file_would_refuse_gets_no_key(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["api-key", "CI!"]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith(
        "slack-bot api-key: 'CI!' cannot be the name of a key: a name has small letters,"
    )
