"""What is answered is kept, and broken where that is wanted."""

from __future__ import annotations

import httpx
import pytest

from slack_bot.playground.recorder import Recorder
from slack_bot.playground.replay_router import ReplayRouter
from slack_bot.testing.agent.scripted import ScriptedAgent, ScriptedTransport
from slack_bot.testing.tape.tape import Moment, Tape

MESSAGE = {"kind": "message", "messageId": "m", "role": "agent", "parts": [{"kind": "text", "text": "hi"}]}
TAPE = Tape({}, tuple(Moment(0.0, event=MESSAGE) for _ in range(3)))


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
        agent = ScriptedTransport(ScriptedAgent(TAPE))
        async with httpx.AsyncClient(transport=ReplayRouter(agent, recorder=recorder)) as client:
            assert (await client.post("http://agent/", json=asked(name))).text.count("data: ") == 3
    kept = [recorder.tape(name, {}) for name in ("m1", "m2", "m3")]
    assert [tape and sum(each.event is not None for each in tape.moments) for tape in kept] == [3, 3, None]


async def test_an_answer_is_broken_after_so_many_events() -> None:
    board = ReplayRouter(ScriptedTransport(ScriptedAgent(TAPE)))
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
