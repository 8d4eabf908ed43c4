"""PURE. The figures of a trace: how soon, how steadily and in what portions an answer could be read.

A silence is a time in which nothing came, from the question on, and up to the end of the turn where the agent
never said that it was done. The burst share is the largest part of the text that was shown within half a
second: near 1, the answer came all at once. No figure spans two questions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ..turn_log import LoggedTurn, TurnLog
from .timeline import Row, TimelineBuilder, TurnStart

BURST_WITHIN = 0.5
"""Seconds within which text counts as one burst."""
SILENCE = 2.0
"""Seconds without anything that are marked."""
_DIGITS = 3

Curve = tuple[tuple[float, int], ...]


@dataclass(frozen=True, slots=True)
class Span:
    """A time in which nothing came."""

    start: float
    end: float

    @property
    def length(self) -> float:
        """Seconds."""
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Timeline:
    """The turns of one thread, ready to be shown; mostly there is one.

    `written` and `visible` are characters of the answers over time: written by the agent, visible in the
    thread. `quiet` are the agent's silences, `waiting` the times in which the reader saw nothing new.
    `summary` is of all turns, `turns` of each.
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
    turns: tuple[TurnLine, ...] = ()


@dataclass(frozen=True, slots=True)
class TurnLine:
    """One question. `t` is when it was asked; the times of `summary` count from there."""

    t: float
    user: str
    question: str
    summary: Summary


@dataclass(frozen=True, slots=True)
class Summary:
    """The figures. Times in seconds from the question, None where it never happened; shares from 0 to 1."""

    outcome: str
    reason: str | None
    first_event: float | None
    first_answer: float | None
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
    """The rows of `builder` and the visible text of `log` on one axis.

    `asked_at`: when the first question was asked, in monotonic seconds, if the bot did not take it.
    """
    if builder.asked_at is None:
        builder.asked_at = asked_at
    builder.settle()
    turns = list(_turns(builder, log))
    visible = tuple(point for turn in turns for point in turn.visible)
    lines = tuple(_line(turn) for turn in turns)
    return Timeline(
        name=name,
        question=lines[0].question,
        rows=tuple(builder.rows),
        written=_thin(builder.written),
        visible=visible if any(size for _, size in visible) else (),
        quiet=tuple(span for turn in turns for span in turn.quiet if span.length >= SILENCE),
        waiting=tuple(span for turn in turns for span in turn.waiting if span.length >= SILENCE),
        end=max(turn.end for turn in turns),
        summary=_whole(turns, lines),
        turns=lines,
    )


@dataclass(frozen=True, slots=True)
class _Turn:
    """One turn's part of a timeline, in seconds from the first question, which `since` gives.

    `height` and `before` are how much the agent had written, and how much was visible, before it.
    """

    turn: LoggedTurn
    since: Callable[[float], float]
    rows: tuple[Row, ...]
    written: Curve
    visible: Curve
    height: int
    before: int

    @property
    def t(self) -> float:
        return self.since(self.turn.started.at) if self.turn.started else 0.0

    @property
    def ended(self) -> float:
        return self.since(self.turn.ended.at) if self.turn.ended else 0.0

    @property
    def end(self) -> float:
        rows, texts = (row.t + row.took for row in self.rows), (t for t, _ in self.visible)
        return max([self.t, self.ended, *rows, *texts])

    @property
    def growths(self) -> list[tuple[float, int]]:
        return _growths(self.visible, self.before)

    @property
    def quiet(self) -> list[Span]:
        return _spans(self.t, [row.t for row in self.rows if row.lane == "agent"], self._until)

    @property
    def waiting(self) -> list[Span]:
        return _spans(self.t, [t for t, _ in self.growths], self._until)

    @property
    def _until(self) -> float:
        """As long as something more was awaited."""
        settled = self.turn.settled
        return self.ended if settled is None else min(self.ended, self.since(settled))

    def summary(self) -> Summary:
        growths, ended, answered = self.growths, self.turn.ended, self.turn.first_answer
        events = [row for row in self.rows if row.lane == "agent"]
        calls = [row for row in self.rows if row.lane == "slack"]
        chars = Counter[str]()
        for row in events:
            chars[row.kind] += row.chars
        return Summary(
            outcome=ended.outcome if ended else "not taken",
            reason=ended.reason if ended else None,
            first_event=round(events[0].t - self.t, 4) if events else None,
            first_answer=None if answered is None else round(self.since(answered) - self.t, 4),
            first_visible=round(growths[0][0] - self.t, 4) if growths else None,
            streaming=round(growths[-1][0] - growths[0][0], _DIGITS) if growths else None,
            longest_silence=_longest(self.quiet),
            longest_wait=_longest(self.waiting),
            burst_share=burst_share(growths),
            agent_burst_share=burst_share(_growths(self.written, self.height)),
            end=round(self.end - self.t, 4),
            events=sum(not row.asked for row in events),
            calls=dict(sorted(Counter(row.kind for row in calls).items())),
            failed_calls=sum(not row.ok for row in calls),
            chars=dict(sorted(chars.items())),
            shown=max(0, self.visible[-1][1] - self.before) if self.visible else 0,
        )


def _turns(builder: TimelineBuilder, log: TurnLog) -> Iterator[_Turn]:
    before = 0
    ends = [*builder.starts[1:], TurnStart(len(builder.rows), len(builder.written))]
    for turn, start, end in zip(log.turns, builder.starts, ends, strict=True):
        rows = tuple(builder.rows[start.rows : end.rows])
        written = _thin(builder.written[start.points : end.points])
        visible = tuple((builder.since(each.at), each.chars) for each in turn.changes)
        yield _Turn(turn, builder.since, rows, written, visible, start.written, before)
        before = visible[-1][1] if visible else before


def _line(turn: _Turn) -> TurnLine:
    asked = turn.turn.started
    return TurnLine(turn.t, asked.user if asked else "", asked.text if asked else "", turn.summary())


def _whole(turns: Sequence[_Turn], lines: Sequence[TurnLine]) -> Summary:
    """The figures of all turns: sums, the longest times, and when it first happened."""
    found = [line.summary for line in lines]
    if len(found) == 1:
        return found[0]
    firsts = {name: _first(name, lines) for name in ("first_event", "first_answer", "first_visible")}
    lasted = [each.streaming for each in found if each.streaming is not None]
    return Summary(
        outcome=found[-1].outcome,
        reason=found[-1].reason,
        **firsts,
        streaming=round(sum(lasted), _DIGITS) if lasted else None,
        longest_silence=max(each.longest_silence for each in found),
        longest_wait=max(each.longest_wait for each in found),
        burst_share=_together([turn.growths for turn in turns]),
        agent_burst_share=_together([_growths(turn.written, turn.height) for turn in turns]),
        end=max(turn.end for turn in turns),
        events=sum(each.events for each in found),
        calls=_sum(each.calls for each in found),
        failed_calls=sum(each.failed_calls for each in found),
        chars=_sum(each.chars for each in found),
        shown=sum(each.shown for each in found),
    )


def _first(name: str, lines: Sequence[TurnLine]) -> float | None:
    times = ((line.t, getattr(line.summary, name)) for line in lines)
    return next((round(start + t, 4) for start, t in times if t is not None), None)


def _sum(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total = Counter[str]()
    for each in counts:
        total.update(each)
    return dict(sorted(total.items()))


def _together(turns: Sequence[Sequence[tuple[float, int]]]) -> float | None:
    """The burst share of several turns: the most that came at once in each, as a part of all."""
    sizes = [sum(size for _, size in growths) for growths in turns]
    bursts = [(burst_share(growths) or 0.0) * size for growths, size in zip(turns, sizes, strict=True)]
    return round(sum(bursts) / sum(sizes), _DIGITS) if sum(sizes) else None


def _longest(spans: Iterable[Span]) -> float:
    return round(max((span.length for span in spans), default=0.0), _DIGITS)


def burst_share(growths: Sequence[tuple[float, int]], within: float = BURST_WITHIN) -> float | None:
    """The most that came within any `within` seconds, as a part of all that came. None: nothing came."""
    total = sum(size for _, size in growths)
    if not total:
        return None
    most = window = first = 0
    for t, size in growths:
        window += size
        while growths[first][0] < t - within:
            window -= growths[first][1]
            first += 1
        most = max(most, window)
    return round(most / total, _DIGITS)


def _growths(curve: Sequence[tuple[float, int]], height: int = 0) -> list[tuple[float, int]]:
    """When the curve reached a new height, and by how much; it began at `height`."""
    found = list[tuple[float, int]]()
    for t, size in curve:
        if size > height:
            found.append((t, size - height))
            height = size
    return found


def _spans(start: float, times: Sequence[float], until: float) -> list[Span]:
    """The times between, from the question at `start` on, and on to `until`."""
    points = [start, *times, *([until] if until > max([start, *times]) else [])]
    return [Span(before, after) for before, after in pairwise(points) if after > before]


def _thin(curve: Sequence[tuple[float, int]]) -> Curve:
    """One point a time: the last."""
    return tuple(dict(curve).items())
