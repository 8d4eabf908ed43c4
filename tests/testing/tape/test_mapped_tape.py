"""The moments of a long tape, read when they are asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from slack_bot.errors import UnreadableInput
from slack_bot.testing.agent.playback import Playback
from slack_bot.testing.tape import tape as tapes
from slack_bot.testing.tape.items import Moment
from slack_bot.testing.tape.mapped_tape import MappedLines
from slack_bot.testing.tape.tape import Tape, read_tape, turns_of, write_tape
from slack_bot.tools.open_capture import open_capture
from slack_bot.tools.replay.replay import replay

FOLDER = Path(__file__).parents[3] / "docs" / "tapes"
STATUS = {"kind": "status-update", "status": {"state": "working"}}
MOMENTS = (
    Moment(0.0, event=STATUS),
    Moment(0.5, comment="ping"),
    Moment(0.5, question="and then?"),
    Moment(1.0, event={**STATUS, "x": "\u2028ü"}),
    Moment(2.0, end="cut"),
)


@pytest.fixture(autouse=True)
def everything_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tapes, "LONG", 1)
    monkeypatch.setattr("slack_bot.tools.open_capture.LONG", 1)


def lines(*rows: Any) -> bytes:
    head = json.dumps({"format": "slack-bot-tape", "version": 1})
    return "\n".join([head, *(row if isinstance(row, str) else json.dumps(row) for row in rows)]).encode()


def test_they_are_the_moments_that_were_written() -> None:
    tape = read_tape(write_tape(Tape({"question": "q"}, MOMENTS)), "f")
    assert isinstance(tape, Tape) and isinstance(tape.moments, MappedLines)
    found = tape.moments
    assert tuple(found) == MOMENTS
    assert found == MOMENTS and found != MOMENTS[1:] and found != 5
    assert (found[1], found[-1], found[1:3], len(found)) == (MOMENTS[1], MOMENTS[-1], MOMENTS[1:3], 5)
    assert (list(found.events), found.has_questions, found.time(3)) == ([0, 3], True, 1.0)
    assert hash(found) == hash(read_tape(write_tape(Tape({}, MOMENTS)), "f").moments)  # type: ignore[union-attr]
    assert tape.head["question"] == "q"
    with pytest.raises(IndexError):
        found[5]


def test_blank_lines_and_times_that_step_back() -> None:
    found = MappedLines(lines({"t": 2, "event": STATUS}, "", " ", {"t": 1, "event": STATUS}), "f")
    assert [moment.t for moment in found] == [2.0, 2.0]


@pytest.mark.parametrize(
    "data,why",
    [
        (lines({"t": 1, "event": STATUS}, "{oops"), "f, line 3: not valid JSON"),
        (lines({"t": 1, "event": STATUS}, "[1]"), "f, line 3: an event must be a JSON object"),
        (lines({"t": 1, "event": STATUS}) + b"\n\xff\xff", "f, line 3: not UTF-8"),
        (lines(), "there are no events"),
        (b'{"format": "slack-bot-tape", "version": 9}\n{}', "version 9 is not known"),
    ],
)
def test_what_is_wrong_is_said_at_the_beginning(data: bytes, why: str) -> None:
    with pytest.raises(UnreadableInput, match=why):
        read_tape(data, "f")


def test_other_long_files_are_read_as_ever() -> None:
    for text in (json.dumps([STATUS]), json.dumps(STATUS) + "\n" + json.dumps(STATUS), "data: {}\n\n"):
        found = read_tape(text, "f")
        assert not isinstance(getattr(found, "moments", ()), MappedLines)


@pytest.mark.parametrize("path", sorted(FOLDER.iterdir()), ids=lambda path: path.stem)
def test_a_file_plays_as_it_does_from_memory(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long = open_capture(path)
    assert isinstance(long, Tape) and isinstance(long.moments, MappedLines)
    monkeypatch.undo()
    short = open_capture(path)
    assert isinstance(short, Tape) and isinstance(short.moments, tuple)
    assert turns_of(long) == turns_of(short)
    assert list(Playback(long, cut_after=50).later("1", 0.0)) == list(
        Playback(short, cut_after=50).later("1", 0.0)
    )
    assert Playback(long, cut_after=50, goes_on=False).task_at(99) == Playback(
        short, cut_after=50, goes_on=False
    ).task_at(99)
    assert replay(long) == replay(short)
