"""What things are called in Redis, and how they are written there (`turns.lua` lists the keys)."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from ..turn.outbound import OutboundRecord
from ..turn.progress import TurnRecord
from ..turn.record import ThreadKey
from ..turn.thread_state import ThreadState
from .adapters import MESSAGE, OUTBOUND, THREAD, TURN
from .contracts import APART, Signal

PREFIX = "{slack_bot}:"  # the braces keep all keys on one node
UNSENT, SENT = f"{PREFIX}outbound_unsent", f"{PREFIX}outbound_ended"  # sorted by time


def outbound_key(key: str) -> str:
    """Names its record in Redis."""
    return f"{PREFIX}outbound:{key}"


def overheard_key(thread: ThreadKey) -> str:
    """Names what was said there, where it cannot be read later."""
    return f"{PREFIX}overheard:{name_of(thread)}"


def outbound_lease_key(key: str) -> str:
    """Names the replica that delivers it."""
    return f"{PREFIX}outbound_lease:{key}"


def put_outbound(pipeline: Any, record: OutboundRecord) -> None:
    """Queue what stores `record` in its place among the sent or unsent."""
    pipeline.set(outbound_key(record.key), OUTBOUND.dump_json(record).decode())
    pipeline.zrem(UNSENT if record.ended_at is not None else SENT, record.key)
    if record.ended_at is None:
        pipeline.zadd(UNSENT, {record.key: record.accepted_at})
    else:
        pipeline.zadd(SENT, {record.key: record.ended_at})


def json_of(turn: TurnRecord) -> str:
    """Without its messages and the secrets in it."""
    return TURN.dump_json(turn, exclude=APART).decode()


def turn_of(fields: Mapping[str, str]) -> TurnRecord:
    """The turn of a hash."""
    messages = (MESSAGE.validate_json(fields[f"m{number}"]) for number in range(int(fields["messages"])))
    return replace(TURN.validate_json(fields["data"]), messages=tuple(messages))


def name_of(thread: ThreadKey) -> str:
    """As part of a key."""
    return json.dumps([thread.team, thread.channel, thread.ts])


def thread_of(name: str) -> ThreadKey:
    """The thread that `name_of` names."""
    return ThreadKey(*json.loads(name))


def signal_of(text: str) -> Signal:
    """From an inbox."""
    known = json.loads(text)
    return Signal(thread_of(known["thread"]), known["kind"], known["values"] or {})


def thread_state_key(thread: ThreadKey) -> str:
    """Names what is known of a thread without a mention."""
    return f"{PREFIX}thread_state:{name_of(thread)}"


def thread_state_of(found: str | None) -> ThreadState | None:
    """None: nothing is known."""
    return None if found is None else THREAD.validate_json(found)


def conversation_key(agent: str, thread: ThreadKey) -> str:
    """Names what is known of the thread in Redis."""
    return f"{PREFIX}conversation:{json.dumps([agent, thread.team, thread.channel, thread.ts])}"


def without_password(url: str) -> str:
    """The address, as it may be logged."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname}:{parts.port or 6379}"
