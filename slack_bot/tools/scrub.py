"""`slack-bot scrub`: a capture of any kind becomes a tape that may be given away."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..testing.tape.tape import tape_lines
from .interruption import told_if_interrupted
from .open_capture import open_capture, taped
from .output_file import OutputFile
from .scrubber import scrubbed


def main(args: argparse.Namespace) -> int:
    """The verb. `args`: file, output, key. Returns the exit status; raises UnreadableInput."""
    out = OutputFile(args.output, [args.file])
    head, moments = scrubbed(taped(open_capture(Path(args.file), args.key)))
    with out as file, told_if_interrupted(lambda: f"what was done until then is in {args.output}"):
        for line in tape_lines(head, moments):
            file.text(line)
    return 0
