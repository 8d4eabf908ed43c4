"""An answer that a test drives itself: it gives results, and reads orders. No Slack, no loop, no clock."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from typing import Any, TypeAlias

from slack_bot.settings.models import StreamSettings
from slack_bot.slack.answer import SlackAnswer
from slack_bot.slack.faults import CallFailed, CallOk, CallResult, Fault, StreamingRefusalCache
from slack_bot.slack.look import TurnFace
from slack_bot.slack.orders import (
    CallSlack,
    GiveUpWrites,
    Log,
    Order,
    ReadMessages,
    ReserveSlot,
    Sleep,
    Step,
    StoreForm,
    Wait,
    Wake,
)
from slack_bot.slack.stream_starts import StreamStartTracker
from slack_bot.slack.turn_calls import DROPPED, TurnCalls
from slack_bot.turn.progress import MessageRecord
from slack_bot.turn.record import Question, ThreadKey

THREAD = ThreadKey("T1", "C1", "100.000001")
OK = CallOk({})
ZERO = 1_000.0  # on the clock, when a test begins
_TICK = 0.001  # seconds that a wait takes at least

Result: TypeAlias = "CallResult | Exception | Callable[[PureAnswer], CallResult]"
What: TypeAlias = "str | Callable[[PureAnswer], object]"
Happening: TypeAlias = tuple[float, What]
"""In how many seconds what happens: text comes, or something else, of which the writer is told."""


class PureAnswer:
    """One answer, its time, and what it has ordered so far.

    `results` are those of the coming calls, in order; an exception is raised there, and a function is called
    for what happens meanwhile. After them each call is answered with ok. A read of the thread finds
    `messages`. `has_slots`: calls may be made at once. A human stops the turn at `stops_at` on the clock.
    `orders`: all of them, with their times.
    """

    def __init__(
        self,
        *results: Result,
        shown: tuple[MessageRecord, ...] = (),
        can_stream: bool = True,
        thread: ThreadKey = THREAD,
        user: str = "U1",
        **settings: Any,
    ) -> None:
        question = Question(thread, "100.000002", user, "T1", "question")
        self.calls = TurnCalls(
            question,
            StreamSettings(**settings),
            StreamingRefusalCache(),
            StreamStartTracker(_never),
            face=TurnFace(can_stream=can_stream),
        )
        self.calls.now = ZERO
        self.answer = SlackAnswer(self.calls, shown)
        self._results, self._number = iter(results), 0
        self.messages: list[dict[str, Any]] | CallFailed = []
        self.made: list[CallSlack] = []
        self.logged: list[str] = []
        self.orders: list[tuple[float, Order[Any]]] = []
        self.has_slots, self.stops_at = True, math.inf
        self._is_awake = False

    def run(self, step: Step[Any], *, until: float | None = None) -> Any:
        """Carry out `step`. `until`: only until it would wait for that time, or longer."""
        try:
            order = next(step)
            while True:
                if isinstance(order, Wait) and (until is None or order.until is None or order.until > until):
                    step.close()
                    return None
                result = self._result(order)
                order = step.throw(result) if isinstance(result, Exception) else step.send(result)
        except StopIteration as end:
            return end.value

    def write(self, *story: Happening) -> bool:
        """Write while `story` happens. True: the answer itself has come to an end; False: nothing more
        happens, and it would wait for ever."""
        step, began, coming = self.answer.write(), self.calls.now, deque(story)
        try:
            order = next(step)
            while True:
                if isinstance(order, Wait):
                    self.orders.append((self.calls.now, order))
                    if not self._wait(order, began, coming):
                        step.close()
                        return False
                    order = next(step)
                else:
                    order = step.send(self._result(order))
        except StopIteration:
            return True

    def _wait(self, wait: Wait, began: float, coming: deque[Happening]) -> bool:
        """As the writer does. False: there is nothing to wait for."""
        is_over = wait.is_over or self._is_awake
        while not is_over and coming and (wait.until is None or began + coming[0][0] <= wait.until):
            at, happens = coming.popleft()
            self.calls.now = max(self.calls.now, began + at)
            is_over = self._hear(happens)
        self._is_awake = False
        if not is_over and wait.until is not None:
            self.calls.now = max(self.calls.now + _TICK, wait.until)
        return is_over or wait.until is not None

    def _hear(self, happens: What) -> bool:
        """Whether the writer is woken."""
        if not isinstance(happens, str):
            happens(self)
            return True
        buffer = self.answer.buffer
        return buffer.push(happens, self.calls.now) and self.answer.pace.is_earlier(buffer.deadline())

    def _result(self, order: Order[Any]) -> Any:
        self.orders.append((self.calls.now, order))
        match order:
            case CallSlack():
                return self._made(order)
            case ReadMessages():
                return self.messages if isinstance(self.messages, CallFailed) else list(self.messages)
            case Sleep(seconds):
                self.pass_time(seconds)
            case Wait(until):
                self.pass_time(max(0.0, (until or self.calls.now) - self.calls.now))
            case ReserveSlot():
                return self.has_slots
            case StoreForm():
                return "handle"
            case _:
                self._note(order)
        return None

    def _note(self, order: Order[Any]) -> None:
        match order:
            case GiveUpWrites():
                self.calls.are_writes_given_up = True
            case Wake():
                self._is_awake = True
            case Log(level, message):
                self.logged.append(f"{level} {message}")

    def _made(self, call: CallSlack) -> CallResult | Exception:
        if call.is_write and self.calls.are_writes_given_up:
            return CallFailed(Fault.LATER, DROPPED)
        self.made.append(call)
        return self._answered(call)

    def _answered(self, call: CallSlack) -> CallResult | Exception:
        result = next(self._results, OK)
        if callable(result):
            result = result(self)
        if isinstance(result, CallOk) and call.method in ("chat.startStream", "chat.postMessage"):
            self._number += 1
            return CallOk({"ts": f"{self.calls.wall + self._number:.6f}", **result.data})
        return result

    def pass_time(self, seconds: float) -> None:
        self.calls.now += seconds
        self.calls.are_writes_given_up |= self.calls.now >= self.stops_at

    @property
    def methods(self) -> list[str]:
        """The methods called so far."""
        return [call.method for call in self.made]

    def texts(self) -> list[str]:
        """What each message reads, as Slack confirmed it."""
        return [message.text for message in self.answer.state.messages]


def failed(fault: Fault) -> CallFailed:
    """A refusal, or no answer."""
    return CallFailed(fault, str(fault))


def _never(work: Any) -> Any:
    work.close()
    return iter(())
