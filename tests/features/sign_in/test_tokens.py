"""The tokens of people: each belongs to one person and one agent, and one replica at a time renews it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace

import pytest

from slack_bot.app import store_options
from slack_bot.clock import system_clock
from slack_bot.errors import AskerRefused, AskerUnavailable
from slack_bot.features.sign_in.server import AuthorizationServer, Grant
from slack_bot.features.sign_in.tokens import PersonTokenSource, SignInParts, TokenStore
from slack_bot.features.vault import Vault
from slack_bot.observe.outage import Outage
from slack_bot.settings.sign_in import OAuthSettings
from slack_bot.settings.store import StoreSettings
from slack_bot.store.contracts import Store
from slack_bot.store.sign_ins import SIGNED_IN, SignedIn, SignInKey
from slack_bot.store.stores import open_store
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.threads.background import TaskSet
from tests.openid_server import SECRET, Browser, OpenIDServer
from tests.redis_server import RedisServer

ALICE = SignInKey("T1", "U1", "research")
AGENTS = ("research", "ops", "tickets")
KEYS = [SignInKey("T1", user, agent) for user in ("U1", "U2") for agent in AGENTS]


def oauth(provider: OpenIDServer) -> OAuthSettings:
    return OAuthSettings.model_validate({"issuer": provider.url, "id": "bot", "secret": SECRET})


def new_parts(provider: OpenIDServer, store: Store, key: bytes = b"k" * 32) -> SignInParts:
    servers = {name: AuthorizationServer(oauth(provider), system_clock()) for name in AGENTS}
    return SignInParts(servers, Vault([key]), store, system_clock(), TaskSet(), 5.0)


async def grant(provider: OpenIDServer, account: str = "alice") -> Grant:
    server, browser = AuthorizationServer(oauth(provider), system_clock()), Browser(account)
    device = await server.begin_device()
    await browser.type_in(device.url, device.user_code)
    await browser.close()
    found = await server.grant_of_device(device.device_code)
    assert found is not None
    return found


async def ended(provider: OpenIDServer) -> None:
    while any(each.is_active for each in provider.tokens()):  # noqa: ASYNC110  the time is another process's
        await asyncio.sleep(0.05)


async def kept(parts: SignInParts) -> SignedIn:
    record = await parts.store.get(SIGNED_IN, ALICE)
    assert record is not None
    return record


async def passed(parts: SignInParts, at: float) -> None:
    while parts.clock.wall() < at:  # noqa: ASYNC110  the clock is what is waited for
        await asyncio.sleep(0.05)


@asynccontextmanager
async def signed_in(provider: OpenIDServer) -> AsyncIterator[tuple[SignInParts, TokenStore]]:
    """Alice is."""
    parts = new_parts(provider, MemoryStore())
    token_store = TokenStore(parts)
    await token_store.keep(ALICE, await grant(provider))
    yield parts, token_store


async def test_two_people_three_agents_two_replicas_and_one_renewal_for_each_token(
    provider: OpenIDServer, redis_server: RedisServer
) -> None:
    """A refresh token that is used twice ends the whole sign-in at this server."""
    provider.change(expires_in=2)
    options = store_options(StoreSettings.model_validate({"url": redis_server.url}))
    async with AsyncExitStack() as stack:
        replicas = []
        for _ in range(2):
            store = await open_store(options, Outage(system_clock()))
            stack.push_async_callback(store.close)
            replicas.append(new_parts(provider, store))
        for key in KEYS:
            account = "alice" if key.user == "U1" else "bob"
            await TokenStore(replicas[0]).keep(key, await grant(provider, account))
        for _ in range(3):
            await ended(provider)
            sources = [
                (key, PersonTokenSource(parts, TokenStore(parts), key))
                for key in KEYS
                for parts in replicas * 3
            ]
            tokens = await asyncio.gather(*(source.token() for _, source in sources))
            found = {(key, token) for (key, _), token in zip(sources, tokens, strict=True)}
            assert len(found) == len(KEYS)
            owners = {token: await provider.about(token) for _, token in found}
            for key, token in found:
                assert owners[token]["sub"] == ("alice" if key.user == "U1" else "bob")
    used = Counter(form["refresh_token"] for form in provider.asked("refresh_token"))
    assert set(used.values()) == {1} and len(used) == 3 * len(KEYS)


async def test_a_token_is_renewed_before_its_end_and_the_old_one_used_while_the_server_is_down(
    provider: OpenIDServer,
) -> None:
    provider.change(expires_in=5)
    async with signed_in(provider) as (parts, token_store):
        source = PersonTokenSource(parts, token_store, ALICE)
        first = await source.token()
        provider.change(fault="down")
        await passed(parts, (await kept(parts)).renew_at)
        assert await source.token() == first
        provider.change(fault="")
        assert await source.token() != first
        provider.change(fault="down")
        await passed(parts, (await kept(parts)).ends_at)
        with pytest.raises(AskerUnavailable):
            await source.token()


async def test_a_refused_token_is_renewed_once(provider: OpenIDServer) -> None:
    async with signed_in(provider) as (parts, token_store):
        source = PersonTokenSource(parts, token_store, ALICE)
        first = await source.token()
        second = await source.renewed(first)
        assert second is not None and second != first
        assert await source.renewed(first) == second  # another call was refused with the old one
        assert await source.renewed(second) is None
        assert len(provider.asked("refresh_token")) == 1


async def test_a_caller_that_is_stopped_does_not_lose_the_new_token(provider: OpenIDServer) -> None:
    async with signed_in(provider) as (parts, token_store):
        source = PersonTokenSource(parts, token_store, ALICE)
        first = await source.token()
        renewing = asyncio.create_task(source.renewed(first))
        while not len(parts.background):  # noqa: ASYNC110  the loop is what is waited for
            await asyncio.sleep(0)
        renewing.cancel()
        await asyncio.wait({renewing, *parts.background})
        assert await source.token() != first
        assert len(provider.asked("refresh_token")) == 1


async def test_a_token_that_has_ended_and_cannot_be_renewed_is_no_sign_in(provider: OpenIDServer) -> None:
    async with signed_in(provider) as (parts, token_store):
        await token_store.keep(ALICE, replace(await grant(provider), refresh="", life=0.0))
        assert await token_store.of(ALICE) is None
        with pytest.raises(AskerRefused) as caught:
            await PersonTokenSource(parts, token_store, ALICE).token()
        assert caught.value.safe.endswith(" has ended. Ask again, and I will ask you to sign in.")


async def test_a_process_that_never_had_a_token_knows_those_before_it(provider: OpenIDServer) -> None:
    """So that it masks them."""
    async with signed_in(provider) as (parts, token_store):
        source = PersonTokenSource(parts, token_store, ALICE)
        tokens = [await source.token()]
        for _ in range(5):
            record = await kept(parts)
            aged = replace(record, renewed_at=0.0)
            await parts.store.change(SIGNED_IN, ALICE, lambda _, aged=aged: aged, parts.clock.wall())  # type: ignore[misc]
            tokens.append(await source.renewed(tokens[-1]) or "")
        later = PersonTokenSource(parts, TokenStore(parts), ALICE)
        await later.token()
        assert later.secrets == tuple(tokens[:-5:-1])


async def test_what_another_key_encrypted_is_no_sign_in(provider: OpenIDServer) -> None:
    async with signed_in(provider) as (parts, _):
        other = new_parts(provider, parts.store, b"o" * 32)
        with pytest.raises(AskerRefused) as caught:
            await PersonTokenSource(other, TokenStore(other), ALICE).token()
        assert caught.value.safe.startswith("Your sign-in at ")


async def test_tokens_that_were_moved_to_another_person_are_not_read(provider: OpenIDServer) -> None:
    async with signed_in(provider) as (parts, token_store):
        record = await parts.store.get(SIGNED_IN, ALICE)
        bobs = SignInKey("T1", "U2", "research")
        await parts.store.change(SIGNED_IN, bobs, lambda _: record, parts.clock.wall())
        assert await token_store.of(bobs) is None
        assert await token_store.of(ALICE) is not None


async def test_forgetting_revokes(provider: OpenIDServer) -> None:
    async with signed_in(provider) as (_, token_store):
        assert await token_store.forget(ALICE) == ""
        assert not any(each.is_active for each in provider.tokens())
        assert await token_store.of(ALICE) is None
        assert await token_store.forget(ALICE) == ""
