"""`slack-bot replay`, whichever of its faces is wanted: the thread, a comparison, a smaller tape."""

from __future__ import annotations

import argparse
import math

from ...errors import UnreadableInput


def main(args: argparse.Namespace) -> int:
    """The verb. Returns the exit status; raises UnreadableInput for options that make no sense together."""
    check(args)
    if args.shrink:
        from . import shrink

        return shrink.main(args)
    if args.golden:
        from . import golden_files

        return golden_files.main(args)
    from . import replay

    return replay.main(args)


def check(args: argparse.Namespace) -> None:
    """Raises UnreadableInput for options that make no sense together: half would be ignored in silence."""
    wrong = {
        "--golden prints its own report; leave --json and --play out": args.golden
        and (args.json or args.play),
        "--update belongs to --golden DIR, without --shrink": args.update
        and (args.shrink or not args.golden),
        "--output is where --shrink writes; leave it out": args.output and not args.shrink,
        "--shrink wants -o FILE for the smaller tape": args.shrink and not args.output,
        "--shrink takes one FILE": args.shrink and len(args.files) > 1,
        "--speed is for looking on; leave it out with --golden and --shrink": args.speed is not None
        and (args.golden or args.shrink),
        "--speed must be above 0": args.speed is not None and not 0 < args.speed < math.inf,
    }
    if (mistake := next((said for said, holds in wrong.items() if holds), None)) is not None:
        raise UnreadableInput(mistake)
