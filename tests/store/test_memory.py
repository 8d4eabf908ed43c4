from __future__ import annotations

import pytest

from slack_bot.store.contracts import Store
from slack_bot.store.memory import MemoryStore

from .contract import StoreContract


class TestMemory(StoreContract):
    @pytest.fixture
    def store(self) -> Store:
        return MemoryStore(24.0)


async def test_what_was_learned_cannot_be_changed_from_outside() -> None:
    store = MemoryStore()
    await store.save_fact("agent", "wire", "1.0", 0.0)
    (await store.profile("agent"))["wire"] = "0.3"
    assert await store.profile("agent") == {"wire": "1.0"}
