"""Replaces what the thread shows by the answer, message by message, once.

An edit replaces a message as a whole and may be repeated. So the messages take the new text in order. Where
it needs more of them, further ones are posted below; those it does not need are deleted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..turn.ledger import Segment
from .cards import CardClosing
from .delivery import Delivery

Args = dict[str, Any]


async def rewrite(
    delivery: Delivery, segments: Sequence[Segment], under: Sequence[Args], close: CardClosing
) -> bool:
    """Make the messages of `delivery` read `segments`, the last with `under`. False: `under` is nowhere.

    What can neither replace a message nor be posted below exhausts the delivery.
    """
    await delivery.discard_pending(close)
    delivery.try_again()
    for number, segment in enumerate(segments):
        below = under if number == len(segments) - 1 else ()
        if number < len(delivery.messages):
            if await _replace(delivery, number, segment, below, close):
                continue
            await _remove(delivery, number)
        if delivery.ended is not None or not await delivery.post(segment, below, close):
            return False
    await _remove(delivery, len(segments))
    last = delivery.last
    return last is not None and last.is_signed


async def _replace(
    delivery: Delivery, number: int, segment: Segment, under: Sequence[Args], close: CardClosing
) -> bool:
    """Make a message of the thread read `segment`."""
    message = delivery.messages[number]
    failed = await delivery.edits.rewrite(message, segment.text, under, close)
    if failed is None:
        message.segment = segment
    else:
        await delivery.apply_fault(failed)
    return failed is None


async def _remove(delivery: Delivery, first: int) -> None:
    """Delete the messages from the `first` on: what they read is not the answer."""
    for message in delivery.messages[first:]:
        if delivery.ended is None:
            await delivery.edits.delete(message)
    del delivery.messages[first:]
