from __future__ import annotations

import asyncio
import gzip
import json
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Any

import httpx
import pytest
from aiohttp import web
from aiohttp.test_utils import RawTestServer

from slack_bot.agents.agent import Agent
from slack_bot.agents.wire.calls import MessageRequest
from slack_bot.agents.wire.frames import ArtifactUpdate, Frame, Received, Snapshot, StatusUpdate, TaskState
from slack_bot.agents.wire.transport import new_http
from slack_bot.errors import (
    AgentError,
    AgentFailed,
    AgentRefused,
    AgentUnreachable,
    BadAgentData,
    CardError,
    SettingsError,
    StreamCut,
)
from slack_bot.settings.models import AgentSettings
from slack_bot.testing import virtual_clock
from tests.live_agent import ANSWERS, live_agent

from .memory_server import URL, Server, json_reply, reply, sse_reply

DONE = {"kind": "task", "id": "t", "contextId": "c", "status": {"state": "completed"}}
UNKNOWN_METHOD = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "Method not found"}}


def card(wire: str = "1.0", url: str = URL, **capabilities: Any) -> dict[str, Any]:
    faces = [{"url": url, "protocolBinding": "JSONRPC", "protocolVersion": wire}]
    return {"name": "A", "supportedInterfaces": faces, "capabilities": capabilities}


@asynccontextmanager
async def an_agent(
    answer: Callable[[dict[str, Any]], Any], *, card_json: Any = None, **settings: Any
) -> AsyncIterator[tuple[Agent, Server]]:
    """An agent in memory: `answer(request body)` for calls, `card_json` (may be callable) for its card."""

    def serve(request: httpx.Request) -> Any:
        if request.method == "GET":
            found = card_json() if callable(card_json) else card_json
            return found if isinstance(found, Exception) else json_reply(found or card(streaming=True))
        return answer(json.loads(request.content))

    server = Server(serve)
    found = AgentSettings(**{"url": URL, **settings})
    async with new_http(found, server) as http:
        yield Agent(http, found, virtual_clock.new_clock()), server


async def ask(agent: Agent, text: str = "q", message_id: str = "m", **ids: Any) -> list[Frame]:
    async with aclosing(agent.ask(MessageRequest(text, message_id, **ids))) as coming:
        return [received.frame async for received in coming]


def text_of(frames: list[Frame]) -> str:
    return "".join(frame.artifact.text for frame in frames if isinstance(frame, ArtifactUpdate))


def methods(server: Server) -> list[str]:
    return [body["method"] for body in server.bodies]


# --- the agent itself ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("https://user:pw@agent.example/a/?key=secret#x", "https://agent.example/a"),
        ("http://agent.example:8000", "http://agent.example:8000"),
    ],
)
async def test_its_key_is_without_credentials(url: str, key: str) -> None:
    async with an_agent(lambda _: None, url=url) as (agent, _):
        assert (agent.name, agent.key) == ("default", key)


@pytest.mark.parametrize("url", [None, "http://agent.example:port/"])
async def test_an_address_that_cannot_be_asked(url: str | None) -> None:
    with pytest.raises(SettingsError, match="A2A_AGENT_URL"):
        async with an_agent(lambda _: None, url=url):
            pass


@pytest.mark.parametrize("is_wrapped", [True, False])
async def test_an_api_key_goes_where_the_card_says(is_wrapped: bool) -> None:
    scheme = {"location": "query", "name": "key"} if is_wrapped else {"in": "query", "name": "key"}
    schemes = {"k": {"apiKeySecurityScheme": scheme} if is_wrapped else {"type": "apiKey", **scheme}}
    wanted = {"securitySchemes": schemes, "security": [{"k": []}]}
    client = {"api_key": "the-key"}
    async with an_agent(lambda _: sse_reply(DONE), card_json=card() | wanted, client=client) as (
        agent,
        server,
    ):
        await ask(agent)
    assert [dict(each.url.params) for each in server.asked] == [{}, {"key": "the-key"}]
    assert "the-key" not in server.asked[0].headers.values()


async def test_the_wire_can_be_told_from_the_store() -> None:
    async with an_agent(lambda _: sse_reply(DONE)) as (agent, server):
        assert "wire" not in agent.profile
        agent.load_profile({"wire": "7"})
        assert "wire" not in agent.profile
        agent.load_profile({"wire": "0.3"})
        await ask(agent)
        assert (agent.profile["wire"], methods(server)) == ("0.3", ["message/stream"])


async def test_the_question_and_its_ids() -> None:
    async with an_agent(lambda _: sse_reply(DONE)) as (agent, server):
        await ask(agent, "hello", context_id="c", task_id="t")
    assert server.bodies[0]["params"]["message"] == {
        "role": "ROLE_USER",
        "messageId": "m",
        "contextId": "c",
        "taskId": "t",
        "parts": [{"text": "hello"}],
    }


def test_the_card_is_kept_for_a_while() -> None:
    async def run() -> None:
        async with an_agent(lambda _: sse_reply(DONE)) as (agent, server):
            await asyncio.gather(agent.ensure_card(), agent.ensure_card())
            await asyncio.sleep(299)
            await ask(agent)
            assert [each.method for each in server.asked] == ["GET", "POST"]
            await asyncio.sleep(1)
            await ask(agent)
            assert [each.method for each in server.asked] == ["GET", "POST", "GET", "POST"]

    virtual_clock.run(run())


def test_an_old_card_is_better_than_none(caplog: pytest.LogCaptureFixture) -> None:
    cards = iter([card(streaming=True), httpx.ConnectError("down")])

    async def run() -> None:
        async with an_agent(lambda _: sse_reply(DONE), card_json=lambda: next(cards)) as (agent, _):
            first = await agent.ensure_card()
            await asyncio.sleep(300)
            assert await agent.ensure_card() is first

    virtual_clock.run(run())
    assert "kept though it is old" in caplog.text


class _Away(httpx.AsyncBaseTransport):
    """A host that nobody reaches, which takes a second to be known."""

    def __init__(self) -> None:
        self.tries = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.tries += 1
        await asyncio.sleep(1)
        raise httpx.ConnectError("away")


def test_who_waits_for_a_card_that_cannot_be_had_is_told_with_the_first() -> None:
    async def run() -> None:
        settings, away = AgentSettings(url=URL), _Away()
        async with new_http(settings, away) as http:
            agent = Agent(http, settings, virtual_clock.new_clock())
            await asyncio.gather(agent.ensure_card(), return_exceptions=True)
            tries, began = away.tries, asyncio.get_running_loop().time()
            found = await asyncio.gather(*(agent.ensure_card() for _ in range(8)), return_exceptions=True)
            assert {type(each) for each in found} == {AgentUnreachable}
            assert away.tries == 2 * tries
            assert asyncio.get_running_loop().time() - began <= tries

    virtual_clock.run(run())


async def test_without_a_card_nothing_is_asked() -> None:
    async with an_agent(lambda _: None, card_json=httpx.ConnectError("down")) as (agent, server):
        with pytest.raises(AgentUnreachable):
            await ask(agent)
        assert server.bodies == []


async def test_a_card_that_asks_for_credentials_we_lack(caplog: pytest.LogCaptureFixture) -> None:
    wanting = card(streaming=True) | {"securitySchemes": {"b": {"type": "http"}}, "security": [{"b": []}]}
    async with an_agent(lambda _: None, card_json=wanting) as (agent, _):
        await agent.ensure_card()
        assert "asks for bearer" in caplog.text
        caplog.clear()
    async with an_agent(lambda _: None, card_json=wanting, bearer_token="t") as (agent, _):
        await agent.ensure_card()
        assert caplog.text == ""


# --- the switch of wires ------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", [-32601, -32009])
@pytest.mark.parametrize(("said", "spoken"), [("1.0", "0.3"), ("0.3", "1.0")])
async def test_the_other_wire_is_tried_once_and_remembered(
    code: int, said: str, spoken: str, caplog: pytest.LogCaptureFixture
) -> None:
    known = {"0.3": "message/stream", "1.0": "SendStreamingMessage"}

    def answer(body: dict[str, Any]) -> httpx.Response:
        return sse_reply(DONE) if body["method"] == known[spoken] else json_reply({"error": {"code": code}})

    caplog.set_level(logging.INFO)
    async with an_agent(answer, card_json=card(said, streaming=True)) as (agent, server):
        assert len(await ask(agent)) == 1
        assert agent.profile["wire"] == spoken
        await ask(agent)
        assert methods(server) == [known[said], known[spoken], known[spoken]]
        assert {body["params"]["message"]["messageId"] for body in server.bodies} == {"m"}
    assert f"trying {spoken}" in caplog.text


async def test_neither_wire_is_spoken() -> None:
    async with an_agent(lambda _: json_reply(UNKNOWN_METHOD)) as (agent, server):
        with pytest.raises(AgentFailed) as caught:
            await ask(agent)
        assert caught.value.code == -32601
        assert len(server.bodies) == 2
        assert "wire" not in agent.profile


async def test_a_configured_wire_is_not_left() -> None:
    async with an_agent(lambda _: json_reply(UNKNOWN_METHOD), protocol_version="0.3") as (agent, server):
        with pytest.raises(AgentFailed):
            await ask(agent)
        with pytest.raises(AgentFailed):
            await agent.task("get", "t")
        assert methods(server) == ["message/stream", "tasks/get"]


async def test_after_the_first_event_nothing_is_sent_again() -> None:
    late = b"data: " + json.dumps(UNKNOWN_METHOD).encode() + b"\n\n"
    first = b"data: " + json.dumps({"result": DONE}).encode() + b"\n\n"
    async with an_agent(lambda _: reply(first, late)) as (agent, server):
        with pytest.raises(AgentFailed):
            await ask(agent)
        assert len(server.bodies) == 1


@pytest.mark.parametrize(
    "answer",
    [
        -32603,
        httpx.ReadTimeout("x"),
        httpx.RemoteProtocolError("x"),
        httpx.WriteError("x"),
        500,
        502,
        504,
        429,
    ],
)
async def test_nothing_else_is_ever_sent_twice(answer: Any) -> None:
    def found(_: dict[str, Any]) -> Any:
        if isinstance(answer, Exception):
            return answer
        return reply(status=answer) if answer > 0 else json_reply({"error": {"code": answer}})

    async with an_agent(found) as (agent, server):
        with pytest.raises(AgentError):
            await ask(agent)
        assert len(server.bodies) == 1


async def test_calls_about_a_task_switch_too() -> None:
    def answer(body: dict[str, Any]) -> httpx.Response:
        return json_reply({"result": DONE} if body["method"].startswith("tasks/") else UNKNOWN_METHOD)

    async with an_agent(answer) as (agent, server):
        assert await agent.task("get", "t") == Snapshot("t", "c", TaskState.COMPLETED)
        assert agent.profile["wire"] == "0.3"
        await agent.task("cancel", "t")
        assert methods(server) == ["GetTask", "tasks/get", "tasks/cancel"]


async def test_an_unknown_task_is_told() -> None:
    async with an_agent(lambda _: json_reply({"error": {"code": -32001}})) as (agent, server):
        with pytest.raises(AgentFailed) as caught:
            await agent.task("get", "t")
        assert caught.value.code == -32001
        assert len(server.bodies) == 1


async def test_joining_a_stream_again() -> None:
    async with an_agent(lambda _: sse_reply(DONE)) as (agent, server):
        async with aclosing(await agent.subscribe("t")) as coming:
            assert [received.raw async for received in coming] == [DONE]
        assert methods(server) == ["SubscribeToTask"]


# --- agents that do not stream ------------------------------------------------------------------------------


async def test_an_agent_that_does_not_stream_is_asked_to_send() -> None:
    async with an_agent(lambda _: json_reply({"result": DONE}), card_json=card(streaming=False)) as (
        agent,
        server,
    ):
        assert await ask(agent) == [Snapshot("t", "c", TaskState.COMPLETED)]
        assert methods(server) == ["SendMessage"]


async def test_a_card_that_does_not_say_is_tried() -> None:
    def answer(body: dict[str, Any]) -> httpx.Response:
        unsupported = {"error": {"code": -32004, "message": "Streaming is not supported"}}
        return json_reply(unsupported if "Stream" in body["method"] else {"result": DONE})

    async with an_agent(answer, card_json=card()) as (agent, server):
        assert len(await ask(agent)) == 1
        assert methods(server) == ["SendStreamingMessage", "SendMessage"]
        with pytest.raises(AgentFailed):  # of a task: it had ended, and sending would not help
            await ask(agent, task_id="t")
    async with an_agent(answer, card_json=card(streaming=True)) as (agent, server):
        with pytest.raises(AgentFailed):
            await ask(agent)
        assert len(server.bodies) == 1


# --- credentials --------------------------------------------------------------------------------------------


async def test_credentials_go_where_the_card_may_send_them() -> None:
    elsewhere = card(url="http://elsewhere.example/", streaming=True)
    async with an_agent(lambda _: sse_reply(DONE), card_json=elsewhere, bearer_token="secret") as (
        agent,
        server,
    ):
        with pytest.raises(CardError):
            await ask(agent)
        assert server.bodies == []
    allowed = {"allowed_hosts": ("elsewhere.example",), "bearer_token": "secret"}
    async with an_agent(lambda _: sse_reply(DONE), card_json=elsewhere, **allowed) as (agent, server):
        await ask(agent)
        assert [each.headers.get("authorization") for each in server.asked] == ["Bearer secret"] * 2


async def test_a_redirect_takes_nothing_along() -> None:
    def away(_: dict[str, Any]) -> httpx.Response:
        return reply(status=308, headers={"location": "http://evil.example/"})

    async with an_agent(away, header_name="X-Key", header_value="secret") as (agent, server):
        with pytest.raises(AgentRefused):
            await ask(agent)
        assert {each.url.host for each in server.asked} == {"agent.example"}
        assert server.asked[-1].headers["x-key"] == "secret"


# --- several interfaces -------------------------------------------------------------------------------------


def faces(*found: tuple[str, str]) -> dict[str, Any]:
    """A card with interfaces of 1.0: address and binding."""
    listed = [{"url": url, "protocolBinding": binding, "protocolVersion": "1.0"} for url, binding in found]
    return {"name": "A", "supportedInterfaces": listed, "capabilities": {"streaming": True}}


@asynccontextmanager
async def served(
    card_json: dict[str, Any], answer: Callable[[httpx.Request], Any], **settings: Any
) -> AsyncIterator[tuple[Agent, Server]]:
    """An agent in memory: `answer` for all but the card."""

    def serve(request: httpx.Request) -> Any:
        return json_reply(card_json) if request.url.path.endswith("card.json") else answer(request)

    server, found = Server(serve), AgentSettings(**{"url": URL, **settings})
    async with new_http(found, server) as http:
        yield Agent(http, found, virtual_clock.new_clock()), server


def asked_at(server: Server) -> list[str]:
    """Where calls went, without the card's."""
    return [f"{each.method} {each.url}" for each in server.asked if not each.url.path.endswith("card.json")]


BARE = {"task": {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_COMPLETED"}}}
FIRST, SECOND = "http://one.example/", "http://two.example/a2a"
BOTH = {"allowed_hosts": ("one.example", "two.example")}


async def test_the_next_address_is_asked_when_the_first_cannot_be_connected() -> None:
    def answer(request: httpx.Request) -> Any:
        return httpx.ConnectError("refused") if request.url.host == "one.example" else sse_reply(BARE)

    card_json = faces((FIRST, "JSONRPC"), (SECOND, "HTTP+JSON"))
    async with served(card_json, answer, **BOTH) as (agent, server):
        await ask(agent)
        await ask(agent)
        again = f"POST {SECOND}/message:stream"
        assert asked_at(server) == [f"POST {FIRST}", again, again]
        assert agent.profile == {"wire": "1.0", "binding": "HTTP+JSON"}


async def test_no_address_can_be_connected() -> None:
    card_json = faces((FIRST, "JSONRPC"), (SECOND, "HTTP+JSON"))
    async with served(card_json, lambda _: httpx.ConnectError("refused"), **BOTH) as (agent, server):
        with pytest.raises(AgentUnreachable):
            await ask(agent)
        assert len(asked_at(server)) == 2


async def test_a_question_that_may_have_been_taken_goes_nowhere_else() -> None:
    card_json = faces((FIRST, "JSONRPC"), (SECOND, "HTTP+JSON"))
    async with served(card_json, lambda _: httpx.ReadError("reset"), **BOTH) as (agent, server):
        with pytest.raises(StreamCut):
            await ask(agent)
        assert len(asked_at(server)) == 1


@pytest.mark.parametrize("status", [404, 405])
async def test_where_a_path_is_not_there_the_other_binding_is_asked(status: int) -> None:
    def answer(request: httpx.Request) -> Any:
        is_rest = "message:" in request.url.path
        return json_reply({"detail": "Not Found"}, status) if is_rest else sse_reply(BARE)

    async with served(faces((URL, "HTTP+JSON"), (URL, "JSONRPC")), answer) as (agent, server):
        await ask(agent)
        assert asked_at(server) == [f"POST {URL}message:stream", f"POST {URL}"]
        assert agent.profile == {"wire": "1.0"}


async def test_an_agent_that_answered_over_json_rpc_before_is_asked_so_again() -> None:
    card_json = faces((URL, "HTTP+JSON"), (URL, "JSONRPC"))
    async with served(card_json, lambda _: sse_reply(BARE)) as (agent, server):
        agent.load_profile({"wire": "1.0"})
        await ask(agent)
        assert asked_at(server) == [f"POST {URL}"]


async def test_a_task_is_joined_with_get_where_post_is_not_allowed() -> None:
    def answer(request: httpx.Request) -> Any:
        return sse_reply(BARE) if request.method == "GET" else json_reply({"detail": "no"}, 405)

    async with served(faces((URL, "HTTP+JSON")), answer) as (agent, server):
        async with aclosing(await agent.subscribe("t")) as coming:
            assert [type(received.frame) async for received in coming] == [Snapshot]
        path = f"{URL}tasks/t:subscribe"
        assert asked_at(server) == [f"POST {path}", f"GET {path}"]


PROBLEM = {"type": "https://a2a-protocol.org/errors/task-not-found", "title": "Task not found", "status": 404}
STATUS = {"code": 404, "status": "NOT_FOUND", "message": "Task not found"}
REASON = {
    **STATUS, "status": "FAILED_PRECONDITION", "code": 400,
    "details": [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "TASK_NOT_CANCELABLE"}],
}  # fmt: skip


@pytest.mark.parametrize(
    ("status", "body", "kind", "code"),
    [
        (404, PROBLEM, "application/problem+json", -32001),
        (404, {"error": STATUS}, "application/json", -32001),
        (400, {"error": REASON}, "application/json", -32002),
        (501, {"error": {"code": 501, "status": "UNIMPLEMENTED"}}, "application/json", -32004),
        # a2a-sdk 0.3
        (404, {"message": "Task not found"}, "application/json", -32001),
        (409, {"message": "Task cannot be canceled"}, "application/json", -32002),
        (501, {"message": "This operation is not supported"}, "application/json", -32004),
        # the JavaScript SDK on 0.3
        (404, {"code": -32001, "message": "Task not found: t"}, "application/json", -32001),
        (400, {"code": -32002, "message": "Task cannot be canceled"}, "application/json", -32002),
        (404, {"type": "about:blank", "title": "Not found"}, "application/problem+json", -32001),
    ],
)
async def test_errors_of_http_json_are_those_of_json_rpc(
    status: int, body: dict[str, Any], kind: str, code: int
) -> None:
    def answer(_: httpx.Request) -> Any:
        return reply(json.dumps(body).encode(), status=status, headers={"content-type": kind})

    async with served(faces((URL, "HTTP+JSON")), answer) as (agent, _):
        with pytest.raises(AgentFailed) as caught:
            await agent.task("cancel", "t")
        assert caught.value.code == code


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"<html>no backend</html>", "text/html"),
        (b'"Not Found"', "application/json"),
        (b'{"detail": "Not Found"}', "application/json"),  # FastAPI has no such path
    ],
)
async def test_a_path_that_is_not_there_says_nothing_of_the_task(body: bytes, kind: str) -> None:
    def answer(_: httpx.Request) -> Any:
        return reply(body, status=404, headers={"content-type": kind})

    async with served(faces((URL, "HTTP+JSON")), answer) as (agent, _):
        with pytest.raises(AgentRefused):
            await agent.task("get", "t")


async def test_an_error_without_an_envelope_is_the_agents_answer_to_the_question() -> None:
    def answer(_: httpx.Request) -> Any:
        return json_reply({"code": -32004, "message": "The task is over"}, 400)

    async with served(faces((URL, "HTTP+JSON")), answer) as (agent, _):
        with pytest.raises(AgentFailed) as caught:
            await ask(agent)
        assert (caught.value.code, caught.value.said) == (-32004, "The task is over")


# --- a live server on a2a-sdk -------------------------------------------------------------------------------


@asynccontextmanager
async def live(versions: tuple[str, ...] = ("1.0", "0.3"), **how: Any) -> AsyncIterator[tuple[Agent, Any]]:
    settings = {key: how.pop(key) for key in ("protocol_version", "bearer_token", "extensions") if key in how}
    async with live_agent(versions, **how) as server:
        found = AgentSettings(url=server.url, **settings)
        async with new_http(found) as http:
            yield Agent(http, found, virtual_clock.new_clock()), server


BINDINGS = pytest.mark.parametrize("binding", ["JSONRPC", "HTTP+JSON"])


@BINDINGS
@pytest.mark.parametrize("wire", ["1.0", "0.3"])
@pytest.mark.parametrize("question", ["unicode", "long"])
async def test_a_live_agent_is_read_to_the_letter(wire: str, question: str, binding: str) -> None:
    async with live((wire,), bindings=(binding,)) as (agent, _):
        frames = await ask(agent, question)
        assert text_of(frames) == ANSWERS[question]
        assert agent.profile["wire"] == wire
        assert isinstance(frames[0], Snapshot)
        assert isinstance(frames[-1], StatusUpdate)
        assert frames[-1].state is TaskState.COMPLETED
        snapshot = await agent.task("get", frames[0].task_id or "")
        assert "".join(artifact.text for artifact in snapshot.artifacts) == ANSWERS[question]


def test_the_long_answer_is_long() -> None:
    assert len(ANSWERS["long"].encode()) > 8_000


@BINDINGS
@pytest.mark.parametrize("wire", ["1.0", "0.3"])
async def test_a_live_agent_that_asks_and_is_answered(wire: str, binding: str) -> None:
    async with live((wire,), bindings=(binding,)) as (agent, _):
        frames = await ask(agent, "ask")
        last = frames[-1]
        assert isinstance(last, StatusUpdate)
        assert last.state is TaskState.INPUT_REQUIRED
        assert last.message is not None
        assert last.message.text == "Which one?"
        again = await ask(agent, "the second", context_id=last.context_id, task_id=last.task_id)
        assert text_of(again) == "the second"


@BINDINGS
@pytest.mark.parametrize("wire", ["1.0", "0.3"])
async def test_a_live_agent_is_canceled(wire: str, binding: str) -> None:
    serving = live((wire,), bindings=(binding,))
    async with serving as (agent, _), aclosing(agent.ask(MessageRequest("slow", "m"))) as coming:
        first = (await anext(coming)).frame
        assert isinstance(first, Snapshot)
        snapshot = await agent.task("cancel", first.task_id or "")
        assert snapshot.state is TaskState.CANCELED
        rest = [received.frame async for received in coming]
        assert isinstance(rest[-1], StatusUpdate)
        assert rest[-1].state is TaskState.CANCELED
        with pytest.raises(AgentFailed) as caught:
            await agent.task("cancel", first.task_id or "")
        assert caught.value.code == -32002


async def test_a_live_agent_whose_card_lies() -> None:
    async with live(("0.3",), compat=False) as (agent, _):
        assert text_of(await ask(agent, "hello")) == "hello"
        assert agent.profile["wire"] == "1.0"


@BINDINGS
@pytest.mark.parametrize("wire", ["1.0", "0.3"])
async def test_a_live_agent_says_more_in_its_extended_card(wire: str, binding: str) -> None:
    async with live((wire,), bindings=(binding,), extended="Secret skill") as (agent, server):
        for _ in range(2):
            found = await agent.introduction()
            assert [skill.name for skill in found.skills] == ["Test", "Secret skill"]
            assert found.skills[1].examples == ("q?",)
        card = await agent.ensure_card()
        assert [skill.name for skill in card.introduction.skills] == ["Test"]
        assert len(server.headers) == 2


async def test_an_extended_card_that_cannot_be_read_leaves_the_public_one(
    caplog: pytest.LogCaptureFixture,
) -> None:
    card_json = faces((URL, "JSONRPC")) | {"name": "Public", "supportsAuthenticatedExtendedCard": True}
    async with served(card_json, lambda _: json_reply({"detail": "no"}, 403)) as (agent, server):
        for _ in range(2):
            assert (await agent.introduction()).name == "Public"
        assert len(asked_at(server)) == 1
    said = "the extended agent card cannot be read: agent.example does not allow the bot to ask"
    assert said in caplog.text


@BINDINGS
async def test_a_live_agent_that_does_not_stream(binding: str) -> None:
    async with live(streaming=False, bindings=(binding,)) as (agent, _):
        (frame,) = await ask(agent, "unicode")
        assert isinstance(frame, Snapshot)
        assert frame.state is TaskState.COMPLETED
        assert "".join(artifact.text for artifact in frame.artifacts) == ANSWERS["unicode"]


@pytest.mark.parametrize("wire", ["1.0", "0.3"])
async def test_a_live_agent_that_breaks(wire: str) -> None:
    async with live((wire,)) as (agent, _):
        with pytest.raises(AgentFailed, match="boom"):
            await ask(agent, "raise")
        frames = await ask(agent, "fail")
        assert isinstance(frames[-1], StatusUpdate)
        assert frames[-1].state is TaskState.FAILED


async def started(coming: AsyncGenerator[Received, None]) -> str:
    """The task's id, as soon as it is known."""
    first = (await anext(coming)).frame
    assert isinstance(first, Snapshot)
    return first.task_id or ""


@pytest.mark.parametrize("wire", ["1.0", "0.3"])
async def test_a_live_agent_posts_news_of_a_task_until_it_is_told_not_to(wire: str) -> None:
    posts = asyncio.Queue[web.BaseRequest]()

    async def receive(request: web.BaseRequest) -> web.Response:
        await request.read()
        posts.put_nowait(request)
        return web.Response()

    async with (
        RawTestServer(receive) as receiver,
        live((wire,), push="yes") as (agent, server),
    ):
        await agent.ensure_card()
        assert agent.can_push
        server.hold = 1
        async with aclosing(agent.ask(MessageRequest("held", "m"))) as coming:
            task_id = await started(coming)
            assert await agent.set_push(task_id, "p1", str(receiver.make_url("/one")), "the secret")
            assert await agent.set_push(task_id, "p2", str(receiver.make_url("/two")), "another")
            await agent.delete_push(task_id, "p2")
            server.release.set()
            rest = [received.frame async for received in coming]
        assert isinstance(rest[-1], StatusUpdate)
        first = await posts.get()
        assert first.headers["X-A2A-Notification-Token"] == "the secret"
        assert first.headers["Authorization"] == "Bearer the secret"
        assert {each.path for each in [first, *(posts.get_nowait() for _ in range(posts.qsize()))]} == {
            "/one"
        }
        assert await agent.set_push(task_id, "p3", str(receiver.make_url("/three")), "late")  # it has ended


@pytest.mark.parametrize("wire", ["1.0", "0.3"])
@pytest.mark.parametrize("push", ["no", "card"])
async def test_a_live_agent_without_push_is_not_asked_for_it_again(wire: str, push: str) -> None:
    async with live((wire,), push=push) as (agent, _):
        await ask(agent, "hello")
        assert agent.can_push is (push == "card")
        frames = await ask(agent, "hello")
        assert isinstance(frames[0], Snapshot)
        assert not await agent.set_push(frames[0].task_id or "", "p", "http://bot.example/", "secret")
        assert not agent.can_push
        assert agent.profile["push"] == "refused"


async def test_what_was_learned_of_push_comes_from_the_store() -> None:
    async with an_agent(lambda _: None, card_json=card(pushNotifications=True)) as (agent, _):
        assert not agent.can_push  # before the card
        await agent.ensure_card()
        assert agent.can_push
        agent.load_profile({"push": "refused"})
        assert not agent.can_push


@pytest.mark.parametrize("wire", ["1.0", "0.3"])
async def test_push_for_a_task_that_is_not_known(wire: str) -> None:
    async with live((wire,), push="yes") as (agent, _):
        with pytest.raises(AgentFailed) as caught:
            await agent.set_push("none", "p", "http://bot.example/", "secret")
        assert caught.value.code == -32001


@pytest.mark.parametrize(("code", "is_remembered"), [(-32003, True), (-32004, True), (-32601, False)])
async def test_a_refusal_of_push_is_remembered_and_a_missing_method_is_not(
    code: int, is_remembered: bool
) -> None:
    refused = {"jsonrpc": "2.0", "id": 1, "error": {"code": code, "message": "no"}}
    offers = card(pushNotifications=True)
    async with an_agent(lambda _: json_reply(refused), card_json=offers) as (agent, _):
        assert not await agent.set_push("t", "p", "http://bot.example/", "secret")
        assert agent.can_push is not is_remembered
        assert ("push" in agent.profile) is is_remembered


async def test_an_agent_that_does_not_know_the_method_has_no_push_either() -> None:
    async with an_agent(lambda _: json_reply(UNKNOWN_METHOD)) as (agent, server):
        assert not await agent.set_push("t", "p", "http://bot.example/", "secret")
        assert methods(server) == ["CreateTaskPushNotificationConfig"]


async def test_a_live_agent_finds_the_task_of_a_message() -> None:
    async with live(("1.0",)) as (agent, _):
        first = await ask(agent, "hello")
        assert isinstance(first[0], Snapshot)
        context = first[0].context_id or ""
        for number in range(25):  # more than a page
            await ask(agent, "hello", context_id=context, message_id=f"m{number}")
        assert await agent.find_task(context, "m", 0.0) == first[0].task_id
        assert await agent.find_task(context, "m24", 0.0) not in (None, first[0].task_id)
        assert await agent.find_task(context, "other", 0.0) is None
        assert await agent.find_task("elsewhere", "m", 0.0) is None
        assert await agent.find_task(None, "m", 0.0) == first[0].task_id
        assert await agent.find_task(None, "m", time.time() + 60) is None


@pytest.mark.parametrize(("wire", "asked"), [("0.3", []), ("1.0", ["ListTasks"])])
async def test_an_agent_that_does_not_list_its_tasks(wire: str, asked: list[str]) -> None:
    async with an_agent(lambda _: json_reply(UNKNOWN_METHOD), card_json=card(wire)) as (agent, server):
        assert await agent.find_task("c", "m", 0.0) is None
        assert methods(server) == asked


async def test_an_agent_may_list_its_tasks_by_conversation_alone() -> None:
    refused = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": "contextId is required"}}
    async with an_agent(lambda _: json_reply(refused)) as (agent, _):
        assert await agent.find_task(None, "m", 0.0) is None
        with pytest.raises(AgentFailed):
            await agent.find_task("c", "m", 0.0)


async def test_what_else_goes_wrong_in_looking_for_a_task_is_no_answer() -> None:
    async with an_agent(lambda _: httpx.ReadError("cut")) as (agent, _):
        with pytest.raises(StreamCut):
            await agent.find_task("c", "m", 0.0)


async def test_an_extension_that_the_card_offers_and_the_bot_speaks_is_asked_for() -> None:
    uri = "https://a2a-extensions.agentstack.beeai.dev/ui/form_request/v1"
    offers = [{"uri": uri, "required": True}, {"uri": "urn:y"}]
    offered = card(streaming=True, extensions=offers)
    async with an_agent(lambda _: json_reply({"result": {"task": DONE}}), card_json=offered) as (
        agent,
        server,
    ):
        await ask(agent)
    assert server.asked[-1].headers["a2a-extensions"] == uri


async def test_headers_arrive() -> None:
    async with live(bearer_token="secret", extensions=("urn:x",)) as (agent, server):
        await ask(agent, "hello")
    got = server.headers[-1]
    assert got["authorization"] == "Bearer secret"
    assert got["a2a-version"] == "1.0"
    assert got["a2a-extensions"] == "urn:x"
    assert got["accept-encoding"] == "identity"
    assert server.headers[0]["authorization"] == "Bearer secret"


# --- a nasty server on a real socket ------------------------------------------------------------------------

Nasty = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
EVENT = b"data: " + json.dumps({"result": DONE}).encode() + b"\n\n"
CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
UNTIL_CLOSED = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"


def chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


async def ask_nasty(*sent: bytes, stay: bool = False, **settings: Any) -> list[Frame]:
    """Ask a server that reads the question, writes these bytes, and closes the connection unless it stays."""
    left = asyncio.Event()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            if head.startswith(b"GET"):
                body = json.dumps(card(url=f"http://127.0.0.1:{port}/", streaming=True)).encode()
                writer.write(
                    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n" + body
                )
            else:
                for data in sent:
                    writer.write(data)
                    await writer.drain()
                if stay:
                    await left.wait()
        except ConnectionError:
            pass  # the client had heard enough
        finally:
            writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    found = AgentSettings(url=f"http://127.0.0.1:{port}/", **settings)
    try:
        async with new_http(found) as http:
            return await ask(Agent(http, found, virtual_clock.new_clock()))
    finally:
        left.set()
        server.close()
        await server.wait_closed()


async def test_nasty_but_readable() -> None:
    for sent in (
        (CHUNKED, chunk(EVENT), b"0\r\n\r\n"),
        (UNTIL_CLOSED, EVENT),
        (UNTIL_CLOSED, EVENT.rstrip()),
        (UNTIL_CLOSED, b"\xef\xbb\xbf" + EVENT),
        (UNTIL_CLOSED, b"id: 7\n" + EVENT + b": ping\n\n" * 5),
        (UNTIL_CLOSED, EVENT.replace(b"\n", b"\r\n")),
        (UNTIL_CLOSED.replace(b"event-stream", b"event-stream; charset=latin-1"), EVENT),
        (UNTIL_CLOSED.replace(b"\r\n\r\n", b"\r\nContent-Encoding: gzip\r\n\r\n"), gzip.compress(EVENT)),
        (CHUNKED, *(chunk(EVENT[at : at + 1]) for at in range(len(EVENT))), b"0\r\n\r\n"),
    ):
        assert await ask_nasty(*sent) == [Snapshot("t", "c", TaskState.COMPLETED)]


async def test_nasty_and_cut() -> None:
    with pytest.raises(StreamCut):
        await ask_nasty(CHUNKED, chunk(EVENT))
    with pytest.raises(StreamCut):
        await ask_nasty(CHUNKED, b"ff\r\n" + EVENT)
    with pytest.raises(StreamCut):
        await ask_nasty(UNTIL_CLOSED, EVENT[:20])
    with pytest.raises(StreamCut):
        await ask_nasty()
    with pytest.raises(StreamCut):
        await ask_nasty(b"SSH-2.0-OpenSSH\r\n")


async def test_nasty_and_huge() -> None:
    piece = b"x" * (1024 * 1024)
    with pytest.raises(BadAgentData, match="max_event_bytes"):
        await ask_nasty(UNTIL_CLOSED, b"data: ", *[piece] * 20)
    with pytest.raises(BadAgentData, match="max_event_bytes"):
        await ask_nasty(UNTIL_CLOSED, *[piece] * 20)


async def test_nasty_and_not_a2a() -> None:
    page = b"Content-Type: text/html\r\nConnection: close\r\n\r\n<html>Bad Gateway</html>"
    with pytest.raises(BadAgentData, match="HTTP 502"):
        await ask_nasty(b"HTTP/1.1 502 Bad Gateway\r\n" + page)
    with pytest.raises(BadAgentData, match="web page"):
        await ask_nasty(b"HTTP/1.1 200 OK\r\n" + page)
    broken = UNTIL_CLOSED.replace(b"\r\n\r\n", b"\r\nContent-Encoding: gzip\r\n\r\n")
    with pytest.raises(BadAgentData, match="compression"):
        await ask_nasty(broken, b"not gzip at all")


async def test_nobody_listens() -> None:
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    server.close()
    await server.wait_closed()
    found = AgentSettings(url=f"http://127.0.0.1:{port}/")
    async with new_http(found) as http:
        with pytest.raises(AgentUnreachable, match=f":{port} cannot be reached"):
            await ask(Agent(http, found, virtual_clock.new_clock()))


# --- after a cut --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wire", "streaming", "settings", "may"),
    [
        ("1.0", True, {}, True),
        ("1.0", None, {}, True),
        ("1.0", False, {}, False),
        ("0.3", True, {}, False),
        ("0.3", True, {"resubscribe_03": True}, True),
        ("1.0", True, {"protocol_version": "0.3"}, False),
    ],
)
async def test_where_a_stream_may_be_joined_again(
    wire: str, streaming: bool | None, settings: dict[str, Any], may: bool
) -> None:
    said = {} if streaming is None else {"streaming": streaming}
    async with an_agent(lambda _: sse_reply(DONE), card_json=card(wire, **said), **settings) as (agent, _):
        assert not agent.can_resubscribe  # nothing is known before the card was read
        await agent.ensure_card()
        assert agent.can_resubscribe is may


async def test_a_wire_that_worked_decides_about_joining() -> None:
    async with an_agent(lambda _: sse_reply(DONE), card_json=card("1.0")) as (agent, _):
        await agent.ensure_card()
        agent.load_profile({"wire": "0.3"})
        assert not agent.can_resubscribe


async def test_how_many_messages_are_read_of_a_task() -> None:
    async with an_agent(lambda _: json_reply({"jsonrpc": "2.0", "result": DONE})) as (agent, server):
        await agent.task("get", "t")
        await agent.task("get", "t", 1000)
    assert [body["params"]["historyLength"] for body in server.bodies] == [1, 1000]
