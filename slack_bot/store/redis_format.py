"""What things are called in Redis, and how they are written there (`turns.lua` lists the keys)."""

import json
from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import urlsplit

from ..turn.progress import TurnRecord
from ..turn.record import ThreadKey
from .adapters import MESSAGE, TURN
from .contracts import APART, SIGNALS, Signal

PREFIX = "{slack_bot}:"  # the braces keep all keys on one node


def json_of(turn: TurnRecord) -> str:
    """Without its messages and the secrets in it."""
    return TURN.dump_json(turn, exclude=APART).decode()


def turn_of(fields: Mapping[str, str]) -> TurnRecord:
    """The turn of a hash."""
    messages = (MESSAGE.validate_json(fields[f"m{number}"]) for number in range(int(fields["messages"])))
    return replace(TURN.validate_json(fields["data"]), messages=tuple(messages))


def name_of(thread: ThreadKey) -> str:
    """As part of a key."""
    return json.dumps(thread.parts)


def thread_of(name: str) -> ThreadKey:
    """The thread that `name_of` names."""
    return ThreadKey(*json.loads(name))


def signal_of(text: str) -> Signal:
    """From an inbox."""
    known = json.loads(text)
    thread, values = thread_of(known["thread"]), known["values"] or {}
    return Signal(thread, known["kind"], values, known.get("version", SIGNALS))


def without_password(url: str) -> str:
    """The address, as it may be logged."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname}:{parts.port or 6379}"
