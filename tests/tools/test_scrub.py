"""`slack-bot scrub`."""

from __future__ import annotations

import argparse
import tracemalloc
from pathlib import Path

import pytest

from slack_bot.errors import UnreadableInput
from slack_bot.testing.tape.items import Moment
from slack_bot.testing.tape.tape import Tape, read_tape, write_tape
from slack_bot.tools.scrub import main

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


def test_a_long_tape_is_not_held_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("slack_bot.testing.tape.tape.LONG", 1)
    monkeypatch.setattr("slack_bot.tools.open_capture.LONG", 1)
    event = {"kind": "artifact-update", "artifact": {"artifactId": "a", "parts": [{"text": "word " * 100}]}}
    tape, out = tmp_path / "tape", tmp_path / "out"
    tape.write_text(write_tape(Tape({}, [Moment(float(n), event=event) for n in range(1000)])))
    tracemalloc.start()
    try:
        assert main(argparse.Namespace(file=str(tape), output=str(out), key=None)) == 0
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(out.read_text().splitlines()) == 1001
    assert peak < tape.stat().st_size / 3


def test_a_tape_is_not_written_over_itself(tmp_path: Path) -> None:
    tape = tmp_path / "tape"
    tape.write_text("kept")
    with pytest.raises(UnreadableInput, match="this file is read"):
        main(argparse.Namespace(file=str(tape), output=str(tape), key=None))
    assert tape.read_text() == "kept"
