"""What an operator's command says of a message that a running bot delivers: it waits for the end."""

from __future__ import annotations

import asyncio

from ...errors import BotError
from ...store.contracts import Store
from ...store.outbound import outbound
from ...store.stores import JoinedStore
from ...turn.outbound import OutboundRecord
from ...turn.progress import Stage, TurnRecord
from ...turn.record import Outcome

OVER = frozenset({Stage.ENDED, Stage.WATCHED})
"""The stages of a turn that is not waited for."""
_LOOK = 0.5  # seconds between two looks whether the running bot has delivered it
_GOOD = frozenset({Outcome.ANSWERED, Outcome.ASKED, Outcome.WATCHED})


async def until_delivered(joined: JoinedStore, key: str, patience: float) -> OutboundRecord:
    """The running bot delivers it. Raises BotError if that ends and is not started again."""
    alone, store = 0.0, joined.store
    while alone <= patience:
        record = await outbound(store, key)
        turn = None if record is None else await turn_of(store, record)
        if record is not None and record.ended_at is not None and (turn is None or turn.stage in OVER):
            return record
        alone = 0.0 if await joined.has_bot() else alone + _LOOK
        await asyncio.sleep(_LOOK)
    raise BotError(f"no bot runs that would deliver this; its next start does, and {key} is the id")


async def turn_of(store: Store, record: OutboundRecord) -> TurnRecord | None:
    """The turn of the message's question; None without one. Raises StoreError."""
    return None if record.turn is None else await store.turn(record.turn)


def link_of_sent(record: OutboundRecord, turn: TurnRecord | None) -> str:
    """Where the message is that was sent; "" if the agent was silent. Raises BotError if it was not."""
    if record.error is not None:
        raise BotError(record.error)
    if turn is not None and turn.outcome is Outcome.NO_TEXT:
        raise BotError(f"the agent finished without writing an answer; see {record.link}")
    if turn is not None and turn.outcome is not None and turn.outcome not in _GOOD:
        raise BotError(f"the agent did not answer ({turn.outcome}); see {record.link}")
    return record.link
