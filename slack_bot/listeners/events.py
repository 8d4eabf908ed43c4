"""What Slack sends becomes turns, and what people do to them.

Bolt acknowledges an event before its listener runs, so a question could be lost with the process. A
middleware accepts it instead. What cannot be stored is not acknowledged, and Slack sends it again; at the
last retry the asker gets a notice.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Collection
from typing import Any, assert_never

from slack_bolt.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse

from ..dispatch import TurnDispatcher
from ..errors import BotError
from ..settings.channels import ChannelPolicies
from ..turn.record import Question, ThreadKey
from .inbound import (
    DROP_ACTION,
    FEEDBACK_ACTION,
    RETRY_ACTION,
    STOP_ACTION,
    STOP_LISTENING_ACTION,
    BotIdentity,
    Ignored,
    MessageChanged,
    StreamStarted,
    ThreadReply,
    asker_ids,
    read_message,
    read_press,
    read_stop,
)

log = logging.getLogger(__name__)

_LAST_RETRY = "3"
"""Slack numbers its up to three retries (facts: Slack 3.3). Bolt gives Socket Mode's as HTTP's header."""
_NOT_EXPECTED = "a reply that does not mention the bot, in a thread where it needs to"
_MOST = 10_000  # threads, and questions; beyond it the oldest is dropped
_NOT_STORED = "Your feedback could not be stored right now. Please press again later."
_NOT_NOW = "I cannot take questions right now. Please try again in a minute."
_ANYTHING = re.compile(".*", re.DOTALL)


class SlackListeners:
    """All listeners of the bot. `bots` decides which bots may ask."""

    def __init__(self, dispatcher: TurnDispatcher, bots: BotAccess, policies: ChannelPolicies) -> None:
        self._dispatcher, self._bots, self._policies = dispatcher, bots, policies

    def register(self, bolt: AsyncApp) -> None:
        """The first listener that matches gets the request; the last ones match everything.

        Slack sends again and again what is not acknowledged (facts: Slack 3.1).
        """
        bolt.event("app_mention", middleware=[self.accept])(_do_nothing)
        bolt.event("message", middleware=[self.accept])(_do_nothing)
        bolt.event("agent_session_stopped", middleware=[self.stop])(_do_nothing)
        for button in (FEEDBACK_ACTION, RETRY_ACTION, STOP_ACTION, STOP_LISTENING_ACTION, DROP_ACTION):
            bolt.action(button)(self.press)
        bolt.event(_ANYTHING)(_do_nothing)
        for kind in (bolt.action, bolt.view, bolt.view_closed, bolt.shortcut, bolt.command, bolt.options):
            kind(_ANYTHING)(_acknowledge)

    async def accept(
        self, request: AsyncBoltRequest, next_: Callable[[], Awaitable[None]]
    ) -> BoltResponse | None:
        """The middleware of `app_mention` and `message`. 503 makes Slack send the event again."""
        question, context = None, request.context
        try:
            me = BotIdentity(context.bot_user_id or "", context.bot_id or "")
            question = await self.judge(request.body, me)
            if question is not None:
                await self._dispatcher.accept(question)
        except BotError as error:
            if _LAST_RETRY not in request.headers.get("x-slack-retry-num", ()):
                log.error("a question was not accepted, Slack will send it again: %s", error)
                return BoltResponse(status=503)
            log.error("a question was not accepted, and Slack will not send it again: %s", error)
            if question is not None:  # None: it is unknown whether it was for the bot
                self._dispatcher.refuse(question)
        await next_()
        return None

    async def judge(self, body: dict[str, Any], me: BotIdentity) -> Question | None:
        """The question in an event, if it is for the bot. Raises BotError."""
        question: Question | None
        reason: str | None
        match read_message(body, me):
            case StreamStarted(thread=thread, ts=ts):
                self._dispatcher.on_stream_started(thread, ts)
                return None
            case MessageChanged(key=key, thread=thread, text=text):
                await self._dispatcher.controls.change(key, thread, text)
                return None
            case Ignored(reason=reason, question=question):
                log.debug("ignored: %s", reason)
            case ThreadReply(question=question, names_others=names_others):
                self._bots.person_wrote(question.thread)
                reason = None if await self._is_expected(question, names_others) else _NOT_EXPECTED
            case Question() as question:
                reason = self._bots.refusal(question, asker_ids(body))
                if reason is None:
                    await self._dispatcher.follow.mentioned(question)
                elif reason:
                    log.info("ignored: %s", reason, extra={"thread_ts": question.thread.ts})
            case unknown:
                assert_never(unknown)
        if reason and question is not None:
            self._dispatcher.ignored(question, reason)
        if question is not None:
            await self._dispatcher.follow.heard(question)
        return question if reason is None else None

    async def _is_expected(self, reply: Question, names_others: bool) -> bool:
        """Whether a reply without a mention is for the bot all the same."""
        dispatcher = self._dispatcher
        if await dispatcher.is_waiting_for(reply.thread, reply.user):
            return True
        if await dispatcher.controls.is_stop_somewhere(reply):
            return True
        return not names_others and await dispatcher.follow.is_question(reply)

    async def stop(self, body: dict[str, Any], next_: Callable[[], Awaitable[None]]) -> None:
        """The middleware of `agent_session_stopped`. Slack has closed the stream; the agent still works."""
        if (request := read_stop(body)) is None:
            log.warning("ignored: a stop without a thread")
        else:
            thread = request[0]
            result = "stopping" if await self._dispatcher.controls.stop(*request) else "not running"
            log.info("stop pressed: %s", result, extra={"thread_ts": thread.ts})
        await next_()

    async def press(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        """The buttons below an answer: feedback, retry where it failed, stop while a task is watched.

        What is pressed is stored before Slack is told that it came.
        """
        press = read_press(body)
        if isinstance(press, Ignored):
            log.warning("ignored: %s", press.reason)
            await ack()
            return
        try:
            if press.value:
                reply = await self._dispatcher.controls.feedback(press.turn, press.user, press.value)
            elif press.action == STOP_ACTION:
                reply = await self._dispatcher.controls.stop_watch(press.turn, press.user)
            elif press.action == STOP_LISTENING_ACTION:
                reply = await self._dispatcher.stop_listening(press.turn)
            elif press.action == DROP_ACTION:
                reply = await self._dispatcher.controls.drop(press.turn, press.user)
            else:
                reply = await self._dispatcher.controls.retry(press.turn, press.user)
        except BotError as error:
            what = "feedback was not stored" if press.value else "a question was not asked again"
            log.error("%s: %s", what, error, extra={"turn": press.turn})
            reply = _NOT_STORED if press.value else _NOT_NOW
        await ack()
        if reply is not None:
            await self._dispatcher.post_ephemeral(press.channel, press.thread_ts, press.user, reply)


async def _do_nothing() -> None:
    """Bolt acknowledges an event itself, before its listener runs."""


async def _acknowledge(ack: AsyncAck) -> None:
    await ack()


class BotAccess:
    """Which bots may ask, and how often: two bots that mention each other would go on for ever.

    `allowed`: ids of bots (`U...`, `B...`, `A...`), and of channels in which every bot may ask. `max_turns`:
    questions of bots in one thread until a person writes there. A refused bot gets no reply.
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
        """Why `question` is not answered, "" the next time; None: it is, and a bot's counts once.

        Slack sends a mention as two events, and retries.
        """
        if not question.asker_is_bot:
            self.person_wrote(question.thread)
            return None
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


def _keep(kept: dict[Any, Any], key: object, value: object) -> None:
    kept[key] = value
    if len(kept) > _MOST:
        del kept[next(iter(kept))]
