"""Which conversation has a thread, here or at another replica. Nothing else knows of replicas.

What people do goes as a command to the conversation of its thread. Where nothing is there, the command is
passed on to the process that has the thread; what such a process sends is given to the conversation here.
"""

import logging
from collections.abc import Iterator, Mapping
from typing import TypeAlias, cast

from ..settings.channels import ChannelPolicies
from ..slack.stream_starts import StreamStartTracker
from ..store.contracts import Signal, Store
from ..text.words import ALREADY_OVER, NONE_WAIT, THREAD_FORGOTTEN
from ..turn.progress import TurnRecord
from ..turn.record import Question, ThreadKey, is_direct
from . import commands as c
from .background import TaskSet
from .conversation import Conversation
from .leases import Leases, SignalKind
from .line import Rules
from .turn_run import TurnParts

_log = logging.getLogger(__name__)

_Words: TypeAlias = str | None
_KEPT = 64  # conversations that are over, until they are looked for


class Conversations:
    """The conversations of this process, by thread. `turns`: the tasks of what runs."""

    def __init__(
        self, turn_parts: TurnParts, leases: Leases, policies: ChannelPolicies, turns: TaskSet
    ) -> None:
        self._parts, self._leases = turn_parts, leases
        self._policies, self._turns = policies, turns
        self._conversations: dict[ThreadKey, Conversation] = {}
        self._most = _KEPT
        self._is_closing = False

    def __iter__(self) -> Iterator[Conversation]:
        return iter(tuple(self._conversations.values()))

    def of(self, thread: ThreadKey) -> Conversation:
        """The conversation of `thread`, which begins if there is none."""
        known = self._conversations.get(thread)
        if known is None:
            self._forget_what_is_over()
            known = self._conversations[thread] = Conversation(
                thread, self.rules(thread), self._parts, self._leases, self._turns
            )
            if self._is_closing:
                known.tell(c.Close(self._parts.store.is_durable))
        return known

    def get(self, thread: ThreadKey) -> Conversation | None:
        """The conversation of `thread`, if there is one."""
        return self._conversations.get(thread)

    def with_turn(self, key: str) -> Conversation | None:
        """Where a turn is: a line of several that are asked together is in the thread of the first."""
        return next((each for each in self if each.line.has(key)), None)

    def rules(self, thread: ThreadKey) -> Rules:
        """What holds there now."""
        policy, turns = self._policies.of(thread.channel, thread.team), self._parts.settings.turns
        return Rules(
            collects=policy.collects,
            merges=policy.merges,
            interrupts=policy.interrupts,
            follows=self._parts.follow.may_follow(thread),
            collect_delay=turns.collect_delay,
            max_waiting=turns.max_waiting,
            max_takeovers=turns.max_takeovers,
            stop_grace=turns.stop_grace,
        )

    def _forget_what_is_over(self) -> None:
        """Looked for only where their number has doubled."""
        if len(self._conversations) < self._most:
            return
        now = self._parts.clock.wall()
        for thread, each in tuple(self._conversations.items()):
            if each.is_over(now):
                del self._conversations[thread]
        self._most = max(_KEPT, 2 * len(self._conversations))

    def load(self) -> Mapping[str, int]:
        """How many turns run, questions wait and tasks are watched in this process."""
        lines = [each.line for each in self]
        waiting, watched = sum(len(line.waiting) for line in lines), sum(len(line.watched) for line in lines)
        return {"running": len(self._turns), "waiting": waiting, "watched": watched}

    def unseen_since(self) -> float | None:
        """When the oldest text came, of all answers that run, that its reader cannot see yet."""
        times = (each.unseen_since for each in self)
        return min((each for each in times if each is not None), default=None)

    def close(self) -> None:
        """Begin nothing more."""
        self._is_closing = True
        for each in self:
            each.tell(c.Close(self._parts.store.is_durable))

    async def unwatch(self) -> None:
        """Watch no task any more."""
        for each in self:
            await each.unwatch()


class Registry:
    """What is to be done in threads, given to the conversation of each here or passed on."""

    def __init__(
        self,
        turn_parts: TurnParts,
        leases: Leases,
        conversations: Conversations,
        stream_starts: StreamStartTracker,
    ) -> None:
        self._parts, self._leases = turn_parts, leases
        self._store: Store = turn_parts.store
        self.conversations, self._stream_starts = conversations, stream_starts

    # -- what people do

    async def stop(self, thread: ThreadKey, user: str, messages: frozenset[str] = frozenset()) -> bool:
        """Slack's own button: end what runs in a thread, else what is watched for `user`, else open forms
        that wait for them.

        False: there is nothing. `messages`: the streams that the stop is about. Raises StoreError.
        """
        return bool(await self.conversations.of(thread).stop(user, messages))

    async def stop_turn(self, key: str, user: str) -> None:
        """End a turn, at whatever stage: only its asker may. Raises StoreError."""
        turn = await self._store.turn(key)
        if turn is not None and turn.question.is_of(user):
            await self.conversations.of(turn.question.thread).request(c.StopTurn(turn, user))

    async def stop_watch(self, key: str, user: str) -> _Words:
        """Cancel the watched task of a turn: only its asker may. Else why not. Raises StoreError."""
        turn = await self._store.turn(key)
        return ALREADY_OVER if turn is None else await self.stop_watch_of(turn, user)

    async def stop_watch_of(self, turn: TurnRecord, user: str) -> _Words:
        """As `stop_watch`, of a turn that was read."""
        answer = await self.conversations.of(turn.question.thread).request(c.StopWatch(turn, user))
        return cast(_Words, answer)

    async def drop(self, key: str, user: str) -> _Words:
        """What waits of a person is not asked, up to the question `key`, and is stopped if it has begun since
        that was offered. What is said to them. Raises StoreError.
        """
        last = await self._store.turn(key)
        if last is None:
            return NONE_WAIT
        answer = await self.conversations.of(last.question.thread).request(c.Drop(last, user))
        return cast(_Words, answer)

    async def edit(self, edit: c.Edit, thread: ThreadKey) -> bool:
        """A message was edited or deleted: whether that changed its question here. Raises StoreError."""
        there = self.conversations.with_turn(edit.key) or self.conversations.of(thread)
        return bool(await there.request(edit))

    async def stop_listening(self, key: str) -> _Words:
        """Only a mention counts from now on in the thread of this turn. Else why not. Raises StoreError."""
        turn = await self._store.turn(key)
        if turn is None:
            return THREAD_FORGOTTEN
        await self._parts.follow.stop(turn.question, self._parts.clock.wall())
        return None

    async def is_waiting_for(self, thread: ThreadKey, user: str) -> bool:
        """Whether the agent waits for `user` in this thread. Raises StoreError."""
        here = self.conversations.get(thread)
        running = None if here is None else here.line.running
        if here is not None and running is not None and here.is_awaited and running.is_of(user):
            return True
        known = await self._parts.thread_agents.context_of(thread, user)
        return known.task_for(user) is not None

    async def is_stop_somewhere(self, question: Question) -> bool:
        """Its asker wants something of theirs to end, here or at another process. Raises StoreError."""
        return await self.thread_to_stop(question) is not None

    async def thread_to_stop(self, word: Question) -> ThreadKey | None:
        """Where something of its asker's is to end: in a direct message, in which each line begins a thread,
        where they asked last. Raises StoreError.
        """
        thread = word.thread
        if not word.is_stop_word:
            return None
        here = self.conversations.get(thread)
        if here is not None and here.line.is_under_way_for(word.user):
            return thread
        is_line = is_direct(thread.channel) and thread.ts == word.ts
        for turn in (await self._store.unfinished())[::-1] if is_line or self._leases.is_shared else ():
            asked = turn.question
            is_here = asked.thread == thread or (is_line and asked.thread.channel == thread.channel)
            if is_here and asked.is_of(word.user) and asked.key != word.key:
                return asked.thread
        ended = [
            (at, each.thread)
            for each in self.conversations
            if (each.thread == thread or (is_line and each.thread.channel == thread.channel))
            and (at := each.line.ended_at_for(word)) is not None
        ]
        return max(ended, key=lambda each: each[0])[1] if ended else None

    # -- what agents and Slack send

    async def watched_turn(self, push_id: str) -> TurnRecord | None:
        """The turn whose agent posts to this id, here or at another process. Raises StoreError."""
        watched = [turn for each in self.conversations for turn in each.line.watched.values()]
        for turn in watched:
            if turn.push_id == push_id:
                return turn
        return await self._store.watched(push_id) if self._leases.is_shared else None

    async def on_hint(self, push_id: str) -> None:
        """An agent says that there is news of a watched task."""
        hint = c.PushHint(push_id)
        for each in self.conversations:
            if any(turn.push_id == push_id for turn in each.line.watched.values()):
                each.tell(hint)
                return
        if (turn := await self._store.watched(push_id)) is not None:
            self.conversations.of(turn.question.thread).tell(hint)

    def on_stream_started(self, thread: ThreadKey, ts: str) -> None:
        """Slack says that a stream has begun: it may be one that a turn misses, also one that has ended."""
        if self._stream_starts.saw(thread.channel, thread.ts, ts):
            _log.debug("a missing stream was found by its event", extra={"thread_ts": thread.ts})
        elif self._leases.is_shared and not self._is_needed(thread):
            self._parts.background.spawn(self._leases.tell_of_stream(thread, ts))

    def _is_needed(self, thread: ThreadKey) -> bool:
        here = self.conversations.get(thread)
        return here is not None and here.line.is_needed

    # -- what processes hand over

    def go_on(self, turn: TurnRecord) -> None:
        """The process is gone that worked on this turn, which is claimed."""
        self.conversations.of(turn.question.thread).tell(c.TakeOver(turn))

    async def obey(self, signal: Signal) -> None:
        """Another process got what is meant for a thread of this one. Raises StoreError."""
        if signal.kind == SignalKind.STREAM:
            self.on_stream_started(signal.thread, signal.values["ts"])
            return
        command = await self._leases.command_of(signal)
        if command is None:
            return
        there = self.conversations.with_turn(command.key) if isinstance(command, c.Edit) else None
        (there or self.conversations.of(signal.thread)).tell(command)

    async def claim_left(self, turn: TurnRecord) -> None:
        """Go on with `turn`, which was left, if this process gets it."""
        await self.conversations.of(turn.question.thread).claim_left(turn)

    async def lose(self, thread: ThreadKey) -> None:
        """Another process works on `thread` now."""
        _log.error("a thread is another process's now", extra={"thread_ts": thread.ts})
        self.conversations.of(thread).tell(c.LeaseLoss())
