"""Counts and times for Prometheus: the rows of `metric_table`."""

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import assert_never

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from ..clock import Clock
from ..turn.progress import DEFAULT_AGENT, TurnRecord
from . import facts
from . import metric_table as rows
from .health import Health
from .metric_table import PREFIX, Metric

_LAG_EVERY = 0.25  # seconds between two looks at how late the event loop is
_LIMITED = ("ratelimited", "rate_limited")


class _Instruments:
    """What `/metrics` lists, in the order in which it is added."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)

    def counter(self, row: Metric) -> Counter:
        return Counter(f"{PREFIX}{row.name}", row.about, row.labels, registry=self._registry)

    def times(self, row: Metric) -> Histogram:
        return Histogram(row.family, row.about, row.labels, buckets=row.buckets, registry=self._registry)

    def gauge(self, row: Metric, read: Callable[[], float]) -> None:
        """`read` returns its value at each scrape, and must not raise."""
        Gauge(row.family, row.about, registry=self._registry).set_function(read)

    def scrape(self) -> bytes:
        return generate_latest(self._registry)


class _TurnTimes:
    """How long readers wait."""

    def __init__(self, instruments: _Instruments) -> None:
        self._first_event = instruments.times(rows.FIRST_EVENT)
        self._first_text = instruments.times(rows.FIRST_TEXT)
        self._lag = instruments.times(rows.VISIBLE_LAG)
        self._duration = instruments.times(rows.TURN_TIMES)
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
        self._turns = instruments.counter(rows.TURNS)
        self._answers = instruments.counter(rows.ANSWERS)
        self._whole = instruments.counter(rows.ANSWERS_WHOLE)
        self.times = _TurnTimes(instruments)
        self._messages = instruments.counter(rows.MESSAGES)
        self._fallbacks = instruments.counter(rows.FALLBACKS)
        self._continued = instruments.counter(rows.CONTINUATIONS)
        self._tokens = instruments.counter(rows.TOKENS)
        self._cost = instruments.counter(rows.COST)
        self.takeovers = instruments.counter(rows.TAKEOVERS)
        self.ignored = instruments.counter(rows.IGNORED_MESSAGES)

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
        self._calls = instruments.times(rows.SLACK_CALL)
        self._waits = instruments.times(rows.SLACK_WAIT)
        self._limited = instruments.counter(rows.SLACK_RATE_LIMITED)
        self._faults = instruments.counter(rows.SLACK_FAULTS)
        self.late_writes = instruments.counter(rows.LATE_WRITES)

    def called(self, fact: facts.SlackCalled) -> None:
        self._calls.labels(fact.method).observe(fact.took)
        self._waits.labels(fact.method).observe(fact.waited)
        if fact.error in _LIMITED:
            self._limited.labels(fact.method).inc()
        if fact.fault is not None:
            self._faults.labels(fact.fault).inc()


class _TeamCounts:
    """What is counted by workspace. The key of a turn begins with its workspace's id."""

    def __init__(self, instruments: _Instruments) -> None:
        self._turns = instruments.counter(rows.TEAM_TURNS)
        self._limited = instruments.counter(rows.TEAM_RATE_LIMITED)

    def take(self, fact: facts.Fact) -> None:
        team = fact.turn.partition(":")[0]
        if not team.startswith("T"):
            return
        if isinstance(fact, facts.TurnEnded):
            self._turns.labels(team, fact.outcome).inc()
        elif isinstance(fact, facts.SlackCalled) and fact.error in _LIMITED:
            self._limited.labels(team).inc()


def _count_nothing(fact: facts.Fact) -> None:
    """There is one workspace only."""


class Metrics:
    """An observer that counts facts; `scrape` gives the answer of `/metrics`. `by_team`: there are several
    workspaces.
    """

    wants_details = False

    def __init__(self, clock: Clock, *, by_team: bool = False) -> None:
        self._now = clock.monotonic
        instruments = self._instruments = _Instruments()
        self._count_team = _TeamCounts(instruments).take if by_team else _count_nothing
        self._turns, self._calls = _TurnCounts(instruments), _CallCounts(instruments)
        self._store = instruments.times(rows.STORE_ACCEPT)
        self._not_stored = instruments.counter(rows.STORE_FAILURES)
        self._feedback_sent = instruments.counter(rows.FEEDBACK_SENT)
        self._feedback_dropped = instruments.counter(rows.FEEDBACK_DROPPED)
        self._loop_lag = instruments.times(rows.LOOP_LAG)

    def watch(
        self, load: Callable[[], Mapping[str, int]], unseen_since: Callable[[], float | None], health: Health
    ) -> None:
        """Add gauges for these (of `Conversations`), which are read at each scrape."""
        gauge = self._instruments.gauge
        gauge(rows.RUNNING, lambda: load()["running"])
        gauge(rows.WAITING, lambda: load()["waiting"])
        gauge(rows.WATCHED, lambda: load()["watched"])
        gauge(
            rows.OLDEST_UNSEEN,
            lambda: 0.0 if (since := unseen_since()) is None else max(0.0, self._now() - since),
        )
        gauge(rows.CONNECTIONS, lambda: health.connections())
        gauge(rows.READY, lambda: float(health.is_ready))
        for check in health.checks:
            gauge(rows.CHECKS[check], partial(health.is_ok, check))

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
        self._count_team(fact)
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
