"""Threads in which the bot is asked without a mention.

Direct messages are not among them: everything there is a question.
"""

import asyncio
import logging

from ..clock import Clock
from ..errors import StoreError
from ..settings.channels import ChannelPolicies
from ..store.collection import Change, CollectionStore
from ..store.knowledge import THREADS
from ..text.words import MENTION_NEEDED, READS_ALONG, READS_ALONG_NO_MORE, STOP_LISTENING_LABEL
from ..turn.buttons import TurnButton
from ..turn.record import Question, ThreadKey, is_direct
from ..turn.thread_state import (
    ListensTo,
    ThreadState,
    answered,
    heard,
    mentioned,
    reacted,
    read_alone,
    stopped,
    went_on,
)
from .background import TaskSet
from .notices import Notices

_log = logging.getLogger(__name__)

_TOLD_FOR = 86_400.0  # seconds for which a person knows that no mention is needed in a channel
_MOST_TOLD = 10_000  # people and channels
_LOOK = 1.0  # seconds that the end of an answer waits for what is known of its thread


class FollowedThreads:
    """What is known of them is in the store, so that each replica judges alike. `follow_for`, `stop_grace`:
    seconds.
    """

    def __init__(
        self,
        store: CollectionStore,
        policies: ChannelPolicies,
        follow_for: float,
        clock: Clock,
        notices: Notices,
        background: TaskSet,
        stop_grace: float,
    ) -> None:
        self._stop_grace = stop_grace
        self._store, self._policies, self._follow_for = store, policies, follow_for
        self._clock, self._notices, self._spawn = clock, notices, background.spawn
        self._told = dict[tuple[str, str, str], float]()  # by team, channel and person: when, the latest last

    async def taken(self, question: Question, *, is_mention: bool, is_awaited: bool) -> None:
        """A question was accepted. Raises StoreError.

        `is_awaited`: the agent asked them, and they know that an answer needs no mention.
        """
        if not self.may_follow(question.thread):
            return
        if is_mention:
            before = await self._change(question.thread, lambda state: mentioned(state, question))
            self._tell_asker(before, question)
            return
        if await self.is_question(question):
            at = float(question.ts)
            is_new = not is_awaited
            before = await self._change(question.thread, lambda state: went_on(state, at, is_shown=is_new))
            if is_new and before is not None and not before.is_shown and self._is_to_be_told(question):
                buttons = {TurnButton.STOP_LISTENING: STOP_LISTENING_LABEL}
                self._spawn(self._notices.offer(question, question.user, READS_ALONG, buttons))
        await self.heard(question)

    async def heard(self, message: Question) -> None:
        """A message was written, perhaps not to the bot. Raises StoreError."""
        thread = message.thread
        if message.ts == thread.ts or not self.may_follow(thread):
            return
        known = await self._state_of(thread)
        if known is not None and heard(known, message.user) != known:
            before = await self._change(thread, lambda state: heard(state, message.user))
            self._tell_asker(before, message)

    async def is_question(self, reply: Question) -> bool:
        """Whether `reply`, which mentions nobody, is for the bot. Raises StoreError."""
        thread = reply.thread
        if not self.may_follow(thread):
            return False
        known, respond = await self._state_of(thread), self._policies.of(thread.channel, thread.team).respond
        if known is not None and reply.is_stop_word and float(reply.ts) <= known.active_at + self._stop_grace:
            return False  # it was meant for an answer that has ended meanwhile, perhaps at another replica
        return known is not None and known.is_question(reply, respond, self._follow_for)

    async def listens_to(self, question: Question) -> ListensTo | None:
        """Who can go on without a mention in the thread of `question`, in a channel.

        None: it is as it was last said there.
        """
        thread = question.thread
        try:
            async with asyncio.timeout(_LOOK):
                known = await self._state_of(thread)
        except (StoreError, TimeoutError):
            known = None
        if known is None and _begins_with_answer(question):
            known = mentioned(None, question)
        if known is None:
            return ListensTo.NOBODY if thread.ts == question.ts else None
        who = known.listens_to(self._policies.of(thread.channel, thread.team).respond)
        return None if who is known.told else who

    async def read_alone(self, question: Question) -> None:
        """All of the thread was read before `question`: only its asker and the bot have written there."""
        await self._note(question, lambda state: read_alone(state, question))

    async def answered(self, question: Question, *, is_told: bool, is_shown: bool) -> None:
        """The time counts from the last answer. `is_told`: who need not mention the bot stands under it.

        `is_shown`: the agent said something. So begins the thread of what was not addressed to the bot.
        """
        now, respond = (
            self._clock.wall(),
            self._policies.of(question.thread.channel, question.thread.team).respond,
        )
        begins = is_shown and _begins_with_answer(question)

        def revise(state: ThreadState | None) -> ThreadState | None:
            known = mentioned(None, question) if state is None and begins else state
            return answered(known, now, respond if is_told else None)

        await self._note(question, revise)

    async def reacted(self, question: Question, author: str) -> None:
        """A person asked by a reaction to a message of `author`. Raises StoreError."""
        thread = question.thread
        if self.may_follow(thread):
            await self._change(thread, lambda state: reacted(state, question, author))

    async def _note(self, question: Question, revise: Change[ThreadState]) -> None:
        try:
            if self.may_follow(question.thread):
                await self._change(question.thread, revise)
        except StoreError as error:
            extra = {"turn": question.key, "thread_ts": question.thread.ts}
            _log.error("that a thread goes on was not stored: %s", error, extra=extra)

    def is_stop(self, question: Question) -> bool:
        """The words that end it."""
        return question.is_stop_listening and self.may_follow(question.thread)

    async def stop(self, question: Question, at: float) -> None:
        """From `at` on only a mention is a question in the thread of `question`. Raises StoreError."""
        await self._change(question.thread, lambda state: stopped(state, at))
        await self._notices.post(question, READS_ALONG_NO_MORE)

    def may_follow(self, thread: ThreadKey) -> bool:
        """Whether replies may be questions without a mention in this channel."""
        return (
            not is_direct(thread.channel)
            and self._policies.of(thread.channel, thread.team).respond != "mention"
        )

    async def _change(self, thread: ThreadKey, revise: Change[ThreadState]) -> ThreadState | None:
        changed = await self._store.change(THREADS, thread.parts, revise, self._clock.wall())
        return changed.before

    async def _state_of(self, thread: ThreadKey) -> ThreadState | None:
        return await self._store.get(THREADS, thread.parts)

    def _is_to_be_told(self, question: Question) -> bool:
        """The person has not read in this channel lately that no mention is needed.

        Only this process remembers it: after a restart, and from each replica, they read it once more.
        """
        thread, now = question.thread, self._clock.wall()
        key = thread.team, thread.channel, question.user
        if now - self._told.get(key, -_TOLD_FOR) < _TOLD_FOR:
            return False
        self._told.pop(key, None)
        self._told[key] = now
        if len(self._told) > _MOST_TOLD:
            del self._told[next(iter(self._told))]
        return True

    def _tell_asker(self, before: ThreadState | None, message: Question) -> None:
        """Once: when somebody else has written for the first time."""
        thread = message.thread
        is_first = before is not None and heard(before, message.user) != before
        respond = self._policies.of(thread.channel, thread.team).respond
        if before is None or not is_first or respond not in ("auto", "channel"):
            return
        is_followed = before.listens_to("auto") is ListensTo.ASKER
        if is_followed and float(message.ts) <= before.active_at + self._follow_for:
            self._spawn(self._notices.post_ephemeral(thread, before.asker, MENTION_NEEDED))


def _begins_with_answer(question: Question) -> bool:
    """The question was not addressed to the bot: there is a conversation once there is an answer."""
    return not question.is_addressed and question.asker is not None
