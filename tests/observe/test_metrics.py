"""What `/metrics` says, and the conditions of deploy/alerts.yml, each brought about by a fault."""

import asyncio
import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from slack_bot.clock import system_clock
from slack_bot.errors import StoreError
from slack_bot.observe.facts import FeedbackSent, ToAll
from slack_bot.observe.health import Health, HealthCheck
from slack_bot.observe.metrics import Metrics
from slack_bot.testing.harness import CHANNEL, BotHarness, run_bot
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.testing.tape.builders import answer
from slack_bot.testing.tape.tape import Tape
from slack_bot.testing.virtual_clock import new_clock, on_virtual_time
from slack_bot.turn.record import ThreadKey
from tests.features.usage.test_limits import costs
from tests.threads.test_watch import slow

ALERTS = Path(__file__).parents[2] / "deploy" / "alerts.yml"


class Measured:
    """A bot, and what a scrape of it says now."""

    def __init__(self, bot: BotHarness, metrics: Metrics) -> None:
        self.bot, self._metrics = bot, metrics
        metrics.watch(
            bot.app.threads.conversations.load, bot.app.threads.conversations.unseen_since, bot.app.health
        )

    def __call__(self, name: str, **labels: str) -> float:
        return read(self._metrics, name, **labels)


def read(metrics: Metrics, name: str, **labels: str) -> float:
    """The value of one series; 0 if it was never counted."""
    _, body = metrics.scrape()
    for family in text_string_to_metric_families(body.decode()):
        for sample in family.samples:
            if sample.name == f"slack_bot_{name}" and sample.labels == labels:
                return sample.value
    assert f"slack_bot_{name}" in body.decode(), f"there is no {name}"
    return 0.0


@asynccontextmanager
async def measured(*tapes: Tape, **given: Any) -> AsyncIterator[Measured]:
    metrics = Metrics(new_clock())
    async with run_bot(*tapes, observer=ToAll(metrics), **given) as bot:
        yield Measured(bot, metrics)


@on_virtual_time
async def test_a_plain_answer_moves_what_is_counted_of_turns_and_calls() -> None:
    async with measured(answer("Line one.\nLine two.\n", seconds=4.0)) as now:
        await now.bot.ask("hi")
        await asyncio.sleep(1)
        assert (now("running"), now("waiting"), now("watched")) == (1, 0, 0)
        await now.bot.idle()
        assert (
            now("turns_total", outcome="answered", agent="default")
            == now("answers_total", agent="default")
            == 1
        )
        assert now("answers_whole_total", agent="default") == now("messages_total", surface="stream") == 1
        assert (
            now("first_event_seconds_count", agent="default")
            == now("first_text_seconds_count", agent="default")
            == 1
        )
        assert (
            now("turn_seconds_count", agent="default") == 1 and now("turn_seconds_sum", agent="default") > 4
        )
        assert now("first_text_seconds_sum", agent="default") < now("turn_seconds_sum", agent="default")
        assert now("visible_lag_seconds_count") >= 1
        assert now("store_accept_seconds_count") == 1 and now("store_failures_total") == 0
        assert now("slack_call_seconds_count", method="chat.startStream") == 1
        assert now("running") == now("oldest_unseen_seconds") == 0


@on_virtual_time
async def test_messages_that_are_left_alone_and_turns_that_wait_are_counted() -> None:
    async with measured(answer("Slow.\n", seconds=30.0)) as now:
        root = await now.bot.ask("hi")
        await now.bot.ask("and this?", thread_ts=root)
        await asyncio.sleep(1)
        assert (now("running"), now("waiting")) == (1, 1)
        await now.bot.app.threads.registry.stop(ThreadKey("T1", CHANNEL, root), "U1")
        await now.bot.idle()
        assert now("turns_total", outcome="stopped", agent="default") == 1
        assert (
            now("answers_total", agent="default")
            == now("turns_total", outcome="answered", agent="default")
            == 1
        )  # a stop is no answer


@on_virtual_time
async def test_text_that_slack_does_not_take_grows_old_and_the_answer_is_shown_plainly() -> None:
    async with measured(
        answer("One.\nTwo.\n", seconds=2.0), faults={"chat.startStream": ["feature_disabled"]}
    ) as now:
        await now.bot.ask("hi")
        await now.bot.idle()
        assert now("slack_faults_total", fault="not_here") == now("fallbacks_total", reason="not_here") == 1
        assert now("messages_total", surface="edit") == now("answers_whole_total", agent="default") == 1


@on_virtual_time
async def test_alert_answers_stand_still_and_rate_limited() -> None:
    """SlackBotAnswersStandStill, SlackBotRateLimited."""
    faults = {"chat.appendStream": [None, "ratelimited:60", None]}
    text = "".join(f"Line {number}.\n" for number in range(40))
    async with measured(answer(text, seconds=20.0), faults=faults) as now:
        await now.bot.ask("hi")
        await asyncio.sleep(45)
        assert now("oldest_unseen_seconds") > 30
        assert now("slack_rate_limited_total", method="chat.appendStream") == 1
        await now.bot.idle()
        assert now("oldest_unseen_seconds") == 0
        assert now("visible_lag_seconds_bucket", le="30.0") < now("visible_lag_seconds_count")
        assert now("answers_whole_total", agent="default") == 1


@on_virtual_time
async def test_alert_agent_fails_and_answers_not_whole() -> None:
    """SlackBotAgentFails, SlackBotAnswersNotWhole: the agent is gone right after it was asked."""
    async with measured(cut_after=0) as now:
        await now.bot.ask("hi")
        await now.bot.idle()
        assert (
            now("turns_total", outcome="lost", agent="default") == now("answers_total", agent="default") == 1
        )
        assert now("answers_whole_total", agent="default") == 0


async def test_alert_not_ready() -> None:
    """SlackBotNotReady."""
    metrics, health = Metrics(system_clock()), Health()
    metrics.watch(lambda: {"running": 0, "waiting": 0, "watched": 0}, lambda: None, health)
    for check in health.checks:
        health.passed(check)
    assert read(metrics, "ready") == read(metrics, "check_slack") == 1
    health.failed(HealthCheck.SLACK, "No connection to Slack is open.")
    assert read(metrics, "ready") == read(metrics, "check_slack") == 0
    assert read(metrics, "check_store") == 1
    for check in health.checks:
        health.failed(check, "It does not work.")
        assert read(metrics, f"check_{check}") == 0


async def test_alert_loop_late() -> None:
    """SlackBotLoopLate: something holds the loop."""
    metrics = Metrics(system_clock())
    looking = asyncio.create_task(metrics.measure_loop())
    await asyncio.sleep(0)
    time.sleep(0.6)  # noqa: ASYNC251  that is what is measured
    async with asyncio.timeout(60):
        while not read(metrics, "loop_lag_seconds_count"):  # noqa: ASYNC110  no event reports it
            await asyncio.sleep(0.01)
    looking.cancel()
    assert read(metrics, "loop_lag_seconds_bucket", le="0.25") < read(metrics, "loop_lag_seconds_count")


@on_virtual_time
async def test_writes_that_wait_for_slacks_budget_are_counted() -> None:
    text = "".join(f"Line {number}.\n" for number in range(60))
    async with measured(answer(text, seconds=60.0), appends_per_minute=10, burst_share=0.1) as now:
        await now.bot.ask("hi")
        await now.bot.idle()
        assert now("late_writes_total") > 0
        method = "chat.appendStream"
        assert now("slack_wait_seconds_sum", method=method) > 3
        assert now("slack_wait_seconds_count", method=method) == now(
            "slack_call_seconds_count", method=method
        )


@on_virtual_time
async def test_a_task_that_outlives_its_stream_is_watched_and_counted() -> None:
    async with measured(slow(), cut_after=2) as now:
        await now.bot.ask("hi")
        await now.bot.idle()
        assert (now("watched"), now("running"), now("turns_total", outcome="watched", agent="default")) == (
            1,
            0,
            1,
        )
        await asyncio.sleep(3 * 3600)
        await now.bot.idle()
        assert (now("watched"), now("turns_total", outcome="answered", agent="default")) == (0, 1)


@on_virtual_time
async def test_a_message_that_is_not_for_the_bot_is_counted() -> None:
    async with measured() as now:
        await now.bot.ask("hi", user="U9")
        await now.bot.idle()
        before = now("ignored_messages_total")
        now.bot.workspace.add_user("U7", is_bot=True)
        await now.bot.ask("hi", user="U7")
        await now.bot.idle()
        assert now("ignored_messages_total") == before + 1


def test_feedback_and_connections_are_counted() -> None:
    metrics, health = Metrics(system_clock()), Health()
    metrics.watch(lambda: {"running": 0, "waiting": 0, "watched": 0}, lambda: None, health)
    assert read(metrics, "connections") == 0
    health.connections = lambda: 2
    for ok in (True, True, False):
        metrics(FeedbackSent(0.0, "t", "webhook", ok))
    assert read(metrics, "connections") == 2
    assert read(metrics, "feedback_sent_total", target="webhook") == 2
    assert read(metrics, "feedback_dropped_total", target="webhook") == 1


@on_virtual_time
async def test_what_answers_used_is_counted_once_where_a_footer_shows_it() -> None:
    async with measured(
        costs(40, cost=0.5), answer("Nothing reported."), **{"channel.footer": "cost"}
    ) as now:
        for _ in range(2):
            await now.bot.ask("what?")
            await now.bot.idle()
        assert (now("tokens_total", agent="default"), now("cost_total", agent="default")) == (40, 0.5)


def test_every_metric_is_read_here_and_in_the_documents() -> None:
    metrics, health = Metrics(system_clock()), Health()
    metrics.watch(lambda: {"running": 0, "waiting": 0, "watched": 0}, lambda: None, health)
    told = re.findall(r"# TYPE slack_bot_(\w+) ", metrics.scrape()[1].decode())
    names = {re.sub(r"_(total|created)$", "", name) for name in told}
    documents = (Path(__file__).parents[2] / "docs" / "watch.md").read_text("utf-8")
    here = Path(__file__).read_text("utf-8")
    names -= {f"check_{check}" for check in HealthCheck}
    assert [name for name in names if not re.search(rf"`{name}(_total)?\b", documents)] == []
    assert [name for name in names if not re.search(rf'"{name}(_total|_count|_sum)?"', here)] == []


class FullStore(MemoryStore):
    """Takes no question."""

    async def accept(self, turn: Any) -> bool:
        raise StoreError("The disk is full.")


@on_virtual_time
async def test_a_store_that_fails_is_counted() -> None:
    async with measured(store=FullStore()) as now:
        await now.bot.ask("hi")
        assert (
            now("store_failures_total") > 0 and now("turns_total", outcome="answered", agent="default") == 0
        )


@on_virtual_time
async def test_a_turn_that_another_process_left_is_counted() -> None:
    slow = answer("".join(f"Line {number}.\n" for number in range(20)), seconds=20.0)
    async with run_bot(slow) as before:
        await before.ask("hi")
        await asyncio.sleep(5)
        before.life.end_now()
        async with measured(slow, after=before) as now:
            await now.bot.idle()
            assert (
                now("takeovers_total")
                == now("answers_whole_total", agent="default")
                == now("continuations_total", agent="default")
                == 1
            )


def test_every_alert_reads_metrics_that_are_there_and_a_test_brings_it_about() -> None:
    text, here = ALERTS.read_text("utf-8"), Path(__file__).read_text("utf-8")
    metrics = Metrics(system_clock())
    metrics.watch(lambda: {"running": 0, "waiting": 0, "watched": 0}, lambda: None, Health())
    known = metrics.scrape()[1].decode()
    expressions = re.sub(r"(?m)^ *(summary|remedy): .*$", "", text)
    for name in set(re.findall(r"slack_bot_\w+", expressions)) - {"slack_bot"}:
        assert re.sub(r"_(total|bucket|count)$", "", name) in known, name
    alerts = re.findall(r"alert: (\w+)", text)
    assert len(alerts) == 8
    of_prometheus = {"SlackBotGone", "SlackBotDown"}  # by what Prometheus sees: tests/deploy/test_alerts.py
    untested = [each for each in alerts if f'"""{each}' not in here and f", {each}" not in here]
    assert set(untested) == of_prometheus
