from __future__ import annotations

import asyncio
import gzip
import ssl
from collections.abc import AsyncIterator

import httpx
import pytest

from slack_bot.a2a.wire.transport import (
    error_from_status,
    map_exceptions,
    media_type,
    new_http,
    not_a2a,
    parse_json,
    read_json,
    with_read_timeout,
)
from slack_bot.errors import (
    AgentError,
    AgentFailed,
    AgentRefused,
    AgentUnreachable,
    BadAgentData,
    StreamCut,
    StreamIdle,
)
from slack_bot.settings.models import AgentSettings
from tests.a2a.memory_server import JSON, URL, json_reply, reply

HOST = "agent.example"


async def test_one_client_without_a_limit_of_connections() -> None:
    settings = AgentSettings(
        url="https://agent.example/", idle_timeout=50, connect_timeout=7, write_timeout=8
    )
    async with new_http(settings) as http:
        assert http.timeout == httpx.Timeout(connect=7, write=8, read=60, pool=7)
        assert not http.follow_redirects
        assert http.trust_env
        assert with_read_timeout(http, 5) == httpx.Timeout(connect=7, write=8, read=15, pool=7)


async def test_an_agent_on_this_machine_is_not_asked_through_a_proxy() -> None:
    async with new_http(AgentSettings(url="http://127.0.0.1:9/")) as http:
        assert not http.trust_env


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (httpx.ConnectError("x"), AgentUnreachable),
        (httpx.ConnectTimeout("x"), AgentUnreachable),
        (httpx.PoolTimeout("x"), AgentUnreachable),
        (httpx.ProxyError("x"), AgentUnreachable),
        (httpx.UnsupportedProtocol("x"), AgentUnreachable),
        (httpx.LocalProtocolError("x"), AgentUnreachable),
        (httpx.InvalidURL("x"), AgentUnreachable),
        (httpx.ReadTimeout("x"), StreamIdle),
        (httpx.WriteTimeout("x"), StreamCut),
        (httpx.WriteError("x"), StreamCut),
        (httpx.ReadError("x"), StreamCut),
        (httpx.CloseError("x"), StreamCut),
        (httpx.RemoteProtocolError("x"), StreamCut),
        (httpx.DecodingError("x"), BadAgentData),
        (ssl.SSLError("bad record mac"), StreamCut),
        (ConnectionResetError("x"), StreamCut),
        (TimeoutError("x"), StreamIdle),
    ],
)
def test_the_table_of_faults(theirs: Exception, ours: type[AgentError]) -> None:
    with pytest.raises(ours) as caught, map_exceptions(HOST):
        raise theirs
    assert type(caught.value) is ours
    assert HOST in str(caught.value)
    assert HOST not in caught.value.safe


def test_other_errors_pass() -> None:
    with pytest.raises(ZeroDivisionError), map_exceptions(HOST):
        raise ZeroDivisionError


def test_the_media_type() -> None:
    assert media_type(httpx.Response(200, headers={"content-type": "Text/Event-Stream; charset=x"})) == (
        "text/event-stream"
    )
    assert media_type(httpx.Response(200)) == ""


async def test_json_is_read_within_bounds() -> None:
    assert await read_json(reply(b'\xef\xbb\xbf{"a"', b": 1}"), HOST, 100) == {"a": 1}
    with pytest.raises(BadAgentData, match="larger than"):
        await read_json(reply(b"x" * 60, b"x" * 60), HOST, 100)
    packed = reply(gzip.compress(b" " * 10_000), headers=JSON | {"content-encoding": "gzip"})
    with pytest.raises(BadAgentData, match="larger than"):
        await read_json(packed, HOST, 100)


@pytest.mark.parametrize("text", ["", "<html>", '{"a": ', "[" * 200_000, "9" * 5000, b"\xff\xfe"])
def test_what_is_not_json(text: str | bytes) -> None:
    with pytest.raises(BadAgentData):
        parse_json(text, HOST)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 413, 429, 503, 302, 308])
async def test_refusals(status: int) -> None:
    error = await error_from_status(reply(b"<html>", status=status, headers={"retry-after": "7"}), HOST)
    assert isinstance(error, AgentRefused)
    assert (error.status, error.retry_after) == (status, 7.0)
    assert HOST in str(error)
    assert str(status) in str(error)
    assert HOST not in error.safe


@pytest.mark.parametrize("after", ["", "Wed, 21 Oct 2026 07:28:00 GMT", "-1"])
async def test_a_retry_after_that_is_no_number_of_seconds(after: str) -> None:
    error = await error_from_status(reply(status=429, headers={"retry-after": after}), HOST)
    assert isinstance(error, AgentRefused)
    assert error.retry_after is None


@pytest.mark.parametrize(
    ("after", "date", "seconds"),
    [
        ("Wed, 21 Oct 2026 07:28:00 GMT", "Wed, 21 Oct 2026 07:27:30 GMT", 30.0),
        ("Wed, 21 Oct 2026 07:28:00 GMT", "Wed, 21 Oct 2026 07:28:30 GMT", 0.0),
        ("Wed, 21 Oct 2026 07:28:00 GMT", "Wed, 21 Oct 2026 07:28:30 -0000", None),
        ("Wed, 21 Oct 2026 07:28:00 +99999999999999", "Wed, 21 Oct 2026 07:27:30 GMT", None),
    ],
)
async def test_a_retry_after_may_be_a_date_by_the_server_s_own_clock(
    after: str, date: str, seconds: float | None
) -> None:
    error = await error_from_status(reply(status=503, headers={"retry-after": after, "date": date}), HOST)
    assert isinstance(error, AgentRefused)
    assert error.retry_after == seconds


@pytest.mark.parametrize("status", [500, 502, 504])
async def test_a_broken_server_or_gateway_has_not_refused(status: int) -> None:
    error = await error_from_status(reply(b"Bad Gateway", status=status), HOST)
    assert isinstance(error, BadAgentData)
    assert str(error) == f"{HOST} answered HTTP {status} instead of A2A"
    assert error.safe == "The agent's server reported an error."


async def test_what_the_body_says() -> None:
    failed = await error_from_status(
        json_reply({"error": {"code": -32600, "message": "no"}}, status=400), HOST
    )
    assert isinstance(failed, AgentFailed)
    assert failed.code == -32600
    said = await error_from_status(json_reply({"error": "Accept header must include x"}, status=400), HOST)
    assert isinstance(said, AgentRefused)
    assert "Accept header must include x" in str(said)
    # a status that says why weighs more than a body
    denied = await error_from_status(json_reply({"error": {"code": -32600}}, status=401), HOST)
    assert isinstance(denied, AgentRefused)


async def test_a_body_that_cannot_be_had_does_not_hide_the_status() -> None:
    for response in (
        reply(b"{", status=404, error=httpx.ReadError("cut")),
        reply(*[b"x" * 50_000] * 3, status=404),
        reply(b"[" * 60_000, status=404),
        json_reply(["x"], status=404),
    ):
        error = await error_from_status(response, HOST)
        assert isinstance(error, AgentRefused)


def test_answers_that_are_not_a2a() -> None:
    page = str(not_a2a(reply(headers={"content-type": "text/html; charset=utf-8"}), HOST))
    assert "a web page (HTTP 200, text/html)" in page
    assert "no content type (HTTP 200)" in str(not_a2a(reply(headers={}), HOST))
    assert URL not in page


async def test_the_loop_runs_while_a_body_comes_in_tiny_chunks() -> None:
    class Hurried(httpx.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            for _ in range(10_000):
                yield b" "
            yield b"{}"

    turns, is_over = 0, False

    def turn() -> None:
        nonlocal turns
        turns += 1
        if not is_over:
            asyncio.get_running_loop().call_soon(turn)

    turn()
    assert await read_json(httpx.Response(200, stream=Hurried()), HOST, 20_000) == {}
    is_over = True
    assert turns >= 100
