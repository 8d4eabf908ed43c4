"""Which threads this process works on, and what it sends to the process that works on another one.

With a store of one process it has every thread, and there is no other process.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import StrEnum

from ..errors import StoreError
from ..store.contracts import RENEWALS, Signal, Store
from ..turn.progress import Stage, TurnRecord
from ..turn.record import Outcome, Question, ThreadKey
from . import commands as c
from .edits import edited, may_ask_again

_log = logging.getLogger(__name__)


class SignalKind(StrEnum):
    """What one process sends to another. A store sends the first two."""

    LEFT = "left"
    QUESTION = "question"
    STOP = "stop"
    STOP_TURN = "stop turn"
    STOP_WATCH = "stop watch"
    CHANGE = "change"
    DROP = "drop"
    HINT = "hint"
    STREAM = "stream"


KINDS = frozenset(SignalKind)
"""What this process knows; the rest is kept for one that does."""
_ABOUT_TURNS = frozenset({SignalKind.QUESTION, SignalKind.STOP_TURN, SignalKind.STOP_WATCH, SignalKind.DROP})
_REWORDED_SECONDS = 3600.0
"""After the end of an answer, in which an edit of its question leads to an offer to ask again: later, people
mend a text and want nothing answered.
"""
_REWORDED_OUTCOMES = (Outcome.ANSWERED, Outcome.NO_TEXT, Outcome.STOPPED, Outcome.FAILED, Outcome.LOST)


class Leases:
    """The leases of this process. Threads that it has lost are in `lost`."""

    def __init__(self, store: Store, now: Callable[[], float]) -> None:
        self._store, self._now = store, now
        self.lost = asyncio.Queue[ThreadKey]()

    @property
    def is_shared(self) -> bool:
        """Other processes may work with the same store."""
        return self._store.lease > 0

    @property
    def pause(self) -> float:
        """Seconds between two signs of life."""
        return self._store.lease / RENEWALS

    async def claim(
        self, turn: TurnRecord, *, with_left: bool
    ) -> tuple[TurnRecord | None, tuple[TurnRecord, ...]]:
        """The turn as it is now, if this process is to work on it, and what was left in its thread."""
        try:
            claimed = await self._store.claim(turn)
        except StoreError as error:
            message = "a turn waits until a process finds it: %s"
            _log.log(error.log_level, message, error, extra={"turn": turn.key})
            return None, ()
        left = await self._claim_left(turn) if claimed is not None and with_left and self.is_shared else ()
        if claimed is not None and (answer := turn.question.answer) is not None:
            # what is secret in an answer is in no store
            claimed = replace(claimed, question=replace(claimed.question, answer=answer))
        return claimed, left

    async def _claim_left(self, newest: TurnRecord) -> tuple[TurnRecord, ...]:
        thread, left = newest.question.thread, list[TurnRecord]()
        try:
            for turn in await self._store.unfinished():
                is_left = turn.question.thread == thread and turn.key != newest.key
                if is_left and (claimed := await self._store.claim(turn)) is not None:
                    left.append(claimed)
        except StoreError as error:
            message = "what was left in a thread is found later: %s"
            _log.log(error.log_level, message, error, extra={"thread_ts": thread.ts})
        return tuple(left)

    async def let_go(self, thread: ThreadKey, *, ends: bool) -> None:
        """This process has nothing more to do in `thread`. `ends`: the process does."""
        try:
            await self._store.let_go(thread, ends)
        except StoreError as error:
            message = "a thread is held until its lease ends: %s"
            _log.log(error.log_level, message, error, extra={"thread_ts": thread.ts})

    async def renew(self) -> frozenset[ThreadKey]:
        """Hold on to all threads. Returns those that are lost, which are in `lost` too. Raises StoreError."""
        lost = await self._store.renew()
        for thread in lost:
            self.lost.put_nowait(thread)
        return lost

    # -- signals

    async def tell(self, thread: ThreadKey, command: c.Passed | c.Edit) -> bool:
        """Tell the process that works on `thread`. False: there is no other one."""
        return await self._signal(_signal_of(thread, command))

    async def tell_of_stream(self, thread: ThreadKey, ts: str) -> None:
        """The same of a stream that has begun."""
        await self._signal(Signal(thread, SignalKind.STREAM, {"ts": ts}))

    async def _signal(self, signal: Signal) -> bool:
        try:
            return await self._store.signal(signal)
        except StoreError as error:
            message = "another process was not told: %s"
            _log.log(error.log_level, message, error, extra={"thread_ts": signal.thread.ts})
            return False

    async def edit(self, edit: c.Edit) -> Question | None:
        """The message of a question changed that this process does not work on. Where another one has begun
        to, this one can write nothing, and informs it. Returns the question if it has ended, and its asker
        may want the new words answered. Raises StoreError.
        """
        known = await self._newest_of_message(edit.key)
        if known is None:
            return None
        if known.stage is Stage.ENDED:
            return await self._reword_ended(known, edit)
        if known.stage is Stage.ACCEPTED:
            changed = edited(known, edit) or known.ended(self._now(), Outcome.STOPPED)
            await self._store.save((changed, 0))
        elif not edit.text:
            return None
        await self.tell(known.question.thread, edit)
        return None

    async def _newest_of_message(self, key: str) -> TurnRecord | None:
        """A question that was asked again is another turn."""
        newest, following = None, await self._store.turn(key)
        while following is not None:
            newest, question = following, following.question
            following = await self._store.turn(replace(question, attempt=question.attempt + 1).key)
        return newest

    async def _reword_ended(self, turn: TurnRecord, edit: c.Edit) -> Question | None:
        """Keep the new words, which "Ask again" asks. Returns the question if that is to be offered: once."""
        question, text = turn.question, edit.text
        is_late = turn.ended_at is None or self._now() - turn.ended_at > _REWORDED_SECONDS
        is_shown = turn.outcome in _REWORDED_OUTCOMES and bool(turn.messages)
        if not text or is_late or not is_shown or not may_ask_again(question):
            return None
        if text == (turn.reworded or question.text):
            return None
        await self._store.save((replace(turn, reworded=text), len(turn.messages)))
        return None if turn.reworded else question

    async def signals(self) -> list[Signal]:
        """Wait for what others tell. Raises StoreError."""
        return await self._store.signals(KINDS)

    async def command_of(self, signal: Signal) -> c.Command | None:
        """`signal` as a command. None: it is about a turn that is gone. Raises StoreError."""
        values, kind = signal.values, signal.kind
        if kind in _ABOUT_TURNS:
            turn = await self._store.turn(values["turn"])
            return None if turn is None else _command_about(turn, kind, values)
        match kind:
            case SignalKind.STOP:
                return c.Stop(values["user"], frozenset(values["messages"].split()))
            case SignalKind.CHANGE:
                return c.Edit(values["turn"], values["text"] or None)
            case _:
                return c.PushHint(values["push"])


def _command_about(turn: TurnRecord, kind: str, values: Mapping[str, str]) -> c.Command:
    match kind:
        case SignalKind.STOP_TURN:
            return c.StopTurn(turn, values["user"])
        case SignalKind.STOP_WATCH:
            return c.StopWatch(turn, values["user"])
        case SignalKind.DROP:
            return c.Drop(turn, values["user"])
        case _:
            return c.Ask(turn)


def _signal_of(thread: ThreadKey, command: c.Passed | c.Edit) -> Signal:
    match command:
        case c.Stop(user=user, messages=messages):
            # an earlier version takes a Stop without "native" for one of a single turn
            stop = {"user": user, "messages": " ".join(sorted(messages)), "native": "yes"}
            return Signal(thread, SignalKind.STOP, stop)
        case c.StopTurn(turn=turn, user=user):
            return Signal(thread, SignalKind.STOP_TURN, {"turn": turn.key, "user": user})
        case c.StopWatch(turn=turn, user=user):
            return Signal(thread, SignalKind.STOP_WATCH, {"turn": turn.key, "user": user})
        case c.Drop(last=last, user=user):
            return Signal(thread, SignalKind.DROP, {"turn": last.key, "user": user})
        case c.Edit(key=key, text=text):
            return Signal(thread, SignalKind.CHANGE, {"turn": key, "text": text or ""})
        case c.PushHint(push_id=push_id):
            return Signal(thread, SignalKind.HINT, {"push": push_id})
