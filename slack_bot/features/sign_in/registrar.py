"""Registers the bot at an authorization server when the first person signs in (RFC 7591): once over all
replicas, and anew when the server does not know the client any more.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from dataclasses import dataclass, replace
from typing import Protocol

from ...clock import Clock
from ...errors import AgentError, StoreError, TokenRefused, TokenUnavailable
from ...settings.sign_in import OAuthSettings
from ...store.collection import CollectionStore
from ...threads.background import TaskSet
from ..vault import Vault
from .registration import (
    REGISTRATIONS,
    RegisteredClient,
    Registration,
    RegistrationKey,
    client_in,
    key_for,
    metadata_for,
    method_for,
    refusal_of,
)
from .server_requests import Metadata, ServerRequests

_log = logging.getLogger(__name__)

_NO_STORE = "the store, which has the bot's registration, does not work"
_MORE = 10.0  # seconds that a registration may take beside its requests: the lease must not end before it
_PAUSE = 0.2  # seconds between two looks at what another replica registers
_USED = 86_400.0  # seconds after which it is noted again that a registration is in use


class ClientSource(Protocol):
    """As which client the bot goes to the authorization server. Methods raise TokenUnavailable and
    TokenRefused.
    """

    async def client(self) -> OAuthSettings:
        """The settings with the client for a new sign-in; the bot is registered first, if need be."""

    async def known(self) -> OAuthSettings:
        """The settings with the client that earlier sign-ins had."""

    async def forget(self, client: OAuthSettings) -> None:
        """The server does not know this client any more: if the bot registered itself, it does so anew for
        the next sign-in.
        """


class FixedClient(ClientSource):
    """The one that the settings name."""

    def __init__(self, settings: OAuthSettings) -> None:
        self._settings = settings

    async def client(self) -> OAuthSettings:
        return self._settings

    async def known(self) -> OAuthSettings:
        return self._settings

    async def forget(self, client: OAuthSettings) -> None:
        """Does nothing."""


@dataclass(frozen=True, slots=True)
class RegistrationParts:
    """What a registration needs. `redirect_uri`: where browsers come back to. `agent`: the agent for which
    people sign in.
    """

    redirect_uri: str
    vault: Vault
    store: CollectionStore
    background: TaskSet
    agent: str = ""

    def for_agent(self, name: str) -> RegistrationParts:
        """Those for this agent."""
        return replace(self, agent=name)


class Registrar(ClientSource):
    """The client that is registered when the first person signs in."""

    def __init__(
        self, settings: OAuthSettings, clock: Clock, requests: ServerRequests, parts: RegistrationParts
    ) -> None:
        self._settings, self._now = settings, clock.wall
        self._requests, self._parts, self._store = requests, parts, parts.store
        self._asked = metadata_for(settings, parts.agent, parts.redirect_uri)
        self._key: RegistrationKey = key_for(parts.agent, requests.issuer, self._asked)

    async def client(self) -> OAuthSettings:
        """See `ClientSource`."""
        try:
            while True:
                record = await self._store.get(REGISTRATIONS, self._key) or Registration()
                client = self._opened(record)
                if client is not None and not client.is_over(self._now()):
                    await self._note_use(record, client)
                    return client.used_by(self._settings)
                registrar = secrets.token_hex(8)
                if await self._claim(record, registrar):
                    return (await self._registered(registrar)).used_by(self._settings)
                await asyncio.sleep(_PAUSE)
        except StoreError as error:
            raise TokenUnavailable(_NO_STORE) from error

    async def known(self) -> OAuthSettings:
        """See `ClientSource`."""
        try:
            record = await self._store.get(REGISTRATIONS, self._key) or Registration()
            client = self._opened(record)
            if client is None:
                raise TokenRefused(f"the bot is not registered at {self._requests.host} now")
            await self._note_use(record, client)
            return client.used_by(self._settings)
        except StoreError as error:
            raise TokenUnavailable(_NO_STORE) from error

    async def forget(self, client: OAuthSettings) -> None:
        """See `ClientSource`."""
        try:
            record = await self._store.get(REGISTRATIONS, self._key) or Registration()
            known = self._opened(record)
            if known is not None and known.id == client.id:
                await self._change_if_still(record, replace(record, sealed=""))
                _log.warning("%s does not know the bot's registration any more", self._requests.host)
        except StoreError as error:
            raise TokenUnavailable(_NO_STORE) from error

    async def _claim(self, seen: Registration, registrar: str) -> bool:
        """Reserve the registration; False: another process has it, or has done it."""
        now = self._now()
        until = now + 2 * self._settings.token_timeout + _MORE

        def claimed(stored: Registration | None) -> Registration | None:
            record = stored or Registration(used_at=now)
            return record.claimed(registrar, now, until) if record.sealed == seen.sealed else None

        after = (await self._store.change(REGISTRATIONS, self._key, claimed, now)).after
        return after is not None and after.registrar == registrar

    async def _registered(self, registrar: str) -> RegisteredClient:
        """A new client."""
        # a caller that is stopped must not lose what the server gave
        result = await asyncio.shield(self._parts.background.spawn(self._try_to_register(registrar)))
        if isinstance(result, RegisteredClient):
            return result
        raise result

    async def _try_to_register(self, registrar: str) -> RegisteredClient | AgentError:
        try:
            client = await self._register()
        except AgentError as error:
            await self._release(registrar)
            return error
        sealed = self._sealed(client)

        def saved(stored: Registration | None) -> Registration | None:
            if stored is None or stored.registrar != registrar:
                return None
            return Registration(sealed, used_at=self._now())

        try:
            after = (await self._store.change(REGISTRATIONS, self._key, saved, self._now())).after
        except StoreError:
            return TokenUnavailable(_NO_STORE)
        if after is None or after.sealed != sealed:
            return TokenUnavailable(f"{self._requests.host} registered the bot too late")
        _log.info("the bot is registered at %s for %s", self._requests.host, self._parts.agent)
        return client

    async def _release(self, registrar: str) -> None:
        def released(record: Registration | None) -> Registration | None:
            return record and record.released(registrar)

        try:
            await self._store.change(REGISTRATIONS, self._key, released, self._now())
        except StoreError as error:
            _log.warning("the reservation of a registration is kept until its end: %s", error)

    async def _register(self) -> RegisteredClient:
        settings, host = self._settings, self._requests.host
        metadata = await self._requests.metadata(must_be_new=True)
        if (obstacle := registration_obstacle(metadata, settings, host)) is not None:
            raise obstacle
        about = {**self._asked, "token_endpoint_auth_method": method_for(settings, metadata.methods, host)}
        token = settings.registration_token
        status, answer = await self._requests.register(
            metadata.registration, about, "" if token is None else token.get_secret_value()
        )
        if status < 300 and "error" not in answer:
            return client_in(answer, about, settings, host, self._now())
        raise refusal_of(status, answer, about, settings, host)

    async def _note_use(self, record: Registration, client: RegisteredClient) -> None:
        """Let its age begin anew, and encrypt it with the first key."""
        is_current, now = self._parts.vault.is_current(record.sealed), self._now()
        if is_current and now < record.used_at + _USED:
            return
        sealed = record.sealed if is_current else self._sealed(client)
        await self._change_if_still(record, replace(record, sealed=sealed, used_at=now))

    async def _change_if_still(self, seen: Registration, new: Registration) -> None:
        def changed(stored: Registration | None) -> Registration | None:
            return new if stored == seen else None

        await self._store.change(REGISTRATIONS, self._key, changed, self._now())

    def _sealed(self, client: RegisteredClient) -> str:
        return self._parts.vault.seal(client.text, "client", *self._key)

    def _opened(self, record: Registration) -> RegisteredClient | None:
        text = self._parts.vault.read(record.sealed, "client", *self._key) if record.sealed else None
        return None if text is None else RegisteredClient.read(text)


def registration_obstacle(metadata: Metadata, settings: OAuthSettings, host: str) -> TokenRefused | None:
    """Why the bot cannot register itself there, as far as the server says in advance."""
    if not metadata.registration:
        return TokenRefused(
            f"{host} names no https address for registrations (RFC 7591); register the bot there by hand:"
            f" {settings.variables}ID in place of {settings.variables}REGISTER_CLIENT"
        )
    try:
        method_for(settings, metadata.methods, host)
    except TokenRefused as error:
        return error
    return None
