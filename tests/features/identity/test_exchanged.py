"""Exchanged tokens are known to all processes, so that they are masked; no one else can read them."""

from __future__ import annotations

from pathlib import Path

import pytest

from slack_bot.clock import system_clock
from slack_bot.errors import StoreError
from slack_bot.features.identity.exchanged import EXCHANGED, ExchangedKey, KeptTokens, vault_of
from slack_bot.settings.identity import IdentitySettings
from slack_bot.store.collection import KeptPerson
from slack_bot.store.personal import erase, records_of
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.turn.people import AskingPerson
from tests.people_keys import identity_settings
from tests.tapped_store import TappedStore

ANN, BOB = AskingPerson("T1", "U1"), AskingPerson("T1", "U2")
ANNS = ExchangedKey("T1", "U1", "mail")


class BrokenStore(TappedStore):
    async def tap(self, kind: str) -> None:
        raise StoreError("The disk is full.")


def kept(store: MemoryStore, identity: IdentitySettings) -> KeptTokens:
    return KeptTokens(store, vault_of(identity), system_clock())


async def test_the_newest_tokens_of_a_person_for_an_agent_are_known_to_all(tmp_path: Path) -> None:
    store, identity = MemoryStore(), identity_settings(tmp_path)
    one, other = kept(store, identity), kept(store, identity)
    for number in range(4):
        await one.keep("mail", ANN, f"token-{number}")
        await other.keep("mail", ANN, f"other-{number}")
    await other.keep("mail", ANN, "other-3")
    known = ("other-3", "token-3", "other-2", "token-2", "other-1", "token-1")
    assert await one.known("mail", ANN) == await other.known("mail", ANN) == known
    assert await one.known("mail", BOB) == await one.known("files", ANN) == ()


async def test_no_token_is_in_the_store(tmp_path: Path) -> None:
    store = MemoryStore()
    await kept(store, identity_settings(tmp_path)).keep("mail", ANN, "the-token")
    (found,) = [each async for each in store.records(EXCHANGED)]
    assert "the-token" not in str(found) + found[1].sealed
    assert EXCHANGED.people_of(*found) == [KeptPerson("U1", "T1")]


async def test_what_was_moved_to_another_person_or_signed_by_another_key_is_not_read(tmp_path: Path) -> None:
    store, identity = MemoryStore(), identity_settings(tmp_path)
    tokens = kept(store, identity)
    await tokens.keep("mail", ANN, "the-token")
    record = await store.get(EXCHANGED, ANNS)
    await store.change(EXCHANGED, ExchangedKey("T1", "U2", "mail"), lambda _: record, 1.0)
    assert await tokens.known("mail", BOB) == ()
    (other := tmp_path / "other").mkdir()
    assert await kept(store, identity_settings(other)).known("mail", ANN) == ()


async def test_with_a_new_key_what_the_old_one_encrypted_is_read(tmp_path: Path) -> None:
    store, identity = MemoryStore(), identity_settings(tmp_path, keys=2)
    new, old = identity.keys
    await kept(store, identity.model_copy(update={"keys": (old,)})).keep("mail", ANN, "the-token")
    assert await kept(store, identity.model_copy(update={"keys": (new, old)})).known("mail", ANN) == (
        "the-token",
    )


async def test_a_store_that_does_not_work_stops_no_question(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    tokens = kept(BrokenStore(), identity_settings(tmp_path))
    await tokens.keep("mail", ANN, "the-token")
    assert await tokens.known("mail", ANN) == ()
    assert len(caplog.messages) == 2 and "the-token" not in caplog.text


async def test_an_export_has_no_token_and_an_erasure_leaves_none(tmp_path: Path) -> None:
    store = MemoryStore()
    await kept(store, identity_settings(tmp_path)).keep("mail", ANN, "the-token")
    found = (await records_of(store, "U1", None)).records["exchanged_tokens"]
    assert [each["agent"] for each in found] == ["mail"] and "sealed" not in str(found)
    await erase(store, "U1", None)
    assert await store.get(EXCHANGED, ANNS) is None
