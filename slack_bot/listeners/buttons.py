"""The buttons below an answer, and Slack's own Stop button."""

from __future__ import annotations

import logging
from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck

from ..dispatch import RetryResult, TurnDispatcher
from ..errors import BotError, StoreError
from .inbound import ButtonPress, Ignored, read_press, read_stop

log = logging.getLogger(__name__)

_THANKS = "Thanks for your feedback."
_NOT_STORED = "Your feedback could not be stored right now. Please press again later."
_NOT_NOW = "I cannot take questions right now. Please try again in a minute."
_RETRY_REPLIES = {
    RetryResult.NOT_YOURS: "Only the person who asked can ask again. Mention me with your own question.",
    RetryResult.FORGOTTEN: (
        "I have been restarted since and no longer know the question. Please ask it again."
    ),
    RetryResult.ALREADY: "This question is already being asked again.",
}


class ButtonListener:
    """The listeners of button presses."""

    def __init__(self, dispatcher: TurnDispatcher) -> None:
        self._dispatcher = dispatcher

    async def stop(self, body: dict[str, Any]) -> None:
        """`agent_session_stopped`. Slack has closed the stream by then; the agent still works."""
        request = read_stop(body)
        if isinstance(request, Ignored):
            log.warning("ignored: %s", request.reason)
            return
        result = self._dispatcher.stop(request.thread, request.user, stream_closed=True)
        log.info("stop pressed: %s", result, extra={"thread_ts": request.thread.ts})

    async def press(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        """The buttons below an answer: feedback, or retry below one that failed."""
        await ack()
        press = read_press(body)
        if isinstance(press, Ignored):
            log.warning("ignored: %s", press.reason)
            return
        reply = await (self._store_feedback(press) if press.value else self._ask_again(press))
        if reply is not None:
            await self._dispatcher.post_ephemeral(press.channel, press.thread_ts, press.user, reply)

    async def _store_feedback(self, press: ButtonPress) -> str | None:
        try:
            return _THANKS if await self._dispatcher.feedback(press.turn, press.user, press.value) else None
        except StoreError as error:
            log.error("feedback was not stored: %s", error, extra={"turn": press.turn})
            return _NOT_STORED

    async def _ask_again(self, press: ButtonPress) -> str | None:
        try:
            return _RETRY_REPLIES.get(await self._dispatcher.retry(press.turn, press.user))
        except BotError as error:
            log.error("a question was not asked again: %s", error, extra={"turn": press.turn})
            return _NOT_NOW
