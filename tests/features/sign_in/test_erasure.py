"""Who is erased from the store is signed out at the servers too."""

from __future__ import annotations

from slack_bot.features.sign_in.erasure import sign_out_everywhere
from slack_bot.settings.load import Settings
from slack_bot.store.personal import erase, records_of
from slack_bot.store.sign_ins import SIGNED_IN, SignedIn
from slack_bot.testing.memory_store import MemoryStore
from tests.features.sign_in.town import ALICES, host, sign_in, town
from tests.openid_server import OpenIDServer


async def test_tokens_are_revoked_and_deleted(provider: OpenIDServer) -> None:
    store = MemoryStore()
    async with town(provider, store=store) as here:
        root = here.ask("echo")
        await sign_in(here)
        await here.answered(root)
        exported = await records_of(store, "U1", None)
        (sign_ins,) = exported.records["signed_in"]
        assert set(sign_ins) == {"agent", "host", "signed_in_at"}
        assert await sign_out_everywhere(store, here.app.settings, "U2", None) == []
        assert any(each.is_active for each in provider.tokens())
        assert await sign_out_everywhere(store, here.app.settings, "U1", None) == []
        assert not any(each.is_active for each in provider.tokens())
        await erase(store, "U1", None)
        assert await store.get(SIGNED_IN, ALICES) is None


async def test_without_its_key_only_the_hosts_of_this_person_are_named() -> None:
    store = MemoryStore()
    for user in ("U1", "U2"):
        record = SignedIn(f"{user}.example", f"https://{user}.example", "sealed", 1.0, 1.0, 80.0, 100.0)
        await store.change(SIGNED_IN, ("T1", user, "research"), lambda _, new=record: new, 1.0)
    assert await sign_out_everywhere(store, Settings(), "U1", None) == ["U1.example"]


async def test_a_server_that_does_not_answer_is_named(provider: OpenIDServer) -> None:
    store = MemoryStore()
    async with town(provider, store=store) as here:
        root = here.ask("echo")
        await sign_in(here)
        await here.answered(root)
        provider.change(fault="no revocation")
        assert await sign_out_everywhere(store, here.app.settings, "U1", None) == [host(provider)]
        assert await store.get(SIGNED_IN, ALICES) is None
