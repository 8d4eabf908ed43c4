"""The button that asks the same question again, below an answer that failed."""

from __future__ import annotations

import logging
from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck

from ..dispatch import RetryResult, TurnDispatcher
from ..errors import BotError
from .inbound import Ignored, read_press

log = logging.getLogger(__name__)

_SAID = {
    RetryResult.NOT_YOURS: "Only the person who asked can ask again. Mention me with your own question.",
    RetryResult.FORGOTTEN: (
        "I have been restarted since and no longer know the question. Please ask it again."
    ),
    RetryResult.ALREADY: "This question is already being asked again.",
}
_NOT_NOW = "I cannot take questions right now. Please try again in a minute."


class RetryListener:
    """Asks again through `desk`."""

    def __init__(self, dispatcher: TurnDispatcher) -> None:
        self._dispatcher = dispatcher

    async def pressed(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        """The listener of the `retry` action."""
        await ack()
        press = read_press(body)
        if isinstance(press, Ignored):
            log.warning("ignored: %s", press.reason)
            return
        try:
            said = _SAID.get(await self._dispatcher.retry(press.turn, press.user))
        except BotError as error:
            log.error("a question was not asked again: %s", error, extra={"turn": press.turn})
            said = _NOT_NOW
        if said is not None:
            await self._dispatcher.post_ephemeral(press.channel, press.thread_ts, press.user, said)
