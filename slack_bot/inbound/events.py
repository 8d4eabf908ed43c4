"""What Slack sends becomes turns, and what people do to them.

Bolt acknowledges an event before its listener runs, so a question could be lost with the process. A
middleware accepts it instead. What cannot be stored is not acknowledged, and Slack sends it again; at the
last retry the asker gets a notice.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, assert_never

from slack_bolt.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.context.async_context import AsyncBoltContext
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse

from ..clock import Clock
from ..errors import BotError, StoreError
from ..settings.channels import ChannelPolicies
from ..threads.threads import Threads
from ..turn.people import Organisation
from ..turn.record import Question
from .access import Access, BotAccess, HourlyQuestions, Refusal
from .authorizer import identity_of
from .read import (
    BotIdentity,
    Ignored,
    Inbound,
    MessageChanged,
    StreamStarted,
    ThreadReply,
    as_first_written,
    read_asker,
    read_gone,
    read_message,
    read_stop,
)

log = logging.getLogger(__name__)

_OVERTAKEN = 60.0  # seconds after a message in which its edit or deletion may come before it
_LAST_RETRY = "3"
"""Slack numbers its up to three retries (facts: Slack 3.3). Bolt gives Socket Mode's as HTTP's header."""
_NOT_EXPECTED = "a reply that does not mention the bot, in a thread where it needs to"
_FORM_ONLY = "typed where a form waits for a secret"
_ANYTHING = re.compile(".*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class InboundQuestion:
    """A question for the bot. `is_awaited`: the agent asked its asker. `is_command`: it is about other
    questions, or about listening.
    """

    question: Question
    is_mention: bool
    is_awaited: bool
    is_command: bool


class SlackListeners:
    """All listeners of the bot. `access`, `bots` and `hourly` decide who may ask."""

    def __init__(
        self,
        threads: Threads,
        policies: ChannelPolicies,
        access: Access,
        bots: BotAccess,
        hourly: HourlyQuestions,
        clock: Clock,
    ) -> None:
        self._threads, self._policies, self._wall = threads, policies, clock.wall
        self._access, self._bots, self._hourly = access, bots, hourly

    def register(self, bolt: AsyncApp) -> None:
        """The first listener that matches gets the request; the last ones match everything.

        Slack sends again and again what is not acknowledged (facts: Slack 3.1).
        """
        bolt.event("app_mention", middleware=[self.accept])(_do_nothing)
        bolt.event("message", middleware=[self.accept])(_do_nothing)
        bolt.event("agent_session_stopped", middleware=[self.stop])(_do_nothing)
        bolt.event(_ANYTHING)(_do_nothing)
        for kind in (bolt.view_closed, bolt.shortcut, bolt.command, bolt.options):
            kind(_ANYTHING)(_acknowledge)

    async def accept(
        self, request: AsyncBoltRequest, next_: Callable[[], Awaitable[None]]
    ) -> BoltResponse | None:
        """The middleware of `app_mention` and `message`. 503 makes Slack send the event again."""
        asked = None
        try:
            asked = await self.judge(request.body, identity_of(request.context.authorize_result))
            if asked is not None:
                await self.take(asked)
        except BotError as error:
            if _LAST_RETRY not in request.headers.get("x-slack-retry-num", ()):
                level = error.log_level if isinstance(error, StoreError) else logging.ERROR
                log.log(level, "a question was not accepted, Slack will send it again: %s", error)
                return BoltResponse(status=503)
            log.error("a question was not accepted, and Slack will not send it again: %s", error)
            if asked is not None:  # None: it is unknown whether it was for the bot
                self._threads.refusals.refuse(asked.question)
        await next_()
        return None

    async def take(self, asked: InboundQuestion) -> bool:
        """Accept a question; False if it was accepted before. Raises BotError."""
        question, follow = asked.question, self._threads.follow
        is_new = await self._threads.intake.accept(question)
        try:
            if asked.is_command:
                await follow.heard(question)
            else:
                await follow.taken(question, is_mention=asked.is_mention, is_awaited=asked.is_awaited)
        except StoreError as error:
            extra = {"turn": asked.question.key, "thread_ts": asked.question.thread.ts}
            log.log(error.log_level, "that a thread goes on was not stored: %s", error, extra=extra)
        return is_new

    async def judge(
        self, body: dict[str, Any], me: BotIdentity, *, is_old: bool = False
    ) -> InboundQuestion | None:
        """The question in an event, if it is for the bot. Raises BotError.

        `is_old`: it is none of now, so it does not count, and who may not ask is not told.
        """
        question: Question | None
        reason: str | None
        judged = await self._heard(read_message(body, me), body)
        is_mention = is_awaited = False
        match judged:
            case StreamStarted(thread=thread, ts=ts):
                self._threads.registry.on_stream_started(thread, ts)
                return None
            case MessageChanged():
                return await self._changed(judged, body, me)
            case Ignored(reason=reason, question=question):
                log.debug("ignored: %s", reason)
            case ThreadReply(question=question, names_others=names_others):
                self._bots.person_wrote(question.thread)
                is_awaited = await self._is_awaited(question)
                is_expected = is_awaited or await self._is_expected(question, names_others)
                reason = None if is_expected else _NOT_EXPECTED
            case Question() as question:
                is_mention = True
                reason = self._bots.refusal(question, read_asker(body).ids)
                if reason:
                    log.info("ignored: %s", reason, extra={"thread_ts": question.thread.ts})
            case unknown:
                assert_never(unknown)
        if question is None:
            return None
        is_command = reason is None and await self._is_command(question)
        asked = InboundQuestion(question, is_mention, is_awaited, is_command)
        if reason is None and (reason := await self._why_not(asked, body, me, is_old=is_old)) is None:
            return asked
        await self._threads.follow.heard(question)
        if reason:
            self._threads.refusals.ignored(question, reason)
        return None

    async def _changed(
        self, change: MessageChanged, body: dict[str, Any], me: BotIdentity
    ) -> InboundQuestion | None:
        """What waits is changed. The edit of a new message may have overtaken it: then it is the question.
        If its deletion has, it is none; nor is what is for somebody else now.
        """
        context, text = self._threads.context, change.text
        await context.reword(change.thread, body["event"], is_gone=text is None)
        if change.names_others and not await self._threads.registry.is_waiting_for(
            change.thread, change.user
        ):
            text = None
        is_done = await self._threads.intake.edit(change.key, change.thread, text)
        if is_done or self._wall() - float(change.key.rpartition(":")[2]) >= _OVERTAKEN:
            return None
        if text:
            written = as_first_written(body, me)
            asked = None if written is None else await self.judge(written, me)
            if asked is not None and not await self.take(asked):  # it was stored in this moment
                await self._threads.intake.edit(change.key, change.thread, text)
            return None
        match read_gone(body, me):
            case Question() as gone:
                await self._threads.intake.never_ask(gone)
            case ThreadReply(question=gone, names_others=names_others):
                if await self._is_awaited(gone) or await self._is_expected(gone, names_others):
                    await self._threads.intake.never_ask(gone)
        return None

    async def _why_not(
        self, asked: InboundQuestion, body: dict[str, Any], me: BotIdentity, *, is_old: bool
    ) -> str | None:
        """Why its asker may not ask it."""
        question = asked.question
        ours = me.ours if me.ours.team else Organisation(question.thread.team)
        refused = await self._access.refusal(question, read_asker(body), ours)
        try:
            return await self._refusal(asked, refused, is_old=is_old)
        except StoreError:
            if refused or not asked.is_mention:
                raise
            return None  # `accept` finds out whether it can be stored

    async def _heard(self, judged: Inbound, body: dict[str, Any]) -> Inbound:
        """What may be the secret that a form waits for goes nowhere: its author is told privately."""
        reply = judged.question if isinstance(judged, ThreadReply) else judged
        words = await self._threads.forms.words_withheld(reply) if isinstance(reply, Question) else None
        if isinstance(reply, Question) and words is not None:
            if not self._threads.refusals.was_ignored(reply):
                self._threads.refusals.ignored(replace(reply, text=""), _FORM_ONLY)
                self._threads.refusals.refuse(replace(reply, text=""), words)
            return Ignored(_FORM_ONLY)
        await self._overhear(judged, body)
        return judged

    async def _overhear(self, judged: Inbound, body: dict[str, Any]) -> None:
        """What anybody but the bot writes may be what was said before a question."""
        is_asked = isinstance(judged, Question)
        said = judged if isinstance(judged, Question) else getattr(judged, "question", None)
        if said is not None:
            await self._threads.context.overhear(said, body["event"], is_asked=is_asked)

    async def _is_awaited(self, reply: Question) -> bool:
        return await self._threads.registry.is_waiting_for(reply.thread, reply.user)

    async def _is_expected(self, reply: Question, names_others: bool) -> bool:
        """Whether a reply that mentions nobody is for the bot all the same, though no agent waits for it."""
        if await self._threads.registry.is_stop_somewhere(reply):
            return True
        return not names_others and await self._threads.follow.is_question(reply)

    async def _refusal(self, asked: InboundQuestion, refused: Refusal | None, *, is_old: bool) -> str | None:
        """Who mentions the bot and may not ask is told, and everybody whose question is one too many."""
        question = asked.question
        is_told = not is_old and not question.asker_is_bot
        if refused is not None:
            is_told = is_told and asked.is_mention and self._access.is_to_be_told(question)
        elif not question.is_empty and not is_old and not asked.is_command:
            refused = await self._hourly.refusal(
                question.user, question.thread.channel, question.key, is_bot=question.asker_is_bot
            )
        if refused is None:
            return None
        if not self._threads.refusals.was_ignored(question):
            log.info("a question is refused: %s", refused.reason, extra={"thread_ts": question.thread.ts})
        if is_told:
            self._threads.refusals.refuse(question, refused.words)
        return refused.reason

    async def _is_command(self, message: Question) -> bool:
        threads = self._threads
        return threads.follow.is_stop(message) or await threads.registry.is_stop_somewhere(message)

    async def stop(
        self, body: dict[str, Any], context: AsyncBoltContext, next_: Callable[[], Awaitable[None]]
    ) -> None:
        """The middleware of `agent_session_stopped`. Slack has closed the stream; the agent still works."""
        ours = identity_of(context.authorize_result).ours
        if (request := read_stop(body)) is None:
            log.warning("ignored: a stop without a thread")
        elif not await self._access.may_press(request[0].channel, read_asker(body), ours):
            log.info("ignored: a stop of another organisation", extra={"thread_ts": request[0].ts})
        else:
            is_stopped = await self._threads.registry.stop(request[0], request[1], frozenset(request[2]))
            result = "stopping" if is_stopped else "not running"
            log.info("stop pressed: %s", result, extra={"thread_ts": request[0].ts})
        await next_()


async def _do_nothing() -> None:
    """Bolt acknowledges an event itself, before its listener runs."""


async def _acknowledge(ack: AsyncAck) -> None:
    await ack()
