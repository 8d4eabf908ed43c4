"""Posts of agents on a real socket, and of everybody else."""

from __future__ import annotations

import asyncio
import gc
import io
import itertools
import json
import logging
import os
import sys
import tracemalloc
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from slack_bot.agents.agent import Agent
from slack_bot.agents.push_target import PUSH_PATH, PushTarget
from slack_bot.agents.wire.calls import MessageRequest
from slack_bot.agents.wire.frames import Received, Snapshot, StatusUpdate, TaskState
from slack_bot.agents.wire.transport import new_http
from slack_bot.clock import system_clock
from slack_bot.errors import AgentFailed, SettingsError, StoreError
from slack_bot.features.push.receiver import PushReceiver, PushWatch
from slack_bot.inbound.http_mode import EVENTS_PATH, serve_http
from slack_bot.observe.health import Health
from slack_bot.settings.models import AgentSettings, SlackSettings
from slack_bot.settings.push import PushSettings
from slack_bot.testing.harness import bot_on_network, free_port
from tests.live_agent import live_agent

JSON = {"Content-Type": "application/json"}
FIRST, SECOND, THIRD = "X-A2A-Notification-Token", "A2A-Notification-Token", "Authorization"


@dataclass
class Receiving:
    """A receiver, the watches it knows, and the ids of those that it got a hint for."""

    port: int
    watches: dict[str, PushWatch] = field(default_factory=dict)
    hints: list[str] = field(default_factory=list)
    hinted: asyncio.Event = field(default_factory=asyncio.Event)
    broken: bool = False

    async def push_watch(self, push_id: str) -> PushWatch | None:
        if self.broken:
            raise StoreError("the store is away")
        return self.watches.get(push_id)

    async def on_hint(self, push_id: str) -> None:
        self.hints.append(push_id)
        self.hinted.set()

    def watch(self, task_id: str) -> PushTarget:
        """A new watch of a task."""
        target = PushTarget.new(f"http://127.0.0.1:{self.port}/")
        self.watches[target.push_id] = PushWatch(task_id, target.secret_hash)
        return target


@asynccontextmanager
async def receiving(
    slack: SlackSettings | None = None, within: float = 60.0, **settings: Any
) -> AsyncIterator[Receiving]:
    """On a port of its own, for so many seconds at most."""
    here = Receiving(free_port())
    found = PushSettings(
        public_url=f"http://127.0.0.1:{here.port}", host="127.0.0.1", port=here.port, **settings
    )
    receiver = PushReceiver(found, here.push_watch, here.on_hint)
    async with asyncio.timeout(within), receiver.listening(slack or SlackSettings()):
        yield here


async def post(url: str, body: Any, headers: dict[str, str], method: str = "POST") -> int:
    sent = body if isinstance(body, bytes) else json.dumps(body).encode()
    async with (
        aiohttp.ClientSession() as session,
        session.request(method, url, data=sent, headers=JSON | headers) as answered,
    ):
        assert await answered.read() == b""
        return answered.status


def task(task_id: str = "t") -> dict[str, Any]:
    return {"kind": "task", "id": task_id, "contextId": "c", "status": {"state": "completed"}}


# -- what is taken -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "headers",
    [
        {FIRST: "{}"},
        {SECOND: "{}"},
        {THIRD: "Bearer {}"},
        {THIRD: "bearer  {}"},
        {FIRST: "{}", SECOND: "{}", THIRD: "Bearer {}"},
        {FIRST: "{}", THIRD: "Basic Ym90OmJvdA=="},
        {FIRST: "{}", "Content-Type": "application/a2a+json; charset=utf-8"},
    ],
)
async def test_the_secret_may_stand_in_any_of_three_places(headers: dict[str, str]) -> None:
    async with receiving() as here:
        target = here.watch("t")
        given = {name: value.format(target.secret) for name, value in headers.items()}
        assert await post(target.url, task(), given) == 200
        assert here.hints == [target.push_id]


STATUS = {"taskId": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}}


@pytest.mark.parametrize(
    "body",
    [
        task(),
        {"task": {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_COMPLETED"}}},
        {"statusUpdate": STATUS},
        {"artifactUpdate": {"taskId": "t", "artifact": {"artifactId": "a", "parts": [{"text": "x"}]}}},
        {"message": {"messageId": "m", "taskId": "t", "role": "ROLE_AGENT", "parts": [{"text": "x"}]}},
        {"kind": "status-update", **STATUS, "final": True},
        {"jsonrpc": "2.0", "id": 1, "result": task()},
        {"id": "t", "context_id": "c", "status": {"state": "working"}},
    ],
)
async def test_every_kind_of_event_names_its_task(body: Any) -> None:
    async with receiving() as here:
        target, other = here.watch("t"), here.watch("another")
        assert await post(target.url, body, {FIRST: target.secret}) == 200
        assert await post(other.url, body, {FIRST: other.secret}) == 403
        assert here.hints == [target.push_id]


async def test_a_repeated_post_is_another_hint_for_the_same_watch() -> None:
    async with receiving() as here:
        target = here.watch("t")
        assert [await post(target.url, task(), {FIRST: target.secret}) for _ in range(3)] == [200] * 3
        assert here.hints == [target.push_id] * 3


async def test_in_http_mode_it_is_served_on_slack_s_port() -> None:
    async with bot_on_network() as (_, _, app):
        here, stop, ready = Receiving(free_port()), asyncio.Event(), asyncio.Event()
        slack = app.settings.slack.model_copy(update={"http_host": "127.0.0.1", "http_port": here.port})
        receiver = PushReceiver(PushSettings(), here.push_watch, here.on_hint)
        serving = serve_http(
            app.bolt,
            slack,
            stop,
            health=Health(),
            now=app.clock.wall,
            ready=ready.set,
            others=receiver.routes,
        )
        running = asyncio.create_task(serving)
        await ready.wait()
        target = here.watch("t")
        assert await post(target.url, task(), {FIRST: target.secret}) == 200
        assert await post(f"http://127.0.0.1:{here.port}{EVENTS_PATH}", task(), {}) == 401
        stop.set()
        await running
    assert here.hints == [target.push_id]


async def test_a_port_that_is_taken_is_one_sentence() -> None:
    async with receiving() as here:
        settings = PushSettings(host="127.0.0.1", port=here.port)
        with pytest.raises(
            SettingsError,
            match=r"Port \d+ cannot be used \(.+\); end the process that has it, or set SLACK_BOT_PUSH__PORT",
        ):
            async with PushReceiver(settings, here.push_watch, here.on_hint).listening(SlackSettings()):
                pytest.fail("the port is taken")


# -- what is refused -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {FIRST: ""},
        {FIRST: "wrong"},
        {FIRST: "gr\u00fc\u00dfe"},
        {SECOND: "wrong"},
        {THIRD: "Bearer wrong"},
        {THIRD: "Bearer"},
        {THIRD: "{}"},
        {THIRD: "Basic {}"},
        {FIRST: "{}", SECOND: "wrong"},
        {FIRST: "wrong", SECOND: "{}"},
        {FIRST: "{}", THIRD: "Bearer wrong"},
        {FIRST: "wrong", THIRD: "Bearer {}"},
        {THIRD: "Bearer e30.e30.e30"},
    ],
)
async def test_one_secret_that_is_wrong_is_enough(headers: dict[str, str]) -> None:
    async with receiving() as here:
        target = here.watch("t")
        given = {name: value.format(target.secret) for name, value in headers.items()}
        assert await post(target.url, task(), given) == 401
        assert here.hints == []


async def test_the_secret_of_another_watch_is_wrong() -> None:
    async with receiving() as here:
        target, other = here.watch("t"), here.watch("t")
        assert await post(target.url, task(), {FIRST: other.secret}) == 401
        assert here.hints == []


async def test_a_header_that_comes_twice_must_be_right_twice() -> None:
    async with receiving() as here:
        target = here.watch("t")
        body = json.dumps(task()).encode()
        for second, status in ((target.secret, b"200"), ("wrong", b"401")):
            reader, writer = await asyncio.open_connection("127.0.0.1", here.port)
            head = (
                f"POST {PUSH_PATH}{target.push_id} HTTP/1.1\r\nHost: bot\r\nContent-Length: {len(body)}\r\n"
            )
            head += f"Content-Type: application/json\r\n{FIRST}: {target.secret}\r\n{FIRST}: {second}\r\n\r\n"
            writer.write(head.encode() + body)
            assert (await reader.readuntil(b"\r\n")).split()[1] == status
            writer.close()
        assert here.hints == [target.push_id]


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("", 404),
        ("A" * 22, 404),
        ("A" * 21, 404),
        ("A" * 5000, 404),
        ("../../slack/events", 404),
        ("A" * 21 + "%2F", 404),
        ("A" * 21 + "%00", 404),
    ],
)
async def test_an_address_that_is_no_watch_s(path: str, status: int) -> None:
    async with receiving() as here:
        here.watch("t")
        assert await post(f"http://127.0.0.1:{here.port}{PUSH_PATH}{path}", task(), {FIRST: "x"}) == status
        assert here.hints == []


async def test_a_watch_that_is_over_is_not_known() -> None:
    async with receiving() as here:
        target = here.watch("t")
        here.watches.clear()
        assert await post(target.url, task(), {FIRST: target.secret}) == 404


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b"\xff\xfe", 400),
        (b"[" * 100_000, 400),
        (b"9" * 10_000, 400),
        ([], 400),
        ("t", 400),
        ({"error": {"code": 1, "message": "x"}}, 400),
        ({}, 403),
        (task("another"), 403),
        ({"task": {"id": ["t"]}}, 403),
        ({"statusUpdate": {"status": {}}}, 403),
        ({"task": "t"}, 403),
    ],
)
async def test_a_body_that_is_not_about_the_task(body: Any, status: int) -> None:
    async with receiving() as here:
        target = here.watch("t")
        assert await post(target.url, body, {FIRST: target.secret}) == status
        assert here.hints == []


@pytest.mark.parametrize(
    ("method", "media_type", "status"),
    [
        ("GET", "application/json", 405),
        ("PUT", "application/json", 405),
        ("POST", "text/plain", 415),
        ("POST", "application/x-www-form-urlencoded", 415),
        ("POST", "", 415),
    ],
)
async def test_another_method_or_media_type(method: str, media_type: str, status: int) -> None:
    async with receiving() as here:
        target = here.watch("t")
        given = {FIRST: target.secret, "Content-Type": media_type}
        assert await post(target.url, task(), given, method) == status
        assert here.hints == []


async def test_a_store_that_is_away_is_said_without_detail(caplog: pytest.LogCaptureFixture) -> None:
    async with receiving() as here:
        target = here.watch("t")
        here.broken = True
        assert await post(target.url, task(), {FIRST: target.secret}) == 503
    assert [each.levelname for each in caplog.records] == ["WARNING"]
    assert target.secret not in caplog.text


# -- what it costs -------------------------------------------------------------------------------------------


def head(target: PushTarget, size: int | None, secret: str | None = None) -> bytes:
    length = "Transfer-Encoding: chunked" if size is None else f"Content-Length: {size}"
    return (
        f"POST {PUSH_PATH}{target.push_id} HTTP/1.1\r\nHost: bot\r\n{length}\r\n"
        f"Content-Type: application/json\r\n{FIRST}: {secret or target.secret}\r\n\r\n"
    ).encode()


async def answer_to(here: Receiving, sent: bytes) -> bytes:
    """The status that comes before the rest of the request is sent."""
    reader, writer = await asyncio.open_connection("127.0.0.1", here.port)
    writer.write(sent)
    try:
        return (await reader.readuntil(b"\r\n")).split()[1]
    finally:
        writer.close()


async def test_a_body_is_not_waited_for_without_the_secret() -> None:
    async with receiving(body_timeout=60.0) as here:
        assert await answer_to(here, head(here.watch("t"), 1000, "wrong")) == b"401"


@pytest.mark.parametrize("size", [1024 * 1024 + 1, None])
async def test_a_body_that_is_too_large(size: int | None) -> None:
    async with receiving() as here:
        body = b"100001\r\n" + b" " * (1024 * 1024 + 1) if size is None else b""
        assert await answer_to(here, head(here.watch("t"), size) + body) == b"413"
        assert here.hints == []


async def test_a_body_that_does_not_come_whole() -> None:
    async with receiving(body_timeout=0.1) as here:
        assert await answer_to(here, head(here.watch("t"), 1000) + b"{") == b"408"
        assert here.hints == []


async def test_slow_senders_who_know_the_secret_do_not_keep_the_others_out() -> None:
    async with receiving(SlackSettings(http_max_connections=5), body_timeout=60.0) as here:
        target = here.watch("t")
        slow = [await asyncio.open_connection("127.0.0.1", here.port) for _ in range(20)]
        for _, writer in slow:
            writer.write(head(target, 1000) + b"{")
        assert await post(target.url, task(), {FIRST: target.secret}) == 200
        for _, writer in slow:
            writer.close()
        assert here.hints == [target.push_id]


Attack = tuple[str, dict[str, str], bytes]


def attacks(here: Receiving, target: PushTarget, other: PushTarget) -> Iterator[Attack]:
    """What anybody, and the agent of another task, may try, for ever."""
    right, padded = json.dumps(task()).encode(), json.dumps(task() | {"metadata": "x" * 1_100_000}).encode()
    for number in itertools.count():
        unknown = PushTarget.new(f"http://127.0.0.1:{here.port}")
        yield unknown.url, {FIRST: target.secret}, right
        yield target.url, {FIRST: unknown.secret}, right
        yield target.url, {THIRD: f"Bearer {other.secret}"}, right
        yield target.url, {SECOND: target.secret, THIRD: "Bearer forged"}, right
        yield other.url, {FIRST: other.secret}, right  # about a task that is not its own
        yield target.url, {FIRST: target.secret}, json.dumps(task(f"t{number}")).encode()
        if number % 50 == 0:
            yield target.url, {FIRST: target.secret}, padded
            yield unknown.url, {FIRST: "x"}, padded


@pytest.mark.parametrize("posts", [400, pytest.param(10_000, marks=pytest.mark.slow)])
async def test_forged_and_misaddressed_posts_are_no_hints_and_leave_nothing(
    posts: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    statuses = dict[int, int]()
    async with receiving(within=600.0) as here, aiohttp.ClientSession() as session:
        target, other = here.watch("t"), here.watch("another")
        attacking = attacks(here, target, other)

        async def attack(times: int) -> None:
            for url, headers, body in itertools.islice(attacking, times):
                try:
                    async with session.post(url, data=io.BytesIO(body), headers=JSON | headers) as answered:
                        statuses[answered.status] = statuses.get(answered.status, 0) + 1
                except aiohttp.ClientError:  # refused, and closed, while the body was being sent
                    statuses[0] = statuses.get(0, 0) + 1

        async def in_use() -> int:
            """Bytes, after another part of the posts."""
            await asyncio.gather(*(attack(posts // 80) for _ in range(20)))
            gc.collect()
            return tracemalloc.get_traced_memory()[0]

        tracemalloc.start()
        slow = [await asyncio.open_connection("127.0.0.1", here.port) for _ in range(150)]
        try:
            for _, writer in slow:
                writer.write(head(target, 1_000_000) + b"{")
            kept = [await in_use() for _ in range(4)]
            assert here.hints == []
            assert await post(target.url, task(), {FIRST: target.secret}) == 200  # it is still there
        finally:
            tracemalloc.stop()
            for _, writer in slow:
                writer.close()
        assert here.hints == [target.push_id]
    assert sum(statuses.values()) == posts // 80 * 80
    assert statuses.keys() <= {0, 401, 403, 404, 413}
    assert kept[3] - kept[1] < 300_000, kept
    warned = [each.getMessage() for each in caplog.records if each.levelno >= logging.WARNING]
    assert all(each.startswith("more than 100 connections at once") for each in warned)


# -- agents on a2a-sdk that post -----------------------------------------------------------------------------


@asynccontextmanager
async def asking(url: str) -> AsyncIterator[Agent]:
    found = AgentSettings(url=url)
    async with new_http(found) as http:
        agent = Agent(http, found, system_clock())
        await agent.ensure_card()
        yield agent


async def first_id(coming: AsyncGenerator[Received, None]) -> str:
    """The id of a task that has just begun."""
    first = (await anext(coming)).frame
    assert isinstance(first, Snapshot)
    return first.task_id or ""


async def end_watch(agent: Agent, target: PushTarget, task_id: str, face: tuple[str, str]) -> None:
    if face == ("0.3", "HTTP+JSON"):  # a2a-sdk serves no such path; the bot does not mind
        with pytest.raises(AgentFailed):
            await agent.delete_push(task_id, target.push_id)
    else:
        await agent.delete_push(task_id, target.push_id)


async def begin_watch(agent: Agent, here: Receiving, task_id: str) -> PushTarget:
    """As the bot does it: the watch is known before the agent may post."""
    target = here.watch(task_id)
    assert await agent.set_push(task_id, target.push_id, target.url, target.secret)
    return target


@pytest.mark.parametrize("binding", ["JSONRPC", "HTTP+JSON"])
@pytest.mark.parametrize("wire", ["0.3", "1.0"])
async def test_a_live_agent_posts_the_end_of_a_task_whose_stream_was_left(wire: str, binding: str) -> None:
    serving = live_agent((wire,), push="yes", bindings=(binding,))
    async with receiving() as here, serving as live, asking(live.url) as agent:
        live.hold = 1
        async with aclosing(agent.ask(MessageRequest("held", "m"))) as coming:
            task_id = await first_id(coming)
        target = await begin_watch(agent, here, task_id)
        live.release.set()
        state = TaskState.WORKING
        while not state.is_terminal:
            await here.hinted.wait()
            here.hinted.clear()
            state = (await agent.task("get", task_id)).state
        assert set(here.hints) == {target.push_id}
        await end_watch(agent, target, task_id, (wire, binding))


@pytest.mark.parametrize("binding", ["JSONRPC", "HTTP+JSON"])
@pytest.mark.parametrize("wire", ["0.3", "1.0"])
async def test_a_task_that_ended_before_it_was_watched_is_read_and_not_posted(
    wire: str, binding: str
) -> None:
    serving = live_agent((wire,), push="yes", bindings=(binding,))
    async with receiving() as here, serving as live, asking(live.url) as agent:
        async with aclosing(agent.ask(MessageRequest("hello", "m"))) as coming:
            frames = [received.frame async for received in coming]
        assert isinstance(frames[0], Snapshot)
        task_id = frames[0].task_id or ""
        target = await begin_watch(agent, here, task_id)
        assert (await agent.task("get", task_id)).state is TaskState.COMPLETED
        await end_watch(agent, target, task_id, (wire, binding))
        assert here.hints == []


OLD_SDK = os.environ.get("A2A_SDK_03", "")
"""Where a2a-sdk 0.3 is installed, without what it needs: see the server."""
needs_old_sdk = pytest.mark.skipif(not OLD_SDK, reason="a2a-sdk 0.3 is not beside this repository")


@asynccontextmanager
async def old_agent(push: str) -> AsyncIterator[Agent]:
    """A server on a2a-sdk 0.3, in a process of its own."""
    running = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.peers.a2a_sdk_03", push),
        stdout=asyncio.subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": OLD_SDK},
        cwd=Path(__file__).parents[3],
    )
    try:
        assert running.stdout is not None
        async with asking((await running.stdout.readline()).decode().strip()) as agent:
            yield agent
    finally:
        running.kill()
        await running.communicate()


async def release(agent: Agent) -> None:
    async with aclosing(agent.ask(MessageRequest("release", "m2"))) as coming:
        assert await first_id(coming)


@needs_old_sdk
async def test_a_server_of_0_3_posts_while_somebody_reads_the_stream() -> None:
    async with receiving() as here, old_agent("yes") as agent:
        async with aclosing(agent.ask(MessageRequest("held", "m1"))) as coming:
            task_id = await first_id(coming)
            target = await begin_watch(agent, here, task_id)
            await release(agent)
            rest = [received.frame async for received in coming]
        assert isinstance(rest[-1], StatusUpdate)
        await here.hinted.wait()
        assert set(here.hints) == {target.push_id}
        late = await begin_watch(agent, here, task_id)  # it has ended, and is read
        await agent.delete_push(task_id, target.push_id)
        await agent.delete_push(task_id, late.push_id)
        assert late.push_id not in here.hints


@needs_old_sdk
async def test_a_server_of_0_3_posts_nothing_once_its_stream_was_left_so_that_polls_go_on() -> None:
    async with receiving() as here, old_agent("yes") as agent:
        async with aclosing(agent.ask(MessageRequest("held", "m1"))) as coming:
            task_id = await first_id(coming)
        await begin_watch(agent, here, task_id)
        await release(agent)
        snapshot = Snapshot()
        while not snapshot.state.is_terminal:
            snapshot = await agent.task("get", task_id)
        assert [each.text for each in snapshot.artifacts] == ["half done"]
        assert here.hints == []


@needs_old_sdk
async def test_a_server_of_0_3_that_only_promises_push() -> None:
    async with old_agent("no") as agent:
        async with aclosing(agent.ask(MessageRequest("release", "m"))) as coming:
            task_id = await first_id(coming)
        assert agent.can_push
        assert not await agent.set_push(task_id, "p", "http://bot.example/", "secret")
        assert agent.profile["push"] == "refused"
