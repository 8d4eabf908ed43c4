"""A trace of each turn, where the settings want it: what sends it is an extra, and is loaded only then."""

from contextlib import AbstractAsyncContextManager

from ...clock import Clock
from ...settings.load import Settings
from ..feature import Feature
from .spans import TurnSpans


def observe(settings: Settings, clock: Clock) -> AbstractAsyncContextManager[TurnSpans] | None:
    """Makes the spans, and sends them."""
    if not settings.traces.enabled:
        return None
    from .otel import tracing

    return tracing(settings.traces, clock)


FEATURE = Feature("traces", observe=observe)
