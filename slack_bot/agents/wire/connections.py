"""The agent's connections: httpcore's pool behind the client, with our way to read and write (`network`).

The client's own transport makes such pools too, but has no argument for how they read and write.
"""

import ssl
from collections.abc import AsyncIterable, AsyncIterator, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from ipaddress import ip_address
from urllib.request import getproxies

from ...errors import SettingsError
from ...http_client import (
    AsyncBaseTransport,
    AsyncByteStream,
    ConnectError,
    ConnectTimeout,
    InvalidURL,
    LocalProtocolError,
    NetworkError,
    PoolTimeout,
    ProtocolError,
    Proxy,
    ProxyError,
    ReadError,
    ReadTimeout,
    RemoteProtocolError,
    Request,
    Response,
    TimeoutException,
    UnsupportedProtocol,
    WriteError,
    WriteTimeout,
    httpcore,
)
from .network import AsyncioBackend

_KEEP_ALIVE = 3.0
"""Seconds an unused connection is kept: less than uvicorn's 5, or it may be closed under our question."""
_MOST_UNUSED = 100  # connections that are kept

_ERRORS: dict[type[Exception], type[Exception]] = {
    httpcore.TimeoutException: TimeoutException,
    httpcore.ConnectTimeout: ConnectTimeout,
    httpcore.ReadTimeout: ReadTimeout,
    httpcore.WriteTimeout: WriteTimeout,
    httpcore.PoolTimeout: PoolTimeout,
    httpcore.NetworkError: NetworkError,
    httpcore.ConnectError: ConnectError,
    httpcore.ReadError: ReadError,
    httpcore.WriteError: WriteError,
    httpcore.ProxyError: ProxyError,
    httpcore.UnsupportedProtocol: UnsupportedProtocol,
    httpcore.ProtocolError: ProtocolError,
    httpcore.LocalProtocolError: LocalProtocolError,
    httpcore.RemoteProtocolError: RemoteProtocolError,
    httpcore.ConnectionNotAvailable: ConnectError,  # nothing was sent; the pool itself tries another one
}


class PooledTransport(AsyncBaseTransport):
    """Connections of HTTP/1.1 that are kept for the next request, straight or through `proxy`.

    Their number has no limit: each turn in flight holds one for minutes.
    """

    def __init__(self, tls: ssl.SSLContext, proxy: Proxy | None = None) -> None:
        through = None
        if proxy is not None:
            through = httpcore.Proxy(
                str(proxy.url), auth=proxy.raw_auth, headers=proxy.headers.raw, ssl_context=proxy.ssl_context
            )
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=tls,
            proxy=through,
            max_connections=None,
            max_keepalive_connections=_MOST_UNUSED,
            keepalive_expiry=_KEEP_ALIVE,
            network_backend=AsyncioBackend(),
        )

    async def handle_async_request(self, request: Request) -> Response:
        """The answer's head; its body is read from its stream. Raises the client's exceptions."""
        url = request.url
        target = httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
        sent = httpcore.Request(
            request.method,
            target,
            headers=request.headers.raw,
            content=request.stream,
            extensions=request.extensions,
        )
        with client_errors():
            answer = await self._pool.handle_async_request(sent)
        return Response(
            answer.status, headers=answer.headers, stream=_Body(answer), extensions=answer.extensions
        )

    async def aclose(self) -> None:
        """Close all connections."""
        await self._pool.aclose()


class _Body(AsyncByteStream):
    def __init__(self, answer: httpcore.Response) -> None:
        self._answer = answer

    async def __aiter__(self) -> AsyncIterator[bytes]:
        chunks = self._answer.stream
        assert isinstance(chunks, AsyncIterable), "the pool is asynchronous"
        with client_errors():
            async for chunk in chunks:
                yield chunk

    async def aclose(self) -> None:
        await self._answer.aclose()


@contextmanager
def client_errors() -> Iterator[None]:
    """httpcore's exceptions become those of the client."""
    try:
        yield
    except tuple(_ERRORS) as error:
        ours = next(_ERRORS[each] for each in type(error).__mro__ if each in _ERRORS)
        raise ours(str(error)) from error


def proxy_transports(tls: ssl.SSLContext) -> dict[str, PooledTransport | None]:
    """The proxies of the environment, by the addresses that lead to them; None: straight.

    HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY are read as by httpx and curl. SettingsError: one is no
    proxy that can be used.
    """
    proxies = getproxies()
    excepted = [name.strip() for name in proxies.get("no", "").split(",")]
    if "*" in excepted:
        return {}
    found: dict[str, PooledTransport | None] = {
        f"{scheme}://": PooledTransport(tls, _proxy_at(proxies[scheme], scheme))
        for scheme in ("http", "https", "all")
        if proxies.get(scheme)
    }
    return found | {_pattern(name): None for name in excepted if name}


def _proxy_at(address: str, scheme: str) -> Proxy:
    """The address may hold a login, so it is not in the error."""
    variable = f"{scheme.upper()}_PROXY"
    try:
        proxy = Proxy(address if "://" in address else f"http://{address}")
    except (ValueError, InvalidURL) as error:
        raise SettingsError(
            f"{variable} is no proxy that can be used; correct it: http://host:port or https://host:port"
        ) from error
    if proxy.url.scheme.startswith("socks") and find_spec("socksio") is None:
        raise SettingsError(
            f"{variable} is a SOCKS proxy, and socksio, which talks to it, is not here: pip install socksio"
        )
    return proxy


def _pattern(name: str) -> str:
    """The addresses that a name in NO_PROXY means: a domain with all in it, a machine, or an address."""
    if "://" in name:
        return name
    try:
        version = ip_address(name.partition("/")[0]).version
    except ValueError:
        return f"all://{name}" if name.lower() == "localhost" else f"all://*{name}"
    return f"all://{name}" if version == 4 else f"all://[{name}]"
