"""Mentions and messages become turns, before Slack is told that they arrived.

Bolt acknowledges an event before its listener's body runs and keeps no hold on that body. A question taken
there would be lost with the process. So it is taken in a middleware: judged, stored, given to the desk, and
only then acknowledged. If it cannot be stored there is no acknowledgement, and Slack comes again. When Slack
comes for the last time, the asker is told that the question was not taken, and that is acknowledged.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any, assert_never

from slack_bolt.context.async_context import AsyncBoltContext
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse

from ..dispatch import TurnDispatcher
from ..errors import BotError
from ..turn.record import Question
from .bots import BotAccess
from .inbound import BotIdentity, Ignored, StreamStarted, ThreadReply, asker_ids, read_message

log = logging.getLogger(__name__)

_LAST_RETRY = 3
"""Slack delivers an event again up to three times, and numbers these retries (facts: Slack 3.3)."""
_NOT_EXPECTED = "a reply that does not mention the bot, and the agent waits for no answer from its author"


class MessageListener:
    """Takes questions for `desk`. `bots` decides which bots may ask."""

    def __init__(self, dispatcher: TurnDispatcher, bots: BotAccess) -> None:
        self._dispatcher, self._bots = dispatcher, bots

    async def accept(
        self,
        request: AsyncBoltRequest,
        body: dict[str, Any],
        context: AsyncBoltContext,
        next_: Callable[[], Awaitable[None]],
    ) -> BoltResponse | None:
        """The middleware of `app_mention` and `message`. Answers 503 where Slack is to bring it again."""
        question = None
        try:
            question = await self._judge(body, BotIdentity(context.bot_user_id or "", context.bot_id or ""))
            if question is not None:
                await self._dispatcher.accept(question)
        except BotError as error:
            if _retry_number(request) < _LAST_RETRY:
                log.error("a question was not taken, Slack will bring it again: %s", error)
                return BoltResponse(status=503)
            log.error("a question was not taken, and Slack will not bring it again: %s", error)
            if question is not None:  # None: nobody knows whether it was for the bot
                self._dispatcher.refuse(question)
        await next_()
        return None

    async def _judge(self, body: dict[str, Any], me: BotIdentity) -> Question | None:
        match read_message(body, me):
            case Ignored(reason=reason, question=meant):
                log.debug("ignored: %s", reason)
                if meant is not None:
                    self._dispatcher.ignored(meant, reason)
                return None
            case StreamStarted(thread=thread, ts=ts):
                self._dispatcher.on_stream_started(thread, ts)
                return None
            case ThreadReply(question=question):
                self._bots.person_wrote(question.thread)
                if await self._dispatcher.is_waiting_for(question.thread, question.user):
                    return question
                self._dispatcher.ignored(question, _NOT_EXPECTED)
                return None
            case Question() as question:
                return question if self._may_ask(question, body) else None
            case unknown:
                assert_never(unknown)

    def _may_ask(self, question: Question, body: dict[str, Any]) -> bool:
        """Bots only where and as often as they may. What is refused is logged once."""
        if not question.asker_is_bot:
            self._bots.person_wrote(question.thread)
            return True
        is_news = not self._bots.knows(question)
        reason = self._bots.refusal(question, asker_ids(body))
        if reason is not None and is_news:
            log.info("ignored: %s", reason, extra={"thread_ts": question.thread.ts})
            self._dispatcher.ignored(question, reason)
        return reason is None


def _retry_number(request: AsyncBoltRequest) -> int:
    """0 for an event that comes for the first time. Bolt gives Socket Mode's number in the same header."""
    (number, *_) = request.headers.get("x-slack-retry-num") or ("0",)
    try:
        return int(number)
    except ValueError:
        return 0
