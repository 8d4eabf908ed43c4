"""The figures of a trace."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.tools.figures import Span, burst_share, timeline
from tests.tools.turns import START, drawn, opened, story


def test_the_figures_of_a_usual_turn() -> None:
    found = drawn()
    summary = found.summary
    assert (summary.first_event, summary.first_answer, summary.first_visible) == (1.0, 4.0, 4.6)
    assert (summary.streaming, summary.end) == (1.5, 6.3)
    assert (summary.longest_silence, summary.longest_wait) == (3.0, 4.6)
    assert summary.burst_share == 0.8
    assert summary.agent_burst_share == 0.6
    assert summary.calls == {"assistant.threads.setStatus": 1, "chat.appendStream": 1, "chat.startStream": 1}
    assert (summary.failed_calls, summary.events, summary.shown, summary.outcome) == (1, 12, 50, "answered")
    assert found.quiet == (Span(1.0, 4.0),)
    assert found.waiting == (Span(0.0, 4.6),)
    assert found.visible == ((4.6, 10), (6.1, 50))


def test_a_turn_in_which_nothing_happened() -> None:
    summary = timeline("empty", story([opened()]), []).summary
    assert (summary.first_event, summary.first_visible, summary.streaming, summary.burst_share) == (None,) * 4
    assert (summary.outcome, summary.end, summary.longest_wait) == ("not taken", 0.0, 0.0)


def test_text_that_was_taken_back_never_was_the_answer() -> None:
    from slack_bot.tools.result import Sample

    found = timeline("x", story([opened()]), [Sample(START + 1, "")])
    assert found.visible == ()


@pytest.mark.parametrize(
    "growths,expected",
    [
        ([], None),
        ([(1.0, 0)], None),
        ([(1.0, 10)], 1.0),
        ([(0.0, 10), (0.5, 10), (1.1, 10), (9.0, 10)], 0.5),
        ([(float(n), 1) for n in range(100)], 0.01),
        ([(17.8 + n / 1000, 9) for n in range(290)], 1.0),
    ],
)
def test_the_burst_share(growths: list[tuple[float, int]], expected: float | None) -> None:
    assert burst_share(growths) == expected


@given(st.lists(st.tuples(st.floats(0, 100), st.integers(1, 50)), min_size=1, max_size=30))
def test_a_burst_is_a_share(growths: list[tuple[float, int]]) -> None:
    share = burst_share(sorted(growths))
    assert share is not None
    total = sum(size for _, size in growths)
    assert round(max(size for _, size in growths) / total, 3) <= share <= 1
