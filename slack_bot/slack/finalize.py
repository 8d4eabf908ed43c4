"""Puts the last message of an answer to rest: its stream stopped, its cards closed, what belongs under it.

What stands under an answer goes with the stop where it can, because that is one call. Where the stream is
over already, or refused what it was stopped with, the message is written anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .api import CallFailed, CallOk
from .chunks import CardClosing
from .delivery import Delivery
from .message import SlackMessage
from .surfaces.fallback import Surface

Args = dict[str, Any]


async def finish(delivery: Delivery, under: Sequence[Args], how: CardClosing, session: str = "") -> bool:
    """Put the last message to rest with `under` below it. False: `under` stands nowhere.

    `session` is what the thread's agent session reads afterwards, "" for at rest.
    """
    if delivery.last is not None and delivery.last.ts is None and not delivery.is_gone:
        await delivery.settle()
    message = delivery.last
    if message is None or delivery.is_gone:
        return False
    if message.is_open:
        stopped = await delivery.streams.stop(message, how, under, session=session)
        message.is_signed = isinstance(stopped, CallOk)
        if isinstance(stopped, CallFailed):
            await delivery.apply_fault(stopped)
    if message.is_signed or delivery.ended is not None:
        return message.is_signed
    return await attach_footer(delivery, message, under, how)


async def attach_footer(
    delivery: Delivery, message: SlackMessage, under: Sequence[Args], how: CardClosing
) -> bool:
    """Write `under` below a message that is stopped, by writing it anew. False: it does not stand."""
    if delivery.ledger.in_doubt:
        await delivery.settle()
    delivery.plan.heal(message)
    if not (message.text or under or not message.book.is_empty):
        return True
    if message.surface is Surface.NATIVE:
        _, refused = await delivery.edits.lay(message, message.text, under, how)
    else:
        refused = await delivery.edits.show(message, message.text, message.title, under=under, close=how)
    if refused is not None:
        await delivery.apply_fault(refused)
    return message.is_signed


async def discard_pending(delivery: Delivery, how: CardClosing) -> None:
    """Nothing that waits is shown any more, and no stream stays open."""
    if delivery.ledger.in_doubt:
        await delivery.settle()
    delivery.ledger.discard()
    message = delivery.last
    if message is not None and message.is_open:
        stopped = await delivery.streams.stop(message, how)
        if isinstance(stopped, CallFailed):
            await delivery.apply_fault(stopped)
