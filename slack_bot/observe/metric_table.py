"""PURE. The metrics of the bot: one row each, in groups. `metrics` counts them, `tools/dashboard` draws them.

No label names a person, a channel, a thread or a turn. The label `agent` is a name of the settings, never an
address. The label `team` is on two counters of their own, which are there only where the bot is in several
workspaces: on each metric it would multiply every histogram by their number.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from .health import HealthCheck

PREFIX = "slack_bot_"

_WAITS = (0.1, 0.25, 0.5, 1.0, 1.5, 2.5, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0)
_CALLS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_TURNS = (1.0, 2.5, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0)
_LAGS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)


class MetricKind(StrEnum):
    """How Prometheus reads a metric."""

    COUNTER = "counter"  # only grows
    TIMES = "times"  # a histogram of seconds
    GAUGE = "gauge"  # read at each scrape


@dataclass(frozen=True, slots=True)
class Metric:
    """`name` is without the prefix and without what its kind appends; `about` is its text in `/metrics`.

    `buckets`: the upper bounds of a histogram, in seconds. `unit` is "" for a number of things.
    """

    kind: MetricKind
    name: str
    about: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()
    unit: str = ""

    @property
    def family(self) -> str:
        """The name by which Prometheus keeps it; that of a histogram is without `_bucket` and the like."""
        ending = {MetricKind.COUNTER: "_total", MetricKind.TIMES: "_seconds", MetricKind.GAUGE: ""}
        return f"{PREFIX}{self.name}{ending[self.kind]}"


def _counter(name: str, about: str, *labels: str) -> Metric:
    return Metric(MetricKind.COUNTER, name, about, labels)


def _times(name: str, about: str, buckets: tuple[float, ...], *labels: str) -> Metric:
    return Metric(MetricKind.TIMES, name, f"{about}, in seconds", labels, buckets, unit="s")


def _gauge(name: str, about: str, unit: str = "") -> Metric:
    return Metric(MetricKind.GAUGE, name, about, unit=unit)


TURNS = _counter("turns", "Turns that ended, by outcome and agent", "outcome", "agent")
ANSWERS = _counter("answers", "Answers that were to be had", "agent")
ANSWERS_WHOLE = _counter("answers_whole", "Answers of which the reader has all", "agent")
FIRST_EVENT = _times("first_event", "From the question to the agent's first event", _WAITS, "agent")
FIRST_TEXT = _times("first_text", "From the question to the first text shown", _WAITS, "agent")
VISIBLE_LAG = _times("visible_lag", "Age of the oldest text of a write when it was shown", _WAITS)
TURN_TIMES = _times("turn", "From the question to the end of the turn", _TURNS, "agent")
MESSAGES = _counter("messages", "Messages that answers took, by surface", "surface")
FALLBACKS = _counter("fallbacks", "Changes to a plainer surface, by reason", "reason")
CONTINUATIONS = _counter("continuations", "Turns whose task was followed without its stream", "agent")
TOKENS = _counter("tokens", "Tokens that agents reported, where they are counted", "agent")
COST = _counter("cost", "Money that answers cost, where it is counted", "agent")
TAKEOVERS = _counter("takeovers", "Turns that another process had left")
IGNORED_MESSAGES = _counter("ignored_messages", "Messages that the bot left alone")

SLACK_CALL = _times("slack_call", "Slack's answer to a call", _CALLS, "method")
SLACK_WAIT = _times("slack_wait", "Calls' wait for Slack's budget", _WAITS, "method")
SLACK_RATE_LIMITED = _counter("slack_rate_limited", "Calls refused with 429", "method")
SLACK_FAULTS = _counter("slack_faults", "Calls that failed, by class", "fault")
LATE_WRITES = _counter("late_writes", "Writes of text that had to wait for Slack's budget")

TEAM_TURNS = _counter("team_turns", "Turns that ended, by workspace and outcome", "team", "outcome")
TEAM_RATE_LIMITED = _counter("team_rate_limited", "Calls refused with 429, by workspace", "team")

STORE_ACCEPT = _times("store_accept", "Storing a new question", _CALLS)
STORE_FAILURES = _counter("store_failures", "New questions that could not be stored")
FEEDBACK_SENT = _counter("feedback_sent", "Feedback that was taken, by target", "target")
FEEDBACK_DROPPED = _counter(
    "feedback_dropped", "Feedback that is not sent any more, though never taken, by target", "target"
)
LOOP_LAG = _times("loop_lag", "How late the event loop is", _LAGS)

RUNNING = _gauge("running", "Turns that run")
WAITING = _gauge("waiting", "Questions that wait")
WATCHED = _gauge("watched", "Tasks that are watched")
OLDEST_UNSEEN = _gauge(
    "oldest_unseen_seconds", "Age of the oldest text that its reader cannot see yet, in seconds", "s"
)
CONNECTIONS = _gauge("connections", "Connections to Slack (Socket Mode)")
READY = _gauge("ready", "1 if the bot takes questions")
CHECKS: Mapping[HealthCheck, Metric] = {
    check: _gauge(f"check_{check}", f"1 if {check} of /readyz is ok") for check in HealthCheck
}

GROUPS: Mapping[str, tuple[Metric, ...]] = {
    "What readers get": (
        ANSWERS,
        ANSWERS_WHOLE,
        TURNS,
        FIRST_EVENT,
        FIRST_TEXT,
        TURN_TIMES,
        VISIBLE_LAG,
        OLDEST_UNSEEN,
    ),
    "Load": (RUNNING, WAITING, WATCHED, TAKEOVERS, CONTINUATIONS, TOKENS, COST, IGNORED_MESSAGES),
    "Slack": (
        SLACK_CALL,
        SLACK_WAIT,
        SLACK_RATE_LIMITED,
        SLACK_FAULTS,
        LATE_WRITES,
        MESSAGES,
        FALLBACKS,
        CONNECTIONS,
    ),
    "Workspaces, where there are several": (
        TEAM_TURNS,
        TEAM_RATE_LIMITED,
    ),
    "Process, store and feedback": (
        READY,
        *CHECKS.values(),
        LOOP_LAG,
        STORE_ACCEPT,
        STORE_FAILURES,
        FEEDBACK_SENT,
        FEEDBACK_DROPPED,
    ),
}
"""All of them, as a person looks for them."""
