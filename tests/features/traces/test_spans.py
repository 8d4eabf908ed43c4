"""One trace a turn, whatever happens to it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from typing import Any

from slack_bot.features.traces.spans import TraceSpan, TurnSpans, ids_of
from slack_bot.observe.facts import reference_of
from slack_bot.testing.harness import BotHarness, run_bot
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.testing.tape.builders import answer
from slack_bot.testing.tape.tape import Tape
from slack_bot.testing.virtual_clock import new_clock, on_virtual_time
from slack_bot.turn.record import ThreadKey
from tests.form_tapes import approval, press
from tests.threads.test_watch import slow

NUMBERS = count(1)
LINES = "".join(f"Line {number}.\n" for number in range(20))


class Traced:
    """A bot, and its spans so far."""

    def __init__(self, bot: BotHarness, found: list[TraceSpan], spans: TurnSpans) -> None:
        self.bot, self.found, self.spans = bot, found, spans

    def traces(self) -> list[list[TraceSpan]]:
        """The spans of each trace: one of them is its root, and each parent is there."""
        found: dict[int, list[TraceSpan]] = {}
        for span in self.found:
            assert span.ended >= span.began
            found.setdefault(span.trace, []).append(span)
        for spans in found.values():
            ids = [each.id for each in spans]
            assert len(set(ids)) == len(ids)
            assert [each.name for each in spans if each.parent is None] == ["turn"]
            assert {each.parent for each in spans} - {None} <= set(ids)
        return list(found.values())

    def named(self, name: str) -> list[TraceSpan]:
        return [each for each in self.found if each.name == name]


@asynccontextmanager
async def traced(*tapes: Tape, keeps: bool = True, **given: Any) -> AsyncIterator[Traced]:
    clock, found = new_clock(), list[TraceSpan]()
    spans = TurnSpans(
        found.append, lambda: clock.wall() - clock.monotonic(), NUMBERS.__next__, lambda trace: keeps
    )
    async with run_bot(*tapes, observer=spans, **given) as bot:
        yield Traced(bot, found, spans)


@on_virtual_time
async def test_a_plain_answer_has_each_step_once_and_no_text() -> None:
    async with traced(answer("Line one.\nLine two.\n", seconds=4.0)) as now:
        await now.bot.ask("what is agntcy")
        await now.bot.idle()
        (spans,) = now.traces()
        names = [each.name for each in spans if not each.name.startswith("slack ")]
        assert sorted(names) == sorted(
            ["turn", "accept", "wait", "agent", "first event", "first text", "message"]
        )
        (root,), (agent,), (first,) = map(now.named, ("turn", "agent", "first event"))
        assert first.parent == agent.parent == root.id and agent.is_request
        assert root.began <= agent.began < agent.ended <= root.ended
        assert root.attributes["slack_bot.outcome"] == "answered" and not root.error
        assert root.attributes["slack_bot.task"] == "task-1"
        assert max(each.ended for each in spans) == root.ended
        key = str(root.attributes["slack_bot.turn"])
        assert f"{root.trace:032x}".startswith(reference_of(key))
        assert "agntcy" not in str(spans) and "Line" not in str(spans) and "U1" not in str(spans)
        (call,) = now.named("slack chat.startStream")
        assert call.is_request and call.attributes["slack.attempt"] == 1


@on_virtual_time
async def test_the_agent_gets_the_trace_with_each_request_and_nobody_else_does() -> None:
    async with traced(answer("One."), answer("Two.", ids="2")) as now:
        for text in ("a", "b"):
            await now.bot.ask(text)
        await now.bot.idle()
        assert len(now.traces()) == 2
        wanted = {f"00-{each.trace:032x}-{each.id:016x}-01" for each in now.named("agent")}
        given = [each.headers.get("traceparent") for each in now.bot.agent.calls]
        assert set(given) == wanted
        assert now.spans.traceparent("T1:C1:0.0") is None


@on_virtual_time
async def test_what_is_not_sampled_has_no_spans_and_says_so_to_the_agent() -> None:
    async with traced(answer("One."), keeps=False) as now:
        await now.bot.ask("a")
        await now.bot.idle()
        assert now.found == []
        given = [each.headers.get("traceparent") for each in now.bot.agent.calls]
        assert [str(each)[-3:] for each in given] == ["-00"]


@on_virtual_time
async def test_a_question_waits_and_two_that_became_one_have_a_trace_each() -> None:
    async with traced(answer("Slow.\n", seconds=30.0), answer("Both.", ids="2"), busy="collect") as now:
        root = await now.bot.ask("first")
        await asyncio.sleep(5)
        for text in ("second", "third"):
            await now.bot.ask(text, thread_ts=root)
        await now.bot.idle()
        outcomes = sorted(str(each.attributes["slack_bot.outcome"]) for each in now.named("turn"))
        assert outcomes == ["answered", "answered", "merged"]
        assert len(now.traces()) == 3
        assert max(each.ended - each.began for each in now.named("wait")) > 20


@on_virtual_time
async def test_calls_that_fail_and_their_repetition_are_marked() -> None:
    faults = {"chat.appendStream": ["ratelimited:7", None]}
    async with traced(answer(LINES, seconds=20.0), faults=faults) as now:
        await now.bot.ask("a")
        await now.bot.idle()
        refused, taken, *_ = now.named("slack chat.appendStream")
        assert (refused.error, refused.attributes["slack.retry_after"]) == ("ratelimited", 7.0)
        assert (taken.error, taken.attributes["slack.attempt"]) == ("", 2)
        assert float(taken.attributes["slack.waited"]) > 6


@on_virtual_time
async def test_a_write_without_an_answer_and_what_follows_it() -> None:
    async with traced(
        answer(LINES, seconds=20.0), faults={"chat.appendStream": [None, "timeout!", None]}
    ) as now:
        await now.bot.ask("a")
        await now.bot.idle()
        (settled,) = now.named("reconcile")
        assert settled.attributes["slack_bot.is_shown"] is True
        assert [each.attributes["slack_bot.message"] for each in now.named("message")] == [1, 2]
        one, two = now.named("message")
        assert one.ended <= two.began
        assert len(now.traces()) == 1


@on_virtual_time
async def test_an_answer_that_is_lost_is_an_error() -> None:
    async with traced(cut_after=0) as now:
        await now.bot.ask("a")
        await now.bot.idle()
        (root,) = now.named("turn")
        assert root.error and root.attributes["slack_bot.outcome"] == "lost"
        assert len(now.traces()) == 1


@on_virtual_time
async def test_ids_of_the_agent_can_be_sent_on() -> None:
    async with traced(answer("One.", ids="\ud800" + "x" * 1_000_000)) as now:
        await now.bot.ask("a")
        await now.bot.idle()
        (root,) = now.named("turn")
        assert root.attributes["slack_bot.task"] == "task-\ufffd" + "x" * 194


@on_virtual_time
async def test_a_stop_is_no_error() -> None:
    async with traced(answer("Slow.\n", seconds=30.0)) as now:
        root = await now.bot.ask("a")
        await asyncio.sleep(5)
        await now.bot.app.threads.registry.stop(ThreadKey("T1", "C1", root), "U1")
        await now.bot.idle()
        (turn,) = now.named("turn")
        assert (turn.error, turn.attributes["slack_bot.outcome"]) == ("", "stopped")


@on_virtual_time
async def test_the_wait_for_an_approval_is_in_the_trace_that_asked() -> None:
    async with traced(approval(), answer("Deployed.")) as now:
        root = await now.bot.ask("deploy")
        await now.bot.idle()
        await asyncio.sleep(600)
        await press(now.bot, root, "form_approve")
        await now.bot.idle()
        asked, answered = now.named("turn")
        (wait,) = now.named("form wait")
        assert (wait.trace, wait.parent) == (asked.trace, asked.id)
        assert wait.ended - wait.began > 590
        assert wait.link == (answered.trace, answered.id) and answered.link == (asked.trace, asked.id)
        assert len(now.traces()) == 2


@on_virtual_time
async def test_a_turn_that_is_taken_over_is_one_trace_with_one_root() -> None:
    slow = answer(LINES, seconds=20.0)
    async with traced(slow, store=MemoryStore(is_durable=True)) as before:
        await before.bot.ask("hi")
        await asyncio.sleep(5)
        before.bot.life.end_now()
        before.spans.close(new_clock().monotonic())
        first = list(before.found)
        async with traced(slow, after=before.bot) as now:
            await now.bot.idle()
            now.found[:0] = first
            (spans,) = now.traces()
            (root,), (takeover,) = now.named("turn"), now.named("takeover")
            assert root.trace == ids_of(str(root.attributes["slack_bot.turn"]))[0]
            assert root.began == min(each.began for each in spans if each.name != "accept")
            assert root.attributes["slack_bot.takeovers"] == 1
            assert takeover.began >= root.began + 5
            (agent,) = now.named("agent")
            assert agent.attributes["slack_bot.is_left"] is True and not agent.error


@on_virtual_time
async def test_a_task_that_is_watched_stays_in_its_trace() -> None:
    async with traced(slow(), cut_after=2) as now:
        await now.bot.ask("hi")
        await now.bot.idle()
        assert now.named("turn") == []
        await asyncio.sleep(3 * 3600)
        await now.bot.idle()
        assert len(now.traces()) == 1
        (watch,), (root,) = now.named("watch"), now.named("turn")
        assert watch.ended - watch.began > 3600 and root.ended >= watch.ended
        assert root.attributes["slack_bot.outcome"] == "answered"


@on_virtual_time
async def test_a_question_that_is_told_twice_is_accepted_once() -> None:
    async with traced(answer("One.")) as now:
        root = await now.bot.ask("a")
        await now.bot.idle()
        assert root and len(now.named("accept")) == 1
