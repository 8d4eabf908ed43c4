"""Turns Slack's events into questions, and handles edits, deletions and stops.

Bolt acknowledges an event before its listener runs, so a question could be lost with the process. So a
middleware accepts questions instead. A question that cannot be stored is not acknowledged, and Slack sends it
again; at the last retry the asker gets a notice.
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
from ..threads.ports import Route
from ..threads.threads import Threads
from ..turn.json_values import object_of
from ..turn.people import Organisation
from ..turn.progress import Stage
from ..turn.quotes import ThreadMessage
from ..turn.record import Question
from .access import Access, BotAccess, HourlyQuestions, Refusal
from .authorizer import identity_of
from .judge import Judge, Judgement
from .read import (
    Asker,
    BotIdentity,
    ChannelMessage,
    Ignored,
    Inbound,
    MessageChanged,
    MessageEvent,
    StreamStarted,
    ThreadReply,
    as_first_written,
    read_gone,
    read_message,
    read_stop,
)

log = logging.getLogger(__name__)

_OVERTAKEN = 60.0  # seconds after a message in which its edit or deletion may come before it
_LAST_RETRY = "3"
"""Slack numbers its retries, at most three (facts: Slack 3.3).

In Socket Mode, Bolt adds the header of HTTP mode.
"""
_MOST_TAKEN = 10_000
_FORM_ONLY = "typed where a form waits for a secret"
_ANYTHING = re.compile(".*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class InboundQuestion:
    """A question for the bot.

    `is_mention`: it mentions the bot, or is a direct message. `is_awaited`: the agent waits for an answer of
    this person. `is_command`: it is an order to stop, or to stop listening. `route`: which agent is asked.
    `quoted`: the messages that it is about.
    """

    question: Question
    is_mention: bool
    is_awaited: bool
    is_command: bool
    route: Route
    quoted: tuple[ThreadMessage, ...] = ()


class SlackListeners:
    """The bot's listeners for events. `access`, `bots` and `hourly` decide who may ask."""

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
        self._access, self._judge, self._hourly = access, Judge(threads, bots), hourly
        self._taken: dict[str, None] = {}  # keys of questions, the oldest first

    def register(self, bolt: AsyncApp) -> None:
        """Register the listeners with Bolt. The first one that matches gets the event; the last ones match
        all.

        Slack sends an event that is not acknowledged again (facts: Slack 3.1).
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
        """The middleware of `app_mention` and `message`. Its 503 makes Slack send the event again."""
        inbound = None
        try:
            me = identity_of(request.context.authorize_result)
            event = read_message(request.body, me)
            if isinstance(event.reading, Question) and event.reading.key in self._taken:
                await self._overhear(event)  # the same mention as another event, or once more
            elif (inbound := await self.judge(event, me)) is not None:
                await self.take(inbound)
        except BotError as error:
            if _LAST_RETRY not in request.headers.get("x-slack-retry-num", ()):
                level = error.log_level if isinstance(error, StoreError) else logging.ERROR
                log.log(level, "a question was not accepted, Slack will send it again: %s", error)
                return BoltResponse(status=503)
            log.error("a question was not accepted, and Slack will not send it again: %s", error)
            if inbound is not None and inbound.question.is_addressed:  # None: was it for the bot?
                self._threads.refusals.refuse(inbound.question)
        await next_()
        return None

    async def take(self, inbound: InboundQuestion) -> bool:
        """Accept a question. Returns False if it was accepted before. Raises BotError."""
        question, follow = inbound.question, self._threads.follow
        route = inbound.route
        is_new = await self._threads.intake.accept(question, route.agent, route.reason, inbound.quoted)
        extra = {"turn": question.key, "thread_ts": question.thread.ts}
        if is_new and route.reason:
            log.info("the question is for %s: %s", route.agent, route.reason, extra=extra)
        if is_new and route.hint:
            self._threads.refusals.hint(question, route.hint)
        try:
            if inbound.is_command:
                await follow.heard(question)
            else:
                await follow.taken(question, is_mention=inbound.is_mention, is_awaited=inbound.is_awaited)
        except StoreError as error:
            extra = {"turn": inbound.question.key, "thread_ts": inbound.question.thread.ts}
            log.log(error.log_level, "that a thread goes on was not stored: %s", error, extra=extra)
            return is_new
        self._taken[question.key] = None
        if len(self._taken) > _MOST_TAKEN:
            del self._taken[next(iter(self._taken))]
        return is_new

    async def judge(
        self, event: MessageEvent, me: BotIdentity, *, is_old: bool = False
    ) -> InboundQuestion | None:
        """Return the question in an event if it is for the bot, else None. Raises BotError.

        `is_old`: the message was written while the bot was away. Then it does not count for the limits, and a
        refused asker gets no notice.
        """
        reading = await self._without_secret(event)
        match reading:
            case StreamStarted(thread=thread, ts=ts):
                self._threads.registry.on_stream_started(thread, ts)
                return None
            case MessageChanged():
                return await self._changed(reading, event, me)
            case Ignored(reason=why, question=ignored):
                log.debug("ignored: %s", why)
                judgement = Judgement(ignored, why)
            case ThreadReply():
                judgement = await self._judge.reply(reading, event)
            case ChannelMessage():
                judgement = await self._judge.channel_message(reading, event, is_old=is_old)
            case Question():
                judgement = self._judge.mention(reading, event)
            case unknown:
                assert_never(unknown)
        question, reason = judgement.question, judgement.reason
        if question is None:
            return None
        inbound = await self._routed(question, judgement)
        if (
            reason is None
            and (reason := await self._why_not(inbound, event.asker, me, is_old=is_old)) is None
        ):
            return inbound
        await self._threads.follow.heard(question)
        if reason:
            self._threads.refusals.ignored(question, reason)
        return None

    async def _say_instead(self, inbound: InboundQuestion, *, is_old: bool) -> str:
        """Send the asker the notice of the route, or let them choose an agent. Returns why, for the log."""
        route = inbound.route
        if not inbound.question.is_addressed:
            return route.reason
        if route.near:
            await self._threads.routing.offer(inbound.question, route.near)
        elif not is_old:
            self._threads.refusals.refuse(inbound.question, route.words)
        return route.reason

    async def _routed(self, question: Question, judgement: Judgement) -> InboundQuestion:
        """The question with its agent."""
        is_asked, is_mention = judgement.reason is None, judgement.is_mention
        is_command = is_asked and question.is_addressed and await self._is_command(question)
        route = Route(question)
        if is_asked and not is_command:
            threads, named = self._threads, judgement.agent
            word = None if named else await threads.words.route(question, is_mention=is_mention)
            route = word or await threads.routing.route(question, is_mention=is_mention, named=named)
        return InboundQuestion(
            route.question,
            is_mention=is_mention,
            is_awaited=judgement.is_awaited,
            is_command=is_command or not route.is_asked,
            route=route,
            quoted=judgement.quoted,
        )

    async def _changed(
        self, change: MessageChanged, event: MessageEvent, me: BotIdentity
    ) -> InboundQuestion | None:
        """Apply an edit or a deletion to a question that waits. Returns None.

        If an edit came before its message, its new text becomes the question. If a deletion did, or if the
        message is for others now, the message will not become a question.
        """
        context, text = self._threads.context, change.text
        await context.reword(change.thread, event.event, is_gone=text is None)
        if text is not None and change.is_of_bot and await self._is_quote(change, event):
            return None
        if text is not None:
            text = await self._text_for_bot(change, text, as_first_written(event.body, me))
        is_done = await self._threads.routing.reword(change.key, text)
        is_done = is_done or await self._threads.intake.edit(change.key, change.thread, text)
        if is_done or self._wall() - float(change.key.rpartition(":")[2]) >= _OVERTAKEN:
            return None
        if text:
            original = as_first_written(event.body, me)
            inbound = None if original is None else await self.judge(original, me)
            if inbound is not None and not await self.take(inbound):  # it was stored in this moment
                await self._threads.intake.edit(change.key, change.thread, text)
            return None
        gone = read_gone(event.body, me)
        judgement = Judgement(None)
        match gone.reading:
            case Question() as question:
                judgement = Judgement(question)
            case ThreadReply():
                judgement = await self._judge.reply(gone.reading, gone)
            case ChannelMessage():
                judgement = await self._judge.channel_message(gone.reading, gone, is_old=False)
        if judgement.question is not None and judgement.reason is None:
            await self._threads.intake.never_ask(judgement.question)
        return None

    async def _is_quote(self, change: MessageChanged, event: MessageEvent) -> bool:
        """Whether the edit is of an alert, which is no question itself: then it is quoted as it reads now, as
        long as its question has not begun.
        """
        turn = await self._threads.intake.turn(change.key)
        if turn is None or not turn.question.quoted:
            return change.has_same_text
        if turn.stage is Stage.ACCEPTED:
            await self._threads.channels.requote(turn.question, object_of(event.event.get("message")))
        return True

    async def _text_for_bot(self, change: MessageChanged, text: str, now: MessageEvent | None) -> str | None:
        """What the `text` of an edited message says to the bot, if it mentions others; None: nothing."""
        if not change.names_others:
            return self._threads.routing.without_name(text) if change.is_mention else text
        reading = None if now is None else now.reading
        if now is not None and isinstance(reading, ThreadReply | ChannelMessage):
            named = self._judge.mention_of_agent(reading.question, now.event)
            if named is not None:
                return named[0].text
        is_awaited = await self._threads.registry.is_waiting_for(change.thread, change.user)
        return text if is_awaited else None

    async def _why_not(
        self, inbound: InboundQuestion, asker: Asker, me: BotIdentity, *, is_old: bool
    ) -> str | None:
        """The reason why the asker may not ask this, for the log; None if they may."""
        question = inbound.question
        ours = me.ours if me.ours.team else Organisation(question.thread.team)
        refusal = await self._access.refusal(question, asker, ours)
        try:
            reason = await self._refusal(inbound, refusal, is_old=is_old)
        except StoreError:
            if refusal or not inbound.is_mention:
                raise
            return None  # `accept` finds out whether it can be stored
        if reason is None and not inbound.route.is_asked:
            return await self._say_instead(inbound, is_old=is_old)
        return reason

    async def _without_secret(self, event: MessageEvent) -> Inbound:
        """Withhold a message that may be the secret for which a form waits, and tell its author privately.

        Everything else is kept as context for later questions. Returns what `judge` goes on with.
        """
        reading = event.reading
        reply = reading.question if isinstance(reading, ThreadReply) else reading
        words = await self._threads.forms.words_withheld(reply) if isinstance(reply, Question) else None
        if isinstance(reply, Question) and words is not None:
            if not self._threads.refusals.was_ignored(reply):
                self._threads.refusals.ignored(replace(reply, text=""), _FORM_ONLY)
                self._threads.refusals.refuse(replace(reply, text=""), words)
            return Ignored(_FORM_ONLY)
        await self._overhear(event)
        return reading

    async def _overhear(self, event: MessageEvent) -> None:
        """Keep the message, if a person or another bot wrote it, as context for later questions."""
        reading = event.reading
        is_asked = isinstance(reading, Question)
        question = reading if isinstance(reading, Question) else getattr(reading, "question", None)
        if question is not None:
            await self._threads.context.overhear(question, event.event, is_asked=is_asked)

    async def _refusal(
        self, inbound: InboundQuestion, refusal: Refusal | None, *, is_old: bool
    ) -> str | None:
        """Apply the limits, and notify the asker: always of a limit, only after a mention of a missing
        right.
        """
        question = inbound.question
        gets_notice = not is_old and not question.asker_is_bot and question.is_addressed
        if refusal is not None:
            gets_notice = gets_notice and inbound.is_mention and self._access.is_to_be_told(question)
        elif not question.is_empty and not is_old and not inbound.is_command:
            thread = question.thread
            refusal = await self._hourly.refusal(
                question.user, thread.channel, thread.team, question.key, is_bot=question.asker_is_bot
            )
        if refusal is None:
            return None
        if not self._threads.refusals.was_ignored(question):
            log.info("a question is refused: %s", refusal.reason, extra={"thread_ts": question.thread.ts})
        if gets_notice:
            self._threads.refusals.refuse(question, refusal.words)
        return refusal.reason

    async def _is_command(self, question: Question) -> bool:
        threads = self._threads
        return threads.follow.is_stop(question) or await threads.registry.is_stop_somewhere(question)

    async def stop(
        self, body: dict[str, Any], context: AsyncBoltContext, next_: Callable[[], Awaitable[None]]
    ) -> None:
        """The middleware of `agent_session_stopped`: stops the agent. Slack itself has closed the stream."""
        ours = identity_of(context.authorize_result).ours
        if (request := read_stop(body)) is None:
            log.warning("ignored: a stop without a thread")
        elif not await self._access.may_press(request.thread.channel, request.by, ours):
            log.info("ignored: a stop of another organisation", extra={"thread_ts": request.thread.ts})
        else:
            is_stopped = await self._threads.registry.stop(request.thread, request.user, request.streams)
            result = "stopping" if is_stopped else "not running"
            log.info("stop pressed: %s", result, extra={"thread_ts": request.thread.ts})
        await next_()


async def _do_nothing() -> None:
    """Needs to do nothing: Bolt acknowledges an event before its listener runs."""


async def _acknowledge(ack: AsyncAck) -> None:
    await ack()
