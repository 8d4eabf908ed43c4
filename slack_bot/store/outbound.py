"""PURE. What the bot is to say without a question from Slack, as the store keeps it."""

from __future__ import annotations

import math

from ..errors import StoreError
from ..turn.outbound import OutboundRecord, accepted
from .collection import Collection, CollectionStore, KeptPerson

_MOST = 10_000
"""Messages that are looked at in one go."""

OUTBOUND = Collection(
    "outbound",
    OutboundRecord,
    age=lambda ages: ages.turns,
    since=lambda record: record.ended_at,
    made=lambda record: record.accepted_at,
    # said to a person directly: it has no workspace
    people=lambda _, record: [KeptPerson(record.message.user, "")] if record.message.user else [],
    due=lambda record: record.accepted_at if record.ended_at is None else None,
    without=lambda record, _: record if record.ended_at is None else None,
    state=lambda record: record.state,
    label="messages to them",
)
"""By the name that `say` gave. Due: it has not ended."""


async def accept_outbound(store: CollectionStore, new: OutboundRecord) -> OutboundRecord:
    """What is stored under its key then (`turn.outbound.accepted`). Raises StoreError."""
    stored = await store.change(OUTBOUND, (new.key,), lambda known: accepted(known, new), new.accepted_at)
    return stored.after or new


async def save_outbound(store: CollectionStore, record: OutboundRecord) -> None:
    """Replace it. StoreError if another process works on it."""
    if not await store.hold(OUTBOUND, (record.key,)):
        raise StoreError(f"Another process delivers {record.key}.")
    await store.change(OUTBOUND, (record.key,), lambda _: record, record.ended_at or record.accepted_at)


async def outbound(store: CollectionStore, key: str) -> OutboundRecord | None:
    """The record with this key; None: it is not kept, or no longer. Raises StoreError."""
    return await store.get(OUTBOUND, (key,))


async def unfinished_outbound(store: CollectionStore) -> list[OutboundRecord]:
    """What has not ended, in the order it was accepted, and is for this process to deliver.

    Asked every second, which also holds on to what is under way. Raises StoreError.
    """
    found = await store.due(OUTBOUND, math.inf, _MOST)
    return [record for record in found if await store.hold(OUTBOUND, (record.key,))]
