"""The tap hears everything, and the client gets all that it can bear."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from typing import Any, Literal

import httpx
import pytest

from slack_bot.clock import system_clock
from slack_bot.errors import BadEncoding
from slack_bot.testing.tape.items import Moment
from slack_bot.tools.capture.http_tap import HttpTap
from slack_bot.tools.capture.tape_writer import TappedCall
from tests.agents.memory_server import JSON, SSE, Server, reply

TASK = {"kind": "task", "id": "t", "status": {"state": "working"}}
QUESTION = {
    "jsonrpc": "2.0",
    "id": "7",
    "method": "message/stream",
    "params": {"message": {"parts": [{"kind": "text", "text": "hello"}]}},
}


class Listener:
    """Keeps all it is told."""

    def __init__(self) -> None:
        self.calls: list[TappedCall] = []
        self.statuses: list[int] = []
        self.data = b""
        self.moments: list[Moment] = []
        self.ends: list[str] = []

    def on_request(self, t: float, call: TappedCall, body: bytes) -> None:
        self.calls.append(call)

    def on_response(self, t: float, status: int, headers: Mapping[str, str]) -> None:
        self.statuses.append(status)

    def on_data(self, t: float, data: bytes, moment: Moment | None) -> None:
        self.data += data
        self.moments += [moment] if moment is not None else []

    def on_end(self, t: float, end: Literal["closed", "cut"]) -> None:
        self.ends.append(end)


def event(value: Any) -> bytes:
    return b"data: " + (value if isinstance(value, bytes) else json.dumps(value).encode()) + b"\n\n"


async def overheard(
    response: httpx.Response, body: Any = QUESTION, most: int = 10_000
) -> tuple[Listener, bytes]:
    """What the listener gets of an answer, and what the client reads of it."""
    listener, server = Listener(), Server(lambda _: response)
    async with httpx.AsyncClient(transport=server) as http:
        tap = HttpTap(http, [listener], system_clock(), most)
        assert tap.now() == 0
        async with http.stream("POST", "http://a/", content=json.dumps(body)) as got:
            read = b""
            try:
                async for chunk in got.aiter_bytes():
                    read += chunk
            except httpx.HTTPError:
                read += b"BROKEN"
    return listener, read


async def test_a_stream_is_heard_and_handed_on() -> None:
    stream = b": ping\n\n" + event({"result": TASK}) + b"id: 7\n\n"
    listener, read = await overheard(reply(stream[:20], stream[20:]))
    assert read == listener.data == stream
    assert [(moment.comment, moment.event) for moment in listener.moments] == [("ping", None), (None, TASK)]
    assert (listener.statuses, listener.ends) == ([200], ["closed"])
    assert listener.calls == [TappedCall("message/stream", "ask", "0.3", "7", "hello")]


async def test_what_the_client_would_choke_on_is_heard_and_withheld() -> None:
    error = {"error": {"code": -32603, "message": "boom"}}
    stream = event({"result": TASK}) + event(b"{oops") + event(b"5") + event(error) + event({"result": TASK})
    listener, read = await overheard(reply(stream))
    assert listener.data == stream
    assert [bool(moment.event) for moment in listener.moments] == [True, False, False, False, True]
    assert read.count(b"withheld") == 3
    assert read.count(b"data: ") == 2


async def test_an_error_that_comes_first_is_the_clients() -> None:
    listener, read = await overheard(reply(event({"error": {"code": -32601, "message": "no"}})))
    assert b"-32601" in read
    assert listener.moments[0].error == {"code": -32601, "message": "no"}


async def test_a_broken_connection_is_a_cut_and_its_last_bytes_are_kept() -> None:
    broken = httpx.RemoteProtocolError("gone")
    listener, read = await overheard(reply(event({"result": TASK}), b"data: {half", error=broken))
    assert read.endswith(b"BROKEN")
    assert listener.ends == ["cut"]
    assert [moment.raw for moment in listener.moments][1:] == ["data: {half", None]
    assert listener.moments[-1].comment == "the connection broke (RemoteProtocolError)"


async def test_a_stream_that_ends_inside_an_event_ends_so_for_the_client_too() -> None:
    listener, read = await overheard(reply(event({"result": TASK}) + b"data: {half"))
    assert listener.ends == ["closed"]
    assert listener.moments[-1].raw == "data: {half"
    assert b"half" not in read  # it is no JSON: the client would only say so


@pytest.mark.parametrize("packed", [False, True])
async def test_an_answer_in_one_piece(packed: bool) -> None:
    body = json.dumps({"result": TASK}).encode()
    headers = {**JSON, "content-encoding": "gzip"} if packed else JSON
    listener, read = await overheard(reply(gzip.compress(body) if packed else body, headers=headers))
    assert read == listener.data == body
    assert [moment.event for moment in listener.moments] == [TASK]


async def test_a_bomb_is_listened_to_in_small_pieces() -> None:
    headers = {**JSON, "content-encoding": "gzip"}
    with pytest.raises(BadEncoding, match="grows too much"):
        await overheard(reply(gzip.compress(b" " * 64 * 1024 * 1024), headers=headers), most=100)


async def test_a_compression_that_is_not_known_is_left_for_the_client() -> None:
    listener, read = await overheard(reply(b"\x0b\x02\x80{}\x03", headers={**JSON, "content-encoding": "br"}))
    assert read == listener.data == b"\x0b\x02\x80{}\x03"


async def test_an_event_without_end_does_not_fill_the_memory() -> None:
    listener, read = await overheard(reply(*[b"x" * 40] * 10), most=100)
    assert listener.data == read == b"x" * 400
    assert [len(moment.raw or "") for moment in listener.moments] == [120, 120, 120, 40]


@pytest.mark.parametrize("body", [{"grant_type": "client_credentials"}, [1], {"jsonrpc": "1.0"}])
async def test_other_requests_are_not_listened_to(body: Any) -> None:
    listener, read = await overheard(reply(b'{"access_token": "secret"}', headers=JSON), body)
    assert read
    assert (listener.calls, listener.moments, listener.data) == ([], [], b"")


async def test_forms_and_cards_are_not_listened_to() -> None:
    listener, server = Listener(), Server(lambda _: reply(b"{}", headers=JSON))
    async with httpx.AsyncClient(transport=server) as http:
        HttpTap(http, [listener], system_clock(), 100)
        await http.get("http://a/card")
        await http.post("http://a/token", data={"client_secret": "x"})
    assert listener.calls == [] and listener.statuses == []


@pytest.mark.parametrize("hung_up,expected", [(False, "cut"), (True, "closed")])
async def test_who_leaves_early_cuts_unless_all_was_said(hung_up: bool, expected: str) -> None:
    listener, server = (
        Listener(),
        Server(lambda _: reply(event({"result": TASK}), event({"result": TASK}), headers=SSE)),
    )
    async with httpx.AsyncClient(transport=server) as http:
        tap = HttpTap(http, [listener], system_clock(), 1000)
        async with http.stream("POST", "http://a/", content=json.dumps(QUESTION)) as got:
            await anext(got.aiter_bytes())
            tap.is_done = hung_up
    assert listener.ends == [expected]
