"""The events of an agent as they came: for those who count or keep them."""

from collections.abc import Mapping
from typing import Any

from ..clock import Clock
from ..observe import facts
from ..slack.writer import Writer
from ..turn.usage import UsageMeter


class RawEvents:
    """Gives the agent's events as they came to the meter of the turn, and to who observes them."""

    def __init__(
        self, meter: UsageMeter, observer: facts.Observer, clock: Clock, turn_key: str, writer: Writer
    ) -> None:
        self._meter, self._observer, self._now = meter, observer, clock.monotonic
        self._key, self._input = turn_key, writer.answer.buffer.input
        self._are_observed = facts.wants_events(observer)

    @property
    def are_wanted(self) -> bool:
        return self._meter.wants_events or self._are_observed

    def __call__(self, kind: str, raw: Mapping[str, Any]) -> None:
        """Take one event."""
        if self._meter.wants_events:
            self._meter.take(raw)
        if self._are_observed:
            self._observer(facts.AgentEvent(self._now(), self._key, kind, raw, self._input.secrets))
