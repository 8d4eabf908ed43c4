"""The tokens of people: kept encrypted, renewed by one replica at a time, revoked in the end."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from ...agents.wire.auth import TokenSource
from ...agents.wire.tokens import RENEW_AT
from ...clock import Clock
from ...errors import (
    AgentError,
    AskerRefused,
    AskerUnavailable,
    StoreError,
    TokenRefused,
    TokenUnavailable,
)
from ...store.collection import CollectionStore
from ...store.sign_ins import SIGNED_IN, SignedIn, SignInKey
from ...text.sign_in_words import SIGN_IN_HAS_ENDED
from ...threads.background import TaskSet
from ...turn.json_values import list_of, object_of, read_json, text_in, text_of
from ..vault import Vault
from .server import AuthorizationServer, Grant

_NO_STORE = "the store, which has the tokens of people, does not work"
_UNTRIED = 10.0
"""Seconds without another renewal after the agent refused a new token: it would refuse the next one, too."""
_MORE = 10.0  # seconds that a renewal may take beside the request: the lease must not end before it
_PAUSE = 0.2  # seconds between two looks at what another replica renews
_MOST_EARLIER = 3


@dataclass(frozen=True, slots=True)
class PersonTokens:
    """What is inside `SignedIn.sealed`. `earlier`: the access tokens before this one, the newest first. An
    agent may still repeat them, and perhaps only a process that has ended knew them.
    """

    access: str = field(repr=False)
    refresh: str = field(repr=False)
    earlier: tuple[str, ...] = field(default=(), repr=False)

    def followed_by(self, grant: Grant) -> PersonTokens:
        """Those of `grant`, which renewed these."""
        earlier = (self.access, *self.earlier)[:_MOST_EARLIER]
        return PersonTokens(grant.access, grant.refresh, earlier)


@dataclass(frozen=True, slots=True)
class SignInParts:
    """What sign-ins work with. `servers`: by the name of the agent. `shown`: the name that people read."""

    servers: Mapping[str, AuthorizationServer]
    vault: Vault
    store: CollectionStore
    clock: Clock
    background: TaskSet
    renewal_seconds: float
    shown: Callable[[str], str] = str

    def knows_server(self, agent_name: str, addresses: Sequence[str]) -> bool:
        """Whether people sign in for this agent at the server of a security scheme with these addresses."""
        server = self.servers.get(agent_name)
        return server is not None and server.is_at(addresses)


class TokenStore:
    """The tokens of all people. Methods raise StoreError."""

    def __init__(self, sign_in_parts: SignInParts) -> None:
        self._parts, self._store = sign_in_parts, sign_in_parts.store
        self._vault, self._now = sign_in_parts.vault, sign_in_parts.clock.wall

    async def of(self, key: SignInKey) -> tuple[SignedIn, PersonTokens] | None:
        """What is kept under this workspace, person and agent.

        None: they are not signed in, or nothing of it can be used any more.
        """
        record, server = await self._store.get(SIGNED_IN, key), self._parts.servers.get(key.agent)
        if record is None or server is None or record.issuer != server.issuer:
            return None
        tokens = self._opened(record, key)
        if tokens is None or (self._now() >= record.ends_at and not tokens.refresh):
            return None
        return record, tokens

    async def keep(self, key: SignInKey, grant: Grant) -> None:
        """Keep the tokens of a person who has just signed in."""
        server, now = self._parts.servers[key.agent], self._now()
        record = SignedIn(
            server.host,
            server.issuer,
            self._sealed(key, PersonTokens(grant.access, grant.refresh)),
            signed_in_at=now,
            renewed_at=now,
            renew_at=now + RENEW_AT * grant.life,
            ends_at=now + grant.life,
        )
        await self._store.change(SIGNED_IN, key, lambda _: record, now)

    async def forget(self, key: SignInKey) -> str:
        """Sign a person out. Returns the host of the server that still has the tokens; "" if none does."""
        record = await self._store.get(SIGNED_IN, key)
        if record is None:
            return ""
        await self._store.remove(SIGNED_IN, key)
        tokens, server = self._opened(record, key), self._parts.servers.get(key.agent)
        if tokens is None or server is None or record.issuer != server.issuer:
            return record.host
        return "" if await revoked(server, tokens.access, tokens.refresh) else record.host

    async def claim(self, key: SignInKey, version: int, renewer: str) -> SignedIn | None:
        """Reserve the renewal of tokens; None: another replica has it, or has done it."""
        now = self._now()
        until = now + self._parts.renewal_seconds + _MORE

        def claimed(record: SignedIn | None) -> SignedIn | None:
            if record is None or record.version != version:
                return None
            return record.claimed(renewer, now, until)

        after = (await self._store.change(SIGNED_IN, key, claimed, now)).after
        return after if after is not None and after.renewer == renewer else None

    async def save_renewed(self, key: SignInKey, renewer: str, pair: PersonTokens, life: float) -> bool:
        """Replace the tokens by new ones. False: the person has signed out meanwhile."""
        now, sealed = self._now(), self._sealed(key, pair)

        def renewed(record: SignedIn | None) -> SignedIn | None:
            if record is None or record.renewer != renewer:
                return None
            return replace(
                record,
                sealed=sealed,
                renewed_at=now,
                renew_at=now + RENEW_AT * life,
                ends_at=now + life,
                version=record.version + 1,
                renewer="",
                renewing_until=0.0,
            )

        after = (await self._store.change(SIGNED_IN, key, renewed, now)).after
        return after is not None and after.sealed == sealed

    async def release(self, key: SignInKey, renewer: str) -> None:
        """Another replica may renew the tokens."""
        await self._store.change(
            SIGNED_IN, key, lambda record: record and record.released(renewer), self._now()
        )

    async def drop(self, key: SignInKey) -> None:
        """The server does not know these tokens any more."""
        await self._store.remove(SIGNED_IN, key)

    def _sealed(self, key: SignInKey, pair: PersonTokens) -> str:
        return self._vault.seal(json.dumps(asdict(pair)), *key)

    def _opened(self, record: SignedIn, key: SignInKey) -> PersonTokens | None:
        text = self._vault.read(record.sealed, *key)
        if text is None:
            return None
        found = object_of(read_json(text))
        earlier = tuple(map(text_of, list_of(found.get("earlier"))))
        return PersonTokens(text_in(found, "access"), text_in(found, "refresh"), earlier)


async def revoked(server: AuthorizationServer, access: str, refresh: str) -> bool:
    """Have the server forget tokens. False: it did not say that it has."""
    try:
        if not (await server.metadata()).revocation:
            return False
        if refresh:  # the other one goes with it at most servers, not at all
            await server.revoke(refresh, "refresh_token")
        await server.revoke(access, "access_token")
    except AgentError:
        return False
    return True


class PersonTokenSource(TokenSource):
    """The token of one person for one agent, as it is in the store: any replica may renew it."""

    def __init__(self, sign_in_parts: SignInParts, token_store: TokenStore, key: SignInKey) -> None:
        self._parts, self._token_store = sign_in_parts, token_store
        self._key, self._server = key, sign_in_parts.servers[key.agent]
        self._last: PersonTokens | None = None

    @property
    def secrets(self) -> tuple[str, ...]:
        return () if self._last is None else (self._last.access, *self._last.earlier)

    async def token(self) -> str:
        record, tokens = await self._kept()
        now = self._parts.clock.wall()
        if now >= record.renew_at and tokens.refresh:
            tokens = await self._renewed(record, tokens, must=now >= record.ends_at)
        self._last = tokens
        return tokens.access

    async def renewed(self, refused: str) -> str | None:
        record, tokens = await self._kept()
        if tokens.access == refused:
            if self._parts.clock.wall() < record.renewed_at + _UNTRIED and record.version:
                return None
            if not tokens.refresh:
                await self._token_store.drop(self._key)
                raise self._ended()
            tokens = await self._renewed(record, tokens, must=True)
        self._last = tokens
        return None if tokens.access == refused else tokens.access

    def accept(self, token: str) -> None:
        """Does nothing: what the server said of its life counts."""

    async def _kept(self) -> tuple[SignedIn, PersonTokens]:
        try:
            kept = await self._token_store.of(self._key)
        except StoreError as error:
            raise AskerUnavailable(_NO_STORE) from error
        if kept is None:
            raise self._ended()
        return kept

    def _ended(self) -> AskerRefused:
        host = self._server.host
        return AskerRefused(f"the person is not signed in at {host} now", safe=SIGN_IN_HAS_ENDED.format(host))

    async def _renewed(self, record: SignedIn, pair: PersonTokens, *, must: bool) -> PersonTokens:
        """New tokens; the old ones where they are good for a while and new ones do not come at once."""
        # a caller that is stopped must not lose what the server gave: the old token is used up
        result = await asyncio.shield(self._parts.background.spawn(self._try_to_renew(record, pair)))
        if isinstance(result, PersonTokens):
            return result
        if must or not isinstance(result, TokenUnavailable):
            raise result
        return pair

    async def _try_to_renew(self, record: SignedIn, pair: PersonTokens) -> PersonTokens | AgentError:
        try:
            return await self._renew(record, pair)
        except AgentError as error:
            return error
        except StoreError:
            return AskerUnavailable(_NO_STORE)

    async def _renew(self, record: SignedIn, pair: PersonTokens) -> PersonTokens:
        renewer = secrets.token_hex(8)
        if await self._token_store.claim(self._key, record.version, renewer) is None:
            return await self._renewed_elsewhere(record)
        try:
            grant = await self._server.renewed(pair.refresh)
        except TokenUnavailable as error:
            await self._token_store.release(self._key, renewer)
            raise AskerUnavailable(error.brief, is_slow=error.is_slow) from error
        except TokenRefused as error:
            await self._token_store.drop(self._key)
            raise self._ended() from error
        new = pair.followed_by(grant)
        if not await self._token_store.save_renewed(self._key, renewer, new, grant.life):
            await revoked(self._server, grant.access, grant.refresh)
            raise self._ended()
        return new

    async def _renewed_elsewhere(self, record: SignedIn) -> PersonTokens:
        """What another replica gets; where it does not come, the renewal is this one's."""
        while True:
            kept, tokens = await self._kept()
            if kept.version != record.version:
                return tokens
            now = self._parts.clock.wall()
            if not kept.renewer or now >= kept.renewing_until:
                return await self._renew(kept, tokens)
            await asyncio.sleep(_PAUSE)
