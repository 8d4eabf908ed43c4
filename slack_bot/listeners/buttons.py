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

    async def feedback(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        """The action `feedback`: stores the value and thanks."""
        await ack()
        if (press := _press(body)) is None:
            return
        try:
            is_new = await self._dispatcher.feedback(press.turn, press.user, press.value)
            reply = _THANKS if is_new else None
        except StoreError as error:
            log.error("feedback was not stored: %s", error, extra={"turn": press.turn})
            reply = _NOT_STORED
        await self._reply(press, reply)

    async def retry(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        """The action `retry`, below an answer that failed: asks the same question again."""
        await ack()
        if (press := _press(body)) is None:
            return
        try:
            reply = _RETRY_REPLIES.get(await self._dispatcher.retry(press.turn, press.user))
        except BotError as error:
            log.error("a question was not asked again: %s", error, extra={"turn": press.turn})
            reply = _NOT_NOW
        await self._reply(press, reply)

    async def _reply(self, press: ButtonPress, text: str | None) -> None:
        if text is not None:
            await self._dispatcher.post_ephemeral(press.channel, press.thread_ts, press.user, text)


def _press(body: dict[str, Any]) -> ButtonPress | None:
    press = read_press(body)
    if isinstance(press, Ignored):
        log.warning("ignored: %s", press.reason)
        return None
    return press
