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
from .bots import BotAccess
from .inbound import Ignored, Me, Overheard, StreamBegan, asker_ids, read_message

log = logging.getLogger(__name__)


class Acceptance:
    """Takes questions for `desk`. `bots` decides which bots may ask."""

    def __init__(self, desk: Desk, bots: BotAccess) -> None:
        self._desk, self._bots = desk, bots

    async def accept(
        self, body: dict[str, Any], context: AsyncBoltContext, next_: Callable[[], Awaitable[None]]
    ) -> BoltResponse | None:
        """The middleware of `app_mention` and `message`. Answers 503 where it could not be taken."""
        try:
            question = await self._judge(body, Me(context.bot_user_id or "", context.bot_id or ""))
            if question is not None and self._may_ask(question, body) and await self._desk.accept(question):
                self._desk.start(question)
        except BotError as error:
            log.error("a question was not taken, Slack will bring it again: %s", error)
            return BoltResponse(status=503)
        await next_()
        return None

    async def _judge(self, body: dict[str, Any], me: Me) -> Question | None:
        match read_message(body, me):
            case Ignored(reason=reason):
                log.debug("ignored: %s", reason)
                return None
            case StreamBegan(thread=thread, ts=ts):
                self._desk.stream_began(thread, ts)
                return None
            case Overheard(question=question):
                self._bots.person_wrote(question.thread)
                return question if await self._desk.expects(question.thread, question.user) else None
            case Question() as question:
                return question
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
        return reason is None
