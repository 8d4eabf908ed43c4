"""The contracts are small and apart."""

from __future__ import annotations

from slack_bot.store.contracts import Contexts, Conversation, Feedback, Inbox, Lore


def test_each_contract_has_fewer_than_ten_methods() -> None:
    for contract in (Inbox, Contexts, Feedback, Lore):
        methods = [name for name in vars(contract) if not name.startswith("_")]
        assert 0 < len(methods) < 10, contract


def test_a_new_conversation_knows_nothing() -> None:
    assert Conversation() == Conversation(None, None, None)
