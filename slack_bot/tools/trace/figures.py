"""PURE. The figures of a trace: how soon, how steadily and in what portions an answer could be read.

No figure spans two questions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..pace import (
    DIGITS,
    SILENCE,
    Curve,
    Span,
    burst_share,
    burst_share_of,
    growths,
    longest,
    rises,
    spans,
)
from ..turn_log import LoggedTurn, TurnLog
from .timeline import Row, TimelineBuilder, TurnStart


@dataclass(frozen=True, slots=True)
class Timeline:
    """The turns of one thread; mostly there is one. `summary` is of all.

    `written` and `visible` are characters of the answers over time. `quiet` are the agent's silences,
    `waiting` the times in which the reader saw nothing new.
    """

    name: str
    question: str
    rows: tuple[Row, ...]
    written: Curve
    visible: Curve
    quiet: tuple[Span, ...]
    waiting: tuple[Span, ...]
    end: float
    summary: Summary
    turns: tuple[TurnLine, ...]


@dataclass(frozen=True, slots=True)
class TurnLine:
    """One question, asked at `t`, from which the times of `summary` count.

    `sent` and `shown`: when the agent's text and the visible text grew, and by how much.
    """

    t: float
    end: float
    user: str
    question: str
    quiet: list[Span]
    waiting: list[Span]
    sent: Curve
    shown: Curve
    summary: Summary


@dataclass(frozen=True, slots=True)
class Summary:
    """The figures. Times in seconds from the question, None where it never happened; shares from 0 to 1.

    `first_sign`: when anything could be read, text or a card; `first_visible`: when answer text could.
    `agent_burst_share` is of the text as the bot took it for the answer: what it held came in one piece.
    """

    outcome: str
    reason: str | None
    first_event: float | None
    first_answer: float | None
    first_sign: float | None
    first_visible: float | None
    streaming: float | None
    longest_silence: float
    longest_wait: float
    burst_share: float | None
    agent_burst_share: float | None
    end: float
    events: int
    calls: dict[str, int]
    failed_calls: int
    chars: dict[str, int]
    shown: int


def timeline(name: str, builder: TimelineBuilder, log: TurnLog, asked_at: float) -> Timeline:
    """The rows of `builder` and the visible text of `log`.

    `asked_at`: when the first question was asked, in monotonic seconds, if the bot did not take it.
    """
    if builder.asked_at is None:
        builder.asked_at = asked_at
    builder.settle()
    turns = tuple(_turn_lines(builder, log))
    visible = tuple((builder.since(each.at), each.chars) for turn in log.turns for each in turn.changes)
    return Timeline(
        name=name,
        question=turns[0].question,
        rows=tuple(builder.rows),
        written=_thin(builder.written),
        visible=visible if any(size for _, size in visible) else (),
        quiet=tuple(span for turn in turns for span in turn.quiet if span.length >= SILENCE),
        waiting=tuple(span for turn in turns for span in turn.waiting if span.length >= SILENCE),
        end=max(turn.end for turn in turns),
        summary=turns[0].summary if len(turns) == 1 else _summary_of_all(turns),
        turns=turns,
    )


def _turn_lines(builder: TimelineBuilder, log: TurnLog) -> Iterator[TurnLine]:
    before = 0  # characters that were visible
    ends = [*builder.starts[1:], TurnStart(len(builder.rows), len(builder.written))]
    for turn, start, end in zip(log.turns, builder.starts, ends, strict=True):
        visible = tuple((builder.since(each.at), each.chars) for each in turn.changes)
        rows = builder.rows[start.rows : end.rows]
        sent = rises(_thin(builder.written[start.points : end.points]), start.written)
        yield _turn_line(builder, turn, rows, sent, visible, before)
        before = visible[-1][1] if visible else before


def _turn_line(
    builder: TimelineBuilder, turn: LoggedTurn, rows: Sequence[Row], sent: Curve, visible: Curve, before: int
) -> TurnLine:
    t = builder.since(turn.started.at) if turn.started else 0.0
    ended = builder.since(turn.ended.at) if turn.ended else 0.0
    end = max([t, ended, *(row.t + row.took for row in rows), *(at for at, _ in visible)])
    awaited = ended if turn.settled is None else min(ended, builder.since(turn.settled))
    events, calls = ([row for row in rows if row.lane == lane] for lane in ("agent", "slack"))
    shown = tuple((builder.since(at), size) for at, size in growths(turn))
    quiet = _spans(t, [row.t for row in events], awaited)
    news = [builder.since(at) for at in turn.news]
    waiting = _spans(t, news, awaited)
    answered = turn.first_answer
    summary = Summary(
        outcome=turn.ended.outcome if turn.ended else "not taken",
        reason=builder.clean(turn.reason) or None,
        first_event=round(events[0].t - t, 4) if events else None,
        first_answer=None if answered is None else round(builder.since(answered) - t, 4),
        first_sign=round(news[0] - t, 4) if news else None,
        first_visible=round(shown[0][0] - t, 4) if shown else None,
        streaming=round(shown[-1][0] - shown[0][0], DIGITS) if shown else None,
        longest_silence=longest(quiet),
        longest_wait=longest(waiting),
        burst_share=burst_share(shown),
        agent_burst_share=burst_share(sent),
        end=round(end - t, 4),
        events=sum(not row.asked for row in events),
        calls=_sum({row.kind: 1} for row in calls),
        failed_calls=sum(not row.ok for row in calls),
        chars=_sum({row.kind: row.chars} for row in events),
        shown=max(0, visible[-1][1] - before) if visible else 0,
    )
    user, question = (turn.started.user, turn.started.text) if turn.started else ("", "")
    return TurnLine(t, end, user, question, quiet, waiting, sent, shown, summary)


def _summary_of_all(turns: Sequence[TurnLine]) -> Summary:
    """Sums, the longest times, and when it first happened."""
    found = [turn.summary for turn in turns]
    lasted = [each.streaming for each in found if each.streaming is not None]
    return Summary(
        outcome=found[-1].outcome,
        reason=found[-1].reason,
        first_event=_first((turn.t, turn.summary.first_event) for turn in turns),
        first_answer=_first((turn.t, turn.summary.first_answer) for turn in turns),
        first_sign=_first((turn.t, turn.summary.first_sign) for turn in turns),
        first_visible=_first((turn.t, turn.summary.first_visible) for turn in turns),
        streaming=round(sum(lasted), DIGITS) if lasted else None,
        longest_silence=max(each.longest_silence for each in found),
        longest_wait=max(each.longest_wait for each in found),
        burst_share=burst_share_of([turn.shown for turn in turns]),
        agent_burst_share=burst_share_of([turn.sent for turn in turns]),
        end=max(turn.end for turn in turns),
        events=sum(each.events for each in found),
        calls=_sum(each.calls for each in found),
        failed_calls=sum(each.failed_calls for each in found),
        chars=_sum(each.chars for each in found),
        shown=sum(each.shown for each in found),
    )


def _first(times: Iterable[tuple[float, float | None]]) -> float | None:
    return next((round(start + t, 4) for start, t in times if t is not None), None)


def _sum(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total = Counter[str]()
    for each in counts:
        total.update(each)
    return dict(sorted(total.items()))


def _spans(start: float, times: Sequence[float], until: float) -> list[Span]:
    """The times between, from `start` on, and on to `until`: as long as something was awaited."""
    return spans([start, *times, *([until] if until > max([start, *times]) else [])])


def _thin(curve: Sequence[tuple[float, int]]) -> Curve:
    return tuple(dict(curve).items())
