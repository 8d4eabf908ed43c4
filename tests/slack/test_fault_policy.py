"""What follows a failed write, walked over the whole table; one way down, and a memory of refusals."""

import itertools

import pytest

from slack_bot.slack.fault_policy import (
    AFTER_WRITE,
    ENDS,
    Remedy,
    StreamingRefusalCache,
    SurfaceKind,
    after_write,
    next_surface,
)
from slack_bot.slack.faults import Fault


def test_every_class_of_fault_has_a_step() -> None:
    assert set(AFTER_WRITE) == set(Fault)


@pytest.mark.parametrize(
    ("fault", "step"),
    [
        (Fault.LATER, Remedy.DOWN),
        (Fault.WRONG_CALL, Remedy.PLAIN),
        (Fault.UNKNOWN, Remedy.SETTLE),
        (Fault.SEALED, Remedy.NEXT),
        (Fault.FULL, Remedy.NEXT),
        (Fault.STILL_OPEN, Remedy.SETTLE),
        (Fault.STOPPED, Remedy.STOPPED),
        (Fault.NOT_HERE, Remedy.REMEMBER),
        (Fault.NOT_THIS_ONE, Remedy.DOWN),
        (Fault.NO_WRITING, Remedy.TELL),
        (Fault.GONE, Remedy.LEAVE),
        (Fault.DEAD, Remedy.DEAD),
    ],
)
def test_the_contract(fault: Fault, step: Remedy) -> None:
    assert after_write(fault, opens=False, is_plain=False) is step


def test_no_form_is_tried_for_ever_and_no_message_is_opened_in_vain() -> None:
    for fault, opens in itertools.product(Fault, (False, True)):
        assert after_write(fault, opens=opens, is_plain=True) is not Remedy.PLAIN
        assert after_write(fault, opens=True, is_plain=opens) is not Remedy.NEXT
    assert after_write(Fault.SEALED, opens=True, is_plain=False) is Remedy.DOWN


def test_only_where_nothing_may_be_written_any_more_does_a_turn_end() -> None:
    ends = {fault for fault in Fault if after_write(fault, opens=True, is_plain=True) in ENDS}
    assert ends == {Fault.STOPPED, Fault.NO_WRITING, Fault.GONE, Fault.DEAD}


@pytest.mark.parametrize("fault", list(Fault))
def test_what_may_have_been_applied_before_is_looked_at_unless_the_turn_ends(fault: Fault) -> None:
    step = after_write(fault, opens=False, is_plain=True, in_doubt=True)
    assert step is Remedy.SETTLE or (step in ENDS and step is AFTER_WRITE[fault])


DEPTH = {SurfaceKind.STREAM: 0, SurfaceKind.EDIT: 1, SurfaceKind.POST: 2, SurfaceKind.NONE: 3}


@pytest.mark.parametrize("surface", SurfaceKind)
@pytest.mark.parametrize("step", Remedy)
def test_it_goes_down_and_never_up(surface: SurfaceKind, step: Remedy) -> None:
    after = next_surface(surface, step)
    assert DEPTH[after] >= DEPTH[surface]
    assert (after is SurfaceKind.NONE) == (step in ENDS or surface is SurfaceKind.NONE)
    assert DEPTH[after] - DEPTH[surface] <= 1 or step in ENDS


def test_only_a_refusal_leads_down() -> None:
    for step in Remedy:
        moved = next_surface(SurfaceKind.STREAM, step) is SurfaceKind.EDIT
        assert moved == (step in (Remedy.DOWN, Remedy.REMEMBER))


def test_a_refusal_is_remembered_for_team_and_kind_of_channel_for_five_minutes() -> None:
    memory = StreamingRefusalCache()
    memory.remember("T1", "D1", SurfaceKind.STREAM, now=100.0)
    assert memory.best("T1", "D2", now=399.0) is SurfaceKind.EDIT
    assert memory.best("T1", "D2", now=400.0) is SurfaceKind.STREAM
    assert memory.best("T1", "C1", now=101.0) is SurfaceKind.STREAM
    assert memory.best("T2", "D1", now=101.0) is SurfaceKind.STREAM


def test_edits_that_are_refused_leave_streams_and_posts() -> None:
    memory = StreamingRefusalCache()
    memory.remember("T1", "C1", SurfaceKind.EDIT, now=100.0)
    assert memory.best("T1", "C1", now=101.0) is SurfaceKind.STREAM
    assert memory.best("T1", "C1", now=101.0, can_stream=False) is SurfaceKind.POST
    memory.remember("T1", "C1", SurfaceKind.STREAM, now=100.0)
    assert memory.best("T1", "C1", now=101.0) is SurfaceKind.POST
