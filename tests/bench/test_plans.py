"""The plans of the fault run: the same for the same numbers, of every kind, and true about what is said."""

from __future__ import annotations

import pytest

from slack_bot.testing.tape.tape import Tape

from .plans import KINDS, plan

pytestmark = pytest.mark.slow  # each recording is replayed first, to know what is true of it


def test_a_plan_depends_on_its_numbers_only() -> None:
    assert plan(1, 2) == plan(1, 2)
    assert plan(1, 2) != plan(1, 3) != plan(2, 3)


def test_every_kind_of_ordeal_is_planned() -> None:
    assert {plan(1, number).kind for number in range(200)} == set(KINDS)


def test_each_kind_says_what_may_come_of_it() -> None:
    found = {}
    for number in range(200):
        planned = plan(1, number)
        found.setdefault(planned.kind, planned)
    assert found["asked back"].truth.outcomes == {"asked"}
    assert [said.truth.outcomes for said in found["asked back"].then] == [{"answered"}]
    assert len(found["queued"].said) >= 2
    assert found["stopped late"].page >= 1
    assert found["stopped late"].truth.partial == {"stopped"}
    assert found["away"].way
    assert found["away"].cut_after is not None
    assert not any(any(script) for script in found["calm"].scripts.values())
    assert any(any(script) for script in found["storm"].scripts.values())


def test_a_stream_is_cut_within_itself() -> None:
    cuts = [planned for number in range(200) if (planned := plan(2, number)).kind in ("cut", "away")]
    for planned in cuts:
        assert isinstance(planned.source, Tape) == (planned.cut_after is not None)
        if isinstance(planned.source, Tape):
            assert 1 <= (planned.cut_after or 0) <= len(planned.source.moments)
