"""Mentions and messages become turns before they are acknowledged.

Bolt acknowledges an event before its listener runs, so a question accepted there could be lost with the
process. A middleware accepts it instead: judged, stored, given to the dispatcher, and only then acknowledged.
If it cannot be stored it is not acknowledged, and Slack sends it again. At the last retry the asker gets a
notice, and the event is acknowledged.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Collection, Hashable
from typing import Any, TypeVar, assert_never

from slack_bolt.context.async_context import AsyncBoltContext
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse

from ..dispatch import TurnDispatcher
from ..errors import BotError
from ..turn.record import Question, ThreadKey
from .inbound import BotIdentity, Ignored, StreamStarted, ThreadReply, asker_ids, read_message

log = logging.getLogger(__name__)

_LAST_RETRY = 3
"""Slack delivers an event again up to three times, and numbers these retries (facts: Slack 3.3)."""
_NOT_EXPECTED = "a reply that does not mention the bot, and the agent waits for no answer from its author"
_MOST = 10_000  # threads, and questions; beyond it the oldest is dropped

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")


class MessageListener:
    """Gives questions to the dispatcher. `bots` decides which bots may ask."""

    def __init__(self, dispatcher: TurnDispatcher, bots: BotAccess) -> None:
        self._dispatcher, self._bots = dispatcher, bots

    async def accept(
        self,
        request: AsyncBoltRequest,
        body: dict[str, Any],
        context: AsyncBoltContext,
        next_: Callable[[], Awaitable[None]],
    ) -> BoltResponse | None:
        """The middleware of `app_mention` and `message`. 503 makes Slack send the event again."""
        question = None
        try:
            question = await self._judge(body, BotIdentity(context.bot_user_id or "", context.bot_id or ""))
            if question is not None:
                await self._dispatcher.accept(question)
        except BotError as error:
            if _retry_number(request) < _LAST_RETRY:
                log.error("a question was not accepted, Slack will send it again: %s", error)
                return BoltResponse(status=503)
            log.error("a question was not accepted, and Slack will not send it again: %s", error)
            if question is not None:  # None: it is unknown whether it was for the bot
                self._dispatcher.refuse(question)
        await next_()
        return None

    async def _judge(self, body: dict[str, Any], me: BotIdentity) -> Question | None:
        match read_message(body, me):
            case Ignored(reason=reason, question=message):
                log.debug("ignored: %s", reason)
                if message is not None:
                    self._dispatcher.ignored(message, reason)
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
        """Whether a person, or a bot that may, asks."""
        if not question.asker_is_bot:
            self._bots.person_wrote(question.thread)
            return True
        refusal = self._bots.refusal(question, asker_ids(body))
        if refusal:
            log.info("ignored: %s", refusal, extra={"thread_ts": question.thread.ts})
            self._dispatcher.ignored(question, refusal)
        return refusal is None


def _retry_number(request: AsyncBoltRequest) -> int:
    """0 for the first delivery. Bolt puts Socket Mode's number into the same header."""
    (number, *_) = request.headers.get("x-slack-retry-num") or ("0",)
    try:
        return int(number)
    except ValueError:
        return 0


class BotAccess:
    """Which bots may ask, and how often.

    Two bots that mention each other in each message go on for ever. So a bot may ask only where the operator
    allows it, and only a few times in a thread until a person writes there. A refused bot gets no reply: that
    would continue the loop.

    `allowed`: ids of bots (`U...`, `B...`, `A...`), and of channels in which every bot may ask.
    `max_turns`: questions that bots may ask in one thread until a person writes there or the bot restarts.
    """

    def __init__(self, allowed: Collection[str], max_turns: int) -> None:
        self._allowed = frozenset(allowed)
        self._max_turns = max_turns
        self._turns: dict[ThreadKey, int] = {}
        self._judged: dict[str, str | None] = {}

    def person_wrote(self, thread: ThreadKey) -> None:
        """Bots may ask in `thread` again."""
        self._turns.pop(thread, None)

    def refusal(self, question: Question, asker_ids: Collection[str]) -> str | None:
        """Why a bot's `question` is not answered, "" the next time; None: it is, and counts once.

        Slack sends a mention as two events, and retries. `asker_ids`: all ids that Slack gives for the asker.
        """
        if question.key not in self._judged:
            reason = self._judge(question.thread, asker_ids)
            _keep(self._judged, question.key, None if reason is None else "")
            return reason
        return self._judged[question.key]

    def _judge(self, thread: ThreadKey, asker_ids: Collection[str]) -> str | None:
        if self._allowed.isdisjoint({*asker_ids, thread.channel}):
            ids = ", ".join(sorted(asker_ids))
            return (
                f"a bot ({ids}) mentioned the bot in {thread.channel}; to let it ask, add one of"
                " these ids to SLACK_BOT_SLACK__ALLOWED_BOTS"
            )
        turns = self._turns.pop(thread, 0)
        _keep(self._turns, thread, min(turns + 1, self._max_turns))
        if turns < self._max_turns:
            return None
        return (
            f"bots have asked {self._max_turns} times in this thread since a person wrote there"
            " (SLACK_BOT_TURNS__MAX_BOT_TURNS)"
        )


def _keep(kept: dict[_Key, _Value], key: _Key, value: _Value) -> None:
    kept[key] = value
    if len(kept) > _MOST:
        del kept[next(iter(kept))]
