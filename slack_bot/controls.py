"""What people do to turns: they stop them, ask again, and say what they think of the answer."""

from collections.abc import Awaitable, Callable, Collection
from dataclasses import replace

from .clock import Clock
from .journal import Journal
from .replicas import Replicas
from .store.contracts import Store
from .thread_lines import RunningTurn, ThreadLines
from .turn.progress import Stage, TurnRecord
from .turn.record import Outcome, Question, ThreadKey
from .watches import Watches

_NOT_YOURS = "Only the person who asked can ask again. Mention me with your own question."
_OVER = "This is over already."
_NOT_YOURS_TO_STOP = "Only the person who asked can stop this."
_FORGOTTEN = "I no longer know the question. Please ask it again."
_ALREADY = "This question is already being asked again."
_THANKS = "Thanks for your feedback."


class TurnControls:
    """`accept` takes a question, `start` goes on with a turn: both are the dispatcher's."""

    def __init__(
        self,
        lines: ThreadLines,
        watches: Watches,
        journal: Journal,
        replicas: Replicas,
        store: Store,
        clock: Clock,
        accept: Callable[[Question], Awaitable[bool]],
        start: Callable[[TurnRecord], None],
    ) -> None:
        self._lines, self._watches, self._journal, self._replicas = lines, watches, journal, replicas
        self._store, self._clock, self._accept, self._start = store, clock, accept, start

    def is_stop(self, question: Question) -> bool:
        """The asker of what runs or is watched here wants it to end."""
        running = self._lines.get(question.thread)
        is_asker = running is not None and running.question.is_of(question.user)
        is_word = question.text.strip(" .!").casefold() == "stop"
        return is_word and (is_asker or bool(self._watches.of(question.thread, question.user)))

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
            return True
        watched = self._watches.of(thread, user)
        for turn in watched:
            await self.stop_watch(turn.key, user)
        if watched or running is not None:
            return bool(watched)
        return await self._replicas.tell(thread, "stop", user=user, messages=" ".join(messages))

    async def _are_others(self, messages: Collection[str], running: RunningTurn) -> bool:
        """A stop that comes late names messages of another turn."""
        if not messages:
            return False
        shown = {message.ts for message in running.sink.delivery.messages}
        return (await self._journal.messages_in(running.question.thread) - shown).issuperset(messages)

    async def stop_by_word(self, turn: TurnRecord) -> None:
        """`turn` is the word, and not asked."""
        await self.stop(turn.question.thread, turn.question.user)
        await self._journal.end(turn, Outcome.STOPPED)

    async def stop_watch(self, key: str, user: str) -> str | None:
        """Cancel the watched task of a turn: only its asker may. Else why not."""
        turn = self._watches.get(key)
        if turn is None:
            known = await self._store.turn(key)
            is_watched = known is not None and known.stage is Stage.WATCHED
            if known is None or not is_watched or not known.question.is_of(user):
                return _OVER
            is_told = await self._replicas.tell(known.question.thread, "stop watch", turn=key, user=user)
            return None if is_told else _OVER
        if not turn.question.is_of(user):
            return _NOT_YOURS_TO_STOP
        self._watches.take(key)
        turn = replace(turn, stopped_by=user)
        await self._journal.keep(turn)
        self._start(turn)
        return None

    async def stop_turn(self, key: str, user: str) -> None:
        """End a turn, wherever it stands: only its asker may. Raises StoreError."""
        turn = await self._store.turn(key)
        if turn is None or not turn.question.is_of(user):
            return
        if turn.stage is Stage.WATCHED:
            await self.stop_watch(key, user)
        else:
            await self.stop(turn.question.thread, user)

    async def retry(self, turn: str, user: str) -> str | None:
        """Ask the question of `turn` again: only its asker may, and once. Else why not. Raises BotError."""
        known = await self._store.turn(turn)
        if known is None:
            return _FORGOTTEN
        if not known.question.is_of(user):
            return _NOT_YOURS
        await self.stop_watch(turn, user)
        attempt = known.question.attempt + 1
        again = replace(known.question, attempt=attempt, context_id=None, task_id=None)
        return None if await self._accept(again) else _ALREADY

    async def feedback(self, turn: str, user: str, value: str) -> str | None:
        """Store it. Gives thanks for what was not stored before. Raises StoreError."""
        is_new = await self._store.save_feedback(turn, user, value, self._clock.wall())
        return _THANKS if is_new else None
