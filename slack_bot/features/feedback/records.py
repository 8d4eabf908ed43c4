"""PURE. What people said of answers, as the store keeps it."""

from __future__ import annotations

from ...store.collection import Change, Collection, CollectionStore, KeptPerson, Key, Revision
from ...turn.feedback import FeedbackRecord


def _who(key: Key, said: FeedbackRecord) -> list[KeptPerson]:
    """The workspace is the first word of a turn's key."""
    return [KeptPerson(said.user, said.turn.partition(":")[0])]


FEEDBACK = Collection(
    "feedback",
    FeedbackRecord,
    age=lambda ages: ages.feedback,
    since=lambda said: said.at,
    people=_who,
    due=lambda said: said.due,
    label="feedback",
)
"""By turn and person. Due: it is to be sent on."""


async def change_feedback(
    store: CollectionStore, turn: str, user: str, revise: Change[FeedbackRecord], now: float
) -> Revision[FeedbackRecord]:
    """Replace what `user` said of `turn` by what `revise` makes of it. Raises StoreError."""
    return await store.change(FEEDBACK, (turn, user), revise, now)


async def due_feedback(store: CollectionStore, now: float, most: int) -> list[FeedbackRecord]:
    """What is to be sent by now, the longest overdue first. Raises StoreError."""
    return await store.due(FEEDBACK, now, most)
