"""One way down, and a memory of refusals."""

import pytest

from slack_bot.slack.faults import Fault
from slack_bot.slack.surface import Memory, Surface, next_surface

ENDS = {Fault.STOPPED, Fault.GONE, Fault.NO_WRITING, Fault.DEAD}
DEPTH = {Surface.NATIVE: 0, Surface.POST: 1, Surface.NONE: 2}


@pytest.mark.parametrize("surface", Surface)
@pytest.mark.parametrize("fault", Fault)
def test_it_goes_down_and_never_up(surface: Surface, fault: Fault) -> None:
    after = next_surface(surface, fault)
    assert DEPTH[after] >= DEPTH[surface]
    assert (after is Surface.NONE) == (fault in ENDS or surface is Surface.NONE)
    assert after is not Surface.NATIVE


def test_a_refusal_is_remembered_for_team_and_kind_of_channel_for_five_minutes() -> None:
    memory = Memory()
    memory.remember("T1", "D1", now=100.0)
    assert memory.refuses("T1", "D2", now=399.0)
    assert not memory.refuses("T1", "D2", now=400.0)
    assert not memory.refuses("T1", "C1", now=101.0)
    assert not memory.refuses("T2", "D1", now=101.0)
