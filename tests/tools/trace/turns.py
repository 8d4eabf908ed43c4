"""Small turns for the tests of trace and compare: facts, rows and timelines made by hand."""

from __future__ import annotations

from typing import Any

from slack_bot.observe.facts import AgentEvent, EventHandled, Fact, SlackCalled, TurnEnded, TurnStarted
from slack_bot.tools.trace.figures import Timeline, timeline
from slack_bot.tools.trace.timeline import TimelineBuilder
from slack_bot.tools.turn_log import TurnLog
from slack_bot.turn.actions import AppendText, EndTurn, FlushText, ShowStatus
from slack_bot.turn.events import AnswerText, FinalAnswer, Narrated, StreamEnd, StreamEnded
from slack_bot.turn.record import Outcome

START = 100.0


def raw(text: str, name: str = "streaming_result") -> dict[str, Any]:
    artifact = {"name": name, "parts": [{"kind": "text", "text": text}]}
    return {"kind": "artifact-update", "artifact": artifact}


def opened(text: str = "What?") -> Fact:
    return TurnStarted(START, "q", "U1", "C1", "1.2", text)


def event(t: float, text: str, name: str = "streaming_result") -> Fact:
    return AgentEvent(START + t, "q", "streaming_result", raw(text, name))


def decided(t: float, what: object, *actions: object, late: bool = False) -> Fact:
    return EventHandled(START + t, "q", what, actions, "answering", late)


def called(t: float, method: str, text: str = "", *, error: str | None = None, took: float = 0.1) -> Fact:
    args = {"chunks": [{"type": "markdown_text", "text": text}]}
    return SlackCalled(START + t + took, "q", method, args, error is None, error, took)


def closed(t: float) -> TurnEnded:
    return TurnEnded(START + t, "q", "answered", None, "c", "t", None, {}, 0)


def usual() -> list[Fact]:
    """Narration at 1 s, answer from 4 s on, a failed call, the result at 6 s."""
    return [
        opened(),
        event(1.0, "Let me see. "),
        decided(
            1.0, Narrated("Let me see. ", reason="is_narration"), ShowStatus("is responding...", "narration")
        ),
        called(1.0, "assistant.threads.setStatus"),
        *(
            fact
            for n in range(10)
            for fact in (
                event(4 + n / 10, "word "),
                decided(
                    4 + n / 10, AnswerText("word ", "is_final_answer"), AppendText("word ", "answer grows")
                ),
            )
        ),
        called(4.5, "chat.startStream", "word word "),
        called(5.0, "chat.appendStream", "word ", error="ratelimited"),
        event(6.0, "word " * 10, "final_result"),
        decided(6.0, FinalAnswer("word " * 10, "final_result", reason="final"), FlushText("known")),
        decided(
            6.1,
            StreamEnded(StreamEnd.CLOSED, reason="stream closed"),
            EndTurn(Outcome.ANSWERED, reason="closed"),
        ),
        decided(6.2, AnswerText("x", "late"), late=True),
        closed(6.3),
    ]


def logged(*entries: Fact | tuple[float, str], log: TurnLog | None = None) -> TurnLog:
    """A log of facts, and of visible texts with the seconds when each could be read."""
    log = log or TurnLog(keeps_events=True)
    for entry in entries:
        if isinstance(entry, tuple):
            log.look(START + entry[0], entry[1])
        else:
            log.take(entry)
    return log


def built(*facts: Fact) -> TimelineBuilder:
    """The rows of facts."""
    builder = TimelineBuilder(START)
    logged(*facts, log=TurnLog(builder.take))
    return builder


def timeline_of(*entries: Fact | tuple[float, str], name: str = "x") -> Timeline:
    """The timeline of facts and visible texts."""
    builder = TimelineBuilder()
    return timeline(name, builder, logged(*entries, log=TurnLog(builder.take)), START)


def drawn(name: str = "a tape", facts: list[Fact] | None = None) -> Timeline:
    texts = ((4.6, "word word "), (6.1, "word " * 10)) if facts is None else ()
    return timeline_of(*(usual() if facts is None else facts), *texts, name=name)
