"""What stands in the thread is not the answer: the answer is laid over it, message by message, once.

An edit replaces a message as a whole and may be repeated. So the messages that stand take the new text in
order, further ones are posted below where it needs more, and those it does not need are taken away.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .cards import CardClosing
from .delivery import Delivery

Args = dict[str, Any]


async def rewrite(delivery: Delivery, laid: Sequence[str], under: Sequence[Args], close: CardClosing) -> bool:
    """Make the messages of `delivery` read `laid`, the last with `under`. False: `under` stands nowhere.

    What can neither be laid over what stands nor be posted below it has `overflowed`.
    """
    await delivery.discard_pending(close)
    delivery.try_again()
    for number, text in enumerate(laid):
        below = under if number == len(laid) - 1 else ()
        if number < len(delivery.messages):
            if await _lay(delivery, number, text, below, close):
                continue
            await _remove(delivery, number)
        if delivery.ended is not None or not await delivery.post(text, below, close):
            return False
    await _remove(delivery, len(laid))
    last = delivery.last
    return last is not None and last.is_signed


async def _lay(delivery: Delivery, number: int, text: str, under: Sequence[Args], close: CardClosing) -> bool:
    """Lay `text` over a message that stands."""
    message = delivery.messages[number]
    failed = await delivery.edits.rewrite(message, text, under, close)
    if failed is not None:
        await delivery.apply_fault(failed)
    return failed is None


async def _remove(delivery: Delivery, first: int) -> None:
    """Take away the messages from the `first` on: what they read is not the answer."""
    for message in delivery.messages[first:]:
        if delivery.ended is None:
            await delivery.edits.delete(message)
    del delivery.messages[first:]
