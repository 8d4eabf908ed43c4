"""What is known of one answer: where it goes on, when, and what another process needs of it."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from slack_bot.errors import SlackError
from slack_bot.slack.answer_state import AnswerState
from slack_bot.slack.faults import CallFailed, Fault, SurfaceKind
from slack_bot.slack.features import FeatureFinding, WorkspaceFeature
from slack_bot.slack.model import Batch, WriteResult
from slack_bot.turn.actions import CardState, TaskCard
from tests.slack.pure_answer import PureAnswer


def state_of(**settings: object) -> AnswerState:
    return PureAnswer(**settings).answer.state  # type: ignore[arg-type]


def test_the_surface_only_goes_down() -> None:
    state = state_of()
    assert (state.surface.kind, state.next_method) == (SurfaceKind.STREAM, "chat.startStream")
    assert state.ledger.limits.rotate_after == 240.0
    state.go_down("no slot")
    assert (state.surface.kind, state.next_method) == (SurfaceKind.EDIT, "chat.postMessage")
    assert math.isinf(state.ledger.limits.rotate_after)  # only a stream grows old
    state.go_down("full")
    assert not state.is_live
    assert state.surface.kind is SurfaceKind.POST
    assert state.surface.fallbacks == ["no slot", "full"]


def test_what_a_workspace_lacks_is_not_tried() -> None:
    pure = PureAnswer()
    lacking = str(FeatureFinding(False, pure.calls.wall, "feature_disabled"))
    pure.answer.know_workspace({WorkspaceFeature.STREAMS: lacking, WorkspaceFeature.FILES: lacking}, 0.0)
    assert pure.answer.state.surface.kind is SurfaceKind.EDIT
    assert pure.answer.state.ledger.limits.max_segments > 1_000


def test_an_edit_keeps_its_distance() -> None:
    pure = PureAnswer(can_stream=False)
    state = pure.answer.state
    assert state.surface.pause(1_000.0) == 0.0
    state.surface.edited_at = 1_000.0
    assert state.surface.pause(1_001.0) == 2.0
    assert state.surface.pause(1_003.0 - 1e-9) == 0.0  # a timer may fire that much too early
    state.add(Batch("One."))
    assert pure.answer.pace.due(1_001.0) == 1_003.0


def test_a_stream_is_left_before_slack_ends_it() -> None:
    pure = PureAnswer()
    state = pure.answer.state
    assert pure.answer.pace.due(pure.calls.now) is None
    pure.run(pure.answer.show(Batch("One.\n")))
    assert pure.answer.pace.due(pure.calls.now) == pure.calls.now + 240.0
    state.add(Batch("", (TaskCard("a", "Search", CardState.DONE),)))
    assert pure.answer.pace.due(pure.calls.now) == pure.calls.now


def test_when_nothing_more_may_be_written() -> None:
    pure = PureAnswer()
    assert not pure.answer.state.is_over
    pure.calls.are_writes_given_up = True
    assert pure.answer.state.is_over
    for ended in (WriteResult.STOPPED, WriteResult.GONE):
        state = state_of()
        state.ended = ended
        assert (state.is_over, state.is_live, state.is_gone) == (True, False, ended is WriteResult.GONE)


def test_more_messages_are_allowed_unless_slack_refused_them() -> None:
    state = state_of()
    state.is_exhausted = True
    state.allow_more_messages()
    assert not state.is_exhausted
    state.is_exhausted, state.refusal = True, CallFailed(Fault.NO_WRITING, "is_archived")
    with pytest.raises(SlackError, match="is_archived"):
        state.allow_more_messages()


def test_another_process_goes_on_from_the_records() -> None:
    pure = PureAnswer()
    card = TaskCard("a", "Search", CardState.DONE)
    pure.run(pure.answer.show(Batch("One.\n", (card,), "Plan")))
    (record,) = pure.answer.state.records
    assert (record.text, record.title, record.is_open) == ("One.\n", "Plan", True)
    later = PureAnswer(shown=(replace(record, is_open=False),))
    assert later.answer.state.records == (replace(record, is_open=False),)
    assert later.answer.state.ledger.repeated.rest == "One.\n"
    later.answer.state.unsettled = later.answer.state.messages[0]  # whoever is next looks at it again
    assert later.answer.state.records[0].is_open


def test_text_that_waits_for_a_slot_does_not_wake_the_writer_again() -> None:
    answer = PureAnswer().answer
    answer.buffer.push("One.\n", 1_000.0)
    due = answer.pace.due(1_002.0)
    assert due == 1_002.0
    answer.pace.deadline(due, 1_002.0)
    answer.buffer.push("Two.\n", 1_002.5)
    assert not answer.pace.is_earlier(answer.buffer.deadline())
