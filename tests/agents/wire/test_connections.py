"""The pool behind the agent's client, with real servers and proxies."""

from __future__ import annotations

import asyncio
import base64
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpcore
import httpx
import pytest

from slack_bot.agents.wire.connections import client_errors, proxy_transports
from slack_bot.agents.wire.transport import new_http
from slack_bot.errors import SettingsError
from slack_bot.settings.models import AgentSettings
from tests.tls import new_certificate

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
KINDS = [each for each in vars(httpcore).values() if isinstance(each, type) and issubclass(each, Exception)]


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@asynccontextmanager
async def http_proxy(certificate: Path) -> AsyncIterator[tuple[str, list[str]]]:
    """A proxy that answers in the place of each server. Its address, and the heads that it read."""
    heads: list[str] = []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append((await reader.readuntil(b"\r\n\r\n")).decode())
        if heads[-1].startswith("CONNECT"):
            writer.write(b"HTTP/1.1 200 Connected\r\n\r\n")
            await writer.start_tls(context)
            heads.append((await reader.readuntil(b"\r\n\r\n")).decode())
        writer.write(OK)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    async with server:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}", heads


@pytest.mark.parametrize("kind", KINDS)
def test_each_exception_of_httpcore_has_one_of_the_client(kind: type[Exception]) -> None:
    with pytest.raises(httpx.TransportError, match="what it said") as caught, client_errors():
        raise kind("what it said")
    same = "ConnectError" if kind is httpcore.ConnectionNotAvailable else kind.__name__
    assert type(caught.value).__name__ == same
    assert isinstance(caught.value.__cause__, kind)


def test_other_exceptions_pass() -> None:
    with pytest.raises(ZeroDivisionError), client_errors():
        raise ZeroDivisionError


@pytest.mark.parametrize("scheme", ["", "http://"])
async def test_an_agent_is_asked_through_the_proxy_of_the_environment(
    scheme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with http_proxy(new_certificate(tmp_path, "agent.example")) as (address, heads):
        monkeypatch.setenv("HTTP_PROXY", f"{scheme}{address}")
        async with new_http(AgentSettings(url="http://agent.example/")) as http:
            answer = await http.get("http://agent.example/ask?a=1")
    assert answer.text == "ok"
    assert heads[0].startswith("GET http://agent.example/ask?a=1 HTTP/1.1\r\n")
    assert isinstance(answer.extensions["network_stream"], asyncio.BufferedProtocol)


async def test_tls_goes_through_a_tunnel_and_the_login_to_the_proxy_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate = new_certificate(tmp_path, "agent.example")
    async with http_proxy(certificate) as (address, heads):
        monkeypatch.setenv("https_proxy", f"http://ann:s%40cret@{address}")
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        async with new_http(AgentSettings(url="https://agent.example/")) as http:
            assert (await http.get("https://agent.example/ask")).text == "ok"
    login = f"Proxy-Authorization: Basic {base64.b64encode(b'ann:s@cret').decode()}\r\n"
    tunnel, request = heads
    assert tunnel.startswith("CONNECT agent.example:443 HTTP/1.1\r\n")
    assert login in tunnel
    assert request.startswith("GET /ask HTTP/1.1\r\n")
    assert "Authorization" not in request


async def test_a_proxy_that_refuses_or_is_not_there_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as server:
        monkeypatch.setenv("ALL_PROXY", f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        async with new_http(AgentSettings(url="https://agent.example/")) as http:
            with pytest.raises(httpx.ProxyError, match="407 Proxy Authentication Required"):
                await http.get("https://agent.example/")
    async with new_http(AgentSettings(url="https://agent.example/")) as http:
        with pytest.raises(httpx.ConnectError):
            await http.get("https://agent.example/")


async def test_what_no_proxy_names_is_asked_straight(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with http_proxy(new_certificate(tmp_path, "agent.example")) as (address, heads):
        monkeypatch.setenv("HTTP_PROXY", address)
        async with new_http(AgentSettings(url="http://agent.example/")) as http:
            await http.get(f"http://{address}/through")
        monkeypatch.setenv("NO_PROXY", "other.example, 127.0.0.1")
        async with new_http(AgentSettings(url="http://agent.example/")) as http:
            await http.get(f"http://{address}/straight")
    assert [head.split()[1] for head in heads] == [f"http://{address}/through", "/straight"]


def test_the_environment_is_read_as_httpx_reads_it(monkeypatch: pytest.MonkeyPatch) -> None:
    context = ssl.create_default_context()
    assert proxy_transports(context) == {}
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "proxy.example:3128")
    names = "corp.example,.dot.example, 10.0.0.7 ,10.0.0.0/8,fe80::1,LocalHost,https://x.example:8443,,y.example:81"
    monkeypatch.setenv("NO_PROXY", names)
    found = proxy_transports(context)
    assert [name for name, transport in found.items() if transport] == ["http://", "https://", "all://"]
    assert [name for name, transport in found.items() if not transport] == [
        "all://*corp.example",
        "all://*.dot.example",
        "all://10.0.0.7",
        "all://10.0.0.0/8",
        "all://[fe80::1]",
        "all://LocalHost",
        "https://x.example:8443",
        "all://*y.example:81",
    ]
    monkeypatch.setenv("NO_PROXY", "corp.example,*")
    assert proxy_transports(context) == {}


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("ftp://ann:secret@proxy.example", "HTTPS_PROXY is no proxy that can be used"),
        ("http://ann:secret@proxy.example:x", "HTTPS_PROXY is no proxy that can be used"),
        ("socks5://ann:secret@proxy.example", "HTTPS_PROXY is a SOCKS proxy, and socksio, .* is not here"),
    ],
)
def test_a_proxy_that_cannot_be_used_is_named_without_its_login(
    address: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", address)
    with pytest.raises(SettingsError, match=said) as caught:
        new_http(AgentSettings(url="https://agent.example/"))
    assert "secret" not in str(caught.value)
