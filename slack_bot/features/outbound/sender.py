"""Posts the messages that `slack-bot say` and others left in the store, and lets the agent answer there.

Each post carries the key of its message, so a process that goes on after another one looks for the post
first. The agent's answer is an ordinary turn, whose question is the first of these posts. From there on, the
turn's own record keeps the answer whole and single.

A question whose agent may be silent has no post at first: its turn posts the first message of the thread as
soon as there is something to show (`Question.headline`). What is known of the conversation is moved to that
thread at the end of the turn.
"""

import asyncio
import logging
import math
from dataclasses import replace
from functools import partial

from slack_bolt.authorization import AuthorizeResult

from ...clock import Clock
from ...errors import ADD_SCOPE, BotError, SlackError, StoreError
from ...inbound.access import HourlyQuestions
from ...inbound.authorizer import Identities
from ...settings.load import Settings
from ...slack import blocks
from ...slack.faults import CallFailed
from ...slack.methods import Priority
from ...slack.reconcile import SKEW
from ...slack.surfaces import PostSurface
from ...store.contracts import Store
from ...store.outbound import (
    OUTBOUND,
    SERIES,
    end_series,
    keep_series,
    outbound,
    save_outbound,
    thread_of_series,
    unfinished_outbound,
)
from ...store.quoted import keep_quoted
from ...text.fit import MessageLimits
from ...text.ledger import split_into_segments
from ...threads.threads import Threads
from ...turn.failure import program_in_words
from ...turn.outbound import OutboundMessage, OutboundRecord
from ...turn.people import PersonKind
from ...turn.progress import Stage
from ...turn.quotes import ThreadMessage
from ...turn.record import Question, QuestionOrigin, ThreadKey
from ..feature import BotParts, Feature, FeatureWork

_log = logging.getLogger(__name__)

_AGAIN = 30.0  # seconds until what the store or the sign-in kept from being delivered is tried again
_KIND = "outbound"
_CHECK_USER = "check the id (U...), which Slack shows in the person's profile"
_THREAD_GONE = ("thread_not_found", "invalid_thread_ts")
_OVER = (Stage.ENDED, Stage.WATCHED)
_REMEDIES = {
    "channel_not_found": "check the id (C...), and if the channel is private, invite the bot there",
    "not_in_channel": "invite the bot there with /invite",
    "is_archived": "the channel is archived; name another one",
    "user_not_found": _CHECK_USER,
    "users_not_found": _CHECK_USER,
    "user_not_visible": _CHECK_USER,
    "user_disabled": "this person's account is deactivated; name another one",
    "cannot_dm_bot": "this is a bot or the app itself; name a person",
    **dict.fromkeys(_THREAD_GONE, "check the link; the thread may be deleted"),
    "msg_too_long": "make the headline shorter",
}


class OverLimit(BotError):
    """A limit of questions is reached."""


class OutboundSender:
    """Delivers the messages in the store. `identities`: who the bot is in each workspace. `hourly`: limits of
    questions; None: there are none.
    """

    def __init__(
        self,
        store: Store,
        threads: Threads,
        identities: Identities,
        settings: Settings,
        clock: Clock,
        hourly: HourlyQuestions | None = None,
    ) -> None:
        self._hourly = hourly
        self._store, self._threads, self._identities = store, threads, identities
        self._settings, self._clock = settings, clock
        self._running: dict[str, asyncio.Task[None]] = {}

    async def run(self) -> None:
        try:
            while True:
                await self._start_new()
                await asyncio.sleep(self._settings.store.outbound_interval)
        finally:
            for task in self._running.values():
                task.cancel()

    async def deliver(self, record: OutboundRecord) -> OutboundRecord:
        """Post the rest of a message and start its turn if it is a question. Returns the record at its end.

        A refusal by Slack ends it too. Raises StoreError, and SlackError if the bot cannot sign in.
        """
        result, _ = await self._until_its_end(record)
        return result

    async def _until_its_end(
        self, record: OutboundRecord
    ) -> tuple[OutboundRecord, SlackError | OverLimit | None]:
        """As `deliver`, with what ended it."""
        me, refusal = await self._identities.of(record.message.team), None
        try:
            result = await self._deliver(record, me)
        except (SlackError, OverLimit) as error:
            refusal = error
            result = replace(await outbound(self._store, record.key) or record, error=str(error))
        result = replace(result, ended_at=self._clock.wall())
        await save_outbound(self._store, result)
        return result, refusal

    async def _start_new(self) -> None:
        try:
            records = await unfinished_outbound(self._store)
        except StoreError as error:
            _log.log(error.log_level, "the store was not asked for messages: %s", error)
            await asyncio.sleep(_AGAIN)
            return
        for record in records:
            if record.key not in self._running:
                task = asyncio.create_task(self._try(record), name=f"outbound {record.key}")
                self._running[record.key] = task
                task.add_done_callback(partial(self._done, record.key))

    async def _try(self, record: OutboundRecord) -> None:
        try:
            _, refusal = await self._until_its_end(record)
            if refusal is not None:
                _log_refusal(record, refusal)
        except BotError as error:
            _log.error("a message is delivered later: %s", error, extra={"turn": record.key})
            await asyncio.sleep(_AGAIN)

    def _done(self, key: str, task: asyncio.Task[None]) -> None:
        """Forget a delivery that ended.

        One that broke is left to the next process: here it would break again.
        """
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("the delivery of a message broke", exc_info=error, extra={"turn": key})
        else:
            del self._running[key]

    async def _deliver(self, record: OutboundRecord, me: AuthorizeResult) -> OutboundRecord:
        team, is_again = me.team_id or "", record.is_begun
        if not is_again:
            await self._check_limits(record)
            record = await self._begin(record)
        channel = record.message.channel or await self._open(record, team)
        if record.message.may_be_silent:
            return await self._ask_first(record, me, channel)
        try:
            record = await self._post_all(record, team, channel, is_again=is_again)
        except SlackError as error:
            if not (record.message.series and record.message.thread_ts and error.error in _THREAD_GONE):
                raise
            await end_series(self._store, record.message.series)
            record = replace(record, message=replace(record.message, thread_ts=""))
            record = await self._post_all(record, team, channel, is_again=is_again)
        message, first = record.message, record.posted[0]
        question = record.question(team, channel, message.thread_ts or first, first)
        if message.series:
            await keep_series(self._store, message.series, question.thread, self._clock.wall())
        if message.is_question:
            record = await self._ask(record, question)
        else:
            await self._choose(message, question.thread)
        # without the workspace's address the place
        return replace(record, link=question.permalink(me.url) if me.url else f"{channel}:{first}")

    async def _check_limits(self, record: OutboundRecord) -> None:
        """A request was asked about when it came; a schedule comes here first. Raises OverLimit."""
        message = record.message
        if self._hourly is None or message.origin is not QuestionOrigin.SCHEDULE or not message.is_question:
            return
        refusal = await self._hourly.refusal_of_program(
            message.program, message.channel, message.team, record.key
        )
        if refusal is not None:
            raise OverLimit(refusal.sentence)

    async def _begin(self, record: OutboundRecord) -> OutboundRecord:
        """Nothing of it is in Slack yet. From now on its thread is certain."""
        message = record.message
        thread = await thread_of_series(self._store, message.series) if message.series else None
        if thread is not None:
            message = replace(message, channel=thread.channel, thread_ts=thread.ts)
        record = replace(record, message=message, is_begun=True)
        await save_outbound(self._store, record)
        return record

    async def _post_all(
        self, record: OutboundRecord, team: str, channel: str, *, is_again: bool
    ) -> OutboundRecord:
        texts = _texts(record.message, self._settings)
        for number in range(len(record.posted), len(texts)):
            thread = ThreadKey(team, channel, record.message.thread_ts or "".join(record.posted[:1]))
            ts = await self._post(record, thread, texts[number], is_again=is_again)
            record, is_again = replace(record, posted=(*record.posted, ts)), False
            await save_outbound(self._store, record)
        return record

    async def _ask(self, record: OutboundRecord, question: Question) -> OutboundRecord:
        """Let the agent answer, in a turn of its own."""
        message = record.message
        if message.quoted:
            question = replace(question, quoted=question.key)
            about = ThreadMessage(
                question.ts, message.quoted_by, PersonKind.BOT, message.quoted, name=message.quoted_by
            )
            await keep_quoted(self._store, question, (about,), record.accepted_at)
        record = replace(record, turn=question.key)
        await save_outbound(self._store, record)
        await self._choose(message, question.thread)
        route = await self._threads.routing.route(question, is_mention=False)
        # an operator may ask each of them
        await self._threads.intake.accept(question, message.agent or route.agent)
        return record

    async def _choose(self, message: OutboundMessage, thread: ThreadKey) -> None:
        """People who answer there go on with this agent, and in this conversation with it."""
        if message.agent:
            await self._threads.agents.pin(thread, message.agent)
        if message.context_id:
            await self._threads.agents.begin_context(thread, message.user, message.context_id)

    async def _ask_first(self, record: OutboundRecord, me: AuthorizeResult, channel: str) -> OutboundRecord:
        """The agent may be silent: what is posted begins with its answer."""
        message, team = record.message, me.team_id or ""
        ts = record.place_holder
        headline = "" if message.thread_ts else _texts(message, self._settings)[0]
        question = record.question(team, channel, message.thread_ts or ts, ts, headline)
        if record.turn is None or await self._store.turn(question.key) is None:
            record = await self._ask(record, question)
        turn = await self._store.turn(question.key)
        while turn is not None and turn.stage not in _OVER:
            await asyncio.sleep(self._settings.store.outbound_interval)
            turn = await self._store.turn(question.key)
        first = "" if turn is None else turn.question.root or next((each.ts for each in turn.messages), "")
        if turn is None or not first:
            return record
        if turn.question.root:
            thread = turn.question.thread_in_slack
            await self._threads.agents.move(question.thread, thread, question.user)
            if message.series:
                await keep_series(self._store, message.series, thread, self._clock.wall())
        link = turn.question.permalink(me.url) if me.url else f"{channel}:{first}"
        return replace(record, posted=(first,), link=link)

    async def _open(self, record: OutboundRecord, team: str) -> str:
        user = record.message.user
        writer = self._threads.notices.writer(_origin(record, ThreadKey(team, "", "")))
        result = await writer.carry_out(writer.calls.call_until_known("conversations.open", {"users": user}))
        if isinstance(result, CallFailed):
            raise _refused(result, user)
        return str((result.data.get("channel") or {}).get("id") or "")

    async def _post(self, record: OutboundRecord, thread: ThreadKey, text: str, *, is_again: bool) -> str:
        writer = self._threads.notices.writer(_origin(record, thread), priority=Priority.BACKGROUND)
        posts = PostSurface(writer.calls, len(record.posted), record.accepted_at - SKEW)
        forms = blocks.forms(text, (), ())
        if record.message.is_broadcast and record.message.thread_ts:
            forms = [(form, {**body, "reply_broadcast": True}) for form, body in forms]
        post = posts.post_forms(forms, _KIND, persist=True, is_again=is_again)
        result = await writer.carry_out(post)
        if isinstance(result, CallFailed):
            raise _refused(result, thread.channel)
        return result.ts


def _log_refusal(record: OutboundRecord, error: SlackError | OverLimit) -> None:
    extra, who = {"turn": record.key}, _sender_of(record.message)
    if isinstance(error, OverLimit):
        _log.warning("a question of %s was not asked: %s", who, error, extra=extra)
    else:
        _log.error("a message of %s was not delivered: %s", who, error, extra=extra)


def _sender_of(message: OutboundMessage) -> str:
    """Who wanted the message, for the log."""
    return program_in_words(message.program) or "the operator"


def _origin(record: OutboundRecord, thread: ThreadKey) -> Question:
    """A question in place of the one that a post would answer: its key names the post."""
    return Question(thread, record.key, "", thread.team, "", asker_is_bot=True)


def _texts(message: OutboundMessage, settings: Settings) -> list[str]:
    """The texts of the posts. All but the first are replies to it; the agent's answer comes below."""
    if message.is_question:
        return [message.headline or blocks.fallback(message.text)]
    most = settings.stream.max_call_chars
    size = min(settings.stream.rotate_bytes, most)
    limits = MessageLimits(rotate_after=math.inf, rotate_bytes=size, max_call_chars=most)
    body = [segment.text for segment in split_into_segments(message.text, limits)]
    return [message.headline, *body] if message.headline else body


def _refused(failure: CallFailed, target: str) -> SlackError:
    remedy = _REMEDIES.get(failure.error, "say it again later, or look the name up in Slack's documentation")
    if failure.error == "missing_scope":
        remedy = f"the Slack app lacks the scope {failure.needed or 'for it'}; {ADD_SCOPE}"
    return SlackError(
        f"Slack does not take this for {target} ({failure.error}): {remedy}.", error=failure.error
    )


def start(bot: BotParts) -> FeatureWork:
    """Post the messages that `slack-bot say` and others left in the store."""
    common = bot.common
    sender = OutboundSender(
        store=common.store,
        threads=bot.threads,
        identities=bot.identities,
        settings=common.settings,
        clock=common.clock,
        hourly=bot.hourly,
    )
    return FeatureWork(run=sender.run)


FEATURE = Feature("outbound", start, collections=(OUTBOUND, SERIES))
