"""Fetching what an agent named, over TLS with a real server; only the way there is bent to this machine."""

from __future__ import annotations

import asyncio
import gzip
import ssl
import zlib
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpcore
import httpx
import pytest

from slack_bot.settings.web import WebSettings
from slack_bot.web.fetch import NotFetched, WebFetcher, WebFile
from tests.tls import new_certificate

PUBLIC, OTHER = "93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"
NAMES = ("files.example", "other.example")
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(64))
LIMIT = 1000


def answer(body: bytes = PNG, *headers: str, status: str = "200 OK", length: int | None = None) -> bytes:
    """An HTTP answer, as it stands on the wire."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body) if length is None else length}", *headers]
    return "\r\n".join([*lines, "Connection: close", "", ""]).encode() + body


def moved(location: str) -> bytes:
    return answer(b"", f"Location: {location}", status="302 Found")


BOMB = gzip.compress(bytes(100_000))
DEFLATED = zlib.compress(PNG)
IMAGE = "Content-Type: image/png; charset=binary"
PAGES: Mapping[str, bytes] = {
    "/a.png": answer(PNG, IMAGE),
    "/packed": answer(gzip.compress(PNG), IMAGE, "Content-Encoding: gzip"),
    "/deflated": answer(DEFLATED, IMAGE, "Content-Encoding: deflate"),
    "/to/other": moved("https://other.example/a.png"),
    "/1": moved("/2"),
    "/2": moved("/3"),
    "/3": moved("/a.png"),
    "/0": moved("/1"),
    "/to/http": moved("http://files.example/a.png"),
    "/to/evil": moved("https://evil.example/a.png"),
    "/to/inside": moved("https://inside.example/a.png"),
    "/missing": answer(b"no", status="404 Not Found"),
    "/login": answer(b"<html>", "Content-Type: text/html; charset=utf-8"),
    "/announced": answer(b"", IMAGE, length=LIMIT + 1),
    "/large": answer(bytes(LIMIT + 1), IMAGE).replace(b"Content-Length: 1001\r\n", b""),
    "/bomb": answer(BOMB, IMAGE, "Content-Encoding: gzip"),
    "/cut-bomb": answer(gzip.compress(PNG)[:-9], IMAGE, "Content-Encoding: gzip"),
    "/not-packed": answer(PNG, IMAGE, "Content-Encoding: gzip"),
    "/brotli": answer(PNG, IMAGE, "Content-Encoding: br"),
    "/short": answer(PNG[:5], IMAGE, length=50),
    "/nonsense": b"SSH-2.0-OpenSSH\r\n\r\n",
    "/slow": b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n1",
    "/silent": b"",
}
WAITS = {"/slow", "/silent"}


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return new_certificate(tmp_path_factory.mktemp("tls"), *NAMES, "inside.example")


class Bent(httpcore.AsyncNetworkBackend):
    """Leads every connection to this machine; `machines` are those that were meant."""

    def __init__(self, port: int, refusing: Collection[str]) -> None:
        self._real, self._port, self._refusing = httpcore.AnyIOBackend(), port, refusing
        self.machines: list[tuple[str, int]] = []

    async def connect_tcp(self, host: str, port: int, *_: Any, **options: Any) -> httpcore.AsyncNetworkStream:
        self.machines.append((host, port))
        if host in self._refusing:
            raise httpcore.ConnectError("refused")
        return await self._real.connect_tcp("127.0.0.1", self._port, timeout=options.get("timeout"))


class Internet:
    """`dns`: what a name leads to, one list for each time it is asked for; `heads`: what the server heard."""

    def __init__(self) -> None:
        self.dns: dict[str, list[list[str]]] = {name: [[PUBLIC]] for name in NAMES}
        self.heads: list[str] = []
        self.refusing: set[str] = set()
        self.asked: list[str] = []
        self._over = asyncio.Event()
        self._connections = 0

    async def resolve(self, host: str, _: int) -> list[str]:
        self.asked.append(host)
        answers = self.dns.get(host, [])
        if not answers:
            raise OSError("Name or service not known")
        return answers.pop(0) if len(answers) > 1 else answers[0]

    async def _handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections += 1
        try:
            await writer.start_tls(self._served)
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            self.heads.append(head)
            path = head.split(" ", 2)[1]
            writer.write(PAGES[path])
            await writer.drain()
            if path in WAITS:
                await reader.read()
        except (OSError, asyncio.IncompleteReadError):  # the client has gone; a TLS error is an OSError
            pass
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()
            self._connections -= 1
            self._over.set()

    @asynccontextmanager
    async def fetcher(
        self, certificate: Path, *, trusts: bool = True, **settings: Any
    ) -> AsyncIterator[WebFetcher]:
        self._served = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._served.load_cert_chain(certificate)
        server = await asyncio.start_server(self._handle, "127.0.0.1", 0)
        self.backend = Bent(server.sockets[0].getsockname()[1], self.refusing)
        trusted = ssl.create_default_context(cafile=str(certificate) if trusts else None)

        def new_transport() -> httpx.AsyncHTTPTransport:
            transport = httpx.AsyncHTTPTransport()
            transport._pool = httpcore.AsyncConnectionPool(trusted, network_backend=self.backend)
            return transport

        given = {
            "fetch_hosts": (*NAMES, "inside.example"),
            "max_bytes": LIMIT,
            "fetch_timeout": 60.0,
            **settings,
        }
        async with server:
            yield WebFetcher(WebSettings(**given), self.resolve, new_transport)
        while self._connections:  # a transport that is left open is complained of in any later test
            self._over.clear()
            await self._over.wait()


async def test_a_file_is_fetched_from_the_machine_that_was_judged(certificate: Path) -> None:
    internet = Internet()
    internet.dns["files.example"] = [[PUBLIC], ["127.0.0.1"]]  # DNS that changes between check and fetch
    async with internet.fetcher(certificate) as web:
        assert await web.fetch("https://files.example/a.png") == WebFile(PNG, "image/png")
        assert internet.backend.machines == [(PUBLIC, 443)]
        assert internet.asked == ["files.example"]
        (head,) = internet.heads
        assert "Host: files.example\r\n" in head
        assert not {"authorization", "cookie", "referer"} & {
            line.split(":")[0].lower() for line in head.split("\r\n")
        }
        again = await web.fetch("https://files.example/a.png")
        assert isinstance(again, NotFetched)
        assert again.reason == (
            "The file was not fetched, because files.example leads to a machine that is not public."
        )


async def test_what_is_packed_is_unpacked(certificate: Path) -> None:
    async with Internet().fetcher(certificate) as web:
        for path in ("packed", "deflated"):
            assert await web.fetch(f"https://files.example/{path}") == WebFile(PNG, "image/png")


async def test_three_redirects_are_followed_each_to_a_machine_that_was_judged(certificate: Path) -> None:
    internet = Internet()
    internet.dns["other.example"] = [[OTHER]]
    async with internet.fetcher(certificate) as web:
        assert await web.fetch("https://files.example/1") == WebFile(PNG, "image/png")
        assert await web.fetch("https://files.example/to/other") == WebFile(PNG, "image/png")
        assert internet.backend.machines[-2:] == [(PUBLIC, 443), (OTHER, 443)]
        assert "Host: other.example\r\n" in internet.heads[-1]


async def test_where_one_machine_takes_no_connection_the_next_is_tried(certificate: Path) -> None:
    internet = Internet()
    internet.dns["files.example"] = [[OTHER, PUBLIC]]
    internet.refusing.add(OTHER)
    async with internet.fetcher(certificate) as web:
        assert isinstance(await web.fetch("https://files.example/a.png"), WebFile)
        internet.refusing.add(PUBLIC)
        refused = await web.fetch("https://files.example/a.png")
        assert "its server could not be reached" in str(refused)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/0", "it sends on more than 3 times"),
        ("/to/http", "it does not begin with https://"),
        ("/to/evil", "evil.example is not among the allowed hosts"),
        ("/to/inside", "inside.example leads to a machine that is not public"),
        ("/missing", "its server answered with 404"),
        ("/login", "it is text/html, which is not what was named"),
        ("/announced", "it is larger than 1,000 bytes"),
        ("/large", "it is larger than 1,000 bytes"),
        ("/bomb", "it is larger than 1,000 bytes"),
        ("/cut-bomb", "its server could not be reached, or broke off"),
        ("/not-packed", "its server could not be reached, or broke off"),
        ("/brotli", "it is packed in a way that was not asked for"),
        ("/short", "its server could not be reached, or broke off"),
        ("/nonsense", "its server could not be reached, or broke off"),
    ],
)
async def test_what_is_not_fetched_is_said_plainly(certificate: Path, path: str, reason: str) -> None:
    internet = Internet()
    internet.dns["inside.example"] = [[PUBLIC, "10.0.0.1"]]
    async with internet.fetcher(certificate) as web:
        refused = await web.fetch(f"https://files.example{path}")
        assert refused == NotFetched(f"The file was not fetched, because {reason}.")


@pytest.mark.parametrize("path", sorted(WAITS))
async def test_what_comes_too_slowly_is_given_up(certificate: Path, path: str) -> None:
    async with Internet().fetcher(certificate, fetch_timeout=0.2) as web:
        refused = await web.fetch(f"https://files.example{path}")
        assert refused == NotFetched("The file was not fetched, because it did not come within 0.2 s.")


async def test_only_the_kinds_that_are_wanted(certificate: Path) -> None:
    async with Internet().fetcher(certificate) as web:
        assert isinstance(await web.fetch("https://files.example/a.png", ["image/"]), WebFile)
        refused = await web.fetch("https://files.example/a.png", ["text/", "application/pdf"])
        assert "it is image/png, which is not what was named" in str(refused)


async def test_a_certificate_of_another_is_refused(certificate: Path) -> None:
    internet = Internet()
    internet.dns["wrong.example"] = [[PUBLIC]]
    async with internet.fetcher(certificate, fetch_hosts=("wrong.example",)) as web:
        assert isinstance(await web.fetch("https://wrong.example/a.png"), NotFetched)
    async with internet.fetcher(certificate, trusts=False) as web:
        assert isinstance(await web.fetch("https://files.example/a.png"), NotFetched)
    assert internet.heads == []


async def test_a_name_that_leads_nowhere_and_a_host_that_is_not_allowed(certificate: Path) -> None:
    internet = Internet()
    internet.dns["files.example"] = [[]]
    async with internet.fetcher(certificate) as web:
        assert "its host has no address" in str(await web.fetch("https://files.example/a"))
        assert "could not be reached" in str(await web.fetch("https://inside.example/a"))
        assert "is not among the allowed hosts" in str(await web.fetch("https://evil.example/a"))
        assert internet.asked == ["files.example", "inside.example"]


async def test_the_machines_own_resolver_is_asked() -> None:
    web = WebFetcher(WebSettings(fetch_hosts=("127.0.0.1", "localhost")))
    for host in ("127.0.0.1", "localhost"):
        refused = await web.fetch(f"https://{host}/")
        assert str(refused.reason if isinstance(refused, NotFetched) else refused) == (
            f"The file was not fetched, because {host} leads to a machine that is not public."
        )
