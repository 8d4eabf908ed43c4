"""An authorization server that the settings of an agent name: its metadata, tokens and accounts.

Only the issuer of the settings is asked, and what its own metadata names (RFC 8414, OpenID Connect
Discovery). Redirects are not followed. No address of an agent's card is used.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from ...agents.wire.auth import bare, origin_of
from ...agents.wire.frames import quote
from ...agents.wire.token_endpoint import endpoint_in, life_of, metadata_urls, object_in, read_metadata
from ...agents.wire.transport import map_exceptions, new_token_http, offload
from ...clock import Clock
from ...errors import AgentError, TokenRefused, TokenUnavailable
from ...http_client import AsyncBaseTransport, Response
from ...settings.sign_in import OAuthSettings
from ...text.redaction import Redactor
from ...turn.json_values import Object, list_of, text_in
from .rules import Account, account_of

if TYPE_CHECKING:
    from ...agents.wire.token_request import TokenRequest

_METADATA_SECONDS = 3600.0
_PASSING = frozenset({"server_error", "temporarily_unavailable", "slow_down"})
_DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
_INTERVAL = 5.0  # seconds between two polls where the server names none (RFC 8628, 3.2)


@dataclass(frozen=True, slots=True)
class Metadata:
    """What the issuer says of itself. An address is "" where it names none."""

    authorization: str
    token: str
    userinfo: str
    revocation: str
    keys: str
    device: str
    names_itself: bool
    """It adds `iss` to each answer (RFC 9207)."""

    @property
    def for_people(self) -> tuple[str, ...]:
        """The addresses by which a card may name this server."""
        return self.authorization, self.token, self.device


@dataclass(frozen=True, slots=True)
class Grant:
    """Tokens of a person. `life`: seconds."""

    access: str = field(repr=False)
    refresh: str = field(repr=False)
    id_token: str = field(repr=False)
    life: float


@dataclass(frozen=True, slots=True)
class DeviceCode:
    """What a person types in, and where (RFC 8628, 3.2)."""

    device_code: str = field(repr=False)
    user_code: str
    url: str


class AuthorizationServer:
    """The server of one agent. All methods raise TokenUnavailable and TokenRefused.

    `transport`: in place of the network.
    """

    def __init__(
        self, settings: OAuthSettings, clock: Clock, transport: AsyncBaseTransport | None = None
    ) -> None:
        self._settings, self._clock = settings, clock
        self._transport = transport
        self.issuer = settings.issuer or ""
        self._metadata: Metadata | None = None
        self._until = 0.0
        self.device_interval = _INTERVAL
        """Seconds between two polls for a code that is typed in."""

    @property
    def has_devices(self) -> bool:
        """Whether people type a code in, in place of opening a link."""
        return self._settings.device_flow

    @property
    def host(self) -> str:
        """What people read of its address."""
        return str(origin_of(self.issuer))

    def is_at(self, addresses: Iterable[str]) -> bool:
        """Whether a security scheme with these addresses means this server.

        As long as the server could not be asked for its addresses, all of its host are taken for its own.
        """
        usable = [each for each in addresses if origin_of(each) is not None]
        known = {*metadata_urls(self.issuer), *(self._metadata.for_people if self._metadata else ())}
        home = origin_of(self.issuer) if self._metadata is None else None
        return any(bare(each) in known or origin_of(each) == home for each in usable)

    async def metadata(self) -> Metadata:
        """At most an hour old."""
        now = self._clock.monotonic()
        if self._metadata is None or now >= self._until:
            async with self._limited():
                found, _ = await read_metadata(self._settings, self._transport)
            self._metadata, self._until = _metadata_in(found, self._settings), now + _METADATA_SECONDS
        return self._metadata

    def authorization_url(
        self, metadata: Metadata, redirect_uri: str, state: str, challenge: str, nonce: str
    ) -> str:
        """Where a browser is sent to sign in."""
        settings = self._settings
        words = {
            "response_type": "code",
            "client_id": settings.id or "",
            "redirect_uri": redirect_uri,
            "scope": settings.scope,
            "state": state,
            "nonce": nonce,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
            "resource": settings.resource or "",
            "audience": settings.audience or "",
        }
        given = urlencode({name: value for name, value in words.items() if value})
        return f"{metadata.authorization}{'&' if '?' in metadata.authorization else '?'}{given}"

    async def grant_of_code(self, code: str, verifier: str, redirect_uri: str) -> Grant:
        """Exchange the code of a browser that came back."""
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": redirect_uri}
        return await self._grant({**form, "code_verifier": verifier})

    async def renewed(self, refresh: str) -> Grant:
        """New tokens. `TokenRefused.error` is `invalid_grant` where the person has to sign in again."""
        grant = await self._grant({"grant_type": "refresh_token", "refresh_token": refresh})
        return grant if grant.refresh else Grant(grant.access, refresh, grant.id_token, grant.life)

    async def revoke(self, token: str, kind: str) -> None:
        """Have the server forget a token (RFC 7009), if it can. `kind`: `refresh_token` or `access_token`."""
        if url := (await self.metadata()).revocation:
            await self._post(url, {"token": token, "token_type_hint": kind})

    async def account(self, grant: Grant, nonce: str | None) -> Account:
        """Who signed in: by the ID token, or where that has no verified address, by the userinfo endpoint.

        `nonce`: that of the request; None for a device, whose ID token has none.
        """
        metadata, signed = await self.metadata(), None
        if grant.id_token and metadata.keys:
            from .id_token import claims_of

            keys = await self._get(metadata.keys)
            claims = claims_of(
                grant.id_token,
                keys,
                issuer=self.issuer,
                client_id=self._settings.id or "",
                nonce=nonce,
                now=self._clock.wall(),
            )
            signed = account_of(claims)
            if signed.is_verified and signed.email:
                return signed
        if not metadata.userinfo:
            return signed or Account("")
        named = account_of(await self._get(metadata.userinfo, grant.access))
        if signed is not None and named.subject != signed.subject:  # OpenID Connect Core, 5.3.2
            raise TokenRefused(f"{self.host} says two different things about who signed in")
        return named

    async def begin_device(self) -> DeviceCode:
        """A code for a person to type in."""
        if not (url := (await self.metadata()).device):
            raise TokenRefused(f"{self.host} has no device flow; set device_flow to false")
        settings = self._settings
        answer = await self._post(url, {"scope": settings.scope})
        code, user_code = text_in(answer, "device_code"), text_in(answer, "user_code")
        shown = text_in(answer, "verification_uri")
        if not (code and user_code and origin_of(shown)):
            raise TokenUnavailable(f"{self.host} began no sign-in on another device")
        interval = answer.get("interval")
        if isinstance(interval, int) and not isinstance(interval, bool):
            self.device_interval = max(1.0, float(interval))
        return DeviceCode(code, user_code, shown)

    async def grant_of_device(self, device_code: str) -> Grant | None:
        """The tokens, once the person has typed the code in; None: not yet."""
        try:
            return await self._grant({"grant_type": _DEVICE_GRANT, "device_code": device_code})
        except TokenRefused as error:
            if error.error != "authorization_pending":
                raise
        except TokenUnavailable:
            self.device_interval += _INTERVAL  # `slow_down` (RFC 8628, 3.5), or it is busy
            raise
        return None

    # -- requests

    def _limited(self) -> _Limit:
        return _Limit(self._settings.token_timeout, self.host)

    async def _grant(self, parameters: Mapping[str, str]) -> Grant:
        more = {"resource": self._settings.resource, "audience": self._settings.audience}
        given = {name: value for name, value in more.items() if value}
        answer = await self._post((await self.metadata()).token, {**parameters, **given})
        access, kind = text_in(answer, "access_token"), text_in(answer, "token_type") or "bearer"
        if not access or not access.isascii() or not access.isprintable() or kind.lower() != "bearer":
            raise TokenRefused(f"{self.host} gave no bearer token")
        refresh, id_token = text_in(answer, "refresh_token"), text_in(answer, "id_token")
        return Grant(access, refresh, id_token, life_of(answer.get("expires_in")))

    async def _post(self, url: str, parameters: Mapping[str, str]) -> Object:
        async with self._limited():
            body, now = urlencode(parameters), self._clock.wall()
            request = await offload(_proven, self._settings, url, now, body)
            async with new_token_http(url, self._settings, self._transport) as http:
                posting = http.stream("POST", url, content=request.body, headers=request.headers)
                with map_exceptions(self.host):
                    async with posting as response:
                        answer = await object_in(response, self.host)
        if response.is_success and "error" not in answer:
            return answer
        raise self._refusal(response, answer, (*request.secrets, *parameters.values()))

    async def _get(self, url: str, token: str = "") -> Object:
        headers = {"Accept": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
        async with self._limited(), new_token_http(url, self._settings, self._transport) as http:
            with map_exceptions(self.host):
                async with http.stream("GET", url, headers=headers) as response:
                    answer = await object_in(response, self.host)
        if response.is_success:
            return answer
        raise self._refusal(response, answer, (token,))

    def _refusal(self, response: Response, answer: Object, secrets: tuple[str, ...]) -> AgentError:
        error, status = text_in(answer, "error"), response.status_code
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
    }
    urls = {ours: endpoint_in(issuer_metadata, theirs, settings) for ours, theirs in names.items()}
    issuer = settings.issuer
    if not urls["token"] or not (urls["authorization"] or settings.device_flow):
        raise TokenRefused(f"the metadata of {issuer} names no https addresses to sign in and to get tokens")
    methods = list_of(issuer_metadata.get("code_challenge_methods_supported"))
    if methods and "S256" not in methods:
        raise TokenRefused(f"{issuer} does not support PKCE with S256, without which no one may sign in")
    names_itself = issuer_metadata.get("authorization_response_iss_parameter_supported") is True
    return Metadata(**urls, names_itself=names_itself)
