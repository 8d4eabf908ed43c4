"""The names of keys in Redis and the format of their values (`turns.lua` lists the keys)."""

import json
from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import urlsplit

from ..turn.progress import TurnRecord
from ..turn.record import ThreadKey
from .adapters import MESSAGE, TURN
from .contracts import APART, SIGNALS, Signal
from .redis_address import names_sentinels, sentinels_of

PREFIX = "{slack_bot}:"  # the braces keep all keys on one node


def json_of(turn: TurnRecord) -> str:
    """Write a turn as JSON, without its messages and its secrets."""
    return TURN.dump_json(turn, exclude=APART).decode()


def turn_of(fields: Mapping[str, str]) -> TurnRecord:
    """Read a turn, with its messages, from the fields of its hash. Raises ValueError."""
    messages = (MESSAGE.validate_json(fields[f"m{number}"]) for number in range(int(fields["messages"])))
    return replace(TURN.validate_json(fields["data"]), messages=tuple(messages))


def name_of(thread: ThreadKey) -> str:
    """The thread as a part of a key."""
    return json.dumps(thread.parts)


def thread_of(name: str) -> ThreadKey:
    """The thread that `name_of` names."""
    return ThreadKey(*json.loads(name))


def signal_of(text: str) -> Signal:
    """Read a signal from an entry of an inbox. Raises ValueError."""
    fields = json.loads(text)
    thread, values = thread_of(fields["thread"]), fields["values"] or {}
    return Signal(thread, fields["kind"], values, fields.get("version", SIGNALS))


def without_password(url: str) -> str:
    """The address for log lines: scheme, hosts and ports only, and the name that Sentinels know."""
    if names_sentinels(url):
        return f"{url.partition('://')[0]}://{sentinels_of(url).place}"
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname}:{parts.port or 6379}"
