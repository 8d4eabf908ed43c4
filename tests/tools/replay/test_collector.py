"""What is kept gives the same result as all that was seen."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from slack_bot.observe.facts import AgentEvent, EventHandled, Fact
from slack_bot.tools.replay.collector import Collector
from slack_bot.tools.replay.result import Sample, Shown, make_result
from slack_bot.turn.events import AnswerText, FinalAnswer, Narrated, StreamEnd, StreamEnded
from tests.tools.trace.turns import START, called, closed, opened

EVENTS = st.sampled_from(
    [
        AnswerText("a"),
        FinalAnswer("ab", "final"),
        Narrated("n"),
        StreamEnded(StreamEnd.CLOSED),
        "agent",
        "call",
    ]
)


@given(
    st.lists(
        st.tuples(st.integers(0, 3), EVENTS, st.sampled_from(["", "a", "ab", "a b c", "x"]), st.booleans())
    )
)
@settings(max_examples=200, deadline=None)
def test_the_result_is_the_same(steps: list[tuple[int, object, str, bool]]) -> None:
    witness, facts, samples, now = Collector(), list[Fact](), list[Sample](), 0.0
    for wait, what, text, late in steps:
        now += wait
        if what == "agent":
            fact: Fact = AgentEvent(START + now, "q", f"kind {wait}", {})
        elif what == "call":
            fact = called(now, "chat.update", text)
        else:
            fact = EventHandled(START + now, "q", what, (), "state", late)
        facts.append(fact)
        witness.take(fact)
        witness.look(START + now, text)
        if not samples or samples[-1].visible != text:
            samples.append(Sample(START + now, text))
    thread = [Shown("1", samples[-1].visible if samples else "", "sealed", is_answer=True)]
    assert witness.result(thread, START) == make_result(facts, samples, thread, START)


def test_several_looks_in_the_instant_of_the_end() -> None:
    witness = Collector()
    for at, text in ((0.0, "a"), (1.0, ""), (1.0, "b"), (1.0, "a")):
        witness.look(START + at, text)
    witness.take(EventHandled(START + 1.0, "q", FinalAnswer("ab", "final"), (), "settled"))
    assert witness.result([Shown("1", "a", "sealed", is_answer=True)], START)["live_share"] == 1.0


def test_texts_and_raw_events_are_let_go() -> None:
    witness = Collector()
    witness.take(opened())
    for n in range(100):
        witness.take(AgentEvent(START + n, "q", "stream", {"text": "x" * 1000}))
        witness.take(EventHandled(START + n, "q", AnswerText("word"), (), "answering"))
        witness.look(START + n, "word " * n)
    witness.take(EventHandled(START + 100, "q", FinalAnswer("word " * 100, "final"), (), "settled"))
    for n in range(100, 200):
        witness.look(START + n, "word " * n)
    witness.take(closed(200))
    assert len([sample for sample in witness.samples if sample.visible]) <= 3
    assert [sample.chars for sample in witness.samples] == [5 * n for n in range(200)]
    got = witness.result([Shown("1", "word " * 199, "sealed", is_answer=True)], START)
    assert got["events"] == {"stream": 100}
    assert got["first_answer_event"] == 0.0
