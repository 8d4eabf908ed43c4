"""What went over the wire, kept: whole, cut, and what was asked for afterwards."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from slack_bot.playground.recorder import QUESTIONS_KEPT, Recorder, ReplayRouter
from slack_bot.testing import virtual_clock
from slack_bot.testing.agent.scripted import ScriptedAgent, ScriptedTransport
from slack_bot.testing.tape.builders import answer, chunk
from slack_bot.testing.tape.tape import Moment, Tape
from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.tools.capture.tape_writer import TappedCall

TAPE = answer("one two three", seconds=3.0)


def board(tape: Tape = TAPE) -> ReplayRouter:
    return ReplayRouter(ScriptedTransport(ScriptedAgent(tape)), Recorder(virtual_clock.new_clock().monotonic))


async def call(board: ReplayRouter, method: str, **params: Any) -> str:
    """What of the answer could be read."""
    body, read = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}, ""
    async with httpx.AsyncClient(transport=board) as client:
        try:
            async with client.stream("POST", "http://agent/", json=body, timeout=None) as response:
                async for text in response.aiter_text():
                    read += text
        except httpx.ReadError:
            read += "(cut)"
    return read


async def ask(board: ReplayRouter, message_id: str = "m1", method: str = "message/stream") -> str:
    return await call(board, method, message={"messageId": message_id, "parts": [{"text": "q"}]})


def said(tape: Tape | None) -> list[tuple[float, Any]]:
    assert tape is not None
    return [(round(moment.t, 2), moment.event or moment.end or moment.error) for moment in tape.moments]


@on_virtual_time
async def test_a_stream_is_kept_as_the_tape_that_it_was() -> None:
    wire = board()
    await ask(wire)
    tape = wire.recorder.tape("m1", {"question": "q"})
    assert said(tape) == [(round(m.t, 2), m.event or m.end) for m in TAPE.moments]
    assert tape is not None
    assert tape.head == {"wire": "0.3", "question": "q"}


@on_virtual_time
async def test_a_cut_on_purpose_is_a_cut_for_everybody() -> None:
    wire = board()
    wire.cut_after = 2
    read = await ask(wire)
    assert read.endswith("(cut)")
    assert read.count("data:") == 2
    tape = said(wire.recorder.tape("m1", {}))
    assert [what for _, what in tape] == [TAPE.moments[0].event, TAPE.moments[1].event, "cut"]
    wire.cut_after = 0
    assert await ask(wire, "m2") == "(cut)"


@on_virtual_time
async def test_what_was_asked_for_afterwards_stands_in_the_tape_too() -> None:
    wire = board()
    wire.cut_after = 2
    await ask(wire)
    for _ in range(4):
        await asyncio.sleep(2.0)
        await call(wire, "tasks/get", id="task-1")
    whats = [what for _, what in said(wire.recorder.tape("m1", {}))]
    assert whats[2] == "cut"
    tasks = whats[3:]
    assert 1 <= len(tasks) < 4, "a task that has not changed is one line"
    assert tasks[-1]["status"]["state"] == "completed"


@on_virtual_time
async def test_two_events_of_a_stream_that_are_alike_are_two() -> None:
    wire = board(answer("go go go on", seconds=4.0))
    wire.cut_after = 1
    await ask(wire)
    await call(wire, "tasks/resubscribe", id="task-1")
    whats = [what for _, what in said(wire.recorder.tape("m1", {}))]
    assert whats.count(chunk("go ")) == 3


@on_virtual_time
async def test_an_answer_in_one_piece_is_never_cut() -> None:
    wire = board()
    wire.cut_after = 0
    assert "one two three" in "".join(
        part["text"]
        for artifact in json.loads(await ask(wire, method="message/send"))["result"]["artifacts"]
        for part in artifact["parts"]
    )
    assert said(wire.recorder.tape("m1", {}))[0][1]["kind"] == "task"


@on_virtual_time
async def test_only_the_last_questions_are_kept_and_foreign_tasks_are_nobodys() -> None:
    wire = board()
    for number in range(QUESTIONS_KEPT + 1):
        await ask(wire, f"m{number}")
    assert wire.recorder.tape("m0", {}) is None
    assert wire.recorder.tape("m1", {}) is not None
    await call(wire, "tasks/get", id="another")
    assert wire.recorder.tape("another", {}) is None


async def test_what_breaks_by_itself_is_a_cut_too() -> None:
    class Broken(httpx.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            yield b"data: " + json.dumps({"result": chunk("one")}).encode() + b"\n\n"
            raise httpx.ReadError("gone")

    recorder = Recorder(lambda: 5.0)
    response = httpx.Response(200, headers={"content-type": "text/event-stream"}, stream=Broken())
    recorder.record(response, TappedCall("message/stream", "ask", "1.0", "1", "q", ("m1",)))
    with pytest.raises(httpx.ReadError):
        async for _ in response.aiter_raw():
            pass
    tape = recorder.tape("m1", {})
    assert [what for _, what in said(tape)] == [chunk("one"), "cut"]
    assert tape is not None
    assert tape.head["wire"] == "1.0"


@pytest.mark.parametrize(("most", "whole"), [(1, False), (5, True)])
async def test_a_cut_counts_events_and_not_chunks(most: int, whole: bool) -> None:
    events = [b"data: " + json.dumps({"result": chunk(text)}).encode() for text in ("one", "two", "three")]

    class AtOnce(httpx.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            yield b"\n\n".join(events)  # the last one has no blank line behind it

    recorder = Recorder(lambda: 5.0)
    response = httpx.Response(200, headers={"content-type": "text/event-stream"}, stream=AtOnce())
    recorder.record(response, TappedCall("message/stream", "ask", "0.3", "1", "q", ("m1",)), most)
    read = b""
    try:
        async for data in response.aiter_raw():
            read += data
    except httpx.ReadError:
        assert not whole
    assert read == (b"\n\n".join(events) if whole else events[0] + b"\n\n")


MESSAGE = {"kind": "message", "messageId": "m", "role": "agent", "parts": [{"kind": "text", "text": "hi"}]}
THREE_EVENTS = Tape({}, tuple(Moment(0.0, event=MESSAGE) for _ in range(3)))


class Network(httpx.AsyncBaseTransport):
    """The real agent."""

    def __init__(self) -> None:
        self.closed = False

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, text="the agent", request=request)

    async def aclose(self) -> None:
        self.closed = True


def asked(message_id: str) -> dict[str, object]:
    message = {"messageId": message_id, "parts": [{"kind": "text", "text": "q"}]}
    return {"jsonrpc": "2.0", "id": 1, "method": "message/stream", "params": {"message": message}}


async def test_what_is_answered_is_kept_by_the_question() -> None:
    recorder = Recorder(lambda: 0.0)
    for name in ("m1", "m2"):
        agent = ScriptedTransport(ScriptedAgent(THREE_EVENTS))
        async with httpx.AsyncClient(transport=ReplayRouter(agent, recorder)) as client:
            assert (await client.post("http://agent/", json=asked(name))).text.count("data: ") == 3
    kept = [recorder.tape(name, {}) for name in ("m1", "m2", "m3")]
    assert [tape and sum(each.event is not None for each in tape.moments) for tape in kept] == [3, 3, None]


async def test_an_answer_is_broken_after_so_many_events() -> None:
    board = ReplayRouter(ScriptedTransport(ScriptedAgent(THREE_EVENTS)))
    board.cut_after = 1
    async with httpx.AsyncClient(transport=board) as client:
        with pytest.raises(httpx.ReadError):
            await client.post("http://agent/", json=asked("m1"))
    tape = board.recorder.tape("m1", {})
    assert tape is not None
    assert [each.end or "event" for each in tape.moments] == ["event", "cut"]


@pytest.mark.parametrize(
    "params", [None, [], {"message": "text"}, {"id": 3}, {"message": {"messageId": ["m"]}}]
)
async def test_what_cannot_be_read_is_passed_on(params: object) -> None:
    board = ReplayRouter(Network())
    async with httpx.AsyncClient(transport=board) as client:
        body = {"jsonrpc": "2.0", "id": 1, "method": "message/stream", "params": params}
        assert (await client.post("http://agent/", json=body)).text == "the agent"


async def test_other_requests_reach_the_agent_and_closing_closes_it() -> None:
    network = Network()
    async with httpx.AsyncClient(transport=ReplayRouter(network)) as client:
        assert (await client.get("http://agent/.well-known/agent-card.json")).text == "the agent"
        assert (await client.post("http://agent/", content=b"\xff")).text == "the agent"
    assert network.closed


@on_virtual_time
async def test_what_is_asked_over_each_binding_is_told() -> None:
    """HTTP+JSON has no envelope around the parameters."""
    wire, told = board(), list[tuple[str, Any]]()
    wire.on_ask = lambda message_id, params: told.append((message_id, params))
    await ask(wire)
    message = {"messageId": "m2", "parts": [{"text": "q"}]}
    async with httpx.AsyncClient(transport=wire) as client:
        await client.post("http://agent/message:send", json={"message": message})
    assert [message_id for message_id, _ in told] == ["m1", "m2"]
    assert told[1][1] == {"message": message}
