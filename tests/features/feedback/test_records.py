"""Feedback stands under its turn and person, and is found when it is due."""

from __future__ import annotations

from slack_bot.features.feedback.records import FEEDBACK, change_feedback, due_feedback
from slack_bot.store.collection import Ages
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.turn.feedback import FeedbackRecord

SAID = FeedbackRecord("T1:C1:1.0", "U1", "negative", 5.0)


def test_it_is_about_its_person_in_the_workspace_of_the_turn() -> None:
    key = (SAID.turn, SAID.user)
    assert FEEDBACK.is_about(key, SAID, "U1", "T1")
    assert not FEEDBACK.is_about(key, SAID, "U1", "T2")
    assert FEEDBACK.age is not None and FEEDBACK.age(Ages(feedback_days=2.0)) == 2 * 86_400


@on_virtual_time
async def test_it_is_due_as_long_as_it_is_to_be_sent() -> None:
    store = MemoryStore()
    waiting = SAID.to_send(("log",))
    changed = await change_feedback(store, SAID.turn, SAID.user, lambda _: waiting, 5.0)
    assert changed == (None, waiting)
    assert await due_feedback(store, 4.0, 9) == []
    assert await due_feedback(store, 5.0, 9) == [waiting]
    await change_feedback(store, SAID.turn, SAID.user, lambda _: SAID, 6.0)
    assert await due_feedback(store, 9.0, 9) == []
