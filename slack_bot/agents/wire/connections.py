"""The connections to the agent: httpcore's pool, with the bot's own way to read and write (`network`).

httpx's own transport makes such pools too, but offers no argument for how they read and write.
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
"""Seconds for which an unused connection is kept. uvicorn closes after 5, maybe during our question."""
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
    """Connections of HTTP/1.1 that are kept for the next request, direct or through `proxy`.

    Their number has no limit, because each running turn holds one for minutes.
    """

    def __init__(self, tls: ssl.SSLContext, proxy: Proxy | None = None) -> None:
        httpcore_proxy = None
        if proxy is not None:
            httpcore_proxy = httpcore.Proxy(
                str(proxy.url), auth=proxy.raw_auth, headers=proxy.headers.raw, ssl_context=proxy.ssl_context
            )
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=tls,
            proxy=httpcore_proxy,
            max_connections=None,
            max_keepalive_connections=_MOST_UNUSED,
            keepalive_expiry=_KEEP_ALIVE,
            network_backend=AsyncioBackend(),
        )

    async def handle_async_request(self, request: Request) -> Response:
        """Send a request and return the head of the answer; its stream is the body.

        Raises httpx's exceptions.
        """
        url = request.url
        target = httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
        httpcore_request = httpcore.Request(
            request.method,
            target,
            headers=request.headers.raw,
            content=request.stream,
            extensions=request.extensions,
        )
        with client_errors():
            answer = await self._pool.handle_async_request(httpcore_request)
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
    """Turn httpcore's exceptions into httpx's."""
    try:
        yield
    except tuple(_ERRORS) as error:
        ours = next(_ERRORS[each] for each in type(error).__mro__ if each in _ERRORS)
        raise ours(str(error)) from error


def proxy_transports(tls: ssl.SSLContext) -> dict[str, PooledTransport | None]:
    """The proxies of the environment as `mounts` of httpx. None stands for a direct connection.

    HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY are read as by httpx and curl. Raises SettingsError if one
    cannot be used.
    """
    proxies = getproxies()
    exceptions = [name.strip() for name in proxies.get("no", "").split(",")]
    if "*" in exceptions:
        return {}
    transports: dict[str, PooledTransport | None] = {
        f"{scheme}://": PooledTransport(tls, _proxy_at(proxies[scheme], scheme))
        for scheme in ("http", "https", "all")
        if proxies.get(scheme)
    }
    return transports | {_pattern(name): None for name in exceptions if name}


def _proxy_at(address: str, scheme: str) -> Proxy:
    """The proxy at `address`. The error does not repeat the address, which may hold a login."""
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
    """The addresses that a name in NO_PROXY means: a domain and all below it, a machine, or an IP address."""
    if "://" in name:
        return name
    try:
        version = ip_address(name.partition("/")[0]).version
    except ValueError:
        return f"all://{name}" if name.lower() == "localhost" else f"all://*{name}"
    return f"all://{name}" if version == 4 else f"all://[{name}]"
