"""PURE. When a question is sent again, and how a task is polled whose stream was lost.

On 0.3 its stream is not joined, because that loses what came in between (facts: A2A 2.3).
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from ..errors import AgentError, AgentRefused, AgentUnreachable, TokenUnavailable

TASK_NOT_FOUND = -32001
NOT_CANCELABLE = -32002
NOT_OFFERED = frozenset({-32004, -32601, -32009})
"""Unsupported operation, unknown method, unknown version: asking again gives the same answer."""

_FORGOTTEN_AFTER = 2  # polls in a row that must not know the task: another replica may have answered once


# -- before the question was taken ---------------------------------------------------------------------------


@dataclass(slots=True)
class RetryPolicy:
    """A question is sent again `retries` times after no connection, up to `until` on the clock.

    A refused login is tried once more, because the token may just be renewed. A token server that does not
    answer is not asked again: the question has waited for it.
    """

    retries: int
    until: float
    _tried: int = 0
    _logged_in: bool = False

    def pause_after(self, error: AgentError, now: float) -> float | None:
        """Seconds until the question may be sent again; None: it may not."""
        match error:
            case TokenUnavailable(is_slow=True):
                return None
            case AgentUnreachable() if self._tried < self.retries:
                pause = float(2**self._tried)
                self._tried += 1
            case AgentRefused(status=401) if not self._logged_in:
                self._logged_in, pause = True, 0.0
            case AgentRefused(status=429 | 503, retry_after=float(after)):
                pause = after
            case _:
                return None
        return None if now + pause > self.until else pause


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
class TaskLost:
    """The task's end cannot be learned now. `may_go_on`: perhaps later."""

    why: str
    is_forgotten: bool = False
    may_go_on: bool = False


class PollPolicy:
    """What to do after each poll of a task whose stream was lost.

    `steps`: seconds between two polls, then the last of them for ever. Each is changed by up to `jitter` (a
    share of it), so that turns cut off together do not poll together. `patience`: seconds without a useful
    answer. `joins`: the stream can be joined again without loss.
    """

    def __init__(
        self, steps: Sequence[float], jitter: float, seed: str, *, patience: float, joins: bool, now: float
    ) -> None:
        self._steps, self._jitter, self._seed, self._patience = steps, jitter, seed, patience
        self._joins, self._may_join, self._answered_at, self._unknown = joins, True, now, 0
        self._restart()

    def after(self, look: PollResult, now: float, retry_after: float = 0.0) -> float | TaskLost | None:
        """Seconds until the next poll, at least `retry_after`; None: join the stream again."""
        self._unknown = self._unknown + 1 if look is PollResult.UNKNOWN else 0
        if look is PollResult.CANNOT:
            return TaskLost("the agent cannot be asked for its task")
        if self._unknown >= _FORGOTTEN_AFTER:
            return TaskLost("the agent does not know the task any more", is_forgotten=True)
        if look not in (PollResult.NEWS, PollResult.RUNNING):
            pause = max(self._pause(), retry_after)
            if now + pause <= self._answered_at + self._patience:
                return pause
            return TaskLost("the agent gave no answer about its task", may_go_on=True)
        self._answered_at = now
        if look is PollResult.NEWS:
            self._restart()
        if self._joins and self._may_join:
            self._may_join = False  # poll before joining again: it may break at once
            return None
        self._may_join = True
        return self._pause()

    def joined(self, *, brought_news: bool, possible: bool) -> None:
        """The stream is over again. `possible`: the agent allows it."""
        self._joins = self._joins and possible
        if brought_news:
            self._restart()

    def _restart(self) -> None:
        self._dice, self._left = random.Random(self._seed), iter(self._steps)
        self._may_join = True

    def _pause(self) -> float:
        return next(self._left, self._steps[-1]) * (1.0 + self._jitter * self._dice.uniform(-1.0, 1.0))
