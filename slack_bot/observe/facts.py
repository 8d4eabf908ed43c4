"""PURE. Facts about turns, and about messages that led to no turn. Times are monotonic seconds."""

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, runtime_checkable

from ..text.words import WITH_REFERENCE
from ..turn.open_form import OpenForm
from ..turn.progress import DEFAULT_AGENT, MessageRecord, TurnRecord

_TURN_NAME = re.compile(r"[0-9a-f]{8}|\w+:\w+:[\d.]+(:[\w+'-]+:\w+)?(:\d+)?")


def is_turn_name(text: str) -> bool:
    """Whether `text` has the form of a turn's reference (`reference_of`) or of its key."""
    return _TURN_NAME.fullmatch(text) is not None


def reference_of(turn: str) -> str:
    """The short name of a turn, which the notice of a failed turn and all its log lines show."""
    return hashlib.sha256(turn.encode()).hexdigest()[:8]


def referred(note: str, turn: str) -> str:
    """`note` with the turn's short name, by which the log can be searched."""
    return WITH_REFERENCE.format(note, reference_of(turn))


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """A turn has begun. `accepted_at`: when its question was accepted, in seconds since 1970. `agent`: the
    name of the one that is asked.
    """

    at: float
    turn: str
    user: str
    channel: str
    thread_ts: str
    text: str
    accepted_at: float | None = None
    agent: str = DEFAULT_AGENT


@dataclass(frozen=True, slots=True)
class AgentEvent:
    """A raw event of the agent.

    `kind`: what the dialect calls it. If `raw` has the key `asked`, the bot has read the task itself.
    `secrets`: what must be masked in it.
    """

    at: float
    turn: str
    kind: str
    raw: Mapping[str, Any]
    secrets: tuple[str, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class EventHandled:
    """The machine has handled an event and is in `state` now.

    `late`: the event came too late and was dropped.
    """

    at: float
    turn: str
    event: object
    actions: tuple[object, ...]
    state: str
    late: bool = False


@dataclass(frozen=True, slots=True)
class AgentAsked:
    """The question is being sent to the agent. Repeated if the agent did not take it."""

    at: float
    turn: str


@dataclass(frozen=True, slots=True)
class AgentHeard:
    """The agent has sent the first event of a turn."""

    at: float
    turn: str


@dataclass(frozen=True, slots=True)
class AgentLeft:
    """The bot has stopped listening to the agent in this turn."""

    at: float
    turn: str


@dataclass(frozen=True, slots=True)
class TextShown:
    """Slack has confirmed text that had waited since `since`.

    `is_late`: it also waited for Slack's rate limit.
    """

    at: float
    turn: str
    since: float
    is_late: bool


@dataclass(frozen=True, slots=True)
class SlackCalled:
    """A call of Slack's Web API has returned or failed. `args` hold no token.

    `took`: seconds of the call; `waited`: seconds before it, for Slack's rate limit. `fault`: the class of
    `error`. `attempt`: counts from 1. `retry_after`: seconds that Slack asked to wait.
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
    """The bot found out after `took` seconds whether a write without an answer is shown (`is_shown`)."""

    at: float
    turn: str
    took: float
    is_shown: bool


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """A turn has ended.

    - `reason`: never a text of the agent.
    - `latches`, `late`: from the machine. `messages`: as Slack confirmed them.
    - `awaiting_task_id`: the task that the asker's next message in this thread answers.
    - `is_whole`: whether the reader has all of the answer; None if there was no answer.
    - `continued`: the task was followed after its stream was lost.
    - `fallbacks`: the reason for each change to a plainer way of showing the answer.
    - `masked`: how many secrets were masked in the text of the answer, by kind.
    - `said`: the agent's own words about its failure, which must not be logged. `agent`: its name.
    - `code`: of the error with which the agent answered.
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
    agent: str = DEFAULT_AGENT
    code: int | None = None


@dataclass(frozen=True, slots=True)
class TurnRecorded:
    """The end of a turn is in the store. Reported once for each accepted question, even one that was not
    asked.

    `agent`: the agent's name. `record`: everything known of the turn.
    """

    at: float
    turn: str
    agent: str
    record: TurnRecord


@dataclass(frozen=True, slots=True)
class FormShown:
    """`form` is shown below a message of the turn, and is in the store."""

    at: float
    turn: str
    form: OpenForm


@dataclass(frozen=True, slots=True)
class FormAnswered:
    """The turn answers `form`, which an earlier turn asked."""

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
    """`target` has accepted feedback (`ok`), or it will not be sent there any more (not `ok`)."""

    at: float
    turn: str
    target: str
    ok: bool


@dataclass(frozen=True, slots=True)
class QuestionStored:
    """The store has accepted a question (`ok`) or failed, after `took` seconds.

    `is_new`: false if the same question was accepted before.
    """

    at: float
    turn: str
    took: float
    ok: bool
    is_new: bool = True


@dataclass(frozen=True, slots=True)
class MessageIgnored:
    """The bot does not answer a message, for `reason`."""

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


Traced: TypeAlias = AgentAsked | AgentLeft | DoubtSettled | TurnRecorded | FormShown | FormAnswered
"""Facts for traces and the audit, which are not logged or counted."""
Measure: TypeAlias = AgentHeard | TextShown | TurnTakenOver | QuestionStored | FeedbackSent | Traced
"""Facts without any written text."""
Fact: TypeAlias = TurnStarted | AgentEvent | EventHandled | SlackCalled | TurnEnded | MessageIgnored | Measure


Observer: TypeAlias = Callable[[Fact], None]
"""Called with each fact when it happens. Must not raise and must not block."""


@runtime_checkable
class Tracer(Protocol):
    """An observer that makes traces."""

    def traceparent(self, turn: str) -> str | None:
        """The W3C header `traceparent` for a request of `turn` to the agent."""


class ToAll:
    """Passes facts on to several observers."""

    def __init__(self, *observers: Observer) -> None:
        self._observers = list(observers)

    def add(self, observer: Observer) -> None:
        """Add an observer, which gets the facts from now on."""
        self._observers.append(observer)

    @property
    def wants_details(self) -> bool:
        return any(map(wants_details, self._observers))

    @property
    def wants_events(self) -> bool:
        return any(map(wants_events, self._observers))

    def traceparent(self, turn: str) -> str | None:
        """The header of the first observer that has one."""
        headers = (traceparent_of(each, turn) for each in self._observers)
        return next(filter(None, headers), None)

    def __call__(self, fact: Fact) -> None:
        for observer in self._observers:
            observer(fact)


def wants_details(observer: Observer) -> bool:
    """Whether `observer` wants `AgentEvent` and `EventHandled`, of which there are many in a second.

    An observer that does not has the attribute `wants_details`, set to False.
    """
    return bool(getattr(observer, "wants_details", True))


def wants_events(observer: Observer) -> bool:
    """Whether `observer` wants `AgentEvent`: if it wants details, or has the attribute `wants_events`."""
    return bool(getattr(observer, "wants_events", wants_details(observer)))


def traceparent_of(observer: Observer, turn: str) -> str | None:
    """The `traceparent` header of `observer`; None if it makes no traces."""
    return observer.traceparent(turn) if isinstance(observer, Tracer) else None
