"""The scripted agent as an A2A server, in memory and on a port."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import AsyncIterator

import httpx
import pytest

from slack_bot.testing import virtual_clock
from slack_bot.testing.agent.playback import Json, sse
from slack_bot.testing.agent.scripted import AgentCall, ScriptedAgent, ScriptedTransport, serve_scripted
from slack_bot.testing.tape.tape import Moment, Recording, Tape

URL = "http://agent.test/"


def update(text: str) -> Json:
    artifact = {"artifactId": "a", "name": "answer", "parts": [{"kind": "text", "text": text}]}
    return {"kind": "artifact-update", "taskId": "t", "contextId": "c", "append": True, "artifact": artifact}


DONE: Json = {
    "kind": "status-update",
    "taskId": "t",
    "contextId": "c",
    "status": {"state": "completed"},
    "final": True,
}
OLD = Tape(
    {},
    (
        Moment(1.0, event=update("one ")),
        Moment(2.0, event=update("two")),
        Moment(300.0, event=DONE),
        Moment(301.0, end="closed"),
    ),
)
NEW = Tape(
    {"wire": "1.0"},
    (
        Moment(1.0, event={"task": {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}}}),
        Moment(
            2.0,
            event={
                "artifactUpdate": {
                    "taskId": "t",
                    "contextId": "c",
                    "artifact": {"artifactId": "a", "parts": [{"text": "hi"}]},
                }
            },
        ),
        Moment(3.0, event={"statusUpdate": {"taskId": "t", "status": {"state": "TASK_STATE_COMPLETED"}}}),
    ),
)


def client(agent: ScriptedAgent, timeout: float | None = None) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=ScriptedTransport(agent), base_url=URL, timeout=timeout)


def call(method: str, **params: object) -> Json:
    return {"jsonrpc": "2.0", "id": "q-1", "method": method, "params": params}


def ask(method: str = "message/stream", text: str = "hi") -> Json:
    return call(method, message={"messageId": "m", "role": "user", "parts": [{"kind": "text", "text": text}]})


async def rpc(http: httpx.AsyncClient, method: str, **params: object) -> Json:
    answer: Json = (await http.post("/", json=call(method, **params))).json()
    return answer


async def events(response: httpx.Response) -> AsyncIterator[Json]:
    buffer = b""
    async for data in response.aiter_bytes():
        buffer += data
        while b"\n\n" in buffer:
            event, _, buffer = buffer.partition(b"\n\n")
            line = next((line for line in event.split(b"\n") if line.startswith(b"data: ")), None)
            if line is not None:
                yield json.loads(line[6:])


def test_a_tape_plays_in_its_own_time() -> None:
    async def story() -> None:
        agent, clock = ScriptedAgent(OLD), virtual_clock.new_clock()
        async with client(agent) as http, http.stream("POST", "/", json=ask()) as response:
            assert response.status_code == 200
            assert response.headers["content-type"].startswith("text/event-stream")
            seen = [(clock.monotonic(), event) async for event in events(response)]
        assert [at for at, _ in seen] == pytest.approx([1.0, 2.0, 300.0])
        assert clock.monotonic() == pytest.approx(301.0)
        assert seen[0][1] == {"jsonrpc": "2.0", "id": "q-1", "result": update("one ")}
        assert [question.text for question in agent.questions] == ["hi"]

    virtual_clock.run(story())


@pytest.mark.parametrize(("speed", "took"), [(2.0, 150.5), (math.inf, 0.0)])
def test_a_tape_may_be_played_faster(speed: float, took: float) -> None:
    async def story() -> None:
        agent, clock = ScriptedAgent(OLD, speed=speed), virtual_clock.new_clock()
        async with client(agent) as http:
            body = (await http.post("/", json=ask())).content
            assert body.count(b"data: ") == 3
            assert clock.monotonic() == pytest.approx(took)
            assert (await rpc(http, "tasks/get", id="t"))["result"]["status"]["state"] == "completed"

    virtual_clock.run(story())


def test_a_cut_breaks_the_body_and_the_task_goes_on() -> None:
    async def story() -> None:
        agent, seen = ScriptedAgent(OLD, cut_after=1), list[Json]()
        async with client(agent) as http:
            with pytest.raises(httpx.RemoteProtocolError):
                async with http.stream("POST", "/", json=ask()) as response:
                    async for event in events(response):
                        seen.append(event)
            assert len(seen) == 1
            early = (await rpc(http, "tasks/get", id="t"))["result"]
            assert [part["text"] for part in early["artifacts"][0]["parts"]] == ["one "]
            await asyncio.sleep(300)
            late = (await rpc(http, "tasks/get", id="t"))["result"]
            assert late["kind"] == "task"
            assert late["status"]["state"] == "completed"
            assert [part["text"] for part in late["artifacts"][0]["parts"]] == ["one ", "two"]
        assert len(agent.questions) == 1

    virtual_clock.run(story())


def test_an_unknown_task_is_not_found() -> None:
    async def story() -> None:
        async with client(ScriptedAgent(OLD)) as http:
            for method in ("tasks/get", "tasks/cancel", "tasks/resubscribe"):
                assert (await rpc(http, method, id="t"))["error"]["code"] == -32001

    virtual_clock.run(story())


def test_cancel_ends_the_stream_and_can_be_done_once() -> None:
    async def story() -> None:
        seen = list[Json]()
        async with client(ScriptedAgent(OLD)) as http, http.stream("POST", "/", json=ask()) as response:
            async for event in events(response):
                seen.append(event["result"])
                if len(seen) == 1:
                    canceled = await rpc(http, "tasks/cancel", id="t")
                    assert canceled["result"]["status"]["state"] == "canceled"
            assert seen[1]["status"]["state"] == "canceled"
            assert (await rpc(http, "tasks/cancel", id="t"))["error"]["code"] == -32002
            assert (await rpc(http, "tasks/get", id="t"))["result"]["status"]["state"] == "canceled"

    virtual_clock.run(story())


def test_on_the_new_wire_who_subscribes_gets_the_task_first() -> None:
    async def story() -> None:
        async with client(ScriptedAgent(NEW, cut_after=1)) as http:
            with pytest.raises(httpx.RemoteProtocolError):
                await http.post("/", json=ask("SendStreamingMessage"))
            async with http.stream("POST", "/", json=call("SubscribeToTask", id="t")) as response:
                seen = [event["result"] async for event in events(response)]
            assert [next(iter(each)) for each in seen] == ["task", "artifactUpdate", "statusUpdate"]
            assert (await rpc(http, "SubscribeToTask", id="t"))["error"]["code"] == -32004
            task = (await rpc(http, "GetTask", id="t"))["result"]
            assert "kind" not in task
            assert task["status"]["state"] == "TASK_STATE_COMPLETED"

    virtual_clock.run(story())


def test_who_subscribes_gets_all_that_comes_after_the_task() -> None:
    """Also what comes before the answer is read."""

    async def story() -> None:
        agent = ScriptedAgent(NEW)
        await agent.handle("POST", "/", json.dumps(ask("SendStreamingMessage")).encode())
        await asyncio.sleep(1)
        joined = await agent.handle("POST", "/", json.dumps(call("SubscribeToTask", id="t")).encode())
        await asyncio.sleep(400)
        seen = [next(iter(json.loads(data[6:])["result"])) async for data in joined.body]
        assert seen == ["task", "artifactUpdate", "statusUpdate"]

    virtual_clock.run(story())


def test_on_the_old_wire_who_subscribes_gets_only_the_rest() -> None:
    async def story() -> None:
        async with client(ScriptedAgent(OLD, cut_after=1)) as http:
            with pytest.raises(httpx.RemoteProtocolError):
                await http.post("/", json=ask())
            async with http.stream("POST", "/", json=call("tasks/resubscribe", id="t")) as response:
                seen = [event["result"]["kind"] async for event in events(response)]
            assert seen == ["artifact-update", "status-update"]

    virtual_clock.run(story())


def test_send_waits_for_the_end_and_answers_with_the_task() -> None:
    async def story() -> None:
        clock = virtual_clock.new_clock()
        async with client(ScriptedAgent(OLD)) as http:
            answer = (await http.post("/", json=ask("message/send"))).json()
            assert answer["result"]["kind"] == "task"
            assert answer["result"]["status"]["state"] == "completed"
            assert clock.monotonic() == pytest.approx(301.0)
        async with client(ScriptedAgent(NEW)) as http:
            answer = (await http.post("/", json=ask("SendMessage"))).json()
            assert answer["result"]["task"]["artifacts"][0]["parts"] == [{"text": "hi"}]

    virtual_clock.run(story())


def test_send_answers_with_a_message_or_an_error_where_there_is_no_task() -> None:
    async def story() -> None:
        said = {"messageId": "m", "parts": [{"text": "hi"}]}
        async with client(ScriptedAgent(Tape({}, (Moment(0.1, event={"message": said}),)))) as http:
            assert (await http.post("/", json=ask("SendMessage"))).json()["result"] == {"message": said}
        async with client(ScriptedAgent(Tape({}, ()))) as http:
            assert (await http.post("/", json=ask("message/send"))).json()["error"]["code"] == -32603
        async with client(ScriptedAgent(OLD, agent_error={"after": 0, "message": "boom"})) as http:
            assert (await http.post("/", json=ask("message/send"))).json()["error"]["message"] == "boom"

    virtual_clock.run(story())


def test_an_agents_error() -> None:
    async def story() -> None:
        async with client(ScriptedAgent(OLD, agent_error={"after": 0, "message": "boom"})) as http:
            response = await http.post("/", json=ask())
            assert response.headers["content-type"] == "application/json"
            assert response.json()["error"] == {"code": -32603, "message": "boom"}
        async with client(ScriptedAgent(OLD, agent_error={"after": 1, "message": "boom"})) as http:
            async with http.stream("POST", "/", json=ask()) as response:
                seen = [event async for event in events(response)]
            assert [next(iter(each.keys() - {"id", "jsonrpc"})) for each in seen] == ["result", "error"]
            assert (await rpc(http, "tasks/get", id="t"))["result"]["status"]["state"] == "failed"

    virtual_clock.run(story())


def test_a_recording_keeps_its_bytes_status_and_head() -> None:
    async def story() -> None:
        body = b"\xef\xbb\xbfdata: {broken\r\n\r\n: ping\n\ndata: half"
        recording = Recording(
            503, {"content-type": "text/event-stream", "retry-after": "3"}, ((0.5, body),), True, 1.0
        )
        async with client(ScriptedAgent(recording)) as http, http.stream("POST", "/", json=ask()) as response:
            assert response.status_code == 503
            assert response.headers["retry-after"] == "3"
            got = b""
            with pytest.raises(httpx.RemoteProtocolError):
                async for data in response.aiter_bytes():
                    got += data
            assert got == body

    virtual_clock.run(story())


def test_the_n_th_question_gets_the_n_th_tape() -> None:
    async def story() -> None:
        other = Tape({}, (Moment(0.1, event={**DONE, "taskId": "t2"}),))
        async with client(ScriptedAgent(OLD, other)) as http:
            assert b'"t"' in (await http.post("/", json=ask())).content
            assert b'"t2"' in (await http.post("/", json=ask())).content
            assert b'"t2"' in (await http.post("/", json=ask())).content
            assert (await rpc(http, "tasks/get", id="t"))["result"]["id"] == "t"

    virtual_clock.run(story())


@pytest.mark.parametrize("path", ["/.well-known/agent-card.json", "/.well-known/agent.json"])
def test_the_card_speaks_the_tapes_dialect(path: str) -> None:
    async def story() -> None:
        async with client(ScriptedAgent(OLD, streaming=False)) as http:
            card = (await http.get(path)).json()
            assert (card["url"], card["protocolVersion"]) == (URL, "0.3.0")
            assert card["capabilities"] == {"streaming": False}
        async with client(ScriptedAgent(NEW)) as http:
            card = (await http.get("/mounted" + path)).json()
            assert card["supportedInterfaces"][0] == {
                "url": URL + "mounted/",
                "protocolBinding": "JSONRPC",
                "protocolVersion": "1.0",
            }

    virtual_clock.run(story())


def test_what_is_not_a_call_is_refused() -> None:
    async def story() -> None:
        agent = ScriptedAgent(OLD)
        async with client(agent) as http:
            assert (await http.get("/other")).status_code == 404
            assert (await http.post("/", content=b"{")).json()["error"]["code"] == -32700
            assert (await http.post("/", content=b"[]")).json()["error"]["code"] == -32700
            assert (await rpc(http, "tasks/list"))["error"]["code"] == -32601
        assert [each.method for each in agent.calls] == ["tasks/list"]
        assert agent.questions == []

    virtual_clock.run(story())


def test_a_canceled_task_ends_a_waiting_send() -> None:
    async def story() -> None:
        async with client(ScriptedAgent(OLD)) as http:
            waiting = asyncio.create_task(http.post("/", json=ask("message/send")))
            await asyncio.sleep(5)
            await rpc(http, "tasks/cancel", id="t")
            assert (await waiting).json()["result"]["status"]["state"] == "canceled"

    virtual_clock.run(story())


def test_a_silent_tape_runs_into_the_readers_timeout() -> None:
    async def story() -> None:
        async with client(ScriptedAgent(OLD), timeout=30.0) as http:
            with pytest.raises(httpx.ReadTimeout):
                await http.post("/", json=ask())
            with pytest.raises(httpx.ReadTimeout):
                await http.post("/", json=ask("message/send"))

    virtual_clock.run(story())


def test_calls_remember_what_was_asked() -> None:
    odd = AgentCall(
        "message/send", 1, {"message": {"parts": [{"text": "a"}, {"data": 1}, "x", {"text": "b"}]}}, {}
    )
    assert odd.text == "ab"
    assert AgentCall("tasks/get", 1, {"id": "t"}, {}).text == ""


def test_nothing_to_play_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="tape"):
        ScriptedAgent()
    with pytest.raises(ValueError, match="speed"):
        ScriptedAgent(OLD, speed=0)


def test_a_reader_may_leave_in_the_middle() -> None:
    async def story() -> None:
        async with client(ScriptedAgent(OLD)) as http:
            async with http.stream("POST", "/", json=ask()) as response:
                first = await anext(events(response))
            again = (await http.post("/", json=ask())).content
        assert first["result"] == update("one ")
        assert again.count(b"data: ") == 3

    virtual_clock.run(story())


def test_sse_is_one_event() -> None:
    assert sse({"a": 1}) == b'data: {"a": 1}\n\n'


ASK = {
    "jsonrpc": "2.0",
    "id": "q",
    "method": "message/stream",
    "params": {"message": {"messageId": "m", "role": "user", "parts": [{"kind": "text", "text": "hi"}]}},
}
DONE = {
    "kind": "status-update",
    "taskId": "t",
    "contextId": "c",
    "status": {"state": "completed"},
    "final": True,
}
TAPE = Tape({}, (Moment(0.0, event={"kind": "task", "id": "t", "contextId": "c"}), Moment(0.02, event=DONE)))


async def test_card_stream_and_task_over_a_socket() -> None:
    agent = ScriptedAgent(TAPE)
    async with serve_scripted(agent) as url, httpx.AsyncClient(base_url=url) as http:
        card = (await http.get("/.well-known/agent-card.json")).json()
        assert card["url"] == url
        response = await http.post("/", json=ASK)
        assert response.headers["content-type"].startswith("text/event-stream")
        assert response.text.count("data: ") == 2
        task = (await http.post("/", json={**ASK, "method": "tasks/get", "params": {"id": "t"}})).json()
        assert task["result"]["status"]["state"] == "completed"
    assert [question.text for question in agent.questions] == ["hi"]


async def test_a_cut_is_a_cut_on_a_socket_too() -> None:
    async with (
        serve_scripted(ScriptedAgent(TAPE, cut_after=1)) as url,
        httpx.AsyncClient(base_url=url) as http,
    ):
        got = b""
        with pytest.raises((httpx.RemoteProtocolError, httpx.ReadError)):
            async with http.stream("POST", "/", json=ASK) as response:
                async for data in response.aiter_bytes():
                    got += data
        assert got.count(b"data: ") == 1


async def test_a_recording_comes_byte_for_byte() -> None:
    body = b"data: {broken\r\n\r\n\xff\xfe data: half"
    recording = Recording(
        200, {"content-type": "text/event-stream"}, ((0.0, body[:5]), (0.01, b""), (0.01, body[5:]))
    )
    async with serve_scripted(ScriptedAgent(recording)) as url, httpx.AsyncClient(base_url=url) as http:
        assert (await http.post("/", json=ASK)).content == body


async def test_stopping_does_not_wait_for_a_long_tape() -> None:
    tape = Tape({}, (*TAPE.moments[:1], Moment(3600.0, event=DONE)))
    async with httpx.AsyncClient() as http:
        async with serve_scripted(ScriptedAgent(tape)) as url:
            request = http.build_request("POST", url, json=ASK)
            response = await http.send(request, stream=True)
            first = await anext(response.aiter_bytes())
        await response.aclose()
        assert first.count(b"data: ") == 1
        with pytest.raises(httpx.ConnectError):
            await http.post(url, json=ASK)
