"""Captures of any kind, from files."""

from __future__ import annotations

from pathlib import Path

import pytest

from slack_bot.errors import UnreadableInput
from slack_bot.testing.tape.recording import Recording
from slack_bot.testing.tape.tape import Tape
from slack_bot.tools.open_capture import open_capture, read_bytes, taped
from slack_bot.tools.replay.replay import replay
from slack_bot.tools.replay.scenario import make_scenario

CAPTURES = Path(__file__).parents[1] / "captures"
SSE = {"content-type": "text/event-stream"}


@pytest.mark.parametrize("name", ["a2asdk130_chunks", "a2asdk0326_raise"])
def test_a_recording_as_a_tape_gives_the_same_thread(name: str) -> None:
    capture = open_capture(CAPTURES / f"{name}.txt")
    assert isinstance(capture, Recording)
    assert replay(taped(capture))["thread"] == replay(capture)["thread"]


def test_a_capture_without_events_is_one_where_the_agent_fails(tmp_path: Path) -> None:
    file = tmp_path / "empty.json"
    file.write_text("[]", "utf-8")
    around = make_scenario({"agent_error": {"after": 0, "message": "boom"}})
    assert isinstance(open_capture(file, around=around), Tape)
    for other in (None, make_scenario({"cut_after": 0})):
        with pytest.raises(UnreadableInput, match="there are no events in it"):
            open_capture(file, around=other)


def test_times_follow_the_chunks_and_the_end_is_kept() -> None:
    chunks = ((0.5, b'data: {"kind": "task"'), (1.0, b', "id": "t"}\n\n: ping\n'), (2.0, b"data: half"))
    tape = taped(Recording(headers=SSE, chunks=chunks, cut=True, ended=2.5))
    assert [(moment.t, moment.comment, moment.raw, moment.end) for moment in tape.moments] == [
        (1.0, None, None, None),
        (1.0, "ping", None, None),
        (2.5, None, "data: half", None),
        (2.5, None, None, "cut"),
    ]


def test_a_refusal_becomes_an_error_that_says_so() -> None:
    tape = taped(Recording(status=503, headers={"content-type": "text/html"}, chunks=((0.0, b"down"),)))
    assert [moment.error for moment in tape.moments] == [{"message": "down", "http_status": 503}, None]
    assert taped(tape) is tape
    assert isinstance(tape, Tape)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput, match="nothing: No such file"):
        read_bytes(tmp_path / "nothing")
    assert read_bytes(CAPTURES / "a2asdk130_chunks.txt")
    with pytest.raises(UnreadableInput, match="nothing: No such file"):
        open_capture(tmp_path / "nothing")
