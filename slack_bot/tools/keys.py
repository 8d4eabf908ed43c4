"""`slack-bot keys`: the public keys with which agents check who asks."""

import argparse
import json
import sys

from ..agents.wire.person_signer import public_keys, signing_keys
from ..errors import SettingsError
from ..settings.load import load


def main(args: argparse.Namespace) -> int:
    """Print them as a key set (JWKS). Raises SettingsError without a key, or if one cannot be used."""
    identity = load().identity
    if not identity.keys:
        raise SettingsError("SLACK_BOT_IDENTITY__KEYS is not set; docs/configure.md has how a key is made")
    sys.stdout.write(json.dumps(public_keys(signing_keys(identity)), indent=2) + "\n")
    return 0
