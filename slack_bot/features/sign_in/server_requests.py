"""Requests to an authorization server that the settings of an agent name, and what it says of itself.

Only the issuer of the settings is asked, and what its own metadata names (RFC 8414, OpenID Connect
Discovery). Redirects are not followed. No address of an agent's card is used.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from ...agents.wire.auth import origin_of
from ...agents.wire.frames import quote
from ...agents.wire.token_endpoint import endpoint_in, object_in, read_metadata
from ...agents.wire.transport import map_exceptions, new_token_http, offload
from ...clock import Clock
from ...errors import AgentError, TokenRefused, TokenUnavailable
from ...http_client import AsyncBaseTransport
from ...settings.sign_in import OAuthSettings
from ...text.redaction import Redactor
from ...turn.json_values import Object, list_of, text_in, text_of

if TYPE_CHECKING:
    from ...agents.wire.token_request import TokenRequest

_METADATA_SECONDS = 3600.0
_PASSING = frozenset({"server_error", "temporarily_unavailable", "slow_down"})


@dataclass(frozen=True, slots=True)
class Metadata:
    """What the issuer says of itself. An address is "" where it names none."""

    authorization: str
    token: str
    userinfo: str
    revocation: str
    keys: str
    device: str
    registration: str = ""
    names_itself: bool = False
    """It adds `iss` to each answer (RFC 9207)."""
    methods: tuple[str, ...] = ()
    """How clients may prove who they are; empty: it does not say."""

    @property
    def for_people(self) -> tuple[str, ...]:
        """The addresses by which a card may name this server."""
        return self.authorization, self.token, self.device


class ServerRequests:
    """All methods raise TokenUnavailable and TokenRefused. `transport`: in place of the network."""

    def __init__(
        self, settings: OAuthSettings, clock: Clock, transport: AsyncBaseTransport | None = None
    ) -> None:
        self._settings, self._clock = settings, clock
        self._transport = transport
        self.issuer = settings.issuer or ""
        self.known: Metadata | None = None
        """What was read last."""
        self._until = 0.0

    @property
    def host(self) -> str:
        """What people read of its address."""
        return str(origin_of(self.issuer))

    async def metadata(self, *, must_be_new: bool = False) -> Metadata:
        """At most an hour old."""
        now = self._clock.monotonic()
        if self.known is None or now >= self._until or must_be_new:
            async with self._limited():
                found, _ = await read_metadata(self._settings, self._transport)
            self.known, self._until = _metadata_in(found, self._settings), now + _METADATA_SECONDS
        return self.known

    async def post(self, url: str, parameters: Mapping[str, str], client: OAuthSettings) -> Object:
        """Send a form as this client."""
        async with self._limited():
            body, now = urlencode(parameters), self._clock.wall()
            request = await offload(_proven, client, url, now, body)
            status, answer = await self._send("POST", url, request.headers, request.body)
        if status < 300 and "error" not in answer:
            return answer
        raise self._refusal(status, answer, (*request.secrets, *parameters.values()))

    async def get(self, url: str, token: str = "") -> Object:
        """Read an object. `token`: whose."""
        headers = {"Accept": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
        async with self._limited():
            status, answer = await self._send("GET", url, headers)
        if status < 300:
            return answer
        raise self._refusal(status, answer, (token,))

    async def register(self, url: str, about: Mapping[str, Any], token: str) -> tuple[int, Object]:
        """Send what the bot says of itself (RFC 7591, 3.1). Returns the status and the answer.

        `token`: an initial access token; "": there is none.
        """
        headers = {"Accept": "application/json", "Content-Type": "application/json"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        async with self._limited():
            return await self._send("POST", url, headers, json.dumps(about))

    async def _send(
        self, method: str, url: str, headers: Mapping[str, str], body: str | None = None
    ) -> tuple[int, Object]:
        async with new_token_http(url, self._settings, self._transport) as http:
            sending = http.stream(method, url, content=body, headers=dict(headers))
            with map_exceptions(self.host):
                async with sending as response:
                    return response.status_code, await object_in(response, self.host)

    def _limited(self) -> _Limit:
        return _Limit(self._settings.token_timeout, self.host)

    def _refusal(self, status: int, answer: Object, secrets: tuple[str, ...]) -> AgentError:
        error = text_in(answer, "error")
        what = f"{self.host} refuses ({quote(error) or f'HTTP {status}'})"
        if error in _PASSING or status == 429 or status >= 500:
            return TokenUnavailable(f"{what}; it may work later")
        said = Redactor(secrets).text(text_in(answer, "error_description"))
        return TokenRefused(what, error=error, said=quote(said))


class _Limit:
    """Bounds the time of requests, and raises TokenUnavailable for all that went wrong on the way."""

    def __init__(self, seconds: float, host: str) -> None:
        self._timeout = asyncio.timeout(seconds)
        self._seconds, self._host = seconds, host

    async def __aenter__(self) -> None:
        await self._timeout.__aenter__()

    async def __aexit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        try:
            await self._timeout.__aexit__(kind, error, trace)
        except TimeoutError as late:
            text = f"{self._host} did not answer within {self._seconds:g} s"
            raise TokenUnavailable(text, is_slow=True) from late
        if isinstance(error, AgentError) and not isinstance(error, TokenUnavailable | TokenRefused):
            raise TokenUnavailable(f"the authorization server {error}") from error


def _proven(settings: OAuthSettings, url: str, now: float, body: str) -> TokenRequest:
    """Runs in a thread: importing the library takes a tenth of a second, and signing some milliseconds."""
    from ...agents.wire.token_request import proven_request

    has_secret = settings.secret or settings.private_key or settings.assertion_file
    method = "none" if settings.method == "auto" and not has_secret else settings.method
    return proven_request(settings, method, url, now, body)


def _metadata_in(issuer_metadata: Object, settings: OAuthSettings) -> Metadata:
    names = {
        "authorization": "authorization_endpoint",
        "token": "token_endpoint",
        "userinfo": "userinfo_endpoint",
        "revocation": "revocation_endpoint",
        "keys": "jwks_uri",
        "device": "device_authorization_endpoint",
        "registration": "registration_endpoint",
    }
    urls = {ours: endpoint_in(issuer_metadata, theirs, settings) for ours, theirs in names.items()}
    issuer = settings.issuer
    if not urls["token"] or not (urls["authorization"] or settings.device_flow):
        raise TokenRefused(f"the metadata of {issuer} names no https addresses to sign in and to get tokens")
    methods = list_of(issuer_metadata.get("code_challenge_methods_supported"))
    if methods and "S256" not in methods:
        raise TokenRefused(f"{issuer} does not support PKCE with S256, without which no one may sign in")
    names_itself = issuer_metadata.get("authorization_response_iss_parameter_supported") is True
    proofs = map(text_of, list_of(issuer_metadata.get("token_endpoint_auth_methods_supported")))
    return Metadata(**urls, names_itself=names_itself, methods=tuple(proofs))
