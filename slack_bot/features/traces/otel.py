"""Sends spans to an OTLP receiver with OpenTelemetry's SDK, which is an extra.

The SDK reads its own variables (`OTEL_*`): sampler, service name, headers, batches. It sends in a thread.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from random import Random
from threading import Thread

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.sdk.trace.sampling import Decision
from opentelemetry.trace import (
    Link,
    NonRecordingSpan,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    set_span_in_context,
)

from ... import __version__
from ...clock import Clock
from ...settings.observe import TraceSettings
from .spans import TraceSpan, TurnSpans

_log = logging.getLogger(__name__)

_SAMPLED = TraceFlags(TraceFlags.SAMPLED)
_LAST = 5.0  # seconds for the last spans, when the process ends


@asynccontextmanager
async def tracing(settings: TraceSettings, clock: Clock) -> AsyncIterator[TurnSpans]:
    """An observer whose spans are sent, inside the block."""
    sender = _SpanSender(settings.endpoint)
    spans = TurnSpans(
        sender.send,
        lambda: clock.wall() - clock.monotonic(),
        partial(Random().getrandbits, 64),
        sender.is_sampled,
    )
    try:
        yield spans
    finally:
        spans.close(clock.monotonic())
        await sender.close()


class _SpanSender:
    """Sends spans. If `endpoint` is None, the SDK's variables or its default decide."""

    def __init__(self, endpoint: str | None) -> None:
        logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)  # it would log each batch
        self._ids = _ChosenIds()
        self._provider = TracerProvider(id_generator=self._ids, shutdown_on_exit=False)
        self._processor = BatchSpanProcessor(_QuietExporter(OTLPSpanExporter(endpoint)))
        self._provider.add_span_processor(self._processor)
        self._tracer = self._provider.get_tracer("slack_bot", __version__)

    def is_sampled(self, trace: int) -> bool:
        return (
            self._provider.sampler.should_sample(None, trace, "turn").decision is Decision.RECORD_AND_SAMPLE
        )

    def send(self, span: TraceSpan) -> None:
        self._ids.trace, self._ids.span = span.trace, span.id
        parent_context = Context()
        if span.parent is not None:
            parent_context = set_span_in_context(
                NonRecordingSpan(_context(span.trace, span.parent)), parent_context
            )
        otel_span = self._tracer.start_span(
            span.name,
            parent_context,
            SpanKind.CLIENT if span.is_request else SpanKind.INTERNAL,
            span.attributes,
            [Link(_context(*span.link))] if span.link else None,
            _nanoseconds(span.began),
        )
        if span.error:
            otel_span.set_status(Status(StatusCode.ERROR, span.error))
        otel_span.end(_nanoseconds(span.ended))

    async def close(self) -> None:
        """Send what waits, for at most five seconds. The SDK alone might take half a minute."""
        is_over, loop = asyncio.Event(), asyncio.get_running_loop()

        def end() -> None:
            self._provider.shutdown()
            with suppress(RuntimeError):  # the loop was not waited for
                loop.call_soon_threadsafe(is_over.set)

        Thread(target=end, name="last spans", daemon=True).start()
        with suppress(TimeoutError):
            async with asyncio.timeout(_LAST):
                await is_over.wait()


class _ChosenIds(IdGenerator):
    """Gives the next span the ids that the bot chose."""

    trace = span = 0

    def generate_trace_id(self) -> int:
        return self.trace

    def generate_span_id(self) -> int:
        return self.span


class _QuietExporter(SpanExporter):
    """Logs once that spans cannot be sent, and once that they are sent again."""

    def __init__(self, inner: OTLPSpanExporter) -> None:
        self._inner, self._is_away = inner, False

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        result = self._inner.export(spans)
        is_away = result is not SpanExportResult.SUCCESS
        if is_away and not self._is_away:
            _log.warning("traces cannot be sent and are lost meanwhile: does their receiver run?")
        elif self._is_away and not is_away:
            _log.warning("traces are sent again")
        self._is_away = is_away
        return result

    def shutdown(self) -> None:
        self._inner.shutdown()  # type: ignore[no-untyped-call]  # the SDK gives it no types

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self._inner.force_flush(timeout_millis)


def _context(trace: int, span: int) -> SpanContext:
    return SpanContext(trace, span, is_remote=False, trace_flags=_SAMPLED)


def _nanoseconds(seconds: float) -> int:
    return int(seconds * 1e9)
