"""PURE. Feedback on answers, as the store keeps it."""

from __future__ import annotations

from ...store.collection import Change, Collection, CollectionStore, KeptPerson, Key, Revision
from ...turn.feedback import FeedbackRecord


def _who(key: Key, feedback: FeedbackRecord) -> list[KeptPerson]:
    """The person who gave it. A turn's key begins with the workspace."""
    return [KeptPerson(feedback.user, feedback.turn.partition(":")[0])]


FEEDBACK = Collection(
    "feedback",
    FeedbackRecord,
    age=lambda ages: ages.feedback,
    since=lambda feedback: feedback.at,
    people=_who,
    due=lambda feedback: feedback.due,
    label="feedback",
)
"""By turn and person. Due while it has to be sent on."""


async def change_feedback(
    store: CollectionStore, turn: str, user: str, revise: Change[FeedbackRecord], now: float
) -> Revision[FeedbackRecord]:
    """Replace the feedback of `user` on `turn` by the result of `revise`. Raises StoreError."""
    return await store.change(FEEDBACK, (turn, user), revise, now)


async def due_feedback(store: CollectionStore, now: float, most: int) -> list[FeedbackRecord]:
    """At most `most` records that have to be sent now, the longest overdue first. Raises StoreError."""
    return await store.due(FEEDBACK, now, most)
