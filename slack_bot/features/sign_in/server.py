"""An authorization server that the settings of an agent name: its tokens and accounts."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode

from ...agents.wire.auth import bare, origin_of
from ...agents.wire.token_endpoint import life_of, metadata_urls
from ...clock import Clock
from ...errors import TokenRefused, TokenUnavailable
from ...http_client import AsyncBaseTransport
from ...settings.sign_in import OAuthSettings
from ...turn.json_values import Object, text_in
from .registrar import ClientSource, FixedClient, Registrar, RegistrationParts
from .registration import DEVICE_GRANT
from .rules import Account, account_of
from .server_requests import Metadata, ServerRequests

_INTERVAL = 5.0  # seconds between two polls where the server names none (RFC 8628, 3.2)
_KNOWN_FOR = 300.0
"""Seconds for which it is believed that the server knows a client that it registered."""


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

    `transport`: in place of the network. `registering`: where the bot's registration is kept, if the settings
    want one; without it the bot is known by the client of the settings alone.
    """

    def __init__(
        self,
        settings: OAuthSettings,
        clock: Clock,
        transport: AsyncBaseTransport | None = None,
        registering: RegistrationParts | None = None,
    ) -> None:
        self._settings, self._clock = settings, clock
        self._requests = ServerRequests(settings, clock, transport)
        self._clients: ClientSource = FixedClient(settings)
        if registering is not None and settings.register_client:
            self._clients = Registrar(settings, clock, self._requests, registering)
        self._known_until = 0.0
        self.issuer, self.host = self._requests.issuer, self._requests.host
        self.device_interval = _INTERVAL
        """Seconds between two polls for a code that is typed in."""

    @property
    def has_devices(self) -> bool:
        """Whether people type a code in, in place of opening a link."""
        return self._settings.device_flow

    def is_at(self, addresses: Iterable[str]) -> bool:
        """Whether a security scheme with these addresses means this server.

        As long as the server could not be asked for its addresses, all of its host are taken for its own.
        """
        metadata = self._requests.known
        usable = [each for each in addresses if origin_of(each) is not None]
        known = {*metadata_urls(self.issuer), *(metadata.for_people if metadata else ())}
        home = origin_of(self.issuer) if metadata is None else None
        return any(bare(each) in known or origin_of(each) == home for each in usable)

    async def metadata(self) -> Metadata:
        """At most an hour old."""
        return await self._requests.metadata()

    async def prepare(self) -> None:
        """See that the bot has a client there, before somebody is asked to sign in."""
        await self._clients.client()

    async def authorization_url(
        self, redirect_uri: str, state: str, challenge: str, nonce: str, login_hint: str = ""
    ) -> str:
        """Where a browser is sent to sign in. `login_hint`: the account that the server may offer first
        (OpenID Connect Core, 3.1.2.1); one that does not know it ignores it (RFC 6749, 3.1).
        """
        settings, place = await self._client_for_browser(redirect_uri), (await self.metadata()).authorization
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
            "login_hint": login_hint,
        }
        given = urlencode({name: value for name, value in words.items() if value})
        return f"{place}{'&' if '?' in place else '?'}{given}"

    async def _client_for_browser(self, redirect_uri: str) -> OAuthSettings:
        """A client that the server knows.

        A browser is not sent back for a client that the server does not know (RFC 6749, 4.1.2.1), so the bot
        would not learn that: it asks for the tokens of a code that does not exist.
        """
        client, now = await self._clients.client(), self._clock.monotonic()
        if not self._settings.register_client or now < self._known_until:
            return client
        form = {"grant_type": "authorization_code", "redirect_uri": redirect_uri}
        try:
            await self._grant({**form, "code": secrets.token_urlsafe(), "code_verifier": "0" * 43}, client)
        except TokenUnavailable:
            return client
        except TokenRefused as error:
            if error.error == "invalid_client":
                client = await self._clients.client()
        self._known_until = now + _KNOWN_FOR
        return client

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
            form = {"token": token, "token_type_hint": kind}
            await self._requests.post(url, form, await self._clients.known())

    async def account(self, grant: Grant, nonce: str | None) -> Account:
        """Who signed in: by the ID token, or where that has no verified address, by the userinfo endpoint.

        `nonce`: that of the request; None for a device, whose ID token has none.
        """
        metadata, signed = await self.metadata(), None
        if grant.id_token and metadata.keys:
            from .id_token import claims_of

            keys, client = await self._requests.get(metadata.keys), await self._clients.known()
            claims = claims_of(
                grant.id_token,
                keys,
                issuer=self.issuer,
                client_id=client.id or "",
                nonce=nonce,
                now=self._clock.wall(),
            )
            signed = account_of(claims)
            if signed.is_verified and signed.email:
                return signed
        if not metadata.userinfo:
            return signed or Account("")
        named = account_of(await self._requests.get(metadata.userinfo, grant.access))
        if signed is not None and named.subject != signed.subject:  # OpenID Connect Core, 5.3.2
            raise TokenRefused(f"{self.host} says two different things about who signed in")
        return named

    async def begin_device(self) -> DeviceCode:
        """A code for a person to type in."""
        try:
            answer = await self._begin_device()
        except TokenRefused as error:
            if error.error != "invalid_client" or not self._settings.register_client:
                raise
            answer = await self._begin_device()
        code, user_code = text_in(answer, "device_code"), text_in(answer, "user_code")
        shown = text_in(answer, "verification_uri")
        if not (code and user_code and origin_of(shown)):
            raise TokenUnavailable(f"{self.host} began no sign-in on another device")
        interval = answer.get("interval")
        if isinstance(interval, int) and not isinstance(interval, bool):
            self.device_interval = max(1.0, float(interval))
        return DeviceCode(code, user_code, shown)

    async def _begin_device(self) -> Object:
        if not (url := (await self.metadata()).device):
            raise TokenRefused(f"{self.host} has no device flow; set device_flow to false")
        client = await self._clients.client()
        return await self._post(url, {"scope": client.scope}, client)

    async def grant_of_device(self, device_code: str) -> Grant | None:
        """The tokens, once the person has typed the code in; None: not yet."""
        try:
            return await self._grant({"grant_type": DEVICE_GRANT, "device_code": device_code})
        except TokenRefused as error:
            if error.error != "authorization_pending":
                raise
        except TokenUnavailable:
            self.device_interval += _INTERVAL  # `slow_down` (RFC 8628, 3.5), or it is busy
            raise
        return None

    # -- requests

    async def _grant(self, parameters: Mapping[str, str], client: OAuthSettings | None = None) -> Grant:
        client = client or await self._clients.known()
        more = {"resource": self._settings.resource, "audience": self._settings.audience}
        given = {name: value for name, value in more.items() if value}
        answer = await self._post((await self.metadata()).token, {**parameters, **given}, client)
        access, kind = text_in(answer, "access_token"), text_in(answer, "token_type") or "bearer"
        if not access or not access.isascii() or not access.isprintable() or kind.lower() != "bearer":
            raise TokenRefused(f"{self.host} gave no bearer token")
        refresh, id_token = text_in(answer, "refresh_token"), text_in(answer, "id_token")
        return Grant(access, refresh, id_token, life_of(answer.get("expires_in")))

    async def _post(self, url: str, parameters: Mapping[str, str], client: OAuthSettings) -> Object:
        try:
            return await self._requests.post(url, parameters, client)
        except TokenRefused as error:
            if error.error == "invalid_client":
                await self._clients.forget(client)
            raise
