"""PURE. All that was to be seen of a turn: what `replay` prints, `trace` draws and `conform` judges."""

from __future__ import annotations

from dataclasses import dataclass

from ..observe.facts import Fact
from .jsonfile import Json
from .result import Sample, Shown, make_result


@dataclass(frozen=True, slots=True)
class Observation:
    """All that was to be seen of one or more turns. Times are monotonic seconds."""

    facts: tuple[Fact, ...]
    samples: tuple[Sample, ...]
    thread: tuple[Shown, ...]
    asked_at: float

    def result(self) -> Json:
        """The object of `replay --json`."""
        return make_result(self.facts, self.samples, self.thread, self.asked_at)
