"""Socket Mode from the app's side: tickets, acknowledgements, redelivery, several sockets, refresh."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import ClientSession, ClientWebSocketResponse, WSMsgType, WSServerHandshakeError

from slack_bot.clock import loop_clock
from slack_bot.testing.slack.server import SlackServer
from slack_bot.testing.slack.workspace import APP_TOKEN

from .scene import NOW, Scene

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
