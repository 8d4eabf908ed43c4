"""`slack-bot compare`: two captures, or two live agents asked the same question, side by side.

Both go through the whole bot as `replay` does it, so that what the reader would have seen is compared and not
only what was sent. Live agents are asked one after the other, so that neither slows the other down.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

from ..errors import UnreadableInput
from ..settings.load import load
from ..testing.tape.tape import Recording, Tape, read_tape
from .capture.agent_address import check_there, is_address, settings_for
from .capture.capture import CaptureRequest, capture
from .capture.progress import CaptureProgress
from .comparison import compared
from .interruption import told_if_interrupted
from .open_capture import open_capture, taped
from .output_file import MemoryOutput, OutputFile
from .replay.replay import accept_any_script, tell_assumed
from .replay.scenario import Scenario
from .stream_profile import Profile, profile
from .trace.trace import trace_capture


def main(args: argparse.Namespace) -> int:
    """The verb. `args`: one, two, text, output, key. Returns the exit status.

    Raises UnreadableInput for wrong usage and what cannot be read or written, AgentError for an agent that
    cannot be asked.
    """
    check_there(args.one, args.two)
    if any(map(is_address, (args.one, args.two))) and not (args.text or "").strip():
        raise UnreadableInput("live agents want a question: slack-bot compare URL URL TEXT")
    if args.text is not None and not any(map(is_address, (args.one, args.two))):
        raise UnreadableInput("a question is for live agents; two files are compared as they are")
    accept_any_script()
    out = OutputFile(args.output, [args.one, args.two]) if args.output else None
    with told_if_interrupted(lambda: "nothing was compared"):
        captures = [
            _live(each, args.text, argument) if is_address(each) else _read(each, args.key)
            for argument, each in (("A", args.one), ("B", args.two))
        ]
    one, two = (_profile(capture, name) for capture, name in zip(captures, (args.one, args.two), strict=True))
    if out is None:
        sys.stdout.write(compared(one, two))
        return 0
    with out:
        out.text(compared(one, two))
    sys.stderr.write(f"-> {out.path}\n")
    return 0


def _profile(capture: Tape | Recording, name: str) -> Profile:
    short = name if is_address(name) else Path(name).name
    line, result = trace_capture(capture, short, Scenario())
    tell_assumed(name, capture, result)
    return profile(taped(capture), line, result)


def _read(path: str, key: str | None) -> Tape | Recording:
    return open_capture(Path(path), key)


def _live(url: str, text: str, argument: str) -> Tape | Recording:
    given = load()
    settings, note = settings_for(url, given)
    progress = CaptureProgress()
    if note:
        progress.say(f"note: {note}")
    memory = MemoryOutput(url)
    asyncio.run(
        capture(CaptureRequest((text,), argument=argument), settings, memory, progress, also=(given,))
    )
    return read_tape(memory.data, url)
