"""The contracts are small and apart."""

from __future__ import annotations

import pytest

from slack_bot.store.collection import CollectionStore
from slack_bot.store.contracts import EventStore, PersonalData, ReplicaStore, TurnStore

CONTRACTS = (
    TurnStore,
    ReplicaStore,
    PersonalData,
    CollectionStore,
    EventStore,
)


@pytest.mark.parametrize("contract", CONTRACTS)
def test_a_contract_has_fewer_than_ten_methods(contract: type) -> None:
    assert 0 < len([name for name in vars(contract) if not name.startswith("_")]) < 10
