"""The feedback buttons below an answer."""

from __future__ import annotations

import logging
from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck

from ..dispatch import TurnDispatcher
from ..errors import StoreError
from .inbound import Ignored, read_press

log = logging.getLogger(__name__)

_THANKS = "Thanks for your feedback."
_NOT_KEPT = "Your feedback could not be stored right now. Please press again later."


class FeedbackListener:
    """Keeps presses through `desk`."""

    def __init__(self, dispatcher: TurnDispatcher) -> None:
        self._dispatcher = dispatcher

    async def pressed(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        """The listener of the `feedback` action."""
        await ack()
        press = read_press(body)
        if isinstance(press, Ignored):
            log.warning("ignored: %s", press.reason)
            return
        try:
            is_new = await self._dispatcher.feedback(press.turn, press.user, press.value)
        except StoreError as error:
            log.error("feedback was not kept: %s", error, extra={"turn": press.turn})
            await self._dispatcher.post_ephemeral(press.channel, press.thread_ts, press.user, _NOT_KEPT)
            return
        if is_new:
            await self._dispatcher.post_ephemeral(press.channel, press.thread_ts, press.user, _THANKS)
