"""PURE. Messages that a question is about, where they are not the question itself."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..turn.people import PersonKind
from ..turn.quotes import ThreadMessage
from ..turn.record import Question, ThreadKey
from .collection import Collection, CollectionStore, KeptPerson, Key


@dataclass(frozen=True, slots=True)
class QuotedMessages:
    """What goes to the agent with a question of `thread`, whatever else of the thread it gets to read.

    `user`: who asks; "" if no person does. `at`: seconds since 1970.
    """

    thread: ThreadKey
    messages: tuple[ThreadMessage, ...]
    user: str
    at: float


def _people(_key: Key, record: QuotedMessages) -> list[KeptPerson]:
    authors = {each.author for each in record.messages if each.kind is not PersonKind.BOT}
    return [KeptPerson(user, record.thread.team) for user in sorted({*authors, record.user} - {""})]


def _without(record: QuotedMessages, user: str) -> QuotedMessages | None:
    others = tuple(each for each in record.messages if each.author != user)
    return None if user == record.user or not others else replace(record, messages=others)


QUOTED = Collection(
    "quoted",
    QuotedMessages,
    age=lambda ages: ages.turns,
    since=lambda record: record.at,
    thread=lambda _, record: record.thread,
    people=_people,
    without=_without,
    label="messages that were given to an agent with a question",
)
"""By `Question.quoted`, which is the key of the question at its first attempt."""


async def keep_quoted(
    store: CollectionStore, question: Question, quoted: tuple[ThreadMessage, ...], now: float
) -> None:
    """Keep what `question` is about, once, before it is accepted. `now`: seconds since 1970.

    Raises StoreError.
    """
    user = "" if question.asker_is_bot else question.user
    new = QuotedMessages(question.thread, quoted, user, now)
    await store.change(QUOTED, (question.quoted,), lambda kept: kept or new, now)


async def change_quoted(store: CollectionStore, key: str, message: ThreadMessage, now: float) -> None:
    """A message that is kept for the question of `key` was edited. Raises StoreError."""

    def changed(kept: QuotedMessages | None) -> QuotedMessages | None:
        if kept is None:
            return None
        messages = tuple(message if each.ts == message.ts else each for each in kept.messages)
        return replace(kept, messages=messages)

    await store.change(QUOTED, (key,), changed, now)


async def quoted_messages(store: CollectionStore, key: str) -> tuple[ThreadMessage, ...]:
    """What a question is about; empty if it was erased or has expired. Raises StoreError."""
    record = await store.get(QUOTED, (key,))
    return () if record is None else record.messages
