"""What is kept of feedback; the ways there are in `tests/features/feedback/test_buttons.py`."""

from __future__ import annotations

from typing import cast

import pytest

from slack_bot.features.feedback.collector import FeedbackCollector, Why
from slack_bot.settings.feedback import FeedbackSettings
from slack_bot.testing.memory_store import MemoryStore
from slack_bot.testing.virtual_clock import on_virtual_time
from slack_bot.turn.feedback import FeedbackRecord
from slack_bot.turn.progress import TurnRecord
from slack_bot.turn.record import Question, ThreadKey
from tests.features.feedback.test_targets import GIVEN
from tests.slack.scene import Scene, workspaces_of
from tests.store import subjects

ASKED = TurnRecord(
    Question(ThreadKey("T1", "C1", "1.0"), "1.0", "U1", "T1", "why?"),
    accepted_at=0.0, task_id="task", context_id="ctx", trace_id="trace",
)  # fmt: skip


async def collector(store: MemoryStore, **settings: str) -> FeedbackCollector:
    async def accept(_: Question) -> bool:
        return True

    scene = Scene()
    await store.accept(ASKED)
    workspaces = workspaces_of(scene)
    return FeedbackCollector(store, workspaces, FeedbackSettings(**settings), scene.clock, accept, 60.0)  # type: ignore[arg-type]


async def kept(store: MemoryStore, turn: str = ASKED.key) -> FeedbackRecord:
    return cast(FeedbackRecord, await subjects.change_feedback(store, turn, "U1", lambda _: None))


@on_virtual_time
async def test_it_has_the_ids_of_the_agents_work_and_where_it_is_to_be_sent() -> None:
    store = MemoryStore()
    feedback = await collector(store, **GIVEN)
    await feedback.press(ASKED.key, "U1", "positive")
    said = await kept(store)
    assert (said.task_id, said.context_id, said.trace_id) == ("task", "ctx", "trace")
    assert (said.unsent, said.due) == (("webhook", "langfuse"), said.at)
    assert await feedback.explain(ASKED.key, "U1", Why(("Wrong",))) == "Thanks for your feedback."
    said = await kept(store)
    assert (said.value, said.reasons, said.due) == ("negative", ("Wrong",), said.at)


@on_virtual_time
async def test_a_turn_that_is_forgotten_can_be_rated_and_not_asked_again() -> None:
    store = MemoryStore()
    feedback = await collector(store)
    words = await feedback.explain("T1:C1:9.0", "U1", Why(again="shorter"))
    assert "I no longer know the question" in words
    assert (await kept(store, "T1:C1:9.0")).task_id is None
    assert (await feedback.question("T1:C1:9.0"), await feedback.question(ASKED.key)) == (
        None,
        ASKED.question,
    )


@pytest.mark.parametrize(
    ("turn", "is_so"),
    [
        (ASKED.key, True),
        ("T1:C1:9.0", True),  # the store may have forgotten it
        ("T1:C1:9999999999.0", False),
        ("T1:C1:x", False),
        ("T1:C1", False),
        ("x", False),
    ],
)
@on_virtual_time
async def test_a_turn_that_never_was_cannot_be_rated(turn: str, is_so: bool) -> None:
    assert await (await collector(MemoryStore())).may_be_rated(turn) is is_so
