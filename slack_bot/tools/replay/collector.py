"""PURE. Keeps of a turn what its result will need, and not what a long stream would fill the memory with.

Raw events are counted and let go; of what was decided only each turn's first answer and first end are kept;
of the visible text, which grows with every call, only the last one before the end of each turn, the last one
of each turn, and the sizes of all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from ...observe.facts import AgentEvent, EventHandled, Fact, TurnStarted
from ...testing.tape.json_file import Json
from .pace import Pace, pace_of
from .result import Sample, Shown, is_answer, is_end, make_result, turns_in, visible


class Collector:
    """Takes facts and looks at the thread, in the order of time."""

    def __init__(self) -> None:
        self.samples: list[Sample] = []
        self.turn = 0
        """The number of the question that is being answered, from 0."""
        self._opened = 0
        self._facts: list[Fact] = []
        self._events: Counter[str] = Counter()
        self._has_answer = False
        self._end: float | None = None
        self._visible: str | None = None
        self._first = 0  # the first sample of this turn
        self._before: int | None = None  # the last sample before the instant of the newest one

    def take(self, fact: Fact) -> None:
        """One more fact."""
        match fact:
            case AgentEvent(kind=kind):
                self._events[kind] += not fact.from_poll
            case EventHandled():
                if not fact.late:
                    self._decided(fact)
            case TurnStarted():
                self._facts.append(fact)
                self._opened += 1
                if self._opened > 1:
                    self._go_on()
            case _:
                self._facts.append(fact)

    def _go_on(self) -> None:
        """Another question in the thread: what stands there now is not its answer."""
        if self.samples and self._visible is not None:
            self.samples[-1] = replace(self.samples[-1], visible=self._visible)
        self.turn, self._first = self._opened - 1, len(self.samples)
        self._end, self._has_answer, self._before = None, False, None

    def look(self, at: float, visible: str) -> None:
        """The answer text that stands in the thread at `at`, in monotonic seconds."""
        if visible == self._visible:
            return
        self._visible = visible
        sample = Sample(at, visible, turn=self.turn)
        if self._end is not None and at >= self._end:
            self.samples.append(sample.light())
            return
        # the end may still come in this very instant, and then the last look before it is asked for
        has_samples = len(self.samples) > self._first
        if has_samples and self.samples[-1].at == at:
            self._lighten(len(self.samples) - 1)
        elif has_samples:
            self._lighten(self._before)
            self._before = len(self.samples) - 1
        self.samples.append(sample)

    def _lighten(self, number: int | None) -> None:
        if number is not None:
            self.samples[number] = self.samples[number].light()

    def result(self, thread: Sequence[Shown], asked_at: float) -> Json:
        """The object of `replay --json`."""
        return make_result(self._facts, self.samples, thread, asked_at, self._events)

    def paces(self, thread: Sequence[Shown]) -> list[Pace]:
        """How each turn went."""
        return [pace_of(turn) for turn in turns_in(self._facts, self.samples, visible(thread))]

    def _decided(self, fact: EventHandled) -> None:
        first_answer = is_answer(fact.event) and not self._has_answer
        first_end = is_end(fact.event) and self._end is None
        self._has_answer = self._has_answer or first_answer
        self._end = fact.at if first_end else self._end
        if first_answer or first_end:
            self._facts.append(fact)
