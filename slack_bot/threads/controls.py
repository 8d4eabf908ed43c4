"""What people do to turns: they stop them, change or drop what waits, and ask again."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, replace
from typing import Any

from ..store.contracts import Store
from ..text.words import (
    ALREADY_ASKED_AGAIN,
    ALREADY_OVER,
    ASK_AGAIN,
    DROP_WAITING,
    DROPPED_AND_STOPPED,
    DROPPED_WAITING,
    NONE_WAIT,
    NOT_YOURS_TO_ASK_AGAIN,
    NOT_YOURS_TO_STOP,
    QUESTION_FORGOTTEN,
    QUESTION_REWORDED,
    STOP_TOO_LATE,
    STOPPED_THE_BEGUN_ONE,
    STOPPED_WAITING_KEPT,
)
from ..turn.buttons import TurnButton
from ..turn.progress import Stage, TurnRecord
from ..turn.record import Outcome, Question, ThreadKey, is_direct
from .journal import Journal
from .notices import Notices
from .replicas import Replicas, SignalKind
from .thread_lines import RunningTurn, ThreadLines
from .watches import Watches


class _RecentEnds:
    """The questions whose answers ended in the last `grace` seconds."""

    def __init__(self, grace: float) -> None:
        self._grace = grace
        self._ended: deque[tuple[Question, float]] = deque()

    def add(self, question: Question, at: float) -> None:
        """`at`: seconds since 1970."""
        while self._ended and self._ended[0][1] < at - self._grace:
            self._ended.popleft()
        self._ended.append((question, at))

    def thread_of(self, word: Question) -> ThreadKey | None:
        """Where the answer ended that the word "stop" came too late for."""
        thread, written = word.thread, float(word.ts)
        is_line = is_direct(thread.channel) and thread.ts == word.ts
        for question, at in reversed(self._ended):
            is_here = question.thread == thread or (is_line and question.thread.channel == thread.channel)
            is_meant = float(question.ts) < written <= at + self._grace
            if is_here and is_meant and question.is_of(word.user):
                return question.thread
        return None


@dataclass(slots=True, eq=False)
class _Change:
    """What became of a message: another text, or None."""

    text: str | None
    is_done: bool = False


class TurnControls:
    """`accept` takes a question: the dispatcher's. `stop_grace`: seconds after an answer's end in which the
    word "stop" is about that answer, and no question.
    """

    def __init__(
        self,
        lines: ThreadLines,
        watches: Watches,
        journal: Journal,
        replicas: Replicas,
        notices: Notices,
        store: Store,
        accept: Callable[[Question], Awaitable[bool]],
        stop_grace: float,
    ) -> None:
        self._recent_ends = _RecentEnds(stop_grace)
        self._lines, self._watches, self._journal, self._replicas = lines, watches, journal, replicas
        self._notices, self._store, self._accept = notices, store, accept
        self._arriving: dict[str, set[asyncio.Task[Any]]] = {}
        self._changes: dict[str, _Change] = {}  # of questions that arrive

    def is_stop(self, question: Question) -> bool:
        """The asker of what runs, waits or is watched here, or has just ended, wants it to end."""
        if not question.is_stop_word:
            return False
        return self._is_under_way(question) or self._recent_ends.thread_of(question) is not None

    def _is_under_way(self, question: Question) -> bool:
        """Something of its asker's runs, waits or is watched in its thread."""
        thread, user = question.thread, question.user
        is_begun = self._is_running_for(thread, user) or bool(self._watches.of(thread, user))
        return is_begun or bool(self._lines.waiting(thread, user))

    def ended(self, question: Question) -> None:
        """The answer of `question` has ended by itself, and the agent waits for nobody."""
        self._recent_ends.add(question, self._journal.now())

    async def is_stop_somewhere(self, question: Question) -> bool:
        """The same for all processes. Raises StoreError."""
        return await self.thread_to_stop(question) is not None

    async def thread_to_stop(self, word: Question) -> ThreadKey | None:
        """Where something of its asker's is to end: in a direct message, in which each line begins a thread,
        where they asked last. Raises StoreError.
        """
        thread = word.thread
        if not word.is_stop_word:
            return None
        if self._is_under_way(word):
            return thread
        is_line = is_direct(thread.channel) and thread.ts == word.ts
        for turn in (await self._store.unfinished())[::-1] if is_line or self._store.lease else ():
            asked = turn.question
            is_here = asked.thread == thread or (is_line and asked.thread.channel == thread.channel)
            if is_here and asked.is_of(word.user) and asked.key != word.key:
                return asked.thread
        return self._recent_ends.thread_of(word)

    def _is_running_for(self, thread: ThreadKey, user: str) -> bool:
        running = self._lines.get(thread)
        return running is not None and running.question.is_of(user)

    async def stop(self, thread: ThreadKey, user: str, messages: Collection[str] = ()) -> bool:
        """End the running turn of a thread for `user`, and what is watched for them. False: there is none.

        `messages`: the streams that the stop is about, if it is about some.
        """
        running = self._lines.get(thread)
        if running is not None and not await self._are_others(messages, running):
            running.handle.stop(user)
            if running.journal is not None:
                await running.journal.stop(user)
            else:
                await self._journal.keep(replace(running.turn, stopped_by=user))
            await self._offer_to_drop(running, user)
            return True
        watched = self._watches.of(thread, user)
        for turn in watched:
            await self.stop_watch(turn.key, user)
        if watched or running is not None:
            return bool(watched)
        return await self._replicas.tell(thread, SignalKind.STOP, user=user, messages=" ".join(messages))

    async def _are_others(self, messages: Collection[str], running: RunningTurn) -> bool:
        """A stop that comes late names messages of another turn."""
        if not messages:
            return False
        shown = {message.ts for message in running.sink.delivery.messages}
        return (await self._journal.messages_in(running.question.thread) - shown).issuperset(messages)

    async def _offer_to_drop(self, running: RunningTurn, user: str) -> None:
        """Once for the same questions: people press Stop twice."""
        waiting = self._lines.waiting(running.question.thread, user)
        if waiting and waiting[-1].key != running.offered:
            running.offered = waiting[-1].key
            labels = {TurnButton.DROP: DROP_WAITING.format(len(waiting))}
            await self._notices.offer(waiting[-1].question, user, STOPPED_WAITING_KEPT, labels)

    async def stop_by_word(self, turn: TurnRecord) -> None:
        """`turn` is the word, and not asked: it is about what runs or is watched, else about what waits."""
        thread, user = turn.question.thread, turn.question.user
        if self._is_running_for(thread, user):
            await self.stop(thread, user)
        elif watched := self._watches.of(thread, user):
            for each in watched:
                await self.stop_watch(each.key, user)
        else:
            dropped = await self._drop(thread, self._lines.waiting(thread, user))
            is_late = not dropped and self._recent_ends.thread_of(turn.question) is not None
            words = STOP_TOO_LATE if is_late else _said_of(dropped)
            await self._notices.post_ephemeral(thread.channel, thread.ts, user, words)
        await self._journal.end(turn, Outcome.STOPPED)

    async def drop(self, key: str, user: str) -> str | None:
        """What waits of a person is not asked, up to the question `key`, and is stopped if it has begun since
        that was offered. What is said to them.
        """
        last = await self._store.turn(key)
        if last is None:
            return NONE_WAIT
        thread, until = last.question.thread, last.accepted_at
        if thread not in self._lines:
            is_told = await self._replicas.tell(thread, SignalKind.DROP, turn=key, user=user)
            return None if is_told else NONE_WAIT
        waiting = self._lines.waiting(thread, user)
        dropped = await self._drop(thread, [each for each in waiting if each.accepted_at <= until])
        if not self._has_begun(thread, user, until):
            return _said_of(dropped)
        await self.stop(thread, user)
        return DROPPED_AND_STOPPED.format(dropped) if dropped else STOPPED_THE_BEGUN_ONE

    def _has_begun(self, thread: ThreadKey, user: str, until: float) -> bool:
        """What runs is a question of `user` that was accepted up to `until`, and not stopped."""
        running = self._lines.get(thread)
        if running is None or running.question.user != user or running.handle.stopped_by is not None:
            return False
        return all(each.turn.accepted_at <= until for each in running.asked)

    async def _drop(self, thread: ThreadKey, turns: Collection[TurnRecord]) -> int:
        with self._replicas.keep(thread):
            if dropped := self._lines.drop(thread, [each.key for each in turns]):
                await asyncio.wait(dropped)
        return len(dropped)

    def arrives(self, key: str, storing: asyncio.Task[Any]) -> None:
        """A question is begun as soon as it is stored: what becomes of its message meanwhile counts too."""
        tasks = self._arriving.setdefault(key, set())

        def arrived(task: asyncio.Task[Any]) -> None:
            tasks.discard(task)
            if not tasks:
                self._arriving.pop(key, None)

        tasks.add(storing)
        storing.add_done_callback(arrived)

    async def as_changed(self, turn: TurnRecord) -> TurnRecord | None:
        """A question that was stored, as its message reads now. None: it is gone, and not asked."""
        while (change := self._changes.pop(turn.key, None)) is not None:
            change.is_done = True
            if not change.text:
                await self._journal.end(turn, Outcome.STOPPED)
                return None
            turn = _with_text(turn, change.text)
            await self._journal.keep(turn)
        return turn

    async def _change_arriving(self, key: str, text: str | None) -> bool:
        if key not in self._arriving:
            return False
        change = self._changes[key] = _Change(text)
        await asyncio.wait(tuple(self._arriving[key]))
        if self._changes.get(key) is change:
            del self._changes[key]
        return change.is_done

    async def change(self, key: str, thread: ThreadKey, text: str | None) -> bool:
        """A message was edited, or deleted (None). That counts as long as its question arrives or waits here;
        if not, another process may be told. Whether it did here.
        """
        if await self._change_arriving(key, text):
            return True
        thread = self._lines.thread_of(key) or thread
        with self._replicas.keep(thread):
            if text:
                changed = self._lines.change(key, thread, text)
                done = [changed] if changed is not None else []
            else:
                done = self._lines.drop(thread, [key])
            if done:
                await asyncio.wait(done)
        if not done and thread not in self._lines:
            await self.change_stored(key, text)
        elif not done and text:
            await self._offer_to_ask_again(key, thread, text)
        return bool(done)

    async def _offer_to_ask_again(self, key: str, thread: ThreadKey, text: str) -> None:
        """The message of the question that runs says something else now: its asker may want that answered."""
        running = self._lines.get(thread)
        if running is None or running.journal is None or running.question.merged:
            return
        question = running.question
        is_other = text != (running.record.reworded or question.text)
        if question.handle or replace(question, attempt=0).key != key or not is_other:
            return
        await running.journal.reword(text)
        labels = {TurnButton.RETRY: ASK_AGAIN}
        await self._notices.offer(question, question.user, QUESTION_REWORDED, labels)

    async def change_stored(self, key: str, text: str | None) -> None:
        """The same for a question that another process stored. Where that one has begun to work on it, this
        one can write nothing, and tells it. Raises StoreError.
        """
        known = await self._store.turn(key) if self._store.lease else None
        if known is None or known.ended_at is not None or self._lines.has(known):
            return
        if known.stage is not Stage.ACCEPTED:  # it runs there
            if text:
                await self._replicas.tell(known.question.thread, SignalKind.CHANGE, turn=key, text=text)
            return
        changed = _with_text(known, text) if text else self._journal.ended(known, Outcome.STOPPED)
        await self._store.save((changed, 0))
        await self._replicas.tell(known.question.thread, SignalKind.CHANGE, turn=key, text=text or "")

    async def never_ask(self, gone: Question) -> None:
        """The message of this question is deleted: if it comes only now, it is a repetition, to each process.

        Raises StoreError.
        """
        turn = TurnRecord(replace(gone, text="", files=()), self._journal.now())
        if await self._store.accept(turn):
            await self._journal.end(turn, Outcome.STOPPED)
        else:
            await self.change_stored(turn.key, None)

    async def stop_watch(self, key: str, user: str) -> str | None:
        """Cancel the watched task of a turn: only its asker may. Else why not."""
        turn = self._watches.get(key)
        if turn is None:
            known = await self._store.turn(key)
            is_watched = known is not None and known.stage is Stage.WATCHED
            if known is None or not is_watched or not known.question.is_of(user):
                return ALREADY_OVER
            return None if await self._stop_news(known, user) else ALREADY_OVER
        if not turn.question.is_of(user):
            return NOT_YOURS_TO_STOP
        turn = replace(turn, stopped_by=user)
        with self._replicas.keep(turn.question.thread):
            self._watches.remove(key)
            await self._journal.keep(turn)
            self._lines.add(turn)
        return None

    async def _stop_news(self, watched: TurnRecord, user: str) -> bool:
        """Its task has news: the turn runs again, waits to, or is watched by another process."""
        thread, running = watched.question.thread, self._lines.get(watched.question.thread)
        if running is not None and running.question.key == watched.key:
            return await self.stop(thread, user)
        if (waiting := self._lines.stop_waiting(watched.key, thread, user)) is not None:
            return await self._journal.keep(waiting)
        return await self._replicas.tell(thread, SignalKind.STOP_WATCH, turn=watched.key, user=user)

    async def stop_turn(self, key: str, user: str) -> None:
        """End a turn, wherever it stands: only its asker may. Raises StoreError."""
        turn = await self._store.turn(key)
        if turn is None or not turn.question.is_of(user):
            return
        thread = turn.question.thread
        running = self._lines.get(thread)
        if turn.stage is Stage.WATCHED:
            await self.stop_watch(key, user)
        elif turn.stage is Stage.ACCEPTED and (running is None or running.question.key != key):
            await self.change(key, thread, None)  # it waits
        else:
            await self.stop(thread, user)

    async def retry(self, turn: str, user: str, refusal: Callable[[], Awaitable[str | None]]) -> str | None:
        """Ask the question of `turn` again: only its asker may, and once. Else why not, with
        `refusal` as the last reason. Raises BotError.
        """
        known = await self._store.turn(turn)
        if known is None:
            return QUESTION_FORGOTTEN
        if not known.question.is_of(user):
            return NOT_YOURS_TO_ASK_AGAIN
        if (refused := await refusal()) is not None:
            return refused
        await self.stop_watch(turn, user)
        attempt = known.question.attempt + 1
        question = known.question
        task_id = question.task_id if question.handle else None  # it answers that task's form
        text = known.reworded or question.text
        again = replace(question, text=text, attempt=attempt, context_id=None, task_id=task_id)
        return None if await self._accept(again) else ALREADY_ASKED_AGAIN


def _said_of(dropped: int) -> str:
    return DROPPED_WAITING.format(dropped) if dropped else NONE_WAIT


def _with_text(turn: TurnRecord, text: str) -> TurnRecord:
    return replace(turn, question=replace(turn.question, text=text))
