"""Captures from files, for the verbs that take any kind of them."""

from __future__ import annotations

from itertools import accumulate
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import cast

from ..a2a.wire.sse import SseReader
from ..errors import UnreadableInput
from ..testing.tape.items import INTERRUPTED, Moment
from ..testing.tape.tape import LONG, Recording, Tape, read_tape
from .capture.tape_writer import moment_of_body, moments_of
from .replay.scenario import Scenario

_NO_LIMIT = 1 << 40


def open_capture(path: Path, key: str | None = None, around: Scenario | None = None) -> Tape | Recording:
    """The capture at `path`, to be replayed in `around`. Raises UnreadableInput.

    It may be without events where the agent fails in that scenario.
    """
    try:
        with path.open("rb") as file:
            is_long = path.stat().st_size >= LONG
            # a mapped file looks like its bytes
            data = cast(bytes, mmap(file.fileno(), 0, access=ACCESS_READ)) if is_long else file.read()
    except OSError as error:
        raise UnreadableInput(f"{path}: {error.strerror or 'cannot be read'}") from error
    fails = around is not None and around.agent_error is not None
    return read_tape(data, str(path), key, may_be_empty=fails)


def read_bytes(path: Path) -> bytes:
    """All of a file. Raises UnreadableInput."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise UnreadableInput(f"{path}: {error.strerror or 'cannot be read'}") from error


def taped(capture: Tape | Recording) -> Tape:
    """A recording as the tape of the same stream."""
    if isinstance(capture, Tape):
        return capture
    ends = [Moment(capture.ended, end="cut" if capture.cut else "closed")]
    ends += [Moment(capture.ended, comment=INTERRUPTED)] if capture.interrupted else []
    kind, pause = capture.headers.get("content-type", ""), capture.headers.get("retry-after", "")
    if "event-stream" not in kind or not 200 <= capture.status < 300:
        seconds = int(pause) if pause.isascii() and pause.isdigit() else None
        said = moment_of_body(capture.ended, capture.status, capture.body, kind, seconds)
        return Tape({}, (said, *ends))
    splitter, moments = SseReader(_NO_LIMIT), list[Moment]()
    times = accumulate((t for t, _ in capture.chunks), max)
    for t, (_, data) in zip(times, capture.chunks, strict=True):
        moments += (moment for piece in splitter.feed(data) for moment in moments_of(t, piece))
    moments += (moment for piece in splitter.end() for moment in moments_of(capture.ended, piece))
    return Tape({}, (*moments, *ends))
