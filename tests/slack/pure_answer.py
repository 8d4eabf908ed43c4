"""An answer that a test drives itself: it gives results, and reads orders. No Slack, no loop, no clock."""

from __future__ import annotations

from typing import Any

from slack_bot.settings.models import StreamSettings
from slack_bot.slack.answer import SlackAnswer
from slack_bot.slack.faults import CallFailed, CallOk, CallResult, Fault, StreamingRefusalCache
from slack_bot.slack.orders import (
    CallSlack,
    Log,
    Order,
    ReadMessages,
    Report,
    ReserveSlot,
    Sleep,
    StatusOrder,
    Step,
    Wait,
)
from slack_bot.slack.stream_starts import StreamStartTracker
from slack_bot.slack.turn_calls import TurnCalls
from slack_bot.turn.progress import MessageRecord
from slack_bot.turn.record import Question, ThreadKey

THREAD = ThreadKey("T1", "C1", "100.000001")
OK = CallOk({})


class PureAnswer:
    """One answer, its time, and the calls it has ordered so far.

    `results` are those of the coming calls, in order; an exception is raised there. After them each call is
    answered with ok. A read of the thread finds `messages`.
    """

    def __init__(
        self,
        *results: CallResult | Exception,
        shown: tuple[MessageRecord, ...] = (),
        can_stream: bool = True,
        thread: ThreadKey = THREAD,
        **settings: Any,
    ) -> None:
        question = Question(thread, "100.000002", "U1", "T1", "question")
        self.calls = TurnCalls(
            question,
            StreamSettings(**settings),
            StreamingRefusalCache(),
            StreamStartTracker(_never),
            can_stream=can_stream,
        )
        self.calls.now = 1_000.0
        self.answer = SlackAnswer(self.calls, shown)
        self._results, self._number = iter(results), 0
        self.messages: list[dict[str, Any]] = []
        self.made: list[CallSlack] = []
        self.logged: list[str] = []

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

    def _result(self, order: Order[Any]) -> Any:
        match order:
            case CallSlack():
                self.made.append(order)
                return self._answered(order)
            case ReadMessages():
                return list(self.messages)
            case Sleep(seconds):
                self.pass_time(seconds)
            case Wait(until):
                self.pass_time(max(0.0, (until or self.calls.now) - self.calls.now))
            case ReserveSlot():
                return True
            case Log(level, message):
                self.logged.append(f"{level} {message}")
            case StatusOrder() | Report():
                pass
        return None

    def _answered(self, call: CallSlack) -> CallResult | Exception:
        result = next(self._results, OK)
        if isinstance(result, CallOk) and call.method in ("chat.startStream", "chat.postMessage"):
            self._number += 1
            return CallOk({"ts": f"{self.calls.wall + self._number:.6f}", **result.data})
        return result

    def pass_time(self, seconds: float) -> None:
        self.calls.now += seconds

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
