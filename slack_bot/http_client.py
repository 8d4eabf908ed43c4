"""The HTTP client of the whole package: the only module that imports httpx, httpcore and httpx-sse.

httpx has no maintainer any more; httpx2 and httpcore2 go on with the same API. To change to them, import
them here (`import httpx2 as httpx`, `from httpx2 import ...`), and name them in `pyproject.toml` and the
locks. `EventSource` stays that of httpx-sse, as an `Any`: it reads a `Response` of httpx2 too, but its types
do not say so, and httpx2's own class has another API. A name that a module needs is added to the list below
as it is, and nothing is wrapped. httpcore comes as a module, because its classes have the names of httpx's.
"""

import ssl
from functools import cache

import httpcore
import httpx
from httpx import (
    URL,
    AsyncBaseTransport,
    AsyncByteStream,
    AsyncClient,
    AsyncHTTPTransport,
    Auth,
    ByteStream,
    ConnectError,
    ConnectTimeout,
    Cookies,
    DecodingError,
    HTTPError,
    InvalidURL,
    Limits,
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
    Timeout,
    TimeoutException,
    UnsupportedProtocol,
    WriteError,
    WriteTimeout,
    create_ssl_context,
)
from httpx_sse import EventSource

__all__ = [
    "LOGGERS",
    "URL",
    "AsyncBaseTransport",
    "AsyncByteStream",
    "AsyncClient",
    "AsyncHTTPTransport",
    "Auth",
    "ByteStream",
    "ConnectError",
    "ConnectTimeout",
    "Cookies",
    "DecodingError",
    "EventSource",
    "HTTPError",
    "InvalidURL",
    "Limits",
    "LocalProtocolError",
    "NetworkError",
    "PoolTimeout",
    "ProtocolError",
    "Proxy",
    "ProxyError",
    "ReadError",
    "ReadTimeout",
    "RemoteProtocolError",
    "Request",
    "Response",
    "Timeout",
    "TimeoutException",
    "UnsupportedProtocol",
    "WriteError",
    "WriteTimeout",
    "create_ssl_context",
    "httpcore",
    "shared_tls",
]

LOGGERS = (httpx.__name__, httpcore.__name__)
"""Names of the loggers that write a line for each request."""


def shared_tls() -> ssl.SSLContext:
    """What all clients trust that show no certificate: the authorities that SSL_CERT_FILE or SSL_CERT_DIR
    names, else those of certifi. They are read once: that takes 30 ms and blocks the event loop.
    """
    return _trust(ssl.get_default_verify_paths())


@cache
def _trust(paths: ssl.DefaultVerifyPaths) -> ssl.SSLContext:
    """`paths`: where the environment says that authorities are."""
    return create_ssl_context()
