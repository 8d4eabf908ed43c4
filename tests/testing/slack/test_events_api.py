"""The Events API: signatures that Slack's own verifier accepts, retries with their headers, the handshake."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs

from aiohttp import web
from slack_sdk.signature import SignatureVerifier

from slack_bot.clock import loop_clock
from slack_bot.testing.slack.events_api import EventsApi, sign
from slack_bot.testing.slack.server import SlackServer
from slack_bot.testing.slack.workspace import SIGNING_SECRET

from .scene import NOW, Scene, feedback

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


def a_face(scene: Scene, url: str, **times: Any) -> SlackServer:
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

    async with an_app(third_time) as (url, heard), a_face(scene, url) as face:
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
        a_face(scene, url) as face,
    ):
        scene.workspace.say("U1", "C1", "hello", now=NOW)
        await face.settle()
        assert (len(heard), len(face.lost)) == (4, 1)


async def test_an_app_can_end_the_retries() -> None:
    scene = Scene()
    refusal = {"x-slack-no-retry": "1"}
    async with (
        an_app(lambda number, body: web.Response(status=500, headers=refusal)) as (url, heard),
        a_face(scene, url) as face,
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

    async with an_app(wakes_up) as (url, heard), a_face(scene, url, ack_timeout=0.1) as face:
        scene.workspace.say("U1", "C1", "hello", now=NOW)
        await face.settle()
    assert heard[1][0]["X-Slack-Retry-Reason"] == "http_timeout"
    async with a_face(scene, url) as face:
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
