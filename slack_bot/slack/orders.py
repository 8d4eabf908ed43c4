"""PURE. What an answer asks its writer to do, one order at a time.

A *step* is a generator that decides: it yields an order and goes on with what came of it. So what follows
from a result is written where that result is read, though nothing here waits, calls Slack or reads a clock.
The `Writer` is the driver: it carries out one order after the other and decides nothing. Where an order
raises, or is cancelled because the process ends, that is raised in the step, at the same place.

A human's Stop cancels no step. It has the writer give up *writes*, the calls that show more of the answer
(`is_write`): they fail with `DROPPED`, and the step goes on to say that the answer was stopped.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Generic, Literal, TypeAlias, TypeVar

from ..observe.facts import Fact
from ..turn.extras import ExtraRecord
from ..turn.form import Form
from ..turn.progress import MessageRecord
from ..turn.thread_state import ListensTo
from ..web.addresses import NotFetched, WebFile
from .faults import NO_ANSWER, CallFailed, CallResult, Fault
from .methods import Priority
from .stream_starts import StreamStart

REPEAT_PAUSES = (1.0, 3.0, 9.0)
"""Seconds before each repetition of a call that had no answer."""

Messages: TypeAlias = list[Mapping[str, Any]]
_T = TypeVar("_T")


class Order(Generic[_T]):
    """`yield from` an order gives what came of it. One that takes no time is done at once."""

    __slots__ = ()
    takes_time: ClassVar[bool] = True

    def __iter__(self) -> Generator[Order[Any], Any, _T]:
        result: _T = yield self
        return result


Step: TypeAlias = Generator[Order[Any], Any, _T]
"""A decision that takes orders; its value is what came of it all."""


class SlotOrder(Order[_T]):
    """About the slots that the rate limiter gives."""

    __slots__ = ()
    takes_time = False


class StatusOrder(Order[None]):
    """About the typing status under the thread."""

    __slots__ = ()


class TurnOrder(Order[_T]):
    """About what is stored of the turn, or ends it."""

    __slots__ = ()


class LateStreamOrder(Order[None]):
    """About streams that appear after the call that opened them had no answer."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class CallSlack(Order[CallResult]):
    """Call a method of Slack.

    `patience`: the most seconds to wait for limits and outages to pass; None: the setting. `is_write`: it
    shows more of the answer, so it is not made, or not waited for, once writes are given up (`DROPPED`).
    `start`: the stream that it opens; after Slack's event about that the result is waited for only
    `answer_wait` seconds longer (`UNANSWERED`). `priority` None: the method's.
    """

    method: str
    args: Mapping[str, object]
    patience: float | None = None
    is_write: bool = field(default=False, kw_only=True)
    start: StreamStart | None = field(default=None, kw_only=True)
    answer_wait: float = field(default=0.0, kw_only=True)
    priority: Priority | None = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True)
class ReadMessages(Order[Messages | CallFailed | None]):
    """Read all messages that a method of `conversations` lists. `until_seen`: no longer than until Slack's
    event names that stream, which has no `ts` yet; then the result is None."""

    method: str
    args: Mapping[str, object]
    until_seen: StreamStart | None = None


@dataclass(frozen=True, slots=True)
class UploadFile(Order[CallResult]):
    """Send the bytes of a file to the address that Slack gave for them."""

    url: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Sleep(Order[None]):
    """Wait. `until_given_up`: at most until writes are given up; `until_seen`: as of `ReadMessages`."""

    seconds: float
    until_given_up: bool = field(default=False, kw_only=True)
    until_seen: StreamStart | None = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True)
class Wait(Order[None]):
    """Wait until the answer has more to do: at `until` on the clock, or when something came that is due
    earlier. `is_over`: the end of the turn is known, so only let others run."""

    until: float | None
    is_over: bool = field(default=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Wake(Order[None]):
    """There is more to do at once: the next `Wait` does not wait."""

    takes_time = False


@dataclass(frozen=True, slots=True)
class ReserveSlot(SlotOrder[bool]):
    """Ask for the right to call `method`. True: it may be called at once. `wakes`: if it may not, the answer
    is woken when it may. `priority` None: the method's."""

    method: str
    priority: Priority | None = None
    wakes: bool = field(default=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class ReturnSlots(SlotOrder[None]):
    """Give back what was reserved and is not used."""


@dataclass(frozen=True, slots=True)
class GiveUpWrites(SlotOrder[None]):
    """Nothing more of the answer is written: a human stopped the turn, the thread is gone, or another process
    goes on. Writes under way are not waited for, and slots are given back."""


@dataclass(frozen=True, slots=True)
class WhenSeen(LateStreamOrder):
    """Carry out a step when Slack's event names the stream `start`, however late that is."""

    start: StreamStart
    step: Callable[[], Step[None]]


@dataclass(frozen=True, slots=True)
class JoinSeen(LateStreamOrder):
    """Wait for the steps of `WhenSeen` that have begun."""


@dataclass(frozen=True, slots=True)
class StoreIds(TurnOrder[None]):
    """Store the ids of the agent's task and conversation, before anything of it is shown. None: unchanged."""

    task_id: str | None
    context_id: str | None


@dataclass(frozen=True, slots=True)
class StoreMessages(TurnOrder[None]):
    """Store what Slack confirmed, a new message before more goes into it."""

    records: tuple[MessageRecord, ...]


@dataclass(frozen=True, slots=True)
class StoreForm(TurnOrder[str]):
    """Store what the agent asks. The result is its handle; "": it cannot be kept."""

    form: Form


@dataclass(frozen=True, slots=True)
class StoreFormMessage(TurnOrder[None]):
    """Store below which message the form is."""

    message: MessageRecord | None


@dataclass(frozen=True, slots=True)
class ReportGone(TurnOrder[None]):
    """The thread is gone: the turn ends quietly."""


@dataclass(frozen=True, slots=True)
class ReportStopped(TurnOrder[None]):
    """Slack says that a human stopped the stream."""

    by: str


@dataclass(frozen=True, slots=True)
class StoreExtras(TurnOrder[None]):
    """Store what is shown below the answer, before more is."""

    records: tuple[ExtraRecord, ...]


@dataclass(frozen=True, slots=True)
class StoreRoot(TurnOrder[None]):
    """Store with which message the thread begins, where the turn is kept."""

    ts: str


@dataclass(frozen=True, slots=True)
class AskWhoListens(Order[ListensTo | None]):
    """Find out who can go on in the thread without a mention. None: it is not known."""


@dataclass(frozen=True, slots=True)
class FetchFile(Order[WebFile | NotFetched]):
    """Fetch a file that the agent linked. `kinds`: beginnings of media types that are taken; () for all."""

    url: str
    kinds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Compute(Order[_T]):
    """Work that takes long, done in a thread of its own."""

    work: Callable[[], _T]


@dataclass(frozen=True, slots=True)
class LetOthersRun(Order[None]):
    """What comes next takes some milliseconds."""


@dataclass(frozen=True, slots=True)
class ShowTyping(StatusOrder):
    """Show a typing status, now or soon; the latest wins."""

    takes_time = False

    text: str


@dataclass(frozen=True, slots=True)
class ReopenStatus(StatusOrder):
    """No message is open any more. `forget`: the app has written since the last status."""

    takes_time = False

    forget: bool


@dataclass(frozen=True, slots=True)
class CloseStatus(StatusOrder):
    """The answer is about to be written: wait for a status that is under way."""


@dataclass(frozen=True, slots=True)
class ClearStatus(StatusOrder):
    """Nothing was written after the status."""


@dataclass(frozen=True, slots=True)
class Log(Order[None]):
    """Write a line to the log, with the ids of the turn."""

    takes_time = False

    level: Literal["info", "warning", "error"]
    message: str
    args: tuple[object, ...] = ()


@dataclass(frozen=True, slots=True)
class Report(Order[None]):
    """Report a fact to the turn's observer."""

    takes_time = False

    fact: Fact


def call_until_known(
    call: Callable[[], Step[_T | CallFailed]],
    verify: Callable[[], Step[_T | None]] | None = None,
    *,
    repeat_on: Set[Fault] = NO_ANSWER,
) -> Step[_T | CallFailed]:
    """Call until the outcome is known, at most four times.

    `verify` runs before each repetition and after the last one. It returns the outcome if it finds an attempt
    applied.
    """
    result = yield from call()
    for pause in REPEAT_PAUSES:
        if not isinstance(result, CallFailed) or result.fault not in repeat_on:
            return result
        yield from Sleep(pause)
        if verify is not None and (found := (yield from verify())) is not None:
            return found
        result = yield from call()
        if isinstance(result, CallFailed):
            result = replace(result, in_doubt=result.fault is not Fault.UNKNOWN)
    if verify is not None and isinstance(result, CallFailed) and result.fault in repeat_on:
        found = yield from verify()
        return result if found is None else found
    return result


def backoff(first: float, longest: float, total: float = math.inf) -> Iterator[float]:
    """Pauses that double from `first` up to `longest`; their sum is `total`."""
    pause = first
    while total > 0:
        yield min(pause, total)
        total -= pause
        pause = min(2 * pause, longest)
