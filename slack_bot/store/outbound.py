"""PURE. Messages that the bot has to post without a question in Slack, as the store keeps them."""

from __future__ import annotations

import math

from ..errors import StoreError
from ..turn.outbound import OutboundRecord, accepted
from ..turn.record import ThreadKey
from .collection import Collection, CollectionStore, KeptPerson

_MOST = 10_000
"""The most messages that are read from the store at once."""

OUTBOUND = Collection(
    "outbound",
    OutboundRecord,
    age=lambda ages: ages.turns,
    since=lambda record: record.ended_at,
    made=lambda record: record.accepted_at,
    # said to a person directly: it names no workspace where there is one only
    people=lambda _, record: (
        [KeptPerson(record.message.user, record.message.team)] if record.message.user else []
    ),
    due=lambda record: record.accepted_at if record.ended_at is None else None,
    without=lambda record, _: record if record.ended_at is None else None,
    state=lambda record: record.state,
    label="messages of the bot's own",
)
"""By the key that `say` gave. Due until it has ended."""

SERIES = Collection(
    "outbound_series",
    ThreadKey,
    age=lambda ages: ages.conversations,
    thread=lambda _, thread: thread,
    label="threads of schedules",
)
"""The threads of series, by their names. The age begins with the last message."""


async def thread_of_series(store: CollectionStore, series: str) -> ThreadKey | None:
    """The thread of a series; None: it has not begun. Raises StoreError."""
    return await store.get(SERIES, (series,))


async def keep_series(store: CollectionStore, series: str, thread: ThreadKey, now: float) -> None:
    """The messages of a series go into this thread from now on. Raises StoreError."""
    await store.change(SERIES, (series,), lambda _: thread, now)


async def end_series(store: CollectionStore, series: str) -> None:
    """The next message of the series begins a new thread. Raises StoreError."""
    await store.remove(SERIES, (series,))


async def accept_outbound(store: CollectionStore, new: OutboundRecord) -> OutboundRecord:
    """Store a new message, once (`turn.outbound.accepted`).

    Returns the record that is stored. Raises StoreError.
    """
    result = await store.change(OUTBOUND, (new.key,), lambda stored: accepted(stored, new), new.accepted_at)
    return result.after or new


async def save_outbound(store: CollectionStore, record: OutboundRecord) -> None:
    """Replace a record. Raises StoreError, also if another process works on it."""
    if not await store.hold(OUTBOUND, (record.key,)):
        raise StoreError(f"Another process delivers {record.key}.")
    await store.change(OUTBOUND, (record.key,), lambda _: record, record.ended_at or record.accepted_at)


async def outbound(store: CollectionStore, key: str) -> OutboundRecord | None:
    """The record with this key; None if it was never stored or has expired. Raises StoreError."""
    return await store.get(OUTBOUND, (key,))


async def unfinished_outbound(store: CollectionStore) -> list[OutboundRecord]:
    """The unfinished messages that this process has to deliver, in the order in which they were accepted.

    Called every second, which also renews the reservation of each record. Raises StoreError.
    """
    records = await store.due(OUTBOUND, math.inf, _MOST)
    return [record for record in records if await store.hold(OUTBOUND, (record.key,))]
