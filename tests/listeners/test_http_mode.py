"""The Events API on a real socket: signed, or refused."""

from __future__ import annotations

import asyncio
import hmac
import json
import time

import aiohttp
import pytest

from slack_bot.app import serve
from slack_bot.errors import SettingsError
from slack_bot.listeners.http_mode import EVENTS_PATH, check_address
from slack_bot.testing.harness import CHANNEL, bot_on_network, free_port, wait_until
from slack_bot.testing.slack.server import sign
from slack_bot.testing.slack.workspace import SIGNING_SECRET
from slack_bot.testing.tape.builders import answer

from .payloads import mention


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
        await app.dispatcher.idle()


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
        await app.dispatcher.idle()


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


@pytest.mark.parametrize(("method", "path", "status"), [("GET", EVENTS_PATH, 405), ("POST", "/", 404)])
async def test_there_is_one_address_and_one_method(method: str, path: str, status: int) -> None:
    async with bot_on_network(http=True) as (_, _, app), aiohttp.ClientSession() as session:
        url = f"http://127.0.0.1:{app.settings.slack.http_port}{path}"
        async with session.request(method, url) as answered:
            assert answered.status == status


async def test_a_request_that_never_ends_does_not_hold_the_bot_back() -> None:
    async with asyncio.timeout(20):
        async with bot_on_network(http=True, http_body_timeout=60) as (_, _, app):
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
            SettingsError, match=r"Port \d+ cannot be used \(.+\); set SLACK_BOT_SLACK__HTTP_PORT"
        ):
            await serve(app, asyncio.Event(), http=True)


@pytest.mark.parametrize("host", ["203.0.113.9", '"127.0.0.1"'])
async def test_an_address_that_is_not_this_machine_s_is_named(host: str) -> None:
    with pytest.raises(SettingsError, match=r"is no address of this machine .*SLACK_BOT_SLACK__HTTP_HOST"):
        await check_address(host, 0)


async def test_a_port_is_looked_at_before_anything_else_and_left_free() -> None:
    port = free_port()
    for _ in range(2):
        await check_address("127.0.0.1", port)
    async with bot_on_network(http=True) as (_, _, app):
        port = app.settings.slack.http_port
        with pytest.raises(SettingsError, match=rf"^Port {port} cannot be used \(.+\); set SLACK_BOT_SLACK"):
            await check_address("127.0.0.1", port)
