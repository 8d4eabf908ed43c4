import httpx
import pytest

from slack_bot.testing.agent.scripted import ScriptedAgent
from slack_bot.testing.agent.server import serve_scripted
from slack_bot.testing.tape.tape import Moment, Recording, Tape

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
