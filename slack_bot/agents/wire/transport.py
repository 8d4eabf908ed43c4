"""The border to httpx: turns its exceptions and HTTP answers into ours, by tables.

Before a connection exists, the agent cannot have taken the question (facts: A2A 2.5). A proxy may compress an
answer that was not asked for compression, and httpx would unpack a whole chunk at once: 260 kB of gzip become
256 MB.
"""

import asyncio
import json
import re
import socket
import ssl
import zlib
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, TypeVar, TypeVarTuple, Unpack

from ...errors import (
    AgentError,
    AgentRefused,
    AgentUnreachable,
    BadAgentData,
    BadEncoding,
    ServerFailed,
    StreamCut,
    StreamIdle,
    WrongAddress,
)
from ...http_client import (
    AsyncBaseTransport,
    AsyncByteStream,
    AsyncClient,
    ConnectError,
    ConnectTimeout,
    DecodingError,
    HTTPError,
    InvalidURL,
    LocalProtocolError,
    PoolTimeout,
    ProxyError,
    ReadTimeout,
    Request,
    Response,
    Timeout,
    UnsupportedProtocol,
    create_ssl_context,
    shared_tls,
)
from ...settings.identity import TokenServerSettings
from ...settings.models import AgentSettings, ClientSettings
from ...text.redaction import Redactor
from ...text.words import AGENT_REFUSED_SIZE
from ...turn.json_values import Object, object_of, read_json
from .auth import has_credentials, login_remedy, origin_of
from .certificate import Certificate
from .connections import PooledTransport, proxy_transports
from .frames import failure, quote

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

LARGE = 32 * 1024
"""The most characters that are parsed in the event loop: it takes a few tens of milliseconds."""
_THREADS = 2  # a second one, so that a small answer does not wait for a huge one
_executor = ThreadPoolExecutor(_THREADS, thread_name_prefix="agent-data")
_ERROR_BODY_BYTES = 64 * 1024
_PROBLEM = "problem+json"  # RFC 9457
_NO_PATH: tuple[Object, ...] = ({}, {"detail": "Not Found"})
"""Bodies that say nothing about a task: no object, and FastAPI's body for an unknown path."""
_CHUNKS_AT_ONCE = 100
"""Chunks of a body that are read before the loop runs: a server may send each byte as a chunk."""

PIECE = 64 * 1024
"""The most bytes that are unpacked at once."""
_GROWTH = 100
"""How many times larger than one answer a body may become. Text grows 5 to 20 times, zeros 1,000 times."""
_CHALLENGE = tuple(re.compile(rf'(?<![\w-]){name}="([^"]*)"') for name in ("error", "error_description"))
_REMEDY = "turn compression off at the agent or the proxy in front of it"
_AUTO = zlib.MAX_WBITS | 32  # gzip and zlib, by their heads
_RAW = -zlib.MAX_WBITS

_FAULTS: tuple[tuple[type[Exception], type[AgentError], str], ...] = (
    (ConnectTimeout, AgentUnreachable, "did not accept a connection in time"),
    (ConnectError, AgentUnreachable, "cannot be reached"),
    (PoolTimeout, AgentUnreachable, "got no free connection"),
    (ProxyError, AgentUnreachable, "cannot be reached through the proxy"),
    (UnsupportedProtocol, AgentUnreachable, "has an address that is not http or https"),
    (LocalProtocolError, AgentUnreachable, "cannot be sent this request"),
    (InvalidURL, AgentUnreachable, "has an address that cannot be read"),
    (ReadTimeout, StreamIdle, "sent nothing for too long"),
    (DecodingError, BadAgentData, "sent a body whose compression is broken"),
    (HTTPError, StreamCut, "broke the connection"),
    (TimeoutError, StreamIdle, "sent nothing for too long"),
    (OSError, StreamCut, "broke the connection"),  # httpx lets an ssl.SSLError of a running stream through
)
# refusals that say more than any error in their body
_REFUSALS: Mapping[int, str] = {
    401: "does not accept the bot's credentials",
    403: "does not allow the bot to ask",
    413: "does not take a question this large",
    407: "stands behind a proxy that wants a login",
    429: "has too many requests",
    503: "is not available",
}


_NO_LOGIN = "wants a login (HTTP 401), and no credentials are set for it"


def new_http(settings: AgentSettings, transport: AsyncBaseTransport | None = None) -> AsyncClient:
    """A pooled client for the agent. The caller closes it.

    Raises SettingsError if the configured certificate, or a proxy of the environment, cannot be used.
    """
    timeout = Timeout(
        None,  # to read: the callers bound the silence
        connect=settings.connect_timeout,
        write=settings.write_timeout,
        pool=settings.connect_timeout,
    )
    shows_certificate = settings.client.certificate_for != "token"
    certificate = Certificate.of(settings.client) if shows_certificate and transport is None else None
    return _new_client(settings.url or "", timeout, certificate, transport)


def new_token_http(
    url: str, server: TokenServerSettings, transport: AsyncBaseTransport | None = None
) -> AsyncClient:
    """A client for one request to the token server at `url`. The caller closes it, and limits the time.

    `transport`: in place of the network; it is not closed with the client.
    """
    shows_certificate = isinstance(server, ClientSettings) and server.certificate_for != "agent"
    certificate = Certificate.of(server) if isinstance(server, ClientSettings) and shows_certificate else None
    lent = None if transport is None else _LentTransport(transport)
    return _new_client(url, Timeout(None), certificate, lent)


class _LentTransport(AsyncBaseTransport):
    """Others use it too, for answers that take long."""

    def __init__(self, inner: AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: Request) -> Response:
        return await self._inner.handle_async_request(request)


def _new_client(
    url: str,
    timeout: Timeout,
    certificate: Certificate | None,
    transport: AsyncBaseTransport | None = None,
) -> AsyncClient:
    """A client that follows no redirects, because these would get the question and the credentials. For an
    address on this machine it ignores the environment's proxies.
    """
    mounts: dict[str, PooledTransport | None] = {}
    hooks = []
    if transport is None:
        tls = shared_tls() if certificate is None else create_ssl_context()
        transport, place = PooledTransport(tls), origin_of(url)
        if place is None or not place.is_loopback:
            mounts = proxy_transports(tls)
        if certificate is not None:
            hooks.append(certificate.shown_by(tls))
    return AsyncClient(
        transport=transport,
        mounts=mounts,
        timeout=timeout,
        follow_redirects=False,
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
        event_hooks={"request": hooks},
    )


@contextmanager
def map_exceptions(host: str) -> Iterator[None]:
    """Turn httpx's exceptions into AgentError; their sentences name `host`."""
    try:
        yield
    except (HTTPError, InvalidURL, OSError) as error:
        ours, says = next((ours, says) for theirs, ours, says in _FAULTS if isinstance(error, theirs))
        if isinstance(error, ConnectError) and (wrong := _wrong_address(error)):
            raise WrongAddress(f"{host} {wrong}") from error
        raise ours(f"{host} {says} ({type(error).__name__})") from error


def _wrong_address(error: BaseException) -> str:
    """Why there is no connection, if the reason is the address; else ""."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, ssl.SSLError | socket.gaierror | ConnectionResetError):
        cause = cause.__cause__ or cause.__context__
    match cause:
        case ssl.SSLCertVerificationError(verify_message=said):
            return f"has a certificate that is not trusted here ({said}); name its authority in SSL_CERT_FILE"
        case ssl.SSLError():
            return "does not answer in TLS; its address may begin with http://, not with https://"
        case ConnectionResetError():  # it was connected, so it ended what it could not read
            return (
                "ends the connection where TLS begins; its address may begin with http://, not with https://"
            )
        case socket.gaierror():
            return "is not a name that is known here; check the address"
    return ""


def media_type(response: Response) -> str:
    """The Content-Type without its parameters, in lower case."""
    return str(response.headers.get("content-type", "")).partition(";")[0].strip().lower()


async def read_body(response: Response, host: str, max_bytes: int) -> bytearray:
    """Read the whole body. Raises BadAgentData if it is larger than `max_bytes`."""
    body, chunks = bytearray(), 0
    async for chunk in unpacked(response, max_bytes):
        body += chunk
        chunks += 1
        if chunks % _CHUNKS_AT_ONCE == 0:
            await asyncio.sleep(0)
        if len(body) > max_bytes:
            raise BadAgentData(f"{host} sent an answer larger than agent.max_event_bytes ({max_bytes})")
    return body


def parse_json(text: bytes | bytearray | str, host: str) -> Any:
    """Parse JSON.

    Raises BadAgentData if it is not JSON, is nested too deep, or has a number of absurd length.
    """
    if not isinstance(text, str):
        text = text.decode("utf-8-sig", "replace")
    try:
        return read_json(text)
    except RecursionError as error:
        raise BadAgentData(f"{host} sent JSON that is nested too deep") from error
    except ValueError as error:
        raise BadAgentData(f"{host} sent something that is not JSON") from error


async def error_from_status(
    response: Response, host: str, settings: AgentSettings, codes: Mapping[int, int] | None = None
) -> AgentError:
    """The error that an HTTP status other than 2xx means.

    `settings`: to say what to set after a 401. `codes`: error codes by status (`Call.codes`).
    """
    status = response.status_code
    error, agent_words = None, ""
    # the status says enough where the body cannot be had
    with suppress(HTTPError, BadAgentData, ValueError, RecursionError):
        body = object_of(json.loads(await read_body(response, host, _ERROR_BODY_BYTES)))
        error = body if _is_error(body, response) else body.get("error")
        code = (codes or {}).get(status)
        if code is not None and body not in _NO_PATH and failure(object_of(error)).code >= 0:
            error = {**(object_of(error) or body), "code": code}
    if status in _REFUSALS:
        says, agent_words = f"{_REFUSALS[status]} (HTTP {status})", _challenge(response)
        if status == HTTPStatus.UNAUTHORIZED:
            has_login = settings.knows_people or has_credentials(settings)
            says = f"{says if has_login else _NO_LOGIN}; {login_remedy(settings)}"
    elif isinstance(error, Mapping) and (agent_failure := failure(error)).code:
        return agent_failure
    elif 300 <= status < 400:
        says = f"redirects (HTTP {status}), which is not followed: configure its final address"
    elif status < 500:
        says, agent_words = (
            f"refused the request (HTTP {status})",
            quote(error) if isinstance(error, str) else "",
        )
    else:  # a gateway's 502 or 504 may come after the agent took the question: not a refusal
        agent_words = quote(error) if isinstance(error, str) else ""
        return ServerFailed(f"{host} answered HTTP {status} instead of A2A", status=status, said=agent_words)
    refusal = AgentRefused(
        f"{host} {says}", status=status, retry_after=parse_retry_after(response), said=agent_words
    )
    if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        refusal.safe = AGENT_REFUSED_SIZE
    return refusal


def _is_error(body: Object, response: Response) -> bool:
    """Whether the body is problem JSON, or a bare JSON-RPC error as the JavaScript SDK sends it on 0.3."""
    code = body.get("code")
    return _PROBLEM in media_type(response) or (isinstance(code, int) and code < 0)


def _challenge(response: Response) -> str:
    """Why the server refused the token (RFC 6750, 3), with the token masked; else ""."""
    header = response.headers.get("www-authenticate", "")
    reason = ": ".join(match[1] for each in _CHALLENGE if (match := each.search(header)) is not None)
    if not reason:
        return ""
    token = response.request.headers.get("authorization", "").rpartition(" ")[2]
    return quote(Redactor((token,)).text(reason))


def not_a2a(response: Response, host: str) -> BadAgentData:
    """The error for a successful answer that is neither SSE nor JSON."""
    kind, status = media_type(response), response.status_code
    what, more = f"{kind or 'no content type'} (HTTP {status})", ""
    if "html" in kind:
        what, more = f"a web page (HTTP {status}, {kind})", "; is a login or another site at this address?"
    return BadAgentData(f"{host} answered with {what} instead of A2A{more}")


def parse_retry_after(response: Response) -> float | None:
    """The Retry-After (RFC 9110, 10.2.3) in seconds; None without one.

    A date counts from the server's own date.
    """
    after = response.headers.get("retry-after", "").strip()
    if after.isascii() and after.isdigit():
        return float(after)
    try:
        until, now = (parsedate_to_datetime(each) for each in (after, response.headers.get("date", "")))
        return max(0.0, (until - now).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return None


async def offload(work: Callable[[Unpack[Ts]], T], *args: *Ts) -> T:
    """Run `work(*args)`, in a thread. For input larger than `LARGE`. Others have their turn meanwhile.

    If the call is cancelled, it still waits for the work, so that no object is left half changed.
    """
    future = asyncio.get_running_loop().run_in_executor(_executor, work, *args)
    try:
        if future.done():  # at once: on Python 3.14, to wait for it would not let others run
            await asyncio.sleep(0)
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        while not future.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait({future})
        future.exception()  # retrieved, so that asyncio does not log it
        raise


def encoding_of(response: Response) -> str:
    """The Content-Encoding, or "". Raises BadEncoding if it is not gzip or deflate, or more than one."""
    listed = response.headers.get("content-encoding", "").lower().split(",")
    names = [name for each in listed if (name := each.strip()) not in ("", "identity")]
    if len(names) > 1:
        raise BadEncoding(f"the agent's answer is compressed more than once: {_REMEDY}")
    if names and names[0] not in ("gzip", "x-gzip", "deflate"):
        raise BadEncoding(f"the agent's answer is compressed with {names[0][:20]!r}, not gzip: {_REMEDY}")
    return names[0] if names else ""


def unpacked(response: Response, max_bytes: int) -> AsyncIterable[bytes]:
    """The unpacked body, in pieces. `max_bytes`: the limit of one answer."""
    if response.is_stream_consumed:  # from a transport in memory: httpx has unpacked it
        return response.aiter_bytes()
    encoding, chunks = encoding_of(response), response.stream
    assert isinstance(chunks, AsyncByteStream), "the client is asynchronous"
    return unpack(chunks, encoding, max_bytes) if encoding else chunks


async def unpack(chunks: AsyncIterable[bytes], encoding: str, free: int) -> AsyncGenerator[bytes, None]:
    """Unpack a body of this encoding (`encoding_of`), in pieces of at most `PIECE` bytes.

    `free`: how many bytes may come out even if few went in. Raises BadEncoding if it grows more, and
    DecodingError if it is broken.
    """
    unzip, head, bytes_in, bytes_out = None, b"", 0, 0
    async for chunk in chunks:
        bytes_in += len(chunk)
        data, head = head + chunk, b""
        if unzip is None and len(data) < 2:
            head = data  # the first two bytes say whether there is a head
            continue
        unzip = unzip or zlib.decompressobj(_window(encoding, data))
        while not unzip.eof:
            try:
                piece = unzip.decompress(data, PIECE)
            except zlib.error as error:
                raise DecodingError(str(error)) from error
            data = unzip.unconsumed_tail
            bytes_out += len(piece)
            if bytes_out > free + PIECE + _GROWTH * bytes_in:  # the caller's own bound comes first
                raise BadEncoding(f"the agent's answer grows too much when it is unpacked: {_REMEDY}")
            if piece:
                yield piece
                await asyncio.sleep(0)  # other tasks run, and a deadline may end this one
            if not data and len(piece) < PIECE:
                break


def _window(encoding: str, data: bytes) -> int:
    """The window of zlib for this body: servers send deflate with its head (RFC 9110) and without."""
    has_head = data[0] & 0x0F == zlib.DEFLATED and int.from_bytes(data[:2]) % 31 == 0
    return _RAW if encoding == "deflate" and not has_head else _AUTO
