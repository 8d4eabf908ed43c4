"""A real Bolt app and slack_sdk against the workspace on the network, and how the app is reached."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any
from urllib.parse import parse_qs

import pytest
from aiohttp import (
    ClientConnectionError,
    ClientSession,
    ClientTimeout,
    ClientWebSocketResponse,
    ClientWSTimeout,
    FormData,
    WSMsgType,
    WSServerHandshakeError,
    web,
)
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackApiError
from slack_sdk.signature import SignatureVerifier
from slack_sdk.web.async_client import AsyncWebClient

from slack_bot.clock import system_clock
from slack_bot.testing.slack.server import EventsApi, SlackServer, sign
from slack_bot.testing.slack.workspace import APP_TOKEN, BOT_TOKEN, SIGNING_SECRET, Envelope

from .scene import NOW, U1, Scene, feedback, modal, plain

BEARER = {"Authorization": f"Bearer {BOT_TOKEN}"}


@asynccontextmanager
async def a_face(**kwargs: Any) -> AsyncIterator[tuple[Scene, SlackServer, ClientSession]]:
    scene = Scene(**kwargs)
    async with ClientSession() as http, SlackServer(scene.workspace, system_clock()) as face:
        yield scene, face, http


async def asked(http: ClientSession, url: str, **kwargs: Any) -> dict[str, Any]:
    async with http.post(url, **kwargs) as response:
        body: dict[str, Any] = await response.json()
        return body


async def test_the_sdk_and_its_stream_work_over_the_network() -> None:
    async with a_face() as (scene, face, http):
        client = AsyncWebClient(token=BOT_TOKEN, base_url=face.api_url, session=http)
        assert (await client.auth_test())["user_id"] == "U0BOT"
        stream = await client.chat_stream(channel="C1", thread_ts=scene.root, **U1, buffer_size=1)
        await stream.append(markdown_text="Hello ")
        await stream.append(markdown_text="world")
        await stream.stop(blocks=[feedback()])
        assert (scene.last().text, scene.last().state) == ("Hello world", "sealed")
        replies = await client.conversations_replies(channel="C1", ts=scene.root)
        assert replies["messages"][1]["text"] == "Hello world"
        with pytest.raises(SlackApiError) as caught:
            await client.chat_appendStream(channel="C1", ts=scene.last().ts, markdown_text="more")
        assert caught.value.response["error"] == "message_not_in_streaming_state"


async def test_every_way_of_sending_arguments() -> None:
    async with a_face() as (_, face, http):
        url = f"{face.api_url}chat.postMessage"
        args = {"channel": "C1", "text": "t"}
        multipart = FormData(args | {"token": BOT_TOKEN})
        multipart.add_field("file", b"x", filename="ignored.txt")
        ways: list[dict[str, Any]] = [
            {"json": args, "headers": BEARER},
            {"data": args | {"token": BOT_TOKEN}},
            {"params": args, "headers": BEARER},
            {"data": multipart},
            {
                "data": json.dumps(args),
                "headers": {**BEARER, "Content-Type": "application/json;charset=utf-8"},
            },
        ]
        for way in ways:
            assert (await asked(http, url, **way))["ok"], way
        assert (await asked(http, url, json=args))["error"] == "not_authed"
        assert (await asked(http, url, json={"token": 7}))["error"] == "not_authed"
        for wrong in ("{", "[]", "[" * 200_000):
            headers = {**BEARER, "Content-Type": "application/json"}
            assert (await asked(http, url, data=wrong, headers=headers))["error"] == "invalid_json"


async def test_a_limit_has_status_and_header() -> None:
    async with a_face(faults={"auth.test": ["ratelimited:3"]}) as (_, face, http):
        response = await http.post(f"{face.api_url}auth.test", headers=BEARER)
        assert (response.status, response.headers["Retry-After"]) == (429, "3")
        assert (await response.json())["error"] == "ratelimited"


async def test_a_bad_line_is_bad_over_the_network_too() -> None:
    faults = {
        "chat.postMessage": ["cut", "cut!", "connect", "http:503", "slow:1", None],
        "upload": ["http:500", "cut!"],
    }
    async with a_face(faults=faults) as (scene, face, http):
        url = f"{face.api_url}chat.postMessage"
        way: dict[str, Any] = {
            "json": {"channel": "C1", "thread_ts": scene.root, "text": "t"},
            "headers": BEARER,
        }
        for applied in (0, 1, 1):
            with pytest.raises(ClientConnectionError):
                await asked(http, url, **way)
            assert len(scene.seen()) == applied
        async with http.post(url, **way) as response:
            assert (response.status, response.content_type) == (503, "text/html")
        assert (await asked(http, url, **way))["ok"]
        async with http.post(f"{face.url}/upload/F9", data=b"x") as response:
            assert (response.status, response.content_type) == (500, "text/html")
        with pytest.raises(ClientConnectionError):
            await http.post(f"{face.url}/upload/F9", data=b"x")


async def test_silence_lasts_until_the_client_gives_up() -> None:
    async with a_face(faults={"chat.postMessage": ["timeout!", "timeout"]}) as (scene, face, http):
        way = {"json": {"channel": "C1", "thread_ts": scene.root, "text": "t"}, "headers": BEARER}
        for _ in range(2):
            with pytest.raises(TimeoutError):
                await asked(http, f"{face.api_url}chat.postMessage", **way, timeout=ClientTimeout(total=0.2))
        assert len(scene.seen()) == 1


async def test_a_face_that_closes_leaves_nobody_hanging() -> None:
    scene, came = Scene(faults={"chat.postMessage": ["timeout!"]}), asyncio.Event()
    scene.workspace.listen(lambda change: came.set())
    async with ClientSession() as http:
        async with SlackServer(scene.workspace, system_clock()) as face:
            url, args = f"{face.api_url}chat.postMessage", {"channel": "C1", "text": "t"}
            call = asyncio.create_task(asked(http, url, json=args, headers=BEARER))
            await came.wait()
        assert (await asyncio.gather(call, return_exceptions=True))[0]


async def test_files_go_up() -> None:
    async with a_face() as (scene, face, http):
        client = AsyncWebClient(token=BOT_TOKEN, base_url=face.api_url, session=http)
        await client.files_upload_v2(channel="C1", thread_ts=scene.root, filename="a.md", content="# All")
        assert [(file.name, file.content) for file in scene.last().files] == [("a.md", b"# All")]
        async with http.post(f"{face.url}/upload/F9", data=b"x") as response:
            assert response.status == 404


async def test_who_reaches_it_by_another_name_gets_addresses_with_that_name() -> None:
    async with a_server(host="0.0.0.0") as (_, face, http):
        place = face.url.replace("0.0.0.0", "127.0.0.2")
        headers = {"Authorization": f"Bearer {APP_TOKEN}"}
        opened = await asked(http, f"{place}/api/apps.connections.open", headers=headers)
        assert opened["url"].startswith(place.replace("http", "ws"))
        async with http.ws_connect(opened["url"]) as socket:
            assert (await socket.receive_json())["type"] == "hello"
        about = {"filename": "a.md", "length": 5}
        upload = await asked(http, f"{place}/api/files.getUploadURLExternal", headers=BEARER, data=about)
        assert upload["upload_url"].startswith(f"{place}/upload/")


class App:
    """A Bolt app that keeps what it hears and answers as a bot would."""

    def __init__(self, face: SlackServer, http: ClientSession) -> None:
        self.client = AsyncWebClient(token=BOT_TOKEN, base_url=face.api_url, session=http)
        self.bolt = AsyncApp(token=BOT_TOKEN, signing_secret=SIGNING_SECRET, client=self.client)
        self.heard: asyncio.Queue[tuple[str, dict[str, Any]]] = asyncio.Queue()
        self.bolt.event("app_mention")(self.mention)
        self.bolt.event("message")(self.message)
        self.bolt.event("agent_session_stopped")(self.stopped)
        self.bolt.action("feedback")(self.pressed)
        self.bolt.view("form")(self.sent)

    async def mention(self, event: dict[str, Any]) -> None:
        await self.heard.put(("mention", event))

    async def message(self, event: dict[str, Any]) -> None:
        await self.heard.put(("message", event))

    async def stopped(self, event: dict[str, Any]) -> None:
        await self.heard.put(("stopped", event))

    async def pressed(self, ack: Any, body: dict[str, Any], respond: Any, client: AsyncWebClient) -> None:
        await ack()
        await respond(text="Thanks", replace_original=False, response_type="ephemeral")
        await client.views_open(
            trigger_id=body["trigger_id"], view=modal(callback_id="form", submit=plain("Send"))
        )
        await self.heard.put(("pressed", body))

    async def sent(self, ack: Any, body: dict[str, Any]) -> None:
        await ack(response_action="clear")
        await self.heard.put(("sent", body))


async def hears_everything(scene: Scene, face: SlackServer, app: App) -> None:
    """A day in the life of an app, whichever way the payloads come."""
    ts = scene.workspace.say("U1", "C1", "<@U0BOT> hi", now=scene.now)
    heard = dict([await app.heard.get(), await app.heard.get()])
    assert (heard["mention"]["ts"], heard["message"]["ts"]) == (ts, ts)
    root = scene.workspace.say("U1", scene.direct, "hi", now=scene.now)
    kind, direct = await app.heard.get()
    assert (kind, direct["channel_type"], "thread_ts" in direct) == ("message", "im", False)
    stream = await app.client.chat_stream(channel=scene.direct, thread_ts=root, **U1)
    await stream.append(markdown_text="42")
    await stream.stop(blocks=[feedback()])
    await face.settle()
    answer = scene.workspace.thread(scene.direct, root)[-1]
    now = system_clock().wall()
    scene.workspace.press("U1", scene.direct, answer.ts, "feedback", now=now, value="negative")
    kind, body = await app.heard.get()
    while kind == "message":  # the changed root of a session: an app hears that too
        kind, body = await app.heard.get()
    assert (kind, body["actions"][0]["value"]) == ("pressed", "negative|k")
    assert scene.workspace.thread(scene.direct, root)[-1].text == "Thanks"
    (view,) = scene.workspace.state.views
    scene.workspace.submit_view("U1", view, {}, now=now)
    kind, body = await app.heard.get()
    assert (kind, body["view"]["callback_id"]) == ("sent", "form")
    scene.workspace.stop("U1", scene.direct, root, now=now)
    assert (await app.heard.get())[0] == "stopped"
    await face.settle()
    assert face.lost == []


async def test_bolt_hears_everything_through_socket_mode() -> None:
    async with a_face() as (scene, face, http):
        app = App(face, http)
        handler = AsyncSocketModeHandler(app.bolt, APP_TOKEN, web_client=app.client)
        await handler.connect_async()
        await hears_everything(scene, face, app)
        await handler.close_async()


async def test_bolt_reconnects_when_it_is_asked_to() -> None:
    async with a_face() as (scene, face, http):
        app = App(face, http)
        handler = AsyncSocketModeHandler(app.bolt, APP_TOKEN, web_client=app.client)
        await handler.connect_async()
        await face.sockets.connected()
        await face.refresh()
        await face.sockets.connected()
        scene.workspace.say("U1", "C1", "after the refresh", now=NOW)
        assert (await app.heard.get())[1]["text"] == "after the refresh"
        await face.settle()
        await handler.close_async()


async def test_bolt_hears_everything_through_the_events_api() -> None:
    scene = Scene()
    async with ClientSession() as http:
        runner, url, apps = await serve_bolt()
        async with SlackServer(scene.workspace, system_clock(), bot_url=url) as face:
            app = App(face, http)
            apps.append(app)
            assert face.events is not None and await face.events.verify()
            await hears_everything(scene, face, app)
        await runner.cleanup()


async def serve_bolt() -> tuple[web.AppRunner, str, list[App]]:
    """Bolt behind an HTTP server. The app joins the list once the workspace has an address."""
    from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request

    apps: list[App] = []

    async def handle(request: web.Request) -> web.Response:
        response = await apps[0].bolt.async_dispatch(await to_bolt_request(request))
        return await to_aiohttp_response(response)

    server = web.Application()
    server.add_routes([web.post("/slack/events", handle)])
    runner = web.AppRunner(server)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    return runner, f"http://127.0.0.1:{runner.addresses[0][1]}/slack/events", apps


QUICK = {"ack_timeout": 0.05, "retry_delays": (0.0, 0.0, 0.0)}


@asynccontextmanager
async def a_server(**times: Any) -> AsyncIterator[tuple[Scene, SlackServer, ClientSession]]:
    scene = Scene()
    async with ClientSession() as http, SlackServer(scene.workspace, system_clock(), **times) as face:
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
    async with a_server() as (_, face, http):
        for _ in range(2):
            with pytest.raises(WSServerHandshakeError):
                await http.ws_connect(f"{face.url}/link/?ticket=ticket-000001")
            await connect(face, http)


async def test_an_acknowledged_envelope_comes_once() -> None:
    async with a_server(**QUICK) as (scene, face, http):
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
    async with a_server(**QUICK) as (scene, face, http):
        socket = await connect(face, http)
        scene.workspace.say("U1", "C1", "hello", now=NOW)
        frames = [await socket.receive_json() for _ in range(4)]
        assert [frame.get("retry_attempt") for frame in frames] == [None, 1, 2, 3]
        assert {frame.get("retry_reason") for frame in frames[1:]} == {"timeout"}
        assert len({frame["payload"]["event_id"] for frame in frames}) == 1
        await face.settle()
        assert [envelope.id for envelope in face.lost] == [frames[0]["envelope_id"]]


async def test_each_envelope_goes_to_one_of_several_sockets() -> None:
    async with a_server() as (scene, face, http):
        sockets = [await connect(face, http) for _ in range(2)]
        for word in ("one", "two"):
            scene.workspace.say("U1", "C1", word, now=NOW)
        got = [await socket.receive_json() for socket in sockets]
        assert {frame["payload"]["event"]["text"] for frame in got} == {"one", "two"}
        for socket, frame in zip(sockets, got, strict=True):
            await socket.send_json({"envelope_id": frame["envelope_id"]})
        await face.settle()


async def test_what_happens_before_anybody_connects_waits() -> None:
    async with a_server() as (scene, face, http):
        scene.workspace.say("U1", "C1", "early", now=NOW)
        socket = await connect(face, http)
        await face.sockets.connected()
        frame = await socket.receive_json()
        assert frame["payload"]["event"]["text"] == "early"
        await socket.send_json({"envelope_id": frame["envelope_id"]})
        await face.settle()


async def test_what_was_acknowledged_may_come_again_by_another_socket() -> None:
    async with a_server(**QUICK) as (scene, face, http):
        first, second = [await connect(face, http) for _ in range(2)]
        scene.workspace.say("U1", "C1", "hello", now=NOW)
        frame = await second.receive_json()
        await second.send_json({"envelope_id": frame["envelope_id"]})
        await face.settle()
        envelope = Envelope(frame["envelope_id"], "events_api", frame["payload"])
        again = asyncio.create_task(face.sockets.repeat(envelope, 2))
        repeated = await first.receive_json()
        assert (repeated["retry_attempt"], repeated["payload"]) == (2, frame["payload"])
        await first.send_json({"envelope_id": repeated["envelope_id"]})
        assert await again
        assert not await face.sockets.repeat(envelope, 3), "nobody acknowledged it"


async def test_refresh_asks_for_a_new_connection_and_the_old_one_gets_nothing_more() -> None:
    async with a_server() as (scene, face, http):
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


async def test_a_warned_socket_is_used_until_slack_closes_it() -> None:
    async with a_server() as (scene, face, http):
        face.sockets.warning_time = 0.2
        old = await connect(face, http)
        await face.sockets.refresh("warning")
        assert (await old.receive_json())["reason"] == "warning"
        scene.workspace.say("U1", "C1", "hello", now=NOW)
        await old.send_json({"envelope_id": (await old.receive_json())["envelope_id"]})
        await face.settle()
        assert (await old.receive()).type is WSMsgType.CLOSE
        assert face.lost == []


async def test_an_app_has_ten_connections_and_the_next_one_is_told_so() -> None:
    async with a_server() as (_, face, http), AsyncExitStack() as stack:
        ten = [await connect(face, http) for _ in range(10)]
        url = f"{face.api_url}apps.connections.open"
        for _ in range(2):
            async with http.post(url, headers={"Authorization": f"Bearer {APP_TOKEN}"}) as response:
                socket = await http.ws_connect((await response.json())["url"])
            told = await socket.receive_json()
            assert (told["type"], told["reason"]) == ("disconnect", "too_many_websockets")
            assert (await socket.receive()).type is WSMsgType.CLOSE
        assert face.sockets.connections == 10
        await ten.pop().close()
        for socket in (*ten, await connect(face, http)):
            stack.push_async_callback(socket.close)


@pytest.mark.parametrize("answers_pings", [False, True])
async def test_a_frozen_socket_hears_and_says_nothing_and_others_get_what_it_swallowed(
    answers_pings: bool,
) -> None:
    async with a_server(**QUICK) as (scene, face, http):
        headers = {"Authorization": f"Bearer {APP_TOKEN}"}
        async with http.post(f"{face.api_url}apps.connections.open", headers=headers) as response:
            url = (await response.json())["url"]
        frozen = await http.ws_connect(url, autoping=False, timeout=ClientWSTimeout(ws_close=0.1))
        await frozen.receive_json()
        other = await connect(face, http)
        face.sockets.freeze(answers_pings=answers_pings)
        await frozen.ping(b"there?")
        for word in ("one", "two"):
            scene.workspace.say("U1", "C1", word, now=NOW)
        for _ in range(2):
            await other.send_json({"envelope_id": (await other.receive_json())["envelope_id"]})
        await face.settle()
        assert (len(face.sockets.acknowledged), face.lost, face.sockets.connections) == (2, [], 2)
        if answers_pings:
            assert (await frozen.receive(1.0)).type is WSMsgType.PONG
        else:
            with pytest.raises(TimeoutError):
                await frozen.receive(0.05)
        await frozen.close()
        await other.close()


async def test_a_socket_that_goes_away_is_forgotten_and_another_gets_the_envelope() -> None:
    async with a_server(**QUICK) as (scene, face, http):
        first, second = await connect(face, http), await connect(face, http)
        await first.close()
        scene.workspace.say("U1", "C1", "hello", now=NOW)
        frame = await second.receive_json()
        await second.send_json({"envelope_id": frame["envelope_id"]})
        await face.settle()
        assert face.sockets.connections == 1


async def test_closing_the_face_closes_the_sockets_whatever_waits() -> None:
    async with a_server() as (scene, face, http):
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
    return SlackServer(scene.workspace, system_clock(), bot_url=url, retry_delays=AT_ONCE, **times)


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
    async with an_app(yes) as (url, heard), SlackServer(scene.workspace, system_clock(), bot_url=url) as face:
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


async def test_only_a_2xx_acknowledges() -> None:
    scene = Scene()
    to_itself = {"Location": "/slack/events"}

    def answer(number: int, body: str) -> web.Response:
        if number == 1:
            return web.Response(status=304)
        return web.Response(status=307 if number <= 4 else 204, headers=to_itself)

    async with an_app(answer) as (url, heard), a_posting_face(scene, url) as face:
        scene.workspace.say("U1", "C1", "hello", now=NOW)
        await face.settle()
        assert face.lost == []
    reasons = [headers.get("X-Slack-Retry-Reason") for headers, _ in heard]
    assert reasons == [None, *["http_error"] * 3, "too_many_redirects"]


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
        events = EventsApi(url, system_clock())
        assert await events.verify()
        await events.close()
    async with an_app(yes) as (url, _):
        events = EventsApi(url, system_clock())
        assert not await events.verify()
        await events.close()
