"""`slack-bot scrub`."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from slack_bot.errors import UnreadableInput
from slack_bot.tools.scrub import main
from slack_bot.tools.tape import Tape, read_tape

CAPTURES = Path(__file__).parents[1] / "captures"


def test_a_capture_becomes_a_tape_to_give_away(tmp_path: Path) -> None:
    path = tmp_path / "tape"
    args = argparse.Namespace(file=str(CAPTURES / "a2asdk130_chunks.txt"), output=str(path), key=None)
    assert main(args) == 0
    assert isinstance(read_tape(path.read_bytes(), "tape"), Tape)


def test_what_cannot_be_read_or_written_is_said(tmp_path: Path) -> None:
    source = str(CAPTURES / "a2asdk130_chunks.txt")
    for file, output in ((str(tmp_path / "no"), "x"), (source, str(tmp_path / "no" / "x"))):
        with pytest.raises(UnreadableInput):
            main(argparse.Namespace(file=file, output=output, key=None))
