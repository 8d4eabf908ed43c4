"""Which answer a question gets: the agent's, or a tape's."""

from __future__ import annotations

import json
from typing import Any

import httpx

from slack_bot.playground.switchboard import Switchboard
from slack_bot.tools import virtual
from slack_bot.tools.tape import Recording, Tape, read_tape

EVENTS: list[dict[str, Any]] = [
    {"kind": "task", "id": "task-1", "contextId": "ctx", "status": {"state": "working"}},
    {
        "kind": "artifact-update", "taskId": "task-1", "contextId": "ctx",
        "artifact": {"artifactId": "a", "parts": [{"kind": "text", "text": "from the tape"}]},
    },
    {"kind": "status-update", "taskId": "task-1", "status": {"state": "completed"}, "final": True},
]  # fmt: skip


def tape() -> Tape:
    read = read_tape(json.dumps(EVENTS), "events.json")
    assert isinstance(read, Tape)
    return read


class Network(httpx.AsyncBaseTransport):
    """The real agent."""

    def __init__(self) -> None:
        self.closed = False

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, text="the agent", request=request)

    async def aclose(self) -> None:
        self.closed = True


async def ask(board: Switchboard, method: str, params: Any) -> str:
    async with httpx.AsyncClient(transport=board) as client:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return (await client.post("http://agent/", json=body)).text


def message(message_id: str, **more: str) -> dict[str, Any]:
    return {"message": {"messageId": message_id, "parts": [{"text": "q"}], **more}}


def play(method: str, params: Any, *, plugged: Tape | Recording | None = None) -> str:
    async def story() -> str:
        board = Switchboard(Network())
        board.plug("m1", plugged or tape(), 1.0)
        return await ask(board, method, params)

    return virtual.run(story())


def test_a_plugged_question_gets_its_tape() -> None:
    assert "from the tape" in play("SendStreamingMessage", message("m1"))


def test_any_other_question_gets_the_agent() -> None:
    assert play("SendStreamingMessage", message("m2")) == "the agent"


def test_what_is_asked_about_a_tapes_task_reaches_the_tape() -> None:
    async def story() -> tuple[str, str]:
        board = Switchboard(Network())
        board.plug("m1", tape(), 1.0)
        await ask(board, "message/stream", message("m1"))
        return await ask(board, "tasks/get", {"id": "task-1"}), await ask(board, "tasks/get", {"id": "other"})

    own, other = virtual.run(story())
    assert json.loads(own)["result"]["id"] == "task-1"
    assert other == "the agent"


def test_an_answer_to_a_tapes_task_plays_it_again() -> None:
    assert "from the tape" in play("SendStreamingMessage", message("m9", taskId="task-1"))


def test_the_task_of_a_raw_recording_is_known_too() -> None:
    chunks = tuple((0.0, f"data: {json.dumps({'result': event})}\n\n".encode()) for event in EVENTS)
    recording = Recording(200, {"content-type": "text/event-stream"}, chunks, False)
    assert "from the tape" in play("message/stream", message("m9", taskId="task-1"), plugged=recording)


def test_what_cannot_be_read_is_the_agents_business() -> None:
    for params in (None, [], {"message": "text"}, {"id": 3}, {"message": {"messageId": ["m1"]}}):
        assert play("message/stream", params) == "the agent"


def test_other_requests_reach_the_agent_and_closing_closes_it() -> None:
    async def story() -> tuple[str, bool]:
        network = Network()
        async with httpx.AsyncClient(transport=Switchboard(network)) as client:
            card = (await client.get("http://agent/.well-known/agent-card.json")).text
            odd = (await client.post("http://agent/", content=b"\xff")).text
        return card + odd, network.closed

    assert virtual.run(story()) == ("the agentthe agent", True)
