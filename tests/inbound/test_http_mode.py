"""The Events API on a real socket: signed, or refused."""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import time
import tracemalloc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest

from slack_bot.app import App, serve
from slack_bot.errors import SettingsError
from slack_bot.inbound.http_mode import EVENTS_PATH
from slack_bot.testing.harness import CHANNEL, bot_on_network, wait_until
from slack_bot.testing.slack.server import sign
from slack_bot.testing.slack.workspace import SIGNING_SECRET
from slack_bot.testing.tape.builders import answer

from .payloads import event, mention


async def test_a_mention_is_acknowledged_and_answered_and_a_press_arrives() -> None:
    async with bot_on_network(answer("Over HTTP.", seconds=0.3), http=True) as (workspace, face, app):
        assert face.events is not None
        assert await face.events.verify()
        root = workspace.say("U1", CHANNEL, f"<@{workspace.bot.user_id}> hi", now=time.time())
        await wait_until(lambda: any(m.state == "sealed" for m in workspace.thread(CHANNEL, root)), workspace)
        (message,) = [m for m in workspace.thread(CHANNEL, root) if m.is_bot]
        assert message.text == "Over HTTP."
        workspace.press("U1", CHANNEL, message.ts, "feedback", now=time.time(), value="positive")
        await wait_until(lambda: any(m.ephemeral_for for m in workspace.thread(CHANNEL, root)), workspace)
        await face.settle()
        assert face.lost == []
        await app.threads.idle()


@pytest.mark.parametrize("how", ["unsigned", "wrong secret", "empty secret", "old", "changed"])
async def test_a_request_that_slack_did_not_sign_is_refused(how: str) -> None:
    async with bot_on_network(http=True) as (_, _, app):
        body = json.dumps(mention())
        at = int(time.time()) - (600 if how == "old" else 0)
        secret = {"wrong secret": "wrong", "empty secret": ""}.get(how, SIGNING_SECRET)
        headers = {"Content-Type": "application/json"}
        if how != "unsigned":
            headers |= {"X-Slack-Request-Timestamp": str(at), "X-Slack-Signature": sign(secret, at, body)}
        url = f"http://127.0.0.1:{app.settings.slack.http_port}{EVENTS_PATH}"
        async with aiohttp.ClientSession() as session:
            sent = body + " " if how == "changed" else body
            async with session.post(url, data=sent, headers=headers) as response:
                assert response.status == 401
        await app.threads.idle()


def signed(body: bytes, at: float) -> dict[str, str]:
    digest = hmac.new(SIGNING_SECRET.encode(), f"v0:{int(at)}:".encode() + body, "sha256").hexdigest()
    return {"X-Slack-Request-Timestamp": str(int(at)), "X-Slack-Signature": f"v0={digest}"}


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"\xff\xfe", None, 400),
        (b"[" * 100_000, None, 400),
        (b"null", None, 400),
        (b"[1]", None, 400),
        (b'{"type": "event_callback", "event": null}', None, 400),
        (b'{"type": "event_callback", "event": []}', None, 400),
        (b'{"type": "event_callback", "event": "message"}', None, 400),
        (b'{"type": "event_callback", "event": {"type": 7}}', None, 400),
        (b'{"type": {}, "event": {"type": "message"}}', None, 400),
        (b'{"type": "block_actions", "actions": null}', None, 400),
        (b'{"type": "block_actions", "actions": [], "user": null, "container": 3}', None, 400),
        (b'{"type": "block_actions", "actions": [7]}', None, 400),
        (b'{"type": "view_submission", "view": [1]}', None, 400),
        (b"payload=%7B", {"Content-Type": "application/x-www-form-urlencoded"}, 400),
        (b"{}", {"X-Slack-Signature": "v0=0"}, 401),
        (b"[" * 100_000, {"X-Slack-Signature": "v0=0"}, 401),
        (b"{}", {"X-Slack-Signature": ""}, 401),
        (b"{}", {"X-Slack-Signature": "v0=é"}, 401),
        (b"{}", {"X-Slack-Request-Timestamp": ""}, 401),
        (b"{}", {"X-Slack-Request-Timestamp": "soon"}, 401),
        (b"{}", {"X-Slack-Request-Timestamp": "1"}, 401),
        (b"{}", {"X-Slack-Request-Timestamp": "9" * 5_000}, 401),
    ],
)
async def test_what_anybody_may_send_is_refused_and_no_error_of_ours(
    body: bytes, headers: dict[str, str] | None, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    async with bot_on_network(http=True) as (_, _, app), aiohttp.ClientSession() as session:
        url = f"http://127.0.0.1:{app.settings.slack.http_port}{EVENTS_PATH}"
        given = {"Content-Type": "application/json", **signed(body, time.time()), **(headers or {})}
        async with session.post(url, data=body, headers=given) as answered:
            assert answered.status == status
        assert [record for record in caplog.records if record.levelname == "ERROR"] == []


async def test_a_question_with_half_an_emoji_is_answered() -> None:
    """It was cut by somebody, and is no less a question."""
    async with bot_on_network(answer("Over HTTP.", seconds=0.1), http=True) as (workspace, _, app):
        root = workspace.say("U1", CHANNEL, f"<@{workspace.bot.user_id}> hi", now=time.time(), is_told=False)
        body = mention(ts=root, text=f"<@{workspace.bot.user_id}> hi \ud83d")
        sent = json.dumps(body).encode()
        url = f"http://127.0.0.1:{app.settings.slack.http_port}{EVENTS_PATH}"
        given = {"Content-Type": "application/json", **signed(sent, time.time())}
        async with (
            aiohttp.ClientSession() as session,
            session.post(url, data=sent, headers=given) as answered,
        ):
            assert answered.status == 200
        await wait_until(lambda: any(m.state == "sealed" for m in workspace.thread(CHANNEL, root)), workspace)


@pytest.mark.parametrize(("method", "path", "status"), [("GET", EVENTS_PATH, 405), ("POST", "/", 404)])
async def test_there_is_one_address_and_one_method(method: str, path: str, status: int) -> None:
    async with bot_on_network(http=True) as (_, _, app), aiohttp.ClientSession() as session:
        url = f"http://127.0.0.1:{app.settings.slack.http_port}{path}"
        async with session.request(method, url) as answered:
            assert answered.status == status


async def test_a_request_that_never_ends_does_not_hold_the_bot_back() -> None:
    async with asyncio.timeout(60):
        async with bot_on_network(http=True, http_body_timeout=600) as (_, _, app):
            reader, writer = await asyncio.open_connection("127.0.0.1", app.settings.slack.http_port)
            head = "".join(f"{name}: {value}\r\n" for name, value in signed(b"", time.time()).items())
            head = f"POST {EVENTS_PATH} HTTP/1.1\r\nHost: bot\r\n{head}Content-Length: 100\r\n\r\n"
            writer.write(head.encode() + b"{")
            await writer.drain()
            # a request that came later has its answer: this one is being read
            url = f"http://127.0.0.1:{app.settings.slack.http_port}/"
            async with aiohttp.ClientSession() as session, session.get(url) as answered:
                assert answered.status == 404
        assert await reader.read() == b""
        writer.close()


async def test_without_a_signing_secret_it_does_not_begin() -> None:
    with pytest.raises(SettingsError, match="SLACK_SIGNING_SECRET is not set"):
        async with bot_on_network(http=True, signing_secret=None):
            pytest.fail("it must not begin")


async def test_a_port_that_is_taken_is_one_sentence() -> None:
    async with bot_on_network(http=True) as (_, _, app):
        with pytest.raises(
            SettingsError, match=r"Port \d+ cannot be used \(.+\); end .*, or set SLACK_BOT_SLACK__HTTP_PORT"
        ):
            await serve(app, asyncio.Event(), http=True)


# -- slow, broken, many or large requests -----------------------------------------------------------------

Socket = tuple[asyncio.StreamReader, asyncio.StreamWriter]
WITHIN = 60.0  # seconds in which anything here must have happened


def head(length: int | None, *, is_recent: bool = True) -> bytes:
    """The head of a request from a sender without the signing secret."""
    at = int(time.time()) - (0 if is_recent else 301)
    size = "Transfer-Encoding: chunked" if length is None else f"Content-Length: {length}"
    return (
        f"POST {EVENTS_PATH} HTTP/1.1\r\nHost: bot\r\n{size}\r\nContent-Type: application/json\r\n"
        f"X-Slack-Request-Timestamp: {at}\r\nX-Slack-Signature: v0={'0' * 64}\r\n\r\n"
    ).encode()


UNSIGNED = f"POST {EVENTS_PATH} HTTP/1.1\r\nHost: bot\r\nContent-Length: 900000\r\n\r\n".encode()


@asynccontextmanager
async def http_bot(**settings: float) -> AsyncIterator[App]:
    async with asyncio.timeout(WITHIN), bot_on_network(http=True, **settings) as (_, _, app):
        yield app


async def connect(app: App, sent: bytes = b"") -> Socket:
    reader, writer = await asyncio.open_connection("127.0.0.1", app.settings.slack.http_port)
    writer.write(sent)
    await writer.drain()
    return reader, writer


async def closed(socket: Socket) -> bytes:
    """Wait until the server closes. Returns what it said before."""
    try:
        return await socket[0].read()
    except ConnectionError:
        return b""
    finally:
        socket[1].close()


async def is_served(app: App) -> bool:
    """A request that Slack signed is answered."""
    body, at = json.dumps(event(text="hello all")), int(time.time())
    headers = {
        "Content-Type": "application/json",
        "X-Slack-Request-Timestamp": str(at),
        "X-Slack-Signature": sign(SIGNING_SECRET, at, body),
    }
    url = f"http://127.0.0.1:{app.settings.slack.http_port}{EVENTS_PATH}"
    async with aiohttp.ClientSession() as session, session.post(url, data=body, headers=headers) as response:
        return response.status == 200


async def test_a_head_that_does_not_come_whole_is_not_waited_for() -> None:
    async with http_bot(http_header_timeout=0.2) as app:
        slow = [await connect(app, UNSIGNED[:size]) for size in (0, 1, 30, len(UNSIGNED) - 2)]
        assert await is_served(app)
        assert [await closed(each) for each in slow] == [b""] * 4


async def test_nor_is_the_head_after_an_answered_request() -> None:
    async with http_bot(http_header_timeout=0.2) as app:
        reader, writer = await connect(app, head(2) + b"{}")
        assert (await reader.readuntil(b"\r\n")).startswith(b"HTTP/1.1 401")
        writer.write(UNSIGNED[:30])
        assert b"401" not in await closed((reader, writer))


async def test_nor_is_one_of_which_a_byte_comes_now_and_then() -> None:
    async with http_bot(http_header_timeout=0.3) as app:
        reader, writer = await connect(app)

        async def drip() -> None:
            for byte in UNSIGNED:
                writer.write(bytes([byte]))
                await writer.drain()
                await asyncio.sleep(0.05)

        dripping = asyncio.create_task(drip())
        assert await closed((reader, writer)) == b""
        dripping.cancel()


async def test_a_body_that_does_not_come_whole_is_not_waited_for() -> None:
    async with http_bot(http_body_timeout=0.2) as app:
        slow = [await connect(app, head(900_000) + b"{" * size) for size in (0, 1, 200_000)]
        slow.append(await connect(app, head(None) + b"5\r\nhello\r\n"))
        assert await is_served(app)
        for each in slow:
            assert (await closed(each)).startswith(b"HTTP/1.1 408")


async def test_a_connection_too_many_takes_the_place_of_the_oldest_that_has_asked_nothing() -> None:
    async with http_bot(http_max_connections=10) as app:
        heads = [await connect(app, UNSIGNED[:30]) for _ in range(10)]
        bodies = [await connect(app, head(900_000) + b"{") for _ in range(10)]
        assert [await closed(each) for each in heads] == [b""] * 10
        assert await is_served(app)
        assert await closed(bodies[0]) == b""
        for _, writer in bodies:
            writer.close()


async def test_many_who_send_nothing_do_not_keep_slack_out(caplog: pytest.LogCaptureFixture) -> None:
    async with http_bot(http_max_connections=20) as app:
        many = [await connect(app, (UNSIGNED[:30], head(900_000))[number % 2]) for number in range(300)]
        for _ in range(5):
            assert await is_served(app)
        for _, writer in many:
            writer.close()
    assert errors(caplog) == []
    (warned,) = [each for each in caplog.records if each.name == "slack_bot.inbound.http_server"]
    assert "SLACK_BOT_SLACK__HTTP_MAX_CONNECTIONS" in warned.getMessage()


@pytest.mark.parametrize("sent", [UNSIGNED, head(900_000, is_recent=False)], ids=["unsigned", "old"])
async def test_what_is_not_slack_s_is_refused_before_its_body_is_read(sent: bytes) -> None:
    async with http_bot() as app:
        reader, writer = await connect(app, sent)  # and no body
        assert (await reader.readuntil(b"\r\n")).startswith(b"HTTP/1.1 401")
        writer.close()


@pytest.mark.parametrize("length", [2_000_000, None])
async def test_a_body_that_is_too_large_is_refused(length: int | None) -> None:
    async with http_bot(http_max_body_bytes=100_000) as app:
        body = b"186a1\r\n" + b"x" * 100_001 + b"\r\n" if length is None else b""
        reader, writer = await connect(app, head(length) + body)
        assert (await reader.readuntil(b"\r\n")).startswith(b"HTTP/1.1 413")
        writer.close()


async def test_unsigned_bodies_are_not_kept() -> None:
    """50 bodies of 900 kB are under way at the same time: 45 MB, were they kept."""

    async def send(app: App) -> bytes:
        reader, writer = await connect(app, UNSIGNED)
        answered = await reader.readuntil(b"\r\n")
        try:
            for _ in range(9):
                writer.write(b"{" * 100_000)
                await writer.drain()
        except ConnectionError:
            pass  # the server has closed: it does not want the rest
        finally:
            writer.close()
        return answered

    async with http_bot() as app:
        tracemalloc.start()
        try:
            before = tracemalloc.get_traced_memory()[0]
            tracemalloc.reset_peak()
            answers = await asyncio.gather(*(send(app) for _ in range(50)))
            peak = tracemalloc.get_traced_memory()[1] - before
        finally:
            tracemalloc.stop()
        assert {each.split()[1] for each in answers} == {b"401"}
        assert peak < 25_000_000  # with the senders' own buffers, which live in this process too


BROKEN = {
    "chunk without size": head(None) + b"zzz\r\nhello\r\n",
    "chunk too long": head(None) + b"5\r\nhelloooooo\r\n0\r\n\r\n",
    "size too large": head(None) + b"ffffffffffffffffffff\r\nhello\r\n",
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "version": b"POST / HTTP/9.9.9\r\n\r\n",
    "no version": b"GET  /\r\nbroken\r\n\r\n",
    "negative length": f"POST {EVENTS_PATH} HTTP/1.1\r\nContent-Length: -1\r\n\r\n".encode(),
    "long header": b"POST / HTTP/1.1\r\nX: " + b"x" * 20_000 + b"\r\n\r\n",
}


def errors(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [each.getMessage() for each in caplog.records if each.exc_info or each.levelno >= logging.ERROR]


@pytest.mark.parametrize("sent", BROKEN.values(), ids=BROKEN)
async def test_a_broken_request_is_refused_without_a_traceback(
    sent: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with http_bot() as app:
        assert (await closed(await connect(app, sent))).split()[1] == b"400"
        assert await is_served(app)
    assert errors(caplog) == []


async def test_a_body_that_breaks_on_its_way_is_refused_without_a_traceback(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    async with http_bot(http_body_timeout=0.5) as app:
        reader, writer = await connect(app, head(None) + b"5\r\nhello\r\n")
        assert await is_served(app)  # the server has begun to read the other one by now
        writer.write(b"zzz\r\n")
        assert (await closed((reader, writer))).split()[1] in (b"400", b"408")
    assert errors(caplog) == []


async def test_a_body_whose_sender_goes_away_leaves_no_traceback(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    async with http_bot() as app:
        for sent in (head(100) + b"{", head(None) + b"5\r\nhello\r\n"):
            _, writer = await connect(app, sent)
            assert await is_served(app)  # the server has begun to read the other one by now
            writer.transport.abort()
        assert await is_served(app)
        assert await is_served(app)
    assert errors(caplog) == []
