"""Counts and times for Prometheus. No label names a person, a channel, a thread or a turn."""

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import assert_never

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from ..clock import Clock
from . import facts
from .health import Health, HealthCheck

_WAITS = (0.1, 0.25, 0.5, 1.0, 1.5, 2.5, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0)
_CALLS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_TURNS = (1.0, 2.5, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0)
_LAGS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
_LAG_EVERY = 0.25  # seconds between two looks at how late the event loop is
_LIMITED = ("ratelimited", "rate_limited")


class Metrics:
    """Takes facts, as an observer; `scrape` is what `/metrics` answers."""

    wants_details = False

    def __init__(self, clock: Clock) -> None:
        self._now = clock.monotonic
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self._began: dict[str, float] = {}  # turns, and when they began
        self._is_unseen: set[str] = set()  # turns that have shown no text yet
        self._count_turns()
        self._count_calls()
        self._loop_lag = self._times("loop_lag", "How late the event loop is", _LAGS)

    def _count_turns(self) -> None:
        self._turns = self._counter("turns", "Turns that ended, by outcome", "outcome")
        self._answers = self._counter("answers", "Answers that were to be had")
        self._whole = self._counter("answers_whole", "Answers of which the reader has all")
        self._first_event = self._times("first_event", "From the question to the agent's first event", _WAITS)
        self._first_text = self._times("first_text", "From the question to the first text shown", _WAITS)
        self._lag = self._times("visible_lag", "Age of the oldest text of a write when it was shown", _WAITS)
        self._duration = self._times("turn", "From the question to the end of the turn", _TURNS)
        self._messages = self._counter("messages", "Messages that answers took, by surface", "surface")
        self._fallbacks = self._counter("fallbacks", "Changes to a plainer surface, by reason", "reason")
        self._continued = self._counter("continuations", "Turns whose task was followed without its stream")
        self._takeovers = self._counter("takeovers", "Turns that another process had left")
        self._ignored = self._counter("ignored_messages", "Messages that the bot left alone")

    def _count_calls(self) -> None:
        self._calls = self._times("slack_call", "Slack's answer to a call", _CALLS, "method")
        self._waits = self._times("slack_wait", "Calls' wait for Slack's budget", _WAITS, "method")
        self._limited = self._counter("slack_rate_limited", "Calls refused with 429", "method")
        self._faults = self._counter("slack_faults", "Calls that failed, by class", "fault")
        self._late = self._counter("late_writes", "Writes of text that had to wait for Slack's budget")
        self._store = self._times("store_accept", "Storing a new question", _CALLS)
        self._not_stored = self._counter("store_failures", "New questions that could not be stored")

        self._feedback_sent = self._counter("feedback_sent", "Feedback that was taken, by target", "target")
        self._feedback_dropped = self._counter(
            "feedback_dropped", "Feedback that is not sent any more, though never taken, by target", "target"
        )

    def _counter(self, name: str, about: str, *labels: str) -> Counter:
        return Counter(f"slack_bot_{name}", about, labels, registry=self._registry)

    def _times(self, name: str, about: str, buckets: tuple[float, ...], *labels: str) -> Histogram:
        name, about = f"slack_bot_{name}_seconds", f"{about}, in seconds"
        return Histogram(name, about, labels, buckets=buckets, registry=self._registry)

    def gauge(self, name: str, about: str, read: Callable[[], float]) -> None:
        """`read` is asked for each scrape. It must not raise."""
        Gauge(f"slack_bot_{name}", about, registry=self._registry).set_function(read)

    def watch(
        self, load: Callable[[], Mapping[str, int]], unseen_since: Callable[[], float | None], health: Health
    ) -> None:
        """Read these for each scrape (`Registry.load`, `Registry.unseen_since`)."""
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
        """Look how late the event loop is, again and again."""
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + _LAG_EVERY
            await asyncio.sleep(_LAG_EVERY)
            self._loop_lag.observe(max(0.0, loop.time() - due))

    def scrape(self) -> tuple[str, bytes]:
        """The content type, and everything as text."""
        return CONTENT_TYPE_LATEST, generate_latest(self._registry)

    def __call__(self, fact: facts.Fact) -> None:
        match fact:
            case facts.TurnStarted(at=at, turn=turn):
                self._began[turn] = at
                self._is_unseen.add(turn)
            case facts.AgentHeard():
                self._first_event.observe(self._age(fact))
            case facts.TextShown():
                self._shown(fact)
            case facts.SlackCalled():
                self._called(fact)
            case facts.TurnEnded():
                self._ended(fact)
            case facts.MessageIgnored() | facts.TurnTakenOver() | facts.QuestionStored():
                self._took(fact)
            case facts.FeedbackSent():
                (self._feedback_sent if fact.ok else self._feedback_dropped).labels(fact.target).inc()
            case facts.AgentEvent() | facts.EventHandled() | facts.AgentAsked() | facts.AgentLeft():
                pass
            case facts.DoubtSettled() | facts.TurnRecorded() | facts.FormAnswered():
                pass
            case _:
                assert_never(fact)

    def _age(self, fact: facts.Fact) -> float:
        return max(0.0, fact.at - self._began.get(fact.turn, fact.at))

    def _shown(self, fact: facts.TextShown) -> None:
        self._lag.observe(max(0.0, fact.at - fact.since))
        self._late.inc(fact.is_late)
        if fact.turn in self._is_unseen:
            self._is_unseen.discard(fact.turn)
            self._first_text.observe(self._age(fact))

    def _called(self, fact: facts.SlackCalled) -> None:
        self._calls.labels(fact.method).observe(fact.took)
        self._waits.labels(fact.method).observe(fact.waited)
        if fact.error in _LIMITED:
            self._limited.labels(fact.method).inc()
        if fact.fault is not None:
            self._faults.labels(fact.fault).inc()

    def _took(self, fact: facts.MessageIgnored | facts.TurnTakenOver | facts.QuestionStored) -> None:
        if isinstance(fact, facts.QuestionStored):
            self._store.observe(fact.took)
            self._not_stored.inc(not fact.ok)
        else:
            (self._takeovers if isinstance(fact, facts.TurnTakenOver) else self._ignored).inc()

    def _ended(self, fact: facts.TurnEnded) -> None:
        self._turns.labels(fact.outcome).inc()
        if fact.turn in self._began:
            self._duration.observe(self._age(fact))
        self._began.pop(fact.turn, None)
        self._is_unseen.discard(fact.turn)
        if fact.is_whole is not None:
            self._answers.inc()
            self._whole.inc(fact.is_whole)
        for message in fact.messages:
            self._messages.labels(message.surface).inc()
        for reason in fact.fallbacks:
            self._fallbacks.labels(reason).inc()
        self._continued.inc(fact.continued)
