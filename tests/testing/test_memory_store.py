"""The store of the test kit promises what every store promises."""

import pytest

from slack_bot.store.contracts import PersonalData, Store
from slack_bot.testing.memory_store import MemoryStore
from tests.store import subjects
from tests.store.contract import AgesContract, PersonalDataContract, StoreContract


class TestMemoryStore(StoreContract, AgesContract, PersonalDataContract):
    @pytest.fixture
    def store(self) -> Store:
        return MemoryStore()

    @pytest.fixture
    def people(self, store: MemoryStore) -> PersonalData:
        return store


async def test_what_was_learned_cannot_be_changed_from_outside() -> None:
    store = MemoryStore()
    await subjects.save_fact(store, "agent", "wire", "1.0", 0.0)
    (await subjects.profile(store, "agent"))["wire"] = "0.3"
    assert await subjects.profile(store, "agent") == {"wire": "1.0"}
