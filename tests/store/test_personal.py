"""A subject that is declared is exported, erased, counted and removed, without a word about it elsewhere."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from slack_bot.observe.outage import Outage
from slack_bot.store.collection import Ages, Collection, KeptPerson
from slack_bot.store.contracts import Store, StoreAdmin
from slack_bot.store.personal import erase, records_of
from slack_bot.store.stores import StoreOptions, open_admin, open_store
from tests.redis_server import RedisServer


@dataclass(frozen=True)
class Wish:
    user: str
    text: str
    at: float


WISHES = Collection(
    "wishes",
    Wish,
    age=lambda ages: ages.forms,
    since=lambda wish: wish.at,
    people=lambda key, wish: [KeptPerson(wish.user, key[0])],
    label="wishes",
)


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[tuple[Store, StoreAdmin]]:
    how = StoreOptions(url, Ages(), [WISHES], patience=60.0)
    store = await open_store(how, Outage())
    try:
        async with open_admin(how) as admin:
            yield store, admin
    finally:
        await store.close()


@pytest.mark.parametrize("where", ["sqlite", "redis"])
async def test_a_new_subject_is_exported_counted_and_erased(
    where: str, tmp_path: Path, redis_server: RedisServer
) -> None:
    url = redis_server.url if where == "redis" else f"sqlite:///{tmp_path}/store.sqlite"
    async with opened(url) as (store, admin):
        for team, user in (("T1", "U1"), ("T2", "U1"), ("T1", "U2")):
            await store.change(WISHES, (team, user), lambda _, user=user: Wish(user, "rain", 5.0), 5.0)  # type: ignore[misc]
        counts = {each.kind: each.number for each in (await admin.summary()).counts}
        assert counts["wishes"] == 3
        assert (await records_of(admin, "U1", "T2")).records == {"wishes": (Wish("U1", "rain", 5.0),)}
        assert len((await records_of(admin, "U1", None)).records["wishes"]) == 2
        assert (await erase(admin, "U1", None)).records == {"wishes": 2}
        assert await store.get(WISHES, ("T1", "U1")) is None
        assert await store.get(WISHES, ("T1", "U2")) == Wish("U2", "rain", 5.0)
        if where == "sqlite":  # Redis removes by its own clock
            await store.remove_old(5.0 + 7 * 86_400)
            assert await store.get(WISHES, ("T1", "U2")) is None
