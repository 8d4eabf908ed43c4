"""PURE. Facts about turns, and about messages that led to none. Times are monotonic seconds."""

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, runtime_checkable

from ..text.words import WITH_REFERENCE
from ..turn.open_form import OpenForm
from ..turn.progress import MessageRecord, TurnRecord

_TURN_NAME = re.compile(r"[0-9a-f]{8}|\w+:\w+:[\d.]+(:\d+)?")


def is_turn_name(text: str) -> bool:
    """`text` may be a turn's reference (`reference_of`) or its key."""
    return _TURN_NAME.fullmatch(text) is not None


def reference_of(turn: str) -> str:
    """A short name of a turn: the note of a failed one has it, and each of its log lines."""
    return hashlib.sha256(turn.encode()).hexdigest()[:8]


def referred(note: str, turn: str) -> str:
    """`note`, with the turn's name in the log."""
    return WITH_REFERENCE.format(note, reference_of(turn))


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """A turn began. Its question was accepted at `accepted_at`, in seconds since 1970."""

    at: float
    turn: str
    user: str
    channel: str
    thread_ts: str
    text: str
    accepted_at: float | None = None


@dataclass(frozen=True, slots=True)
class AgentEvent:
    """A raw event of the agent. `kind` is what the dialect calls it; `asked` in it: the bot read the task."""

    at: float
    turn: str
    kind: str
    raw: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class EventHandled:
    """The machine took an event and is in `state` now; `late` means: dropped."""

    at: float
    turn: str
    event: object
    actions: tuple[object, ...]
    state: str
    late: bool = False


@dataclass(frozen=True, slots=True)
class AgentAsked:
    """The question goes to the agent now. Again, where it was not taken."""

    at: float
    turn: str


@dataclass(frozen=True, slots=True)
class AgentHeard:
    """The first event of the agent in a turn."""

    at: float
    turn: str


@dataclass(frozen=True, slots=True)
class AgentLeft:
    """The agent is listened to no longer in this turn."""

    at: float
    turn: str


@dataclass(frozen=True, slots=True)
class TextShown:
    """Slack confirmed text that had waited since `since`. `is_late`: it waited for Slack's budget too."""

    at: float
    turn: str
    since: float
    is_late: bool


@dataclass(frozen=True, slots=True)
class SlackCalled:
    """A Web API call returned, or gave up. `args` hold no token.

    `took` and `waited` are seconds, the latter for Slack's budget. `fault`: the class of `error`. `attempt`
    counts from 1; `retry_after` is what Slack asked for, in seconds.
    """

    at: float
    turn: str
    method: str
    args: Mapping[str, Any]
    ok: bool
    error: str | None
    took: float
    waited: float = 0.0
    fault: str | None = None
    attempt: int = 1
    retry_after: float | None = None


@dataclass(frozen=True, slots=True)
class DoubtSettled:
    """It took `took` seconds to find out whether a write without an answer `is_shown`."""

    at: float
    turn: str
    took: float
    is_shown: bool


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """A turn ended. `latches` and `late` are the machine's; `messages` are as Slack confirmed them.

    `reason` is never agent text. `awaiting_task_id`: the asker's next message in this thread must name it.
    `is_whole`: the reader has all of the answer; None: there was none to be had. `continued`: the task was
    followed where its stream was lost. `fallbacks`: why the answer was shown in a plainer way, each time.
    `masked`: how many secrets were taken out of the text of the answer, by kind. `said`: the agent's own
    words on its failure, which no log may have.
    """

    at: float
    turn: str
    outcome: str
    reason: str | None
    context_id: str | None
    task_id: str | None
    trace_id: str | None
    latches: Mapping[str, bool]
    late: int
    messages: tuple[MessageRecord, ...] = ()
    awaiting_task_id: str | None = None
    is_whole: bool | None = None
    continued: bool = False
    fallbacks: tuple[str, ...] = ()
    masked: Mapping[str, int] = field(default_factory=dict)
    said: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class TurnRecorded:
    """The end of a turn is in the store: once for each accepted question, asked or not.

    `agent`: its name. `record`: all that is known of the turn.
    """

    at: float
    turn: str
    agent: str
    record: TurnRecord


@dataclass(frozen=True, slots=True)
class FormAnswered:
    """The turn answers `form`, which another turn asked."""

    at: float
    turn: str
    form: OpenForm


@dataclass(frozen=True, slots=True)
class TurnTakenOver:
    """A turn that another process left goes on here. `accepted_at`: in seconds since 1970."""

    at: float
    turn: str
    accepted_at: float


@dataclass(frozen=True, slots=True)
class FeedbackSent:
    """Feedback was taken by `target`, or (not `ok`) is not sent there any more."""

    at: float
    turn: str
    target: str
    ok: bool


@dataclass(frozen=True, slots=True)
class QuestionStored:
    """The store took `took` seconds for a question, or failed. Not `is_new`: it was accepted before."""

    at: float
    turn: str
    took: float
    ok: bool
    is_new: bool = True


@dataclass(frozen=True, slots=True)
class MessageIgnored:
    """A message that the bot leaves alone, and why."""

    at: float
    user: str
    channel: str
    thread_ts: str
    ts: str
    text: str
    reason: str

    @property
    def turn(self) -> str:
        return f"ignored:{self.channel}:{self.ts}"


Traced: TypeAlias = AgentAsked | AgentLeft | DoubtSettled | TurnRecorded | FormAnswered
"""Facts that are neither logged nor counted."""
Measure: TypeAlias = AgentHeard | TextShown | TurnTakenOver | QuestionStored | FeedbackSent | Traced
"""Facts that say nothing of what was written."""
Fact: TypeAlias = TurnStarted | AgentEvent | EventHandled | SlackCalled | TurnEnded | MessageIgnored | Measure


Observer: TypeAlias = Callable[[Fact], None]
"""Called with every fact at once. Must not raise and must not block."""


@runtime_checkable
class Tracer(Protocol):
    """An observer that makes traces."""

    def traceparent(self, turn: str) -> str | None:
        """The W3C header of that name, for a request of `turn` to the agent."""


class ToAll:
    """One observer in place of several."""

    def __init__(self, *observers: Observer) -> None:
        self._observers = list(observers)

    def add(self, observer: Observer) -> None:
        """It gets the facts from now on."""
        self._observers.append(observer)

    @property
    def wants_details(self) -> bool:
        return any(map(wants_details, self._observers))

    @property
    def wants_events(self) -> bool:
        return any(map(wants_events, self._observers))

    def traceparent(self, turn: str) -> str | None:
        """That of the first observer which has one."""
        headers = (traceparent_of(each, turn) for each in self._observers)
        return next(filter(None, headers), None)

    def __call__(self, fact: Fact) -> None:
        for observer in self._observers:
            observer(fact)


def wants_details(observer: Observer) -> bool:
    """Whether `observer` uses `AgentEvent` and `EventHandled`: there are many a second.

    One that does not has an attribute `wants_details` that is false.
    """
    return bool(getattr(observer, "wants_details", True))


def wants_events(observer: Observer) -> bool:
    """Whether `observer` uses `AgentEvent`: one that wants details, or that has such an attribute."""
    return bool(getattr(observer, "wants_events", wants_details(observer)))


def traceparent_of(observer: Observer, turn: str) -> str | None:
    """The header that `observer` gives; None if it makes no traces."""
    return observer.traceparent(turn) if isinstance(observer, Tracer) else None
