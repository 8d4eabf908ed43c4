"""Stand-stills: what counts of a span."""

import pytest

from .stand_stills import BEAT, StandStills


def test_only_late_beats_count_where_they_touch_the_span() -> None:
    still = StandStills()
    for at, took in ((1.0, BEAT), (3.0, 1.0 + BEAT), (4.0, BEAT), (9.0, 2.0 + BEAT)):
        still.came(at, took)
    assert still.between(0.0, 1.9) == 0.0
    assert still.between(2.5, 2.6) == 1.0  # the middle of the first one
    assert still.between(0.0, 10.0) == 3.0
    assert still.between(3.5, 6.0) == 0.0
    assert still.worst() == pytest.approx(2.0)
