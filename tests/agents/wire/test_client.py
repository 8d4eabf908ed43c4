from __future__ import annotations

import asyncio
import gc
import json
import tracemalloc
from collections import Counter
from collections.abc import Generator
from contextlib import aclosing, suppress
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.agents.wire.calls import (
    Call,
    Interface,
    MessageRequest,
    Wire,
    ask_call,
    delete_push_call,
    headers,
    set_push_call,
    task_call,
)
from slack_bot.agents.wire.client import Client
from slack_bot.agents.wire.frames import (
    ArtifactUpdate,
    MessageReply,
    Received,
    Snapshot,
    StatusUpdate,
    TaskState,
    Unknown,
    task_id_of,
)
from slack_bot.agents.wire.transport import new_http
from slack_bot.errors import (
    AgentError,
    AgentFailed,
    AgentRefused,
    AgentUnreachable,
    BadAgentData,
    ServerFailed,
    StreamCut,
    StreamIdle,
)
from slack_bot.settings.models import AgentSettings
from slack_bot.testing import virtual_clock
from slack_bot.turn.files import GivenFile
from tests.agents.memory_server import (
    CAPTURES,
    JSON,
    URL,
    Body,
    Server,
    capture,
    json_reply,
    recorded,
    reply,
    sse_reply,
)

ASKING = MessageRequest("q", "m")
TASK = {"kind": "task", "id": "t", "contextId": "c", "status": {"state": "working"}}
DONE = {"kind": "task", "id": "t", "contextId": "c", "status": {"state": "completed"}}

# how the recordings of broken streams and refused calls end; every other one ends properly
ENDS: dict[str, type[AgentError] | int] = {
    "a2asdk0326_HUNG_only_pings_forever": StreamCut,
    "a2asdk0326_bad_params": -32602,
    "a2asdk0326_cancel_again": -32002,
    "a2asdk0326_parse_error": -32700,
    "a2asdk0326_raise": StreamCut,
    "a2asdk0326_raise_early": StreamCut,
    "a2asdk0326_resubscribe": StreamCut,
    "a2asdk0326_resubscribe_after_raise": StreamCut,
    "a2asdk0326_resubscribe_terminal": -32602,
    "a2asdk0326_resubscribe_unknown": -32001,
    "a2asdk0326_slow_disconnect": StreamCut,
    "a2asdk0326_stream_terminal_task": -32602,
    "a2asdk0326_stream_unknown_task": -32001,
    "a2asdk0326_unknown_method": -32601,
    "a2asdk130_bad_params": -32602,
    "a2asdk130_cancel": -32002,
    "a2asdk130_cancel_again": -32002,
    "a2asdk130_input_reply_wrong_context": -32602,
    "a2asdk130_kindparts": -32602,
    "a2asdk130_messageintask": -32006,
    "a2asdk130_nocompat_v03method": -32601,
    "a2asdk130_notask": -32006,
    "a2asdk130_noversionheader": -32009,
    "a2asdk130_raise": -32603,
    "a2asdk130_raise_early": -32603,
    "a2asdk130_rest_raise": -32603,
    "a2asdk130_rest_raise_early": -32603,
    "a2asdk130_rest_subscribe_get_unknown": -32001,
    "a2asdk130_rest_subscribe_post_unknown": -32001,
    "a2asdk130_rest_unknown_task": -32001,
    "a2asdk130_stream_terminal_task": -32004,
    "a2asdk130_stream_unknown_task": -32001,
    "a2asdk130_subscribe": StreamCut,
    "a2asdk130_subscribe_input_required": StreamCut,
    "a2asdk130_subscribe_terminal": -32004,
    "a2asdk130_subscribe_unknown": -32001,
    "a2asdk130_twomessages": -32006,
    "a2asdk130_version_0_5": -32009,
    "a2asdk130compat03_notask": -32006,
    "a2asdk130compat03_raise": -32603,
    "a2asdk130compat03_raise_early": -32603,
    "fasta2a061_stream": ServerFailed,
    "fasta2a211_get_unknown": -32001,
    "fasta2a211_unknown_method": ServerFailed,
}


class Run:
    """One call: what came, and the error it ended with."""

    def __init__(self) -> None:
        self.received: list[Received] = []
        self.error: AgentError | None = None

    @property
    def frames(self) -> list[Any]:
        return [each.frame for each in self.received]

    @property
    def text(self) -> str:
        return "".join(frame.artifact.text for frame in self.frames if isinstance(frame, ArtifactUpdate))


async def stream(answer: Any, **settings: Any) -> Run:
    found = AgentSettings(url=URL, **settings)
    run = Run()
    async with new_http(found, Server(lambda _: answer)) as http:
        client = Client(http, Interface(URL, "1.0"), found, httpx.Auth())
        try:
            async with aclosing(client.ask(ASKING)) as coming:
                async for received in coming:
                    run.received.append(received)
        except AgentError as error:
            run.error = error
    return run


async def failing(answer: Any, **settings: Any) -> AgentError:
    run = await stream(answer, **settings)
    assert run.error is not None
    assert run.received == []
    return run.error


# --- recordings of real servers -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(path.stem for path in CAPTURES.glob("*.txt")))
async def test_every_recording_decodes_or_ends_in_a_typed_error(name: str) -> None:
    run = await stream(recorded(capture(name)))
    assert not any(isinstance(frame, Unknown) for frame in run.frames)
    for each in run.received:
        said = each.frame.message if isinstance(each.frame, MessageReply) else each.frame
        assert not isinstance(said, Unknown)
        assert task_id_of(each.raw) == said.task_id
    expected = ENDS.get(name)
    if isinstance(expected, int):
        assert isinstance(run.error, AgentFailed)
        assert run.error.code == expected
    elif expected is not None:
        assert type(run.error) is expected
    else:
        assert run.error is None
        assert run.received
    if run.error is not None:
        assert "agent.example" not in run.error.safe
        assert "boom" not in run.error.safe


def test_the_table_names_recordings_that_exist() -> None:
    assert ENDS.keys() <= {path.stem for path in CAPTURES.glob("*.txt")}


@pytest.mark.parametrize(
    "name", ["a2asdk0326_chunks", "a2asdk130_chunks", "a2asdk130compat03_chunks", "a2asdk130_rest_chunks"]
)
async def test_the_same_answer_in_every_dialect(name: str) -> None:
    run = await stream(recorded(capture(name)))
    assert run.text == "The quick brown fox."
    kinds = Counter(type(frame) for frame in run.frames)
    assert kinds == {Snapshot: 1, StatusUpdate: 2, ArtifactUpdate: 4}
    assert run.frames[-1].state is TaskState.COMPLETED
    assert {frame.append for frame in run.frames if isinstance(frame, ArtifactUpdate)} <= {None, False, True}


async def test_parts_of_the_old_rest_dialect() -> None:
    run = await stream(recorded(capture("a2asdk0326_rest_stream_chunks")))
    assert run.text == "The quick brown fox."
    assert run.frames[0].history[0].text == "chunks"


@pytest.mark.parametrize("name", ["a2asdk130_unicode", "a2asdk130compat03_unicode"])
async def test_separators_that_are_no_line_ends(name: str) -> None:
    assert "\u2028" in (await stream(recorded(capture(name)))).text


@pytest.mark.parametrize("name", ["a2asdk0326_files", "a2asdk130_files", "a2asdk130compat03_files"])
async def test_files_and_data(name: str) -> None:
    run = await stream(recorded(capture(name)))
    (artifact,) = (frame.artifact for frame in run.frames if isinstance(frame, ArtifactUpdate))
    by_value, by_address, data = artifact.parts
    assert by_value.file is not None
    assert (by_value.file.name, by_value.file.mime_type) == ("h.txt", "text/plain")
    assert by_address.file is not None
    assert by_address.file.url == "https://example.com/a.png"
    assert data.data == {"a": 1, "b": [1, 2]}


# --- the four ways of an error ------------------------------------------------------------------------------

ERROR = {"code": -32603, "message": "boom"}


async def test_an_error_as_json_instead_of_a_stream() -> None:
    error = await failing(json_reply({"jsonrpc": "2.0", "id": 1, "error": ERROR}))
    assert isinstance(error, AgentFailed)
    assert error.code == -32603


async def test_an_error_as_the_data_of_an_event() -> None:
    error = await failing(reply(b"data: " + json.dumps({"error": ERROR}).encode() + b"\n\n"))
    assert isinstance(error, AgentFailed)


@pytest.mark.parametrize(
    ("data", "code"), [({"error": ERROR}, -32603), (ERROR, -32603), ({"detail": "x"}, 0), ("plain words", 0)]
)
async def test_an_error_as_an_event_of_that_name(data: Any, code: int) -> None:
    text = data if isinstance(data, str) else json.dumps(data)
    error = await failing(reply(f"event: error\ndata: {text}\n\n".encode()))
    assert isinstance(error, AgentFailed)
    assert error.code == code


async def test_a_body_that_is_cut() -> None:
    cut = httpx.RemoteProtocolError("peer closed connection")
    run = await stream(reply(b"data: " + json.dumps(TASK).encode() + b"\n\n", b'data: {"ki', error=cut))
    assert [type(frame) for frame in run.frames] == [Snapshot]
    assert type(run.error) is StreamCut


# --- other answers ------------------------------------------------------------------------------------------


async def test_json_instead_of_a_stream_may_be_a_success() -> None:
    run = await stream(json_reply({"jsonrpc": "2.0", "id": 1, "result": DONE}))
    assert [received.raw for received in run.received] == [DONE]
    assert run.frames == [Snapshot("t", "c", TaskState.COMPLETED)]


async def test_raw_is_the_event_without_its_envelope() -> None:
    run = await stream(sse_reply(TASK, DONE))
    assert [received.raw for received in run.received] == [TASK, DONE]


@pytest.mark.parametrize(
    "value", [{"jsonrpc": "2.0", "result": {"odd": 1}}, {"detail": "x"}, [TASK], "x", None]
)
async def test_json_that_is_not_a2a(value: Any) -> None:
    assert type(await failing(json_reply(value))) is BadAgentData


async def test_a_login_page() -> None:
    error = await failing(reply(b"<html>Sign in</html>", headers={"content-type": "text/html"}))
    assert type(error) is BadAgentData
    assert "web page" in str(error)


async def test_a_gateways_error_page() -> None:
    error = await failing(reply(b"<html>", status=502, headers={"content-type": "text/html"}))
    assert type(error) is ServerFailed
    assert "HTTP 502" in str(error)


async def test_a_redirect_is_not_followed() -> None:
    error = await failing(reply(status=307, headers={"location": "https://elsewhere.example/"}))
    assert isinstance(error, AgentRefused)


async def test_nobody_there() -> None:
    assert isinstance(await failing(httpx.ConnectError("refused")), AgentUnreachable)


async def test_a_stream_whose_type_is_written_otherwise() -> None:
    headers = {"content-type": "Text/Event-Stream; charset=iso-8859-1"}
    run = await stream(reply(b"data: " + json.dumps(TASK).encode() + b"\n\n", headers=headers))
    assert len(run.frames) == 1


async def test_events_that_are_not_json() -> None:
    assert type(await failing(reply(b"data: hello\n\n"))) is BadAgentData
    assert type(await failing(reply(b"data: " + b"[" * 200_000 + b"\n\n"))) is BadAgentData
    run = await stream(reply(b"event: ping\ndata: 12:00\n\ndata: " + json.dumps(TASK).encode() + b"\n\n"))
    assert len(run.frames) == 1


async def test_a_last_event_without_its_blank_line() -> None:
    run = await stream(reply(b"data: " + json.dumps(DONE).encode()))
    assert run.frames == [Snapshot("t", "c", TaskState.COMPLETED)]
    assert run.error is None


async def test_a_stream_that_ends_in_the_middle_of_an_event() -> None:
    assert type(await failing(reply(b'data: {"kind": "ta'))) is StreamCut


async def test_an_event_without_bound() -> None:
    error = await failing(reply(b"data: ", *[b"x" * 1000] * 20), max_event_bytes=10_000)
    assert "max_event_bytes" in str(error)


async def test_an_event_of_lines_without_bound() -> None:
    error = await failing(reply(*[b"data:\n" * 1000] * 6, b"\n"), max_event_lines=5_000)
    assert "max_event_lines" in str(error)


async def test_a_json_answer_without_bound() -> None:
    error = await failing(reply(*[b" " * 1000] * 20, headers=JSON), max_event_bytes=10_000)
    assert "max_event_bytes" in str(error)


# --- single calls -------------------------------------------------------------------------------------------


async def called(answer: Any, call: str, wire: Any = "1.0") -> tuple[Any, Server]:
    settings = AgentSettings(url=URL)
    server = Server(lambda _: answer)
    async with new_http(settings, server) as http:
        client = Client(http, Interface(URL, wire, "acme"), settings, httpx.Auth())
        verb: Any = call
        if call == "send":
            return await anext(client.ask(ASKING, stream=False)), server
        return await client.task(verb, "t"), server


@pytest.mark.parametrize(("call", "method"), [("get", "GetTask"), ("cancel", "CancelTask")])
async def test_calls_about_a_task(call: str, method: str) -> None:
    snapshot, server = await called(
        json_reply({"result": {"id": "t", "status": {"state": "TASK_STATE_FAILED"}}}), call
    )
    assert snapshot == Snapshot("t", state=TaskState.FAILED)
    assert server.bodies[0]["method"] == method
    assert server.bodies[0]["params"]["tenant"] == "acme"
    assert server.asked[0].headers["a2a-version"] == "1.0"


async def test_a_message_is_not_a_task() -> None:
    with pytest.raises(BadAgentData, match="something else"):
        await called(json_reply({"result": {"kind": "message", "parts": []}}), "get")


async def test_send_gives_the_one_answer() -> None:
    received, server = await called(json_reply({"result": {"kind": "message", "parts": []}}), "send", "0.3")
    assert isinstance(received.frame, MessageReply)
    assert server.bodies[0]["method"] == "message/send"


def test_a_single_call_is_not_waited_for_without_end() -> None:
    def silent() -> httpx.Response:
        return httpx.Response(200, headers=JSON, stream=Body([], ended=10_000.0))

    async def run(call: str) -> float:
        with pytest.raises(StreamIdle):
            await called(silent(), call)
        return asyncio.get_running_loop().time()

    assert virtual_clock.run(run("get")) == 30.0
    assert virtual_clock.run(run("send")) == 1800.0


async def test_subscribing_reads_a_stream() -> None:
    settings = AgentSettings(url=URL)
    server = Server(lambda _: sse_reply(TASK, DONE))
    async with new_http(settings, server) as http:
        client = Client(http, Interface(URL, "1.0"), settings, httpx.Auth())
        async with aclosing(client.subscribe("t")) as coming:
            assert [type(received.frame) async for received in coming] == [Snapshot, Snapshot]
    assert server.bodies[0]["method"] == "SubscribeToTask"


async def test_text_that_is_no_unicode_can_be_asked() -> None:
    settings = AgentSettings(url=URL)
    server = Server(lambda _: sse_reply(DONE))
    async with new_http(settings, server) as http:
        client = Client(http, Interface(URL, "1.0"), settings, httpx.Auth())
        async with aclosing(client.ask(MessageRequest("half \ud83d", "m"))) as coming:
            assert len([received async for received in coming]) == 1
    assert server.bodies[0]["params"]["message"]["parts"] == [{"text": "half \ud83d"}]


def no_nulls(value: Any) -> bool:
    if isinstance(value, dict):
        return all(no_nulls(each) for each in value.values())
    return all(no_nulls(each) for each in value) if isinstance(value, list) else value is not None


def body_of(call: Call) -> dict[str, Any]:
    assert call.method == "POST"
    assert call.body is not None
    return call.body


def test_a_question_on_0_3() -> None:
    assert body_of(
        ask_call(Interface("", "0.3"), MessageRequest("hi", "m1", context_id="c1"), stream=True)
    ) == {
        "jsonrpc": "2.0",
        "id": "m1",
        "method": "message/stream",
        "params": {
            "message": {
                "kind": "message",
                "role": "user",
                "messageId": "m1",
                "contextId": "c1",
                "parts": [{"kind": "text", "text": "hi"}],
            },
            "configuration": {
                "acceptedOutputModes": ["text/plain", "text/markdown", "application/json"],
                "historyLength": 1,
                "blocking": True,
            },
        },
    }


def test_a_question_on_1_0() -> None:
    asking = MessageRequest("hi", "m1", task_id="t1")
    assert body_of(ask_call(Interface("", "1.0", "acme"), asking, stream=False)) == {
        "jsonrpc": "2.0",
        "id": "m1",
        "method": "SendMessage",
        "params": {
            "message": {
                "role": "ROLE_USER",
                "messageId": "m1",
                "taskId": "t1",
                "parts": [{"text": "hi"}],
            },
            "configuration": {
                "acceptedOutputModes": ["text/plain", "text/markdown", "application/json"],
                "historyLength": 1,
                "returnImmediately": False,
            },
            "tenant": "acme",
        },
    }


@pytest.mark.parametrize(
    ("wire", "quoted", "parts"),
    [
        ("0.3", "before", [{"kind": "text", "text": "q"}, {"kind": "text", "text": "before"}]),
        ("0.3", {"a": 1}, [{"kind": "text", "text": "q"}, {"kind": "data", "data": {"a": 1}}]),
        ("1.0", "before", [{"text": "q"}, {"text": "before"}]),
        ("1.0", {"a": 1}, [{"text": "q"}, {"data": {"a": 1}, "mediaType": "application/json"}]),
    ],
)
def test_what_was_said_before_is_a_part_behind_the_question(wire: Wire, quoted: Any, parts: Any) -> None:
    asking = MessageRequest("q", "m", quoted=quoted, metadata={"slack": {"team": "T1"}})
    message = body_of(ask_call(Interface("", wire), asking, stream=True))["params"]["message"]
    parts[1]["metadata"] = {"role": "context"}
    assert message["parts"] == parts
    assert message["metadata"] == {"slack": {"team": "T1"}}


@pytest.mark.parametrize(
    ("wire", "part"),
    [
        ("0.3", {"kind": "data", "data": {"a": 1}, "metadata": {"adk_type": "function_response"}}),
        (
            "1.0",
            {
                "data": {"a": 1},
                "mediaType": "application/json",
                "metadata": {"adk_type": "function_response"},
            },
        ),
    ],
)
def test_data_stands_behind_the_text_or_alone(wire: Wire, part: Any) -> None:
    data = (({"a": 1}, {"adk_type": "function_response"}), ({"b": 2}, {}))
    bare = MessageRequest("", "m", task_id="t", data=data)
    message = body_of(ask_call(Interface("", wire), bare, stream=True))["params"]["message"]
    assert message["parts"][0] == part
    assert "metadata" not in message["parts"][1]
    assert message["taskId"] == "t"
    both = body_of(ask_call(Interface("", wire), MessageRequest("q", "m", data=data[:1]), stream=True))
    assert both["params"]["message"]["parts"][0]["text"] == "q"
    assert both["params"]["message"]["parts"][1:] == [part]


def test_files_stand_behind_the_text_as_each_wire_spells_them() -> None:
    files = GivenFile("a.txt", "text/plain", "YQ=="), GivenFile("b", "", url="https://drive.example/b")
    asking = MessageRequest("q", "m", files=files, quoted="before")
    old, new = (
        body_of(ask_call(Interface("", wire), asking, stream=True))["params"]["message"]["parts"]
        for wire in ("0.3", "1.0")
    )
    assert old[1:3] == [
        {"kind": "file", "file": {"name": "a.txt", "mimeType": "text/plain", "bytes": "YQ=="}},
        {"kind": "file", "file": {"name": "b", "mimeType": "", "uri": "https://drive.example/b"}},
    ]
    assert new[1:3] == [
        {"raw": "YQ==", "filename": "a.txt", "mediaType": "text/plain"},
        {"url": "https://drive.example/b", "filename": "b", "mediaType": ""},
    ]
    assert [parts[3]["metadata"]["role"] for parts in (old, new)] == ["context", "context"]


@pytest.mark.parametrize("stream", [True, False])
async def test_a_question_with_files_is_sent_streamed_or_not(*, stream: bool) -> None:
    settings = AgentSettings(url=URL)
    server = Server(lambda _: sse_reply(DONE))
    asking = MessageRequest("q", "m", files=(GivenFile("a.txt", "text/plain", "YQ=="),))
    async with new_http(settings, server) as http:
        client = Client(http, Interface(URL, "1.0"), settings, httpx.Auth())
        with suppress(BadAgentData):  # an answer that is no stream is JSON
            async with aclosing(client.ask(asking, stream=stream)) as coming:
                assert [received async for received in coming]
    assert server.bodies[0]["params"]["message"]["parts"][1]["raw"] == "YQ=="


async def test_the_files_of_a_question_are_let_go_once_the_agent_has_them() -> None:
    size, got, may_end = 4_000_000, 0, asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal got
        head = await reader.readuntil(b"\r\n\r\n")
        left = int(head.lower().split(b"content-length:")[1].split()[0])
        while left:
            left, got = left - (many := len(await reader.read(min(left, 65_536)))), got + many
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
        writer.write(f"data: {json.dumps(DONE)}\n\n".encode())
        await may_end.wait()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    settings = AgentSettings(url=url)
    tracemalloc.start()
    try:
        async with server, new_http(settings) as http:
            client = Client(http, Interface(url, "1.0"), settings, httpx.Auth())
            async with aclosing(client.ask(MessageRequest("q", "m"))) as first:
                await anext(first)  # httpcore imports a library at the first connection
            before, got = tracemalloc.get_traced_memory()[0], 0
            asking = MessageRequest("q", "m", files=(GivenFile("a", "text/plain", "Y" * size),))
            async with aclosing(client.ask(asking)) as coming:
                del asking
                await anext(coming)
                gc.collect()
                assert got > size
                assert tracemalloc.get_traced_memory()[0] - before < size // 4
                may_end.set()
    finally:
        tracemalloc.stop()


class _RenewedLogin(httpx.Auth):
    """Asks again in the same call, with a new token, where the first one is refused."""

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        request.headers["Authorization"] = "Bearer old"
        response = yield request
        if response.status_code == 401:
            request.headers["Authorization"] = "Bearer new"
            yield request


async def test_a_question_that_is_sent_twice_in_one_call_is_whole_both_times() -> None:
    got: list[tuple[bytes, bytes]] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        got.append((head, await reader.readexactly(int(head.split(b"content-length:")[1].split()[0]))))
        status = b"200 OK" if b"bearer new" in head else b"401 Unauthorized"
        writer.write(b"HTTP/1.1 " + status + b"\r\nContent-Type: text/event-stream\r\n")
        writer.write(b"Connection: close\r\n\r\n" + f"data: {json.dumps(DONE)}\n\n".encode())
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    settings, file = AgentSettings(url=url), "YQ==" * 100_000
    asking = MessageRequest("q", "m", files=(GivenFile("a", "text/plain", file),))
    async with server, new_http(settings) as http:
        client = Client(http, Interface(url, "1.0"), settings, _RenewedLogin())
        async with aclosing(client.ask(asking)) as coming:
            assert len([received async for received in coming]) == 1
    (head, refused), (_, taken) = got
    assert json.loads(taken)["params"]["message"]["parts"][1]["raw"] == file
    assert refused == taken
    assert b"transfer-encoding" not in head, "not every server and proxy takes a body in chunks"


async def test_a_question_that_was_let_go_is_never_sent_as_an_empty_one() -> None:
    may_end = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            await reader.readexactly(int(head.split(b"content-length:")[1].split()[0]))
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
            writer.write(f"data: {json.dumps(DONE)}\n\n".encode())
            await may_end.wait()
        writer.close()

    async def keep(request: httpx.Request) -> None:
        sent.append(request)

    sent: list[httpx.Request] = []
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    settings = AgentSettings(url=url)
    async with server, new_http(settings) as http:
        http.event_hooks = {"request": [keep]}
        client = Client(http, Interface(url, "1.0"), settings, httpx.Auth())
        async with aclosing(client.ask(MessageRequest("q", "m"))) as coming, asyncio.timeout(5):
            await anext(coming)
            try:
                with pytest.raises(httpx.WriteError, match="has had this request"):
                    await http.send(sent[0])
            finally:
                may_end.set()


@given(
    st.sampled_from(["0.3", "1.0"]),
    st.builds(MessageRequest, st.text(), st.text(), st.none() | st.text(), st.none() | st.text()),
    st.booleans(),
)
def test_what_is_not_known_is_left_out(wire: Wire, asking: MessageRequest, stream: bool) -> None:
    body = body_of(ask_call(Interface("", wire), asking, stream=stream))
    message = body["params"]["message"]
    assert no_nulls(body)
    assert ("contextId" in message) == bool(asking.context_id)
    assert ("taskId" in message) == bool(asking.task_id)
    assert body["params"]["configuration"]["acceptedOutputModes"]


@pytest.mark.parametrize(
    ("wire", "verb", "method", "params"),
    [
        ("0.3", "get", "tasks/get", {"id": "t", "historyLength": 1}),
        ("0.3", "cancel", "tasks/cancel", {"id": "t"}),
        ("0.3", "subscribe", "tasks/resubscribe", {"id": "t"}),
        ("1.0", "get", "GetTask", {"id": "t", "historyLength": 1}),
        ("1.0", "cancel", "CancelTask", {"id": "t"}),
        ("1.0", "subscribe", "SubscribeToTask", {"id": "t"}),
    ],
)
def test_the_body_of_a_call_about_a_task(wire: Wire, verb: Any, method: str, params: dict[str, Any]) -> None:
    body = body_of(task_call(Interface("", wire), verb, "t"))
    assert (body["method"], body["params"]) == (method, params)
    assert body_of(task_call(Interface("", wire, "acme"), verb, "t"))["params"]["tenant"] == "acme"


PUSH = {"id": "p", "url": "https://bot.example/p", "token": "s"}


@pytest.mark.parametrize(
    ("at", "method", "params"),
    [
        (
            Interface("", "0.3"),
            "tasks/pushNotificationConfig/set",
            {
                "taskId": "t",
                "pushNotificationConfig": {
                    **PUSH,
                    "authentication": {"schemes": ["Bearer"], "credentials": "s"},
                },
            },
        ),
        (
            Interface("", "1.0", "acme"),
            "CreateTaskPushNotificationConfig",
            {
                "taskId": "t",
                **PUSH,
                "authentication": {"scheme": "Bearer", "credentials": "s"},
                "tenant": "acme",
            },
        ),
    ],
)
def test_the_body_that_asks_for_push(at: Interface, method: str, params: dict[str, Any]) -> None:
    body = body_of(set_push_call(at, "t", "p", "https://bot.example/p", "s"))
    assert (body["method"], body["params"]) == (method, params)


def test_the_body_that_ends_push() -> None:
    old, new = (body_of(delete_push_call(Interface("", wire), "t", "p")) for wire in ("0.3", "1.0"))
    assert old["method"] == "tasks/pushNotificationConfig/delete"
    assert old["params"] == {"id": "t", "pushNotificationConfigId": "p"}
    assert new["method"] == "DeleteTaskPushNotificationConfig"
    assert new["params"] == {"taskId": "t", "id": "p"}


@pytest.mark.parametrize("result", [None, {}, {"taskId": "t"}])
@pytest.mark.parametrize("wire", ["0.3", "1.0"])
async def test_a_call_about_push_needs_no_answer_but_success(wire: Wire, result: Any) -> None:
    server = Server(lambda _: json_reply({"jsonrpc": "2.0", "id": 1, "result": result}))
    settings = AgentSettings(url=URL)
    async with new_http(settings, server) as http:
        client = Client(http, Interface(URL, wire), settings, httpx.Auth())
        await client.set_push("t", "p", "https://bot.example/p", "s")
        await client.delete_push("t", "p")
    assert len(server.bodies) == 2


async def find(*pages: Any) -> tuple[str | None, list[Any]]:
    """What is found where the last of `pages` repeats, and what was asked for it."""
    results = iter(pages)

    def answer(_: httpx.Request) -> httpx.Response:
        return json_reply({"jsonrpc": "2.0", "id": 1, "result": next(results, pages[-1])})

    server, settings = Server(answer), AgentSettings(url=URL)
    async with new_http(settings, server) as http:
        client = Client(http, Interface(URL, "1.0"), settings, httpx.Auth())
        return await client.find_task("c", "m", 0.0), [body["params"] for body in server.bodies]


def listed(task_id: str, *messages: str) -> dict[str, Any]:
    history = [{"messageId": each, "role": "ROLE_USER", "parts": []} for each in messages]
    return {"id": task_id, "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}, "history": history}


async def test_a_task_is_looked_for_page_by_page() -> None:
    found, asked = await find(
        {"tasks": [listed("t1", "m1"), listed("t2")], "nextPageToken": "two"},
        {"tasks": [listed("t3", "m1", "m")], "nextPageToken": "three"},
    )
    assert found == "t3"
    first = {"contextId": "c", "pageSize": 20, "historyLength": 1000}
    assert asked == [first, first | {"pageToken": "two"}]


@pytest.mark.parametrize("page", [None, {}, {"tasks": None}, {"tasks": [1, {}, {"history": "m"}]}])
async def test_a_list_of_another_shape_has_no_task(page: Any) -> None:
    assert await find(page) == (None, [{"contextId": "c", "pageSize": 20, "historyLength": 1000}])


async def test_pages_without_end_are_not_read_for_ever() -> None:
    found, asked = await find({"tasks": [listed("t1", "m1")], "nextPageToken": "again"})
    assert (found, len(asked)) == (None, 10)


def test_headers_of_a_stream() -> None:
    found = headers(Interface("", "1.0"), ("urn:a", "urn:b"), stream=True)
    assert found["Accept"] == "text/event-stream, application/json"
    assert found["Accept-Encoding"] == "identity"
    assert found["Cache-Control"] == "no-store"
    assert found["A2A-Version"] == "1.0"
    assert found["A2A-Extensions"] == "urn:a, urn:b"
    assert "X-A2A-Extensions" not in found


def test_headers_for_0_3_name_extensions_twice() -> None:
    found = headers(Interface("", "0.3"), ("urn:a",), stream=False)
    assert found["A2A-Extensions"] == found["X-A2A-Extensions"] == "urn:a"
    assert found["Accept"] == "application/json"
    assert "A2A-Extensions" not in headers(Interface("", "0.3"), stream=False)
