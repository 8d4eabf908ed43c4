"""PURE. How a stream ended, and what to do about it.

The end of a connection is not the end of a task. Only a terminal state, a question to the human, a final
result or a message in place of a task means that nothing more will come. After anything else the task is
polled; on 1.0 its stream is joined again, on 0.3 it is not, because that loses what came in between (facts:
A2A 2.3). The question is sent again only while it cannot have been taken.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain, repeat

from ..errors import AgentError, AgentRefused, AgentUnreachable
from .wire.frames import TaskState

TASK_NOT_FOUND = -32001
NOT_CANCELABLE = -32002
NOT_OFFERED = frozenset({-32004, -32601, -32009})
"""Unsupported operation, unknown method, unknown version: asking again gives the same answer."""

_UNAUTHORIZED = 401
_BUSY = frozenset({429, 503})
_FORGOTTEN_AFTER = 2
"""Polls in a row that must not know the task: another replica may have answered once."""


class AfterStream(StrEnum):
    """What to do after a stream ended."""

    DONE = "done"
    ASK_TASK = "ask the task until it is over"
    LOOK_ONCE = "ask the task once"
    GIVE_UP = "give up"


def after_end(
    *,
    cut: bool,
    state: TaskState,
    is_settled: bool,
    task_id: str | None,
    said_something: bool,
    has_replied: bool = False,
) -> AfterStream:
    """What to do after the end of a stream.

    `cut`: it broke, or fell silent; otherwise the agent closed it. `is_settled`: the agent named its result
    or asked the human something, though the task's state does not say so. `said_something`: an event came.
    `has_replied`: a message came and nothing of a task. Its task id is not polled: servers put the id of a
    task that they never make into such a message.
    """
    if state.is_terminal or state.is_asking or ((is_settled or has_replied) and not cut):
        return AfterStream.DONE
    if task_id is not None:
        return AfterStream.LOOK_ONCE if is_settled else AfterStream.ASK_TASK
    return AfterStream.DONE if is_settled or (said_something and not cut) else AfterStream.GIVE_UP


def pauses(steps: Sequence[float], jitter: float, seed: str) -> Iterator[float]:
    """Seconds between two polls: `steps`, then the last of them for ever.

    Each is changed by up to `jitter` (a share of it), so that the turns which an agent's restart cut off do
    not poll together. The same `seed` gives the same pauses.
    """
    dice = random.Random(seed)
    for pause in chain(steps, repeat(steps[-1])):
        yield pause * (1.0 + jitter * dice.uniform(-1.0, 1.0))


# -- before the question was taken ---------------------------------------------------------------------------


@dataclass(slots=True)
class RetryPolicy:
    """How often a question is sent again that the agent did not take.

    `retries`: times after no connection could be made. `until`: when to give up, on the clock of `now`. A
    refused login is tried once more, because the token may just be renewed.
    """

    retries: int
    until: float
    _tried: int = 0
    _logged_in: bool = False

    def pause_after(self, error: AgentError, now: float) -> float | None:
        """Seconds until the question may be sent again after `error`; None: it may not."""
        pause = self._pause(error)
        return None if pause is None or now + pause > self.until else pause

    def _pause(self, error: AgentError) -> float | None:
        match error:
            case AgentUnreachable() if self._tried < self.retries:
                self._tried += 1
                return float(2 ** (self._tried - 1))
            case AgentRefused(status=status) if status == _UNAUTHORIZED and not self._logged_in:
                self._logged_in = True
                return 0.0
            case AgentRefused(status=status, retry_after=after) if status in _BUSY:
                return after
            case _:
                return None


# -- after it was taken --------------------------------------------------------------------------------------


class PollResult(StrEnum):
    """What a poll found."""

    OVER = "over"  # it ended, or waits for the human
    NEWS = "news"  # it runs, with something new
    RUNNING = "running"  # it runs, with nothing new
    UNKNOWN = "unknown"  # the agent does not know it
    AWAY = "away"  # no useful answer
    CANNOT = "cannot"  # this agent cannot be polled


@dataclass(frozen=True, slots=True)
class TaskDone:
    """Nothing more will come, and the task's end is known."""


@dataclass(frozen=True, slots=True)
class Resubscribe:
    """Join the task's stream again."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Poll again in so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class TaskLost:
    """The task's end cannot be learned. `is_forgotten`: the agent does not know the task any more."""

    why: str
    is_forgotten: bool = False


class PollPolicy:
    """Follows a task after its stream was lost: what to do after each poll.

    `patience`: seconds for which the agent may give no useful answer. `joins`: the stream can be joined again
    without loss. A running task is followed until the turn's deadline, which the runner keeps.
    """

    def __init__(
        self, steps: Sequence[float], jitter: float, seed: str, *, patience: float, joins: bool, now: float
    ) -> None:
        self._steps, self._jitter, self._seed = steps, jitter, seed
        self._patience, self._joins = patience, joins
        self._answered_at = now
        self._unknown = 0
        self._may_join = True
        self._pauses = pauses(steps, jitter, seed)

    def after(
        self, look: PollResult, now: float, retry_after: float = 0.0
    ) -> TaskDone | Resubscribe | Wait | TaskLost:
        """What to do after this poll. `retry_after`: seconds that the agent asks for."""
        self._unknown = self._unknown + 1 if look is PollResult.UNKNOWN else 0
        match look:
            case PollResult.OVER:
                return TaskDone()
            case PollResult.CANNOT:
                return TaskLost("the agent cannot be asked for its task")
            case PollResult.UNKNOWN if self._unknown >= _FORGOTTEN_AFTER:
                return TaskLost("the agent does not know the task any more", is_forgotten=True)
            case PollResult.NEWS | PollResult.RUNNING:
                return self._going_on(look, now)
            case _:
                return self._no_answer(now, retry_after)

    def joined(self, *, brought_news: bool, possible: bool) -> None:
        """The stream was joined and is over again. `possible`: the agent allows it."""
        self._joins = self._joins and possible
        if brought_news:
            self._restart()

    def _going_on(self, look: PollResult, now: float) -> Resubscribe | Wait:
        self._answered_at = now
        if look is PollResult.NEWS:
            self._restart()
        if self._joins and self._may_join:
            self._may_join = False  # poll before joining again: it may break at once
            return Resubscribe()
        self._may_join = True
        return Wait(next(self._pauses))

    def _no_answer(self, now: float, retry_after: float) -> Wait | TaskLost:
        pause = max(next(self._pauses), retry_after)
        if now + pause > self._answered_at + self._patience:
            return TaskLost("the agent gave no answer about its task")
        return Wait(pause)

    def _restart(self) -> None:
        self._pauses = pauses(self._steps, self._jitter, self._seed)
        self._may_join = True
