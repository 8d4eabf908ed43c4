"""Messages that a question is about: kept once, and erased with their authors and their asker."""

from __future__ import annotations

from slack_bot.store.quoted import QUOTED, QuotedMessages, quoted_messages
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.turn.people import PersonKind
from slack_bot.turn.quotes import ThreadMessage
from slack_bot.turn.record import ThreadKey

ONE = ThreadMessage("1.0", "U2", PersonKind.MEMBER, "the disk is full")
TWO = ThreadMessage("2.0", "U3", PersonKind.MEMBER, "it is db1")
ALERT = ThreadMessage("3.0", "B1", PersonKind.BOT, "disk full", name="Pager")
RECORD = QuotedMessages(ThreadKey("T1", "C1", "1.0"), (ONE, TWO, ALERT), "U1", 5.0)


async def test_they_are_read_by_the_key_of_the_question() -> None:
    store = MemoryStore()
    await store.change(QUOTED, ("key",), lambda _: RECORD, RECORD.at)
    assert await quoted_messages(store, "key") == (ONE, TWO, ALERT)
    assert await quoted_messages(store, "other") == ()


def test_they_are_erased_with_their_author_and_with_their_asker() -> None:
    assert {each.user for each in QUOTED.people_of(("key",), RECORD)} == {"U1", "U2", "U3"}
    assert QUOTED.without(RECORD, "U1") is None
    rest = QUOTED.without(RECORD, "U2")
    assert rest is not None and rest.messages == (TWO, ALERT)
    rest = QUOTED.without(rest, "U3")
    assert rest is not None and rest.messages == (ALERT,)
