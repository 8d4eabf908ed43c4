"""Counts and times for Prometheus. No label names a person, a channel, a thread or a turn.

The label `agent` is a name of the settings, never an address.
"""

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import assert_never

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from ..clock import Clock
from ..turn.progress import DEFAULT_AGENT, TurnRecord
from . import facts
from .health import Health, HealthCheck

_WAITS = (0.1, 0.25, 0.5, 1.0, 1.5, 2.5, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0)
_CALLS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_TURNS = (1.0, 2.5, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0)
_LAGS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
_LAG_EVERY = 0.25  # seconds between two looks at how late the event loop is
_LIMITED = ("ratelimited", "rate_limited")


class _Instruments:
    """What `/metrics` lists, in the order in which it is added."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)

    def counter(self, name: str, about: str, *label_names: str) -> Counter:
        return Counter(f"slack_bot_{name}", about, label_names, registry=self._registry)

    def times(self, name: str, about: str, buckets: tuple[float, ...], *label_names: str) -> Histogram:
        name, about = f"slack_bot_{name}_seconds", f"{about}, in seconds"
        return Histogram(name, about, label_names, buckets=buckets, registry=self._registry)

    def gauge(self, name: str, about: str, read: Callable[[], float]) -> None:
        Gauge(f"slack_bot_{name}", about, registry=self._registry).set_function(read)

    def scrape(self) -> bytes:
        return generate_latest(self._registry)


class _TurnTimes:
    """How long readers wait."""

    def __init__(self, instruments: _Instruments) -> None:
        times = instruments.times
        self._first_event = times(
            "first_event", "From the question to the agent's first event", _WAITS, "agent"
        )
        self._first_text = times("first_text", "From the question to the first text shown", _WAITS, "agent")
        self._lag = times("visible_lag", "Age of the oldest text of a write when it was shown", _WAITS)
        self._duration = times("turn", "From the question to the end of the turn", _TURNS, "agent")
        self._began: dict[str, tuple[float, str]] = {}  # turns, when they began, and with which agent
        self._is_unseen: set[str] = set()  # turns that have shown no text yet

    def started(self, fact: facts.TurnStarted) -> None:
        self._began[fact.turn] = fact.at, fact.agent
        self._is_unseen.add(fact.turn)

    def heard(self, fact: facts.AgentHeard) -> None:
        self._observe(self._first_event, fact)

    def shown(self, fact: facts.TextShown) -> None:
        self._lag.observe(max(0.0, fact.at - fact.since))
        if fact.turn in self._is_unseen:
            self._is_unseen.discard(fact.turn)
            self._observe(self._first_text, fact)

    def ended(self, fact: facts.TurnEnded) -> None:
        if fact.turn in self._began:
            self._observe(self._duration, fact)
        self._began.pop(fact.turn, None)
        self._is_unseen.discard(fact.turn)

    def _observe(self, times: Histogram, fact: facts.Fact) -> None:
        began, agent = self._began.get(fact.turn, (fact.at, DEFAULT_AGENT))
        times.labels(agent).observe(max(0.0, fact.at - began))


class _TurnCounts:
    """How turns end. `times`: how long they take."""

    def __init__(self, instruments: _Instruments) -> None:
        counter = instruments.counter
        self._turns = counter("turns", "Turns that ended, by outcome and agent", "outcome", "agent")
        self._answers = counter("answers", "Answers that were to be had", "agent")
        self._whole = counter("answers_whole", "Answers of which the reader has all", "agent")
        self.times = _TurnTimes(instruments)
        self._messages = counter("messages", "Messages that answers took, by surface", "surface")
        self._fallbacks = counter("fallbacks", "Changes to a plainer surface, by reason", "reason")
        self._continued = counter(
            "continuations", "Turns whose task was followed without its stream", "agent"
        )
        self._tokens = counter("tokens", "Tokens that agents reported, where they are counted", "agent")
        self._cost = counter("cost", "Money that answers cost, where it is counted", "agent")
        self.takeovers = counter("takeovers", "Turns that another process had left")
        self.ignored = counter("ignored_messages", "Messages that the bot left alone")

    def ended(self, fact: facts.TurnEnded | facts.TurnRecorded) -> None:
        if isinstance(fact, facts.TurnRecorded):
            self._used(fact.record)
            return
        self._turns.labels(fact.outcome, fact.agent).inc()
        self.times.ended(fact)
        if fact.is_whole is not None:
            self._answers.labels(fact.agent).inc()
            self._whole.labels(fact.agent).inc(fact.is_whole)
        for message in fact.messages:
            self._messages.labels(message.surface).inc()
        for reason in fact.fallbacks:
            self._fallbacks.labels(reason).inc()
        self._continued.labels(fact.agent).inc(fact.continued)

    def _used(self, record: TurnRecord) -> None:
        if record.usage is not None:
            self._tokens.labels(record.agent).inc(record.usage.total)
            self._cost.labels(record.agent).inc(record.usage.cost or 0.0)


class _CallCounts:
    """Calls to Slack."""

    def __init__(self, instruments: _Instruments) -> None:
        counter, times = instruments.counter, instruments.times
        self._calls = times("slack_call", "Slack's answer to a call", _CALLS, "method")
        self._waits = times("slack_wait", "Calls' wait for Slack's budget", _WAITS, "method")
        self._limited = counter("slack_rate_limited", "Calls refused with 429", "method")
        self._faults = counter("slack_faults", "Calls that failed, by class", "fault")
        self.late_writes = counter("late_writes", "Writes of text that had to wait for Slack's budget")

    def called(self, fact: facts.SlackCalled) -> None:
        self._calls.labels(fact.method).observe(fact.took)
        self._waits.labels(fact.method).observe(fact.waited)
        if fact.error in _LIMITED:
            self._limited.labels(fact.method).inc()
        if fact.fault is not None:
            self._faults.labels(fact.fault).inc()


class Metrics:
    """An observer that counts facts; `scrape` gives the answer of `/metrics`."""

    wants_details = False

    def __init__(self, clock: Clock) -> None:
        self._now = clock.monotonic
        instruments = self._instruments = _Instruments()
        self._turns, self._calls = _TurnCounts(instruments), _CallCounts(instruments)
        self._store = instruments.times("store_accept", "Storing a new question", _CALLS)
        self._not_stored = instruments.counter("store_failures", "New questions that could not be stored")
        self._feedback_sent = instruments.counter(
            "feedback_sent", "Feedback that was taken, by target", "target"
        )
        self._feedback_dropped = instruments.counter(
            "feedback_dropped", "Feedback that is not sent any more, though never taken, by target", "target"
        )
        self._loop_lag = instruments.times("loop_lag", "How late the event loop is", _LAGS)

    def gauge(self, name: str, about: str, read: Callable[[], float]) -> None:
        """Add a gauge. `read` returns its value at each scrape, and must not raise."""
        self._instruments.gauge(name, about, read)

    def watch(
        self, load: Callable[[], Mapping[str, int]], unseen_since: Callable[[], float | None], health: Health
    ) -> None:
        """Add gauges for these (of `Conversations`), which are read at each scrape."""
        self.gauge("running", "Turns that run", lambda: load()["running"])
        self.gauge("waiting", "Questions that wait", lambda: load()["waiting"])
        self.gauge("watched", "Tasks that are watched", lambda: load()["watched"])
        self.gauge(
            "oldest_unseen_seconds",
            "Age of the oldest text that its reader cannot see yet, in seconds",
            lambda: 0.0 if (since := unseen_since()) is None else max(0.0, self._now() - since),
        )
        self.gauge("connections", "Connections to Slack (Socket Mode)", lambda: health.connections())
        self.gauge("ready", "1 if the bot takes questions", lambda: float(health.is_ready))
        for check in HealthCheck:
            self.gauge(f"check_{check}", f"1 if {check} of /readyz is ok", partial(health.is_ok, check))

    async def measure_loop(self) -> None:
        """Measure again and again how late the event loop runs. Never returns."""
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + _LAG_EVERY
            await asyncio.sleep(_LAG_EVERY)
            self._loop_lag.observe(max(0.0, loop.time() - due))

    def scrape(self) -> tuple[str, bytes]:
        """The content type and the text of all metrics."""
        return CONTENT_TYPE_LATEST, self._instruments.scrape()

    def __call__(self, fact: facts.Fact) -> None:
        match fact:
            case facts.TurnStarted():
                self._turns.times.started(fact)
            case facts.AgentHeard():
                self._turns.times.heard(fact)
            case facts.TextShown():
                self._turns.times.shown(fact)
                self._calls.late_writes.inc(fact.is_late)
            case facts.SlackCalled():
                self._calls.called(fact)
            case facts.TurnEnded() | facts.TurnRecorded():
                self._turns.ended(fact)
            case facts.TurnTakenOver() | facts.MessageIgnored():
                is_taken_over = isinstance(fact, facts.TurnTakenOver)
                (self._turns.takeovers if is_taken_over else self._turns.ignored).inc()
            case facts.QuestionStored():
                self._store.observe(fact.took)
                self._not_stored.inc(not fact.ok)
            case facts.FeedbackSent():
                (self._feedback_sent if fact.ok else self._feedback_dropped).labels(fact.target).inc()
            case (
                facts.AgentEvent()
                | facts.EventHandled()
                | facts.AgentAsked()
                | facts.AgentLeft()
                | facts.DoubtSettled()
                | facts.FormShown()
                | facts.FormAnswered()
            ):
                pass
            case _:
                assert_never(fact)
