"""PURE. The figures of a trace: how soon, how steadily and in what portions an answer could be read.

A silence is a time in which nothing came; it is counted from the question on. The burst share is the largest
part of the text that was shown within half a second: near 1, the answer fell into the thread all at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from .result import Sample
from .timeline import Row, Story

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
    """One turn, ready to be shown.

    `produced` and `visible` are characters of the answer over time: written by the agent, standing in the
    thread. `quiet` are the agent's silences, `waiting` the times in which the reader saw nothing new.
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


def timeline(name: str, story: Story, samples: Sequence[Sample]) -> Timeline:
    """All that was to be seen, put on one axis."""
    story.settle()
    start = story.asked_at
    visible = tuple((round(max(0.0, each.at - start), 4), each.chars) for each in samples)
    visible = visible if any(size for _, size in visible) else ()
    produced = _thin(story.produced)
    agent = [row.t for row in story.rows if row.lane == "agent"]
    growths = _growths(visible)
    ends = [*agent, *(row.t + row.took for row in story.rows), *(t for t, _ in visible)]
    end = max([*ends, story.ending.t if story.ending else 0.0], default=0.0)
    quiet, waiting = _spans(agent), _spans([t for t, _ in growths])
    summary = _summary(story, visible, produced, end, (quiet, waiting))
    marked = [tuple(span for span in spans if span.length >= SILENCE) for spans in (quiet, waiting)]
    return Timeline(
        name, story.question, tuple(story.rows), produced, visible, marked[0], marked[1], end, summary
    )


def _summary(
    story: Story, visible: Curve, produced: Curve, end: float, spans: tuple[list[Span], list[Span]]
) -> Summary:
    agent = [row for row in story.rows if row.lane == "agent"]
    calls = [row for row in story.rows if row.lane == "slack"]
    growths = _growths(visible)
    longest = [round(max((span.length for span in each), default=0.0), _DIGITS) for each in spans]
    return Summary(
        outcome=story.ending.outcome if story.ending else "not taken",
        reason=story.ending.reason if story.ending else None,
        first_event=agent[0].t if agent else None,
        first_answer=story.first_answer,
        first_visible=growths[0][0] if growths else None,
        streaming=round(growths[-1][0] - growths[0][0], _DIGITS) if growths else None,
        longest_silence=longest[0],
        longest_wait=longest[1],
        burst_share=burst_share(growths),
        agent_burst_share=burst_share(_growths(produced)),
        end=end,
        events=len(agent),
        calls=dict(sorted(Counter(row.kind for row in calls).items())),
        failed_calls=sum(not row.ok for row in calls),
        chars=dict(sorted(story.chars.items())),
        shown=visible[-1][1] if visible else 0,
    )


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


def _growths(curve: Sequence[tuple[float, int]]) -> list[tuple[float, int]]:
    """When the curve reached a new height, and by how much."""
    found, height = list[tuple[float, int]](), 0
    for t, size in curve:
        if size > height:
            found.append((t, size - height))
            height = size
    return found


def _spans(times: Sequence[float]) -> list[Span]:
    """The times between, from the question on."""
    return [
        Span(before, after) for before, after in zip([0.0, *times], times, strict=False) if after > before
    ]


def _thin(curve: Sequence[tuple[float, int]]) -> Curve:
    """One point a time: the last."""
    return tuple(dict(curve).items())
