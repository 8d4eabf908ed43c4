"""What is to be said is accepted once, and left until it has ended."""

from __future__ import annotations

from dataclasses import replace

from slack_bot.features.outbound.records import (
    OUTBOUND,
    accept_outbound,
    outbound,
    save_outbound,
    unfinished_outbound,
)
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.turn.outbound import OutboundMessage, OutboundRecord

SAID = OutboundRecord("k", OutboundMessage("hi", user="U1"), 5.0)


@on_virtual_time
async def test_it_is_unfinished_from_its_acceptance_to_its_end() -> None:
    store = MemoryStore()
    assert await accept_outbound(store, SAID) == SAID
    again = replace(SAID, message=OutboundMessage("ho"))
    assert await accept_outbound(store, again) == SAID
    assert await unfinished_outbound(store) == [SAID]
    ended = replace(SAID, ended_at=7.0)
    await save_outbound(store, ended)
    assert await unfinished_outbound(store) == []
    assert await outbound(store, "k") == ended


def test_who_is_erased_keeps_what_is_still_to_be_said_to_them() -> None:
    assert OUTBOUND.is_about(("k",), SAID, "U1", "T9"), "it has no workspace"
    assert OUTBOUND.without(SAID, "U1") == SAID
    assert OUTBOUND.without(replace(SAID, ended_at=7.0), "U1") is None
