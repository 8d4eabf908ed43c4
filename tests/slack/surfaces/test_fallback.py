"""One way down, and a memory of refusals."""

import pytest

from slack_bot.slack.fault_policy import ENDS, Remedy
from slack_bot.slack.surfaces.fallback import StreamingRefusalCache, SurfaceKind, next_surface

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
