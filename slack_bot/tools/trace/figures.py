"""PURE. The figures of a trace: how soon, how steadily and in what portions an answer could be read.

A silence is a time in which nothing came; it is counted from the question on, and to the end of the turn
where the agent never said that it was done. The burst share is the largest part of the text that was shown
within half a second: near 1, the answer fell into the thread all at once. Nothing spans two questions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest

from ..replay.result import Sample
from .timeline import Row, TimelineBuilder, TimelineQuestion

BURST_WITHIN = 0.5
"""Seconds within which text counts as one burst."""
SILENCE = 2.0
"""Seconds without anything that are worth marking."""
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

    `produced` and `visible` are characters of the answers over time: written by the agent, standing in the
    thread. `quiet` are the agent's silences, `waiting` the times in which the reader saw nothing new.
    `summary` is of all of them, `turns` of each.
    """

    name: str
    question: str
    rows: tuple[Row, ...]
    produced: Curve
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


def timeline(name: str, story: TimelineBuilder, samples: Sequence[Sample]) -> Timeline:
    """All that was to be seen, put on one axis."""
    story.settle()
    turns = list(_turns(story, samples))
    visible = tuple(point for turn in turns for point in turn.visible)
    visible = visible if any(size for _, size in visible) else ()
    quiet, waiting = (
        tuple(span for turn in turns for span in getattr(turn, name) if span.length >= SILENCE)
        for name in ("quiet", "waiting")
    )
    lines = tuple(
        TurnLine(turn.asking.t, turn.asking.user, turn.asking.text, turn.summary()) for turn in turns
    )
    return Timeline(
        name,
        turns[0].asking.text,
        tuple(story.rows),
        _thin(story.produced),
        visible,
        quiet,
        waiting,
        max((turn.end for turn in turns), default=0.0),
        _whole(turns, lines),
        lines,
    )


@dataclass(frozen=True, slots=True)
class _Turn:
    """One turn's part of a story, all times in seconds from the first question."""

    asking: TimelineQuestion
    rows: tuple[Row, ...]
    produced: Curve
    visible: Curve
    stood: int

    @property
    def end(self) -> float:
        ends = [self.asking.t, *(row.t + row.took for row in self.rows), *(t for t, _ in self.visible)]
        return max([*ends, self.asking.ending.t if self.asking.ending else 0.0])

    @property
    def agent(self) -> list[float]:
        return [row.t for row in self.rows if row.lane == "agent"]

    @property
    def growths(self) -> list[tuple[float, int]]:
        return _growths(self.visible, self.stood)

    @property
    def quiet(self) -> list[Span]:
        return _spans(self.asking.t, self.agent, self._until)

    @property
    def waiting(self) -> list[Span]:
        return _spans(self.asking.t, [t for t, _ in self.growths], self._until)

    @property
    def _until(self) -> float:
        """As long as something more was awaited."""
        ending = self.asking.ending.t if self.asking.ending else 0.0
        return ending if self.asking.settled is None else min(ending, self.asking.settled)

    def summary(self) -> Summary:
        start, ending, growths, agent = self.asking.t, self.asking.ending, self.growths, self.agent
        calls = [row for row in self.rows if row.lane == "slack"]
        chars = Counter[str]()
        for row in self.rows:
            if row.lane == "agent":
                chars[row.kind] += row.chars
        return Summary(
            outcome=ending.outcome if ending else "not taken",
            reason=ending.reason if ending else None,
            first_event=_since(start, agent),
            first_answer=_since(
                start, [] if self.asking.first_answer is None else [self.asking.first_answer]
            ),
            first_visible=_since(start, [t for t, _ in growths]),
            streaming=round(growths[-1][0] - growths[0][0], _DIGITS) if growths else None,
            longest_silence=_longest(self.quiet),
            longest_wait=_longest(self.waiting),
            burst_share=burst_share(growths),
            agent_burst_share=burst_share(_growths(self.produced, self.asking.written)),
            end=round(self.end - start, 4),
            events=sum(row.lane == "agent" and not row.asked for row in self.rows),
            calls=dict(sorted(Counter(row.kind for row in calls).items())),
            failed_calls=sum(not row.ok for row in calls),
            chars=dict(sorted(chars.items())),
            shown=max(0, self.visible[-1][1] - self.stood) if self.visible else 0,
        )


def _turns(story: TimelineBuilder, samples: Sequence[Sample]) -> Iterator[_Turn]:
    """The story, question by question."""
    askings = story.askings or [TimelineQuestion(0.0)]
    stood = 0
    for number, (asking, after) in enumerate(zip_longest(askings, askings[1:])):
        is_last = after is None
        visible = tuple(
            (round(max(0.0, each.at - story.asked_at), 4), each.chars)
            for each in samples
            if each.turn == number or (is_last and each.turn > number)
        )
        rows = story.rows[asking.rows : None if is_last else after.rows]
        produced = _thin(story.produced[asking.points : None if is_last else after.points])
        yield _Turn(asking, tuple(rows), produced, visible, stood)
        stood = visible[-1][1] if visible else stood


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
        agent_burst_share=_together([_growths(turn.produced, turn.asking.written) for turn in turns]),
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


def _since(start: float, times: Sequence[float]) -> float | None:
    """The first of `times`, in seconds from `start`."""
    return round(times[0] - start, 4) if times else None


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
