"""Traces of turns, if the settings want them. OpenTelemetry is an extra and is imported only then."""

from contextlib import AbstractAsyncContextManager

from ...clock import Clock
from ...settings.load import Settings
from ..feature import Feature
from .spans import TurnSpans


def observe(settings: Settings, clock: Clock) -> AbstractAsyncContextManager[TurnSpans] | None:
    """Make the spans of turns and send them; None if traces are off."""
    if not settings.traces.enabled:
        return None
    from .otel import tracing

    return tracing(settings.traces, clock)


FEATURE = Feature("traces", observe=observe)
