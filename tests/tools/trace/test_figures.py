"""The figures of a trace."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from slack_bot.observe.facts import AgentEvent, Fact, TurnStarted
from slack_bot.tools.pace import Span
from slack_bot.tools.trace.figures import Timeline
from slack_bot.turn.events import AnswerText, FinalAnswer
from tests.tools.trace.turns import START, closed, decided, drawn, event, opened, timeline_of


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
    summary = timeline_of(opened()).summary
    assert (summary.first_event, summary.first_visible, summary.streaming, summary.burst_share) == (None,) * 4
    assert (summary.outcome, summary.end, summary.longest_wait) == ("not taken", 0.0, 0.0)


def test_text_that_was_taken_back_never_was_the_answer() -> None:
    found = timeline_of(opened(), (1.0, ""))
    assert found.visible == ()


def test_a_dead_agent_is_silent_until_the_turn_is_given_up() -> None:
    looks = [
        AgentEvent(START + t, "q", "task", {"kind": "task", "asked": True, "state": "working"})
        for t in range(3, 60)
    ]
    facts = [opened(), event(1.0, "x"), decided(1.0, AnswerText("x")), *looks, closed(60.0)]
    found = timeline_of(*facts, (1.5, "x"))
    assert found.quiet == (Span(1.0, 60.0),)
    assert found.waiting == (Span(1.5, 60.0),)
    assert (found.summary.longest_silence, found.summary.longest_wait) == (59.0, 58.5)
    assert (found.summary.events, found.summary.chars) == (1, {"answer": 1})


def test_after_the_agents_end_nothing_is_awaited() -> None:
    facts = [opened(), event(1.0, "x"), decided(1.0, FinalAnswer("x", "final_result")), closed(9.0)]
    found = timeline_of(*facts, (1.0, "x"))
    assert (found.quiet, found.waiting) == ((), ())


def two_turns() -> Timeline:
    """38 characters at once, an hour's break, 300 characters steadily."""
    entries: list[Fact | tuple[float, str]] = [opened("one"), event(1.0, "x" * 38)]
    entries += [decided(1.0, AnswerText("x" * 38)), (1.0, "x" * 38), closed(2.0)]
    entries.append(replace(cast(TurnStarted, opened("two")), at=START + 3600))
    for n in range(10):
        t, text = 3601.0 + n, "y" * 30
        entries += [event(t, text), decided(t, AnswerText(text)), (t, "x" * 38 + text * (n + 1))]
    return timeline_of(*entries, closed(3611.0))


def test_no_figure_spans_two_questions() -> None:
    found = two_turns()
    assert [(turn.t, turn.question) for turn in found.turns] == [(0.0, "one"), (3600.0, "two")]
    one, two = (turn.summary for turn in found.turns)
    assert (one.burst_share, two.burst_share, two.agent_burst_share) == (1.0, 0.1, 0.1)
    assert (one.shown, two.shown, two.first_visible, two.first_answer) == (38, 300, 1.0, 1.0)
    assert (one.longest_wait, two.longest_wait, two.streaming, two.end) == (1.0, 1.0, 9.0, 11.0)
    whole = found.summary
    assert (whole.longest_wait, whole.longest_silence, whole.streaming) == (1.0, 1.0, 9.0)
    assert whole.burst_share == round((38 + 30) / 338, 3)
    assert (whole.first_visible, whole.end, whole.events, whole.shown) == (1.0, 3611.0, 11, 338)
    assert found.written[-1] == (3610.0, 338)
    assert found.visible[-1] == (3610.0, 338)
