"""Mentions and messages become turns, before Slack is told that they arrived.

Bolt acknowledges an event before its listener's body runs and keeps no hold on that body. A question taken
there would be lost with the process. So it is taken in a middleware: judged, stored, given to the desk, and
only then acknowledged. If it cannot be stored there is no acknowledgement, and Slack comes again.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any, assert_never

from slack_bolt.context.async_context import AsyncBoltContext
from slack_bolt.response import BoltResponse

from ..dispatch import Desk
from ..errors import BotError
from ..turn.record import Question
from .inbound import Ignored, Me, Overheard, StreamBegan, read_message

log = logging.getLogger(__name__)

_NOT_EXPECTED = "a reply that does not mention the bot, and the agent waits for no answer from its author"


class Acceptance:
    """Takes questions for `desk`."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def accept(
        self, body: dict[str, Any], context: AsyncBoltContext, next_: Callable[[], Awaitable[None]]
    ) -> BoltResponse | None:
        """The middleware of `app_mention` and `message`. Answers 503 where it could not be taken."""
        try:
            question = await self._judge(body, Me(context.bot_user_id or "", context.bot_id or ""))
            if question is not None and await self._desk.accept(question):
                self._desk.start(question)
        except BotError as error:
            log.error("a question was not taken, Slack will bring it again: %s", error)
            return BoltResponse(status=503)
        await next_()
        return None

    async def _judge(self, body: dict[str, Any], me: Me) -> Question | None:
        match read_message(body, me):
            case Ignored(reason=reason, question=meant):
                log.debug("ignored: %s", reason)
                if meant is not None:
                    self._desk.ignored(meant, reason)
                return None
            case StreamBegan(thread=thread, ts=ts):
                self._desk.stream_began(thread, ts)
                return None
            case Overheard(question=question):
                if await self._desk.expects(question.thread, question.user):
                    return question
                self._desk.ignored(question, _NOT_EXPECTED)
                return None
            case Question() as question:
                return question
            case unknown:
                assert_never(unknown)
