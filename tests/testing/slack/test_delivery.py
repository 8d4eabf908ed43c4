"""How the app is reached: Socket Mode with its acknowledgements, the Events API with its signatures."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs

import pytest
from aiohttp import ClientSession, ClientWebSocketResponse, WSMsgType, WSServerHandshakeError, web
from slack_sdk.signature import SignatureVerifier

from slack_bot.clock import loop_clock
from slack_bot.testing.slack.delivery import EventsApi, sign
from slack_bot.testing.slack.server import SlackServer
from slack_bot.testing.slack.workspace import APP_TOKEN, SIGNING_SECRET

from .scene import NOW, Scene, feedback

QUICK = {"ack_timeout": 0.05, "retry_delays": (0.0, 0.0, 0.0)}


@asynccontextmanager
async def a_face(**times: Any) -> AsyncIterator[tuple[Scene, SlackServer, ClientSession]]:
    scene = Scene()
    async with ClientSession() as http, SlackServer(scene.workspace, loop_clock(), **times) as face:
        yield scene, face, http


async def connect(face: SlackServer, http: ClientSession) -> ClientWebSocketResponse:
    """A socket that has been greeted."""
    headers = {"Authorization": f"Bearer {APP_TOKEN}"}
    async with http.post(f"{face.api_url}apps.connections.open", headers=headers) as response:
        url = (await response.json())["url"]
    socket = await http.ws_connect(url)
    hello = await socket.receive_json()
    assert hello["type"] == "hello"
    assert hello["num_connections"] == face.sockets.connections
    return socket


async def test_a_ticket_is_needed_and_good_once() -> None:
    async with a_face() as (_, face, http):
        for _ in range(2):
            with pytest.raises(WSServerHandshakeError):
                await http.ws_connect(f"{face.url}/link/?ticket=ticket-000001")
            await connect(face, http)


async def test_an_acknowledged_envelope_comes_once() -> None:
    async with a_face(**QUICK) as (scene, face, http):
        socket = await connect(face, http)
        scene.workspace.say("U1", "C1", "hello", now=NOW)
        envelope = await socket.receive_json()
        assert (envelope["type"], envelope["payload"]["event"]["text"]) == ("events_api", "hello")
        assert "retry_attempt" not in envelope
        await socket.send_str("not json")
        await socket.send_str("[" * 200_000)
        await socket.send_str("[]")
        await socket.send_json({"envelope_id": "of nobody"})
        await socket.send_json({"envelope_id": envelope["envelope_id"], "payload": {"a": 1}})
        await face.settle()
        assert (face.sockets.acknowledged, face.lost) == ({envelope["envelope_id"]: {"a": 1}}, [])


async def test_silence_brings_it_again_three_times_and_then_it_is_lost() -> None:
    async with a_face(**QUICK) as (scene, face, http):
        socket = await connect(face, http)
        scene.workspace.say("U1", "C1", "hello", now=NOW)
        frames = [await socket.receive_json() for _ in range(4)]
        assert [frame.get("retry_attempt") for frame in frames] == [None, 1, 2, 3]
        assert {frame.get("retry_reason") for frame in frames[1:]} == {"timeout"}
        assert len({frame["payload"]["event_id"] for frame in frames}) == 1
        await face.settle()
        assert [envelope.id for envelope in face.lost] == [frames[0]["envelope_id"]]


async def test_each_envelope_goes_to_one_of_several_sockets() -> None:
    async with a_face() as (scene, face, http):
        sockets = [await connect(face, http) for _ in range(2)]
        for word in ("one", "two"):
            scene.workspace.say("U1", "C1", word, now=NOW)
        got = [await socket.receive_json() for socket in sockets]
        assert {frame["payload"]["event"]["text"] for frame in got} == {"one", "two"}
        for socket, frame in zip(sockets, got, strict=True):
            await socket.send_json({"envelope_id": frame["envelope_id"]})
        await face.settle()


async def test_what_happens_before_anybody_connects_waits() -> None:
    async with a_face() as (scene, face, http):
        scene.workspace.say("U1", "C1", "early", now=NOW)
        socket = await connect(face, http)
        await face.sockets.connected()
        frame = await socket.receive_json()
        assert frame["payload"]["event"]["text"] == "early"
        await socket.send_json({"envelope_id": frame["envelope_id"]})
        await face.settle()


async def test_refresh_asks_for_a_new_connection_and_the_old_one_gets_nothing_more() -> None:
    async with a_face() as (scene, face, http):
        old = await connect(face, http)
        await face.refresh()
        assert (await old.receive_json())["reason"] == "refresh_requested"
        assert face.sockets.connections == 1, "it is still open"
        new = await connect(face, http)
        await old.close()
        scene.workspace.say("U1", "C1", "hello", now=NOW)
        frame = await new.receive_json()
        await new.send_str(json.dumps({"envelope_id": frame["envelope_id"]}))
        await face.settle()


async def test_a_socket_that_goes_away_is_forgotten_and_another_gets_the_envelope() -> None:
    async with a_face(**QUICK) as (scene, face, http):
        first, second = await connect(face, http), await connect(face, http)
        await first.close()
        scene.workspace.say("U1", "C1", "hello", now=NOW)
        frame = await second.receive_json()
        await second.send_json({"envelope_id": frame["envelope_id"]})
        await face.settle()
        assert face.sockets.connections == 1


async def test_closing_the_face_closes_the_sockets_whatever_waits() -> None:
    async with a_face() as (scene, face, http):
        socket = await connect(face, http)
        scene.workspace.say("U1", "C1", "hello", now=NOW)
        await socket.receive_json()
        await face.__aexit__(None, None, None)
        assert (await socket.receive()).type in (WSMsgType.CLOSE, WSMsgType.CLOSED)
        await face.__aenter__()


Heard = list[tuple[dict[str, str], str]]
AT_ONCE = (0.0, 0.0, 0.0)


@asynccontextmanager
async def an_app(answer: Callable[[int, str], Any]) -> AsyncIterator[tuple[str, Heard]]:
    """An app on the network that keeps what it hears; `answer` gets a request's number and its body."""
    heard: Heard = []

    async def handle(request: web.Request) -> web.Response:
        body = await request.text()
        heard.append((dict(request.headers), body))
        response = answer(len(heard), body)
        if asyncio.iscoroutine(response):
            response = await response
        assert isinstance(response, web.Response)
        return response

    app = web.Application()
    app.add_routes([web.post("/slack/events", handle)])
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}/slack/events", heard
    await runner.cleanup()


def a_posting_face(scene: Scene, url: str, **times: Any) -> SlackServer:
    """A workspace that posts to `url` and comes again at once."""
    return SlackServer(scene.workspace, loop_clock(), bot_url=url, retry_delays=AT_ONCE, **times)


def yes(number: int, body: str) -> web.Response:
    return web.Response(text="")


def test_the_signature_is_slacks() -> None:
    verifier = SignatureVerifier(SIGNING_SECRET)
    assert verifier.generate_signature(timestamp="1700000000", body="a=b") == sign(
        SIGNING_SECRET, 1_700_000_000, "a=b"
    )


async def test_events_and_presses_arrive_signed() -> None:
    scene = Scene()
    ts = scene.post(text="t", blocks=[feedback()])
    scene.workspace.take()
    async with an_app(yes) as (url, heard), SlackServer(scene.workspace, loop_clock(), bot_url=url) as face:
        scene.workspace.say("U1", "C1", "hello", now=NOW)
        await face.settle()
        scene.workspace.press("U1", "C1", ts, "feedback", now=NOW)
        await face.settle()
    (event_headers, event), (press_headers, press) = heard
    verifier = SignatureVerifier(SIGNING_SECRET)
    assert verifier.is_valid_request(event, event_headers)
    assert verifier.is_valid_request(press, press_headers)
    assert json.loads(event)["event"]["text"] == "hello"
    assert json.loads(parse_qs(press)["payload"][0])["actions"][0]["action_id"] == "feedback"
    assert face.events is not None and len(face.events.acknowledged) == 2


async def test_an_error_brings_it_again_and_says_so() -> None:
    scene = Scene()

    def third_time(number: int, body: str) -> web.Response:
        return web.Response(status=200 if number == 3 else 503)

    async with an_app(third_time) as (url, heard), a_posting_face(scene, url) as face:
        scene.workspace.say("U1", "C1", "hello", now=NOW)
        await face.settle()
        assert face.lost == []
    retries = [
        (headers.get("X-Slack-Retry-Num"), headers.get("X-Slack-Retry-Reason")) for headers, _ in heard
    ]
    assert retries == [(None, None), ("1", "http_error"), ("2", "http_error")]
    assert len({body for _, body in heard}) == 1


async def test_after_three_retries_it_is_lost() -> None:
    scene = Scene()
    async with (
        an_app(lambda number, body: web.Response(status=404)) as (url, heard),
        a_posting_face(scene, url) as face,
    ):
        scene.workspace.say("U1", "C1", "hello", now=NOW)
        await face.settle()
        assert (len(heard), len(face.lost)) == (4, 1)


async def test_an_app_can_end_the_retries() -> None:
    scene = Scene()
    refusal = {"x-slack-no-retry": "1"}
    async with (
        an_app(lambda number, body: web.Response(status=500, headers=refusal)) as (url, heard),
        a_posting_face(scene, url) as face,
    ):
        scene.workspace.say("U1", "C1", "hello", now=NOW)
        await face.settle()
        assert (len(heard), len(face.lost)) == (1, 1)


async def test_silence_and_a_closed_door_have_their_own_names() -> None:
    scene = Scene()

    async def never(number: int, body: str) -> web.Response:
        await asyncio.Event().wait()
        return web.Response()

    def wakes_up(number: int, body: str) -> Any:
        return yes(number, body) if number > 1 else never(number, body)

    async with an_app(wakes_up) as (url, heard), a_posting_face(scene, url, ack_timeout=0.1) as face:
        scene.workspace.say("U1", "C1", "hello", now=NOW)
        await face.settle()
    assert heard[1][0]["X-Slack-Retry-Reason"] == "http_timeout"
    async with a_posting_face(scene, url) as face:
        scene.workspace.say("U1", "C1", "hello", now=NOW)
        await face.settle()
        assert len(face.lost) == 1


async def test_the_handshake() -> None:
    async with an_app(
        lambda number, body: web.json_response({"challenge": json.loads(body)["challenge"]})
    ) as (url, _):
        events = EventsApi(url, loop_clock())
        assert await events.verify()
        await events.close()
    async with an_app(yes) as (url, _):
        events = EventsApi(url, loop_clock())
        assert not await events.verify()
        await events.close()
