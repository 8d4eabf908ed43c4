"""`slack-bot api-key`: a new key for the HTTP API, and the table for the file, which has only its hash.

Who reads it gets both, each below a line that says what it is. Who pipes it gets the key alone on stdout, and
all else on stderr.
"""

import argparse
import sys

from ..errors import UnreadableInput
from ..features.api.keys import hash_of, new_key
from ..settings.tables import NAME, NAMES

_FOR_PROGRAM = "# 1. The key: for the program that calls. It is shown only now, so keep it there.\n"
_PIPED = "# 1. The key went to standard output, for the program that calls. It is shown only now.\n"
_TABLE = """
# 2. The table: for the file that SLACK_BOT_CONFIG names. It has the hash, and not the key.
[keys.{}]
hash = "{}"
channels = []    # ids of the channels into which it may write; "*": all
"""


def main(args: argparse.Namespace) -> int:
    """Print both: the key on stdout, the table on stderr. Raises UnreadableInput for a wrong name."""
    if not NAME.match(args.key):
        raise UnreadableInput(f"{args.key!r} cannot be the name of a key: {NAMES}")
    key = new_key()
    sys.stderr.write(_FOR_PROGRAM if sys.stdout.isatty() else _PIPED)
    sys.stderr.flush()
    sys.stdout.write(f"{key}\n")
    sys.stdout.flush()
    sys.stderr.write(_TABLE.format(args.key, hash_of(key)))
    return 0
