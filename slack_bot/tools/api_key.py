"""`slack-bot api-key`: a new key for the HTTP API, and the table for the file, which has only its hash."""

import argparse
import sys

from ..features.api.keys import hash_of, new_key

_TABLE = """
# below SLACK_BOT_CONFIG's file; the key above is shown only now
[keys.{}]
hash = "{}"
channels = []
"""


def main(args: argparse.Namespace) -> int:
    """Print both: the key on stdout, the table on stderr."""
    key = new_key()
    sys.stdout.write(f"{key}\n")
    sys.stdout.flush()
    sys.stderr.write(_TABLE.format(args.key, hash_of(key)))
    return 0
