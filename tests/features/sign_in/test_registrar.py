"""The bot registers itself at an authorization server: once, and anew where that has forgotten it."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any

import pytest

from slack_bot.app import store_options
from slack_bot.clock import system_clock
from slack_bot.errors import TokenRefused
from slack_bot.features.sign_in.erasure import sign_out_everywhere
from slack_bot.features.sign_in.registrar import RegistrationParts
from slack_bot.features.sign_in.registration import REGISTRATIONS, Registration
from slack_bot.features.sign_in.server import AuthorizationServer
from slack_bot.features.sign_in.server_check import check
from slack_bot.features.vault import Vault
from slack_bot.observe.outage import Outage
from slack_bot.settings.sign_in import OAuthSettings
from slack_bot.settings.store import StoreSettings
from slack_bot.store.collection import Key
from slack_bot.store.contracts import Store, StoreAdmin
from slack_bot.store.sign_ins import SIGNED_IN
from slack_bot.store.stores import open_store
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.threads.background import TaskSet
from tests.features.sign_in.town import ALICES, browser, host, settings_of, sign_in, town
from tests.openid_server import OpenIDServer
from tests.redis_server import RedisServer

CALLBACK = "https://bot.example/oauth/callback"
REGISTERS: dict[str, Any] = {
    "agent.oauth.id": None,
    "agent.oauth.secret": None,
    "agent.oauth.register_client": True,
}


def new_server(
    provider: OpenIDServer, store: Store, keys: tuple[bytes, ...] = (b"k" * 32,), **oauth: Any
) -> AuthorizationServer:
    settings = OAuthSettings.model_validate({"issuer": provider.url, "register_client": True, **oauth})
    parts = RegistrationParts(CALLBACK, Vault(keys), store, TaskSet(), "files")
    return AuthorizationServer(settings, system_clock(), None, parts)


async def client_id(server: AuthorizationServer) -> str:
    url = await server.authorization_url(CALLBACK, "state", "challenge", "nonce")
    return url.partition("client_id=")[2].partition("&")[0]


async def kept(store: StoreAdmin) -> tuple[Key, Registration]:
    (found,) = [each async for each in store.records(REGISTRATIONS)]
    return found


async def test_the_first_person_who_signs_in_has_the_bot_registered_once_also_over_a_restart(
    provider: OpenIDServer,
) -> None:
    store = MemoryStore(is_durable=True)
    async with town(provider, store=store, **REGISTERS) as first:
        assert provider.registrations() == []
        root = first.ask("echo one")
        assert (await sign_in(first)).startswith("You are signed in.")
        assert await first.answered(root) == "echo one"
        await first.end()
    store.handed_on()
    public = {"sign_in.base_url": first.app.settings.sign_in.base_url}
    async with town(provider, store=store, workspace=first.workspace, **REGISTERS, **public) as second:
        port = int((second.app.settings.sign_in.base_url or "").rpartition(":")[2])
        assert port == first.app.settings.sign_in.port
        (about,) = provider.registrations()
        assert about == {
            "client_name": "slack_bot (default)",
            "scope": "openid email offline_access",
            "redirect_uris": [f"http://127.0.0.1:{port}/oauth/callback"],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "client_secret_basic",
        }
        root = second.ask("echo two")
        assert await second.answered(root) == "echo two"
        assert await second.app.store.get(SIGNED_IN, ALICES) is not None
    assert len(provider.registrations()) == 1
    _, record = await kept(store)
    assert "client-" not in record.sealed and "secret-" not in record.sealed and record.registrar == ""


async def test_many_calls_of_two_replicas_and_one_registration(
    provider: OpenIDServer, redis_server: RedisServer
) -> None:
    options = store_options(StoreSettings.model_validate({"url": redis_server.url}))
    async with AsyncExitStack() as stack:
        servers = []
        for _ in range(2):
            store = await open_store(options, Outage(system_clock()))
            stack.push_async_callback(store.close)
            servers += [new_server(provider, store) for _ in range(4)]
        ids = await asyncio.gather(*map(client_id, servers))
    assert len(set(ids)) == 1 and len(provider.registrations()) == 1


async def test_a_caller_that_is_stopped_does_not_lose_the_client(provider: OpenIDServer) -> None:
    store = MemoryStore()
    preparing = asyncio.create_task(new_server(provider, store).prepare())
    while not provider.registrations():  # noqa: ASYNC110  the server is another process
        await asyncio.sleep(0)
    preparing.cancel()
    await asyncio.wait({preparing})
    assert await client_id(new_server(provider, store))
    assert len(provider.registrations()) == 1


async def test_what_a_process_reserved_that_died_is_done_by_the_next_one(provider: OpenIDServer) -> None:
    store, now = MemoryStore(), system_clock().wall()
    server = new_server(provider, store)
    await server.prepare()
    key, _ = await kept(store)
    stuck = Registration(used_at=now, registrar="dead", registering_until=now + 0.3)
    await store.change(REGISTRATIONS, key, lambda _: stuck, now)
    await server.prepare()
    assert system_clock().wall() >= now + 0.3 and len(provider.registrations()) == 2


async def test_a_server_that_forgot_the_bot_gets_it_registered_anew_before_a_browser_is_sent(
    provider: OpenIDServer,
) -> None:
    store = MemoryStore()
    first = await client_id(new_server(provider, store))
    provider.change(forget_clients=True)
    one, other = new_server(provider, store), new_server(provider, store)
    second = await client_id(one)
    assert second != first and await client_id(other) == second
    assert len(provider.registrations()) == 2


async def test_tokens_of_a_client_that_the_server_forgot_end_with_a_sentence_and_a_new_sign_in(
    provider: OpenIDServer,
) -> None:
    async with town(provider, **REGISTERS) as here:
        root = here.ask("echo one")
        await sign_in(here)
        assert await here.answered(root) == "echo one"
        provider.change(forget_clients=True, revoke_all=True)
        root = here.ask("echo two")
        await here.until(lambda: here.messages(root)[-1:] and here.messages(root)[-1].extras)
        ended = f"Your sign-in at {host(provider)} has ended. Ask again, and I will ask you to sign in."
        assert ended in str(here.messages(root)[-1].extras)
        root = here.ask("echo three")
        assert (await sign_in(here, number=2)).startswith("You are signed in.")
        assert await here.answered(root) == "echo three"
    assert len(provider.registrations()) == 2


async def test_a_code_to_type_in_is_given_to_a_registered_client_too(provider: OpenIDServer) -> None:
    store = MemoryStore()
    server = new_server(provider, store, device_flow=True)
    await server.begin_device()
    provider.change(forget_clients=True)
    device = await server.begin_device()
    async with browser("alice") as alice:
        await alice.type_in(device.url, device.user_code)
    grant = await server.grant_of_device(device.device_code)
    assert grant is not None and (await server.account(grant, None)).email == "alice@example.com"
    assert len(provider.registrations()) == 2


async def test_a_client_without_a_secret(provider: OpenIDServer) -> None:
    provider.change(methods=["none"])
    async with town(provider, **REGISTERS) as here:
        root = here.ask("echo")
        assert (await sign_in(here)).startswith("You are signed in.")
        assert await here.answered(root) == "echo"
    assert provider.registrations()[0]["token_endpoint_auth_method"] == "none"


async def test_a_server_that_wants_an_initial_access_token(
    provider: OpenIDServer, caplog: pytest.LogCaptureFixture
) -> None:
    provider.change(initial_token="the-initial-token")
    with pytest.raises(TokenRefused) as refused:
        await new_server(provider, MemoryStore()).prepare()
    assert "set SLACK_BOT_AGENT__OAUTH__REGISTRATION_TOKEN" in refused.value.brief
    with pytest.raises(TokenRefused) as refused:
        await new_server(provider, MemoryStore(), registration_token="another-token").prepare()
    assert "does not accept the initial access token" in refused.value.brief
    assert "another-token" not in str(refused.value)
    await new_server(provider, MemoryStore(), registration_token="the-initial-token").prepare()
    assert "the-initial-token" not in caplog.text


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"fault": "no registration"}, "names no https address for registrations (RFC 7591)"),
        ({"fault": "register invalid_redirect_uri"}, "where browsers come back to (invalid_redirect_uri)"),
        ({"fault": "register 503"}, "does not register the bot now (HTTP 503)"),
        ({"methods": ["tls_client_auth"]}, "takes tls_client_auth from its clients"),
        (
            {"registered": {"redirect_uris": ["https://other.example/"]}},
            "registered another address for browsers than the bot's",
        ),
    ],
)
async def test_where_the_bot_is_not_registered_nobody_is_sent_there(
    provider: OpenIDServer, change: dict[str, Any], line: str, caplog: pytest.LogCaptureFixture
) -> None:
    provider.change(**change)
    async with town(provider, **REGISTERS) as here:
        here.ask("echo")
        assert await here.refused(number=1) == (
            "default shows only what the asker may see, and you cannot sign in, so it was not asked."
        )
        assert here.links() == [] and here.live.messages == []
        (told,) = [each for each in caplog.messages if "a sign-in was not begun" in each]
        assert line in told
        provider.change(fault="", methods=["client_secret_basic"], registered={})
        root = here.ask("echo again")  # nothing has to be started anew
        assert (await sign_in(here)).startswith("You are signed in.")
        assert await here.answered(root) == "echo again"


async def test_a_secret_that_has_ended_is_followed_by_another_client(provider: OpenIDServer) -> None:
    store, now = MemoryStore(), system_clock().wall()
    provider.change(registered={"client_secret_expires_at": now + 61.0})
    first = await client_id(new_server(provider, store))
    while system_clock().wall() < now + 1.0:  # noqa: ASYNC110  the clock is what is waited for
        await asyncio.sleep(0.05)
    provider.change(registered={})
    assert await client_id(new_server(provider, store)) != first


async def test_with_a_new_key_the_client_stays_and_is_encrypted_anew(provider: OpenIDServer) -> None:
    store, old, new = MemoryStore(), b"o" * 32, b"n" * 32
    first = await client_id(new_server(provider, store, (old,)))
    assert await client_id(new_server(provider, store, (new, old))) == first
    assert await client_id(new_server(provider, store, (new,))) == first
    assert len(provider.registrations()) == 1


async def test_a_client_that_was_moved_to_another_agent_is_not_read(provider: OpenIDServer) -> None:
    store = MemoryStore()
    await new_server(provider, store).prepare()
    key, record = await kept(store)
    await store.remove(REGISTRATIONS, key)
    other = (key[0], "0" * 16)
    await store.change(REGISTRATIONS, other, lambda _: record, record.used_at)
    await new_server(provider, store).prepare()
    assert len(provider.registrations()) == 2


async def test_a_registration_that_is_used_does_not_grow_old(provider: OpenIDServer) -> None:
    store = MemoryStore()
    await new_server(provider, store).prepare()
    key, record = await kept(store)
    old = replace(record, used_at=record.used_at - 100_000.0)
    await store.change(REGISTRATIONS, key, lambda _: old, record.used_at)
    await new_server(provider, store).prepare()
    assert (await kept(store))[1].used_at >= record.used_at


async def test_who_is_erased_is_signed_out_by_the_registered_client(provider: OpenIDServer) -> None:
    store = MemoryStore()
    async with town(provider, store=store, **REGISTERS) as here:
        root = here.ask("echo")
        await sign_in(here)
        await here.answered(root)
        assert await sign_out_everywhere(store, here.app.settings, "U1", None) == []
        assert not any(each.is_active for each in provider.tokens())
        assert len(provider.registrations()) == 1


async def test_nothing_is_registered_to_sign_somebody_out(provider: OpenIDServer) -> None:
    store = MemoryStore()
    async with town(provider, store=store, **REGISTERS) as here:
        root = here.ask("echo")
        await sign_in(here)
        await here.answered(root)
        key, _ = await kept(store)
        await store.remove(REGISTRATIONS, key)
        assert await sign_out_everywhere(store, here.app.settings, "U1", None) == [host(provider)]
    assert len(provider.registrations()) == 1


async def said(provider: OpenIDServer, **overrides: Any) -> tuple[str, str]:
    settings = settings_of(provider, "http://agent.invalid", 1, **{**REGISTERS, **overrides})
    found = [(str(each.state), each.text) async for each in check(settings)]
    return next(each for each in found if "regist" in each[1])


async def test_doctor_says_what_the_bot_would_do_and_does_nothing(provider: OpenIDServer) -> None:
    assert await said(provider) == (
        "ok",
        f"default: when the first person signs in, the bot registers itself at {host(provider)} without a"
        " token: http://127.0.0.1:1/oauth/callback, client_secret_basic",
    )
    state, text = await said(provider, **{"agent.oauth.registration_token": "t"})
    assert state == "ok" and "with the initial access token" in text
    provider.change(fault="no registration")
    state, text = await said(provider)
    assert state == "failed" and "names no https address for registrations" in text
    assert provider.registrations() == []
