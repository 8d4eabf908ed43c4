"""`slack-bot scrub`: a capture of any kind becomes a tape that may be given away."""

from __future__ import annotations

import argparse
from pathlib import Path

from .opening import open_capture, taped
from .outfile import OutFile
from .scrubbing import scrubbed
from .tape import write_tape


def main(args: argparse.Namespace) -> int:
    """The verb. `args`: file, output, key. Returns the exit status; raises UnreadableInput."""
    out = OutFile(args.output, [args.file])
    tape = scrubbed(taped(open_capture(Path(args.file), args.key)))
    with out as file:
        file.text(write_tape(tape))
    return 0
