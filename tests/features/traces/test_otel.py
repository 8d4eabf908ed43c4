"""Spans on their way: a real OTLP receiver, a real a2a-sdk agent, the whole bot."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest
from aiohttp import web
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from slack_bot.app import App, run
from slack_bot.clock import system_clock
from slack_bot.features.traces.otel import tracing
from slack_bot.observe.facts import QuestionStored
from slack_bot.settings.load import load
from slack_bot.settings.observe import TraceSettings
from slack_bot.store.collection import Ages
from slack_bot.store.sqlite import open_sqlite
from slack_bot.testing.harness import (
    CHANNEL,
    bot_settings,
    build_in_memory,
    free_port,
    keep_delivering,
    wait_until,
)
from slack_bot.testing.slack.server import SlackServer
from slack_bot.testing.slack.workspace import APP_TOKEN, BOT_TOKEN, Workspace
from tests.features.audit.test_audit_log import lines
from tests.live_agent import Live, live_agent
from tests.test_app import PATIENCE, bot_process


@dataclass
class Receiver:
    """What came by OTLP."""

    url: str
    requests: list[ExportTraceServiceRequest] = field(default_factory=list)
    came: asyncio.Event = field(default_factory=asyncio.Event)

    async def take(self, request: web.Request) -> web.Response:
        assert request.content_type == "application/x-protobuf"
        self.requests.append(ExportTraceServiceRequest.FromString(await request.read()))
        self.came.set()
        answer = ExportTraceServiceResponse().SerializeToString()
        return web.Response(body=answer, content_type="application/x-protobuf")

    @property
    def spans(self) -> list[Span]:
        resources = [each for request in self.requests for each in request.resource_spans]
        return [span for each in resources for scope in each.scope_spans for span in scope.spans]

    async def until(self, name: str, times: int = 1) -> None:
        """Such a span has come. With a root all below it have."""
        async with asyncio.timeout(60):
            while sum(each.name == name for each in self.spans) < times:
                self.came.clear()
                await self.came.wait()

    def traces(self) -> list[list[Span]]:
        """Each has one root, and each parent is there."""
        found: dict[bytes, list[Span]] = {}
        for span in self.spans:
            found.setdefault(span.trace_id, []).append(span)
        for spans in found.values():
            ids = [each.span_id for each in spans]
            assert len(set(ids)) == len(ids)
            assert [each.name for each in spans if not each.parent_span_id] == ["turn"]
            assert {each.parent_span_id for each in spans} - {b""} <= set(ids)
        return list(found.values())


@asynccontextmanager
async def receiver(port: int | None = None) -> AsyncIterator[Receiver]:
    port = port or free_port()
    found = Receiver(f"http://127.0.0.1:{port}")
    app = web.Application()
    app.router.add_post("/v1/traces", found.take)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    try:
        yield found
    finally:
        await runner.cleanup()


def new_workspace(*users: str) -> Workspace:
    workspace = Workspace()
    workspace.add_channel(CHANNEL).members.update(workspace.add_user(user).id for user in users)
    return workspace


def ask(workspace: Workspace, user: str, text: str) -> str:
    return workspace.say(user, CHANNEL, f"<@{workspace.bot.user_id}> {text}", now=system_clock().wall())


def is_answered(workspace: Workspace, root: str) -> bool:
    mine = [seen for seen in workspace.thread(CHANNEL, root) if seen.is_bot]
    return bool(mine) and all(seen.state != "streaming" for seen in mine)


def asked_with(live: Live) -> list[str]:
    """The headers of questions; those for the card have none."""
    return [each["traceparent"] for each in live.headers if "traceparent" in each]


async def test_two_turns_at_once_are_two_traces_that_the_agent_gets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace, loop = new_workspace("U1", "U2"), asyncio.get_running_loop()
    async with receiver() as got, live_agent() as live, SlackServer(workspace, system_clock()) as face:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", got.url)
        monkeypatch.setenv("OTEL_SERVICE_NAME", "helpdesk")
        monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "20")
        live.hold = 2
        settings = load(
            {
                "SLACK_BOT_TOKEN": BOT_TOKEN,
                "SLACK_APP_TOKEN": APP_TOKEN,
                "SLACK_API_URL": face.api_url,
                "A2A_AGENT_URL": live.url,
                "SLACK_BOT_STORE__URL": "memory://",
                "SLACK_BOT_TRACES__ENABLED": "true",
                "SLACK_BOT_AUDIT__PATH": str(tmp_path),
            },
            None,
            None,
        )
        running = asyncio.create_task(run(settings))
        try:
            await face.sockets.connected()
            roots = [ask(workspace, "U1", "held now"), ask(workspace, "U2", "held too")]
            await wait_until(lambda: len(workspace.open_streams()) == 2, workspace)
            live.release.set()
            await wait_until(lambda: all(is_answered(workspace, root) for root in roots), workspace)
            bad = ask(workspace, "U1", "fail")
            await wait_until(lambda: is_answered(workspace, bad), workspace)
            await got.until("turn", times=3)
            os.kill(os.getpid(), signal.SIGTERM)
            await asyncio.wait_for(running, 60)
        finally:
            loop.remove_signal_handler(signal.SIGTERM)
            loop.remove_signal_handler(signal.SIGINT)
        found = got.traces()
        assert len(found) == 3
        agents = [each for each in got.spans if each.name == "agent"]
        wanted = {f"00-{each.trace_id.hex()}-{each.span_id.hex()}-01" for each in agents}
        assert set(asked_with(live)) == wanted and len(wanted) == 3
        assert {each.kind for each in agents} == {Span.SPAN_KIND_CLIENT}
        failed = [each for each in got.spans if each.status.code == Status.STATUS_CODE_ERROR]
        assert [each.name for each in failed if not each.name.startswith("slack ")] == ["turn"]
        assert "It did not work" not in str(got.requests) and "held" not in str(got.requests)
        (service,) = {
            each.value.string_value
            for request in got.requests
            for resource in request.resource_spans
            for each in resource.resource.attributes
            if each.key == "service.name"
        }
        assert service == "helpdesk"
        assert sorted(each["outcome"] for each in lines(tmp_path)) == ["answered", "answered", "failed"]


@asynccontextmanager
async def traced_bot(workspace: Workspace, file: Path, live: Live, url: str) -> AsyncIterator[App]:
    """A process with its own exporter, on a store that outlives it."""
    clock, settings = system_clock(), bot_settings(agent_url=live.url)
    store = await open_sqlite(file, Ages())
    try:
        async with tracing(TraceSettings(enabled=True, endpoint=f"{url}/v1/traces"), clock) as spans:
            app = await build_in_memory(workspace, settings, clock, None, observer=spans, store=store)
            async with app:
                await app.threads.replicas.start()
                delivering = asyncio.create_task(keep_delivering(app, workspace))
                try:
                    yield app
                finally:
                    delivering.cancel()
    finally:
        await store.close()


async def test_a_turn_that_two_processes_work_on_is_one_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "20")
    workspace, file = new_workspace("U1"), tmp_path / "bot.sqlite"
    async with receiver() as got, live_agent() as live:
        live.hold = 2
        async with traced_bot(workspace, file, live, got.url):
            root = ask(workspace, "U1", "held")
            await wait_until(workspace.open_streams, workspace)
            await got.until("first text")
        assert not [each for each in got.spans if each.name == "turn"]
        live.release.set()
        async with traced_bot(workspace, file, live, got.url) as app:
            await wait_until(lambda: is_answered(workspace, root), workspace)
            await app.threads.idle()
            await got.until("turn")
        (spans,) = got.traces()
        assert {"accept", "takeover", "turn", "first text"} <= {each.name for each in spans}
        trace = spans[0].trace_id.hex()
        assert {each.split("-")[1] for each in asked_with(live)} == {trace}


@pytest.mark.slow
async def test_killed_in_the_middle_it_is_one_trace_and_one_line_of_the_audit(tmp_path: Path) -> None:
    """Two real processes, one after the other."""
    workspace, audit = new_workspace("U1"), tmp_path / "audit"
    audit.mkdir()
    async with receiver() as got, live_agent() as live, SlackServer(workspace, system_clock()) as face:
        live.hold = 2
        env = {
            "PYTHONPATH": str(Path(__file__).parents[3]),
            "SLACK_BOT_TOKEN": BOT_TOKEN,
            "SLACK_APP_TOKEN": APP_TOKEN,
            "SLACK_API_URL": face.api_url,
            "A2A_AGENT_URL": live.url,
            "SLACK_BOT_TRACES__ENABLED": "true",
            "SLACK_BOT_TRACES__ENDPOINT": f"{got.url}/v1/traces",
            "SLACK_BOT_AUDIT__PATH": str(audit),
            "OTEL_BSP_SCHEDULE_DELAY": "50",
        }
        async with bot_process(env, tmp_path) as (process, _):
            await asyncio.wait_for(face.sockets.connected(), PATIENCE)
            root = ask(workspace, "U1", "held")
            await got.until("first text")
            process.kill()
        live.release.set()
        async with bot_process(env, tmp_path) as (process, _):
            await got.until("turn")
            process.terminate()
            await asyncio.wait_for(process.wait(), PATIENCE)
        (spans,) = got.traces()
        assert {"accept", "first text", "takeover", "turn"} <= {each.name for each in spans}
        assert "agent" not in {each.name for each in spans}  # it was not over when the process was killed
        (line,) = lines(audit)
        assert (line["outcome"], line["takeovers"]) == ("answered", 1)
        assert is_answered(workspace, root)


async def test_where_nobody_receives_answers_go_on_and_one_line_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "20")
    workspace, port = new_workspace("U1", "U2", "U3"), free_port()
    url = f"http://127.0.0.1:{port}"

    def said(words: str) -> Callable[[], bool]:
        return lambda: words in caplog.text

    async def ask_until(app: App, users: Sequence[str], condition: Callable[[], bool]) -> None:
        for user in users:
            root = ask(workspace, user, "hello")
            await wait_until(partial(is_answered, workspace, root), workspace)
        await app.threads.idle()
        async with asyncio.timeout(60):
            while not condition():  # noqa: ASYNC110  another thread says it
                await asyncio.sleep(0.02)

    async with (
        AsyncExitStack() as stack,
        live_agent() as live,
        traced_bot(workspace, tmp_path / "bot.sqlite", live, url) as app,
    ):
        await ask_until(app, ["U1", "U2"], said("traces cannot be sent"))
        assert caplog.text.count("traces cannot be sent") == 1
        got = await stack.enter_async_context(receiver(port))
        await ask_until(app, ["U3"], said("traces are sent again"))
        assert got.requests
    told = [each.getMessage()[:21] for each in caplog.records if "traces" in each.getMessage()]
    assert told[:2] == ["traces cannot be sent", "traces are sent again"]
    assert all(one != other for one, other in pairwise(told))  # a machine that stands still is away, too
    assert not [each for each in caplog.records if each.name.startswith("opentelemetry")]


@pytest.mark.parametrize(
    ("name", "value"), [("OTEL_TRACES_SAMPLER", "always_off"), ("OTEL_SDK_DISABLED", "true")]
)
async def test_the_sdk_s_own_variables_count(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    async with receiver() as got:
        settings = TraceSettings(enabled=True, endpoint=f"{got.url}/v1/traces")
        async with tracing(settings, system_clock()) as spans:
            spans(QuestionStored(1.0, "T1:C1:1.0", took=0.1, ok=True))
            assert (spans.traceparent("T1:C1:1.0") or "").startswith("00-")
        assert got.requests == []
