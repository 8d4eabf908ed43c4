"""One way down, and a memory of refusals."""

import pytest

from slack_bot.slack.fault_policy import ENDS, Remedy
from slack_bot.slack.surfaces.fallback import StreamingRefusalCache, Surface, next_surface

DEPTH = {Surface.NATIVE: 0, Surface.EDIT: 1, Surface.POST: 2, Surface.NONE: 3}


@pytest.mark.parametrize("surface", Surface)
@pytest.mark.parametrize("step", Remedy)
def test_it_goes_down_and_never_up(surface: Surface, step: Remedy) -> None:
    after = next_surface(surface, step)
    assert DEPTH[after] >= DEPTH[surface]
    assert (after is Surface.NONE) == (step in ENDS or surface is Surface.NONE)
    assert DEPTH[after] - DEPTH[surface] <= 1 or step in ENDS


def test_only_a_refusal_leads_down() -> None:
    for step in Remedy:
        moved = next_surface(Surface.NATIVE, step) is Surface.EDIT
        assert moved == (step in (Remedy.DOWN, Remedy.REMEMBER))


def test_a_refusal_is_remembered_for_team_and_kind_of_channel_for_five_minutes() -> None:
    memory = StreamingRefusalCache()
    memory.remember("T1", "D1", Surface.NATIVE, now=100.0)
    assert memory.best("T1", "D2", now=399.0) is Surface.EDIT
    assert memory.best("T1", "D2", now=400.0) is Surface.NATIVE
    assert memory.best("T1", "C1", now=101.0) is Surface.NATIVE
    assert memory.best("T2", "D1", now=101.0) is Surface.NATIVE


def test_edits_that_are_refused_leave_streams_and_posts() -> None:
    memory = StreamingRefusalCache()
    memory.remember("T1", "C1", Surface.EDIT, now=100.0)
    assert memory.best("T1", "C1", now=101.0) is Surface.NATIVE
    assert memory.best("T1", "C1", now=101.0, can_stream=False) is Surface.POST
    memory.remember("T1", "C1", Surface.NATIVE, now=100.0)
    assert memory.best("T1", "C1", now=101.0) is Surface.POST
