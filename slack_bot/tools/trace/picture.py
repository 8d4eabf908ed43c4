"""PURE. The picture of a trace: what could be read when, above the lanes of what made it so.

Several traces are drawn below each other on one axis of time. The two curves are characters of the answer:
written by the agent, visible in the thread. Where they part, the bot is late; where both are flat, the agent
is silent. Amber is the time in which a reader saw nothing new, grey stripes the time in which the agent sent
nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log1p

from .canvas import Axis, Canvas, fitted, round_ticks, text_width
from .figures import BURST_WITHIN, SILENCE, Curve, Span, Summary, Timeline
from .timeline import AGENT_KINDS, DECISION_KINDS, Row

WIDTH = 1280.0
_MARGIN, _LEFT, _RIGHT = 24.0, 178.0, 64.0
_WORTH_STREAMING = 200  # characters
_CHART, _LANE, _BAR = 180.0, 17.0, 11.0

_INK, _FAINT, _GRID = "#0f172a", "#64748b", "#e2e8f0"
_WROTE, _SHOWN = "#2563eb", "#059669"
_WAIT, _WAIT_INK, _BAD = "#fef3c7", "#92400e", "#dc2626"
_COLORS = {
    **{"status": "#94a3b8", "plan": "#8b5cf6", "tool": "#d97706", "narration": "#64748b", "held": "#38bdf8"},
    **{"answer": _WROTE, "result": "#1e3a8a", "question": "#db2777", "other": "#cbd5e1"},
    **{
        "append": _WROTE,
        "flush": "#60a5fa",
        "card": "#d97706",
        "rewrite": _BAD,
        "close": _INK,
        "ask": "#db2777",
    },
    **{"cancel": _BAD, "dropped": "#a1a1aa"},
}
_CALLS = ("assistant.threads.setStatus", "chat.startStream", "chat.appendStream", "chat.stopStream")
_END = 'text-anchor="end"'
_MIDDLE = 'text-anchor="middle"'
_BOLD = 'font-weight="600"'


@dataclass(frozen=True, slots=True)
class _Lane:
    """A row of marks: `color` and each mark's start, length, whether it is good, and what it says."""

    label: str
    color: str
    marks: tuple[tuple[float, float, bool, str], ...]


def draw(timelines: Sequence[Timeline]) -> str:
    """The SVG document."""
    end = max([each.end for each in timelines], default=0.0) * 1.01 or 1.0
    axis = Axis(_LEFT, WIDTH - _RIGHT, end)
    canvas = Canvas()
    y = _legend(canvas, _MARGIN)
    for each in timelines:
        y = _panel(canvas, axis, each, y + 14)
    names = ", ".join(each.name for each in timelines)
    return canvas.svg(WIDTH, y + _MARGIN / 2, f"Trace of {names}", _STRIPES)


_STRIPES = (
    '<defs><pattern id="quiet" width="7" height="7" patternUnits="userSpaceOnUse"'
    ' patternTransform="rotate(45)">'
    '<rect width="7" height="7" fill="#f8fafc"/><rect width="2.5" height="7" fill="#e2e8f0"/>'
    "</pattern></defs>\n"
)


def _legend(canvas: Canvas, y: float) -> float:
    x = _MARGIN
    for kind, color, words in (
        ("line", _WROTE, "characters the agent wrote"),
        ("line", _SHOWN, "characters in the thread"),
        ("box", _WAIT, f"nothing new to read for {SILENCE:g} s or more"),
        ("box", "url(#quiet)", f"the agent sends nothing for {SILENCE:g} s or more"),
        ("mark", _BAD, "failed call"),
    ):
        if kind == "line":
            canvas.line((x, y + 7), (x + 22, y + 7), color, 'stroke-width="3"')
        else:
            wide = 22 if kind == "box" else 6
            canvas.rect(
                x, y + 1, wide, 12, color, more='stroke="#cbd5e1" stroke-width="0.5"' if wide > 6 else ""
            )
        x += 30 if kind != "mark" else 14
        canvas.text(x, y + 11, words, size=12, fill=_FAINT)
        x += text_width(words, 12) + 18
    return y + 18


def _panel(canvas: Canvas, axis: Axis, line: Timeline, y: float) -> float:
    """One trace. Returns where it ends."""
    canvas.line((_MARGIN, y), (WIDTH - _MARGIN, y), _GRID)
    canvas.text(_MARGIN, y + 26, fitted(line.name, 17, 620), size=17, fill=_INK, more='font-weight="700"')
    left = _MARGIN + min(text_width(line.name, 17.6), 640) + 16
    asked = f"“{line.question}”" if line.question else ""
    canvas.text(left, y + 26, fitted(asked, 13, WIDTH - left - 220), size=13, fill=_FAINT)
    ended = line.summary.outcome + (f" ({line.summary.reason})" if line.summary.reason else "")
    canvas.text(WIDTH - _MARGIN, y + 26, fitted(ended, 13, 210), size=13, fill=_INK, more=f"{_END} {_BOLD}")
    y = _tiles(canvas, line.summary, y + 40)
    y = _chart(canvas, axis, line, y + 46)
    return _lanes(canvas, axis, line, y)


# -- figures ---------------------------------------------------------------------------------------


def _tiles(canvas: Canvas, summary: Summary, y: float) -> float:
    tiles = _figures(summary)
    width = (WIDTH - 2 * _MARGIN) / len(tiles)
    for number, (label, value, is_bad) in enumerate(tiles):
        x = _MARGIN + number * width
        canvas.rect(x, y, width - 8, 48, "#fef2f2" if is_bad else "#f8fafc", more='rx="6"')
        size = 18 if text_width(value, 20) <= width - 24 else 14
        canvas.text(x + 10, y + 23, value, size=size, fill=_BAD if is_bad else _INK, more='font-weight="700"')
        canvas.text(x + 10, y + 40, fitted(label, 11, width - 24), size=11, fill=_FAINT)
    chars = ", ".join(f"{kind} {count:,}" for kind, count in summary.chars.items() if count)
    said = f"characters sent: {chars or 'none'}; shown: {summary.shown:,}"
    canvas.text(_MARGIN, y + 66, fitted(said, 12, WIDTH - 2 * _MARGIN), size=12, fill=_FAINT)
    return y + 68


def _figures(summary: Summary) -> list[tuple[str, str, bool]]:
    """Label, value, and whether it is something to look at."""
    lag = (summary.first_visible or 0.0) - (summary.first_answer or 0.0)
    # a sentence or two always come at once
    is_burst = (summary.burst_share or 0.0) > 0.5 and summary.shown > _WORTH_STREAMING
    calls, failed = sum(summary.calls.values()), summary.failed_calls
    return [
        ("first event", seconds(summary.first_event), False),
        ("first answer token", seconds(summary.first_answer), False),
        ("first visible text", seconds(summary.first_visible), lag > 1.0),
        ("streaming for", seconds(summary.streaming), False),
        ("longest agent silence", seconds(summary.longest_silence), summary.longest_silence > 10),
        ("longest reader wait", seconds(summary.longest_wait), summary.longest_wait > 10),
        (f"most within {BURST_WITHIN:g} s", share(summary.burst_share), is_burst),
        ("Slack calls", f"{calls}" + (f" ({failed} failed)" if failed else ""), failed > 0),
    ]


def seconds(value: float | None) -> str:
    """A time for people."""
    return "–" if value is None else f"{value:.2f} s" if value < 10 else f"{value:.1f} s"


def share(value: float | None) -> str:
    """A part of all, for people."""
    return "–" if value is None else f"{value:.0%}"


# -- curves ---------------------------------------------------------------------------------------


def _chart(canvas: Canvas, axis: Axis, line: Timeline, y: float) -> float:
    """The curves, in a frame whose top is `y`. Returns its bottom."""
    bottom = y + _CHART
    for span in line.waiting:
        canvas.rect(axis.x(span.start), y, axis.x(span.end) - axis.x(span.start), _CHART, _WAIT)
    ticks = round_ticks(max((size for _, size in (*line.written, *line.visible)), default=0))
    for tick in ticks:
        at = bottom - _CHART * tick / ticks[-1]
        canvas.line((axis.left, at), (axis.right, at), _GRID)
        canvas.text(axis.left - 8, at + 4, f"{tick:,}", size=11, fill=_FAINT, more=_END)
    canvas.text(_MARGIN, y + 4, "characters", size=11, fill=_FAINT)
    _grid(canvas, axis, y, bottom)
    for span in line.waiting:
        _labelled(canvas, axis, span, y + 18, "nothing new to read", _WAIT_INK)
    wrote = _steps(line.written, axis, bottom, ticks[-1], line.end)
    shown = _steps(line.visible, axis, bottom, ticks[-1], line.end)
    if wrote:
        area = f"{wrote}V{bottom:.1f}H{axis.x(line.written[0][0]):.1f}Z"
        canvas.path(area, f'fill="{_WROTE}" fill-opacity="0.10" stroke="none"')
        canvas.path(wrote, f'fill="none" stroke="{_WROTE}" stroke-width="2"')
    if shown:
        canvas.path(shown, f'fill="none" stroke="{_SHOWN}" stroke-width="2.5"')
    _totals(canvas, axis, line, bottom, ticks[-1])
    _markers(canvas, axis, line.summary, y)
    for turn in line.turns[1:]:
        x = axis.x(turn.t)
        canvas.line((x, y), (x, bottom), _INK, 'stroke-width="1"')
        is_left = x > (axis.left + axis.right) / 2
        room = (x - axis.left if is_left else axis.right - x) - 8
        said, more = fitted(f"{turn.user}: {turn.question}", 12, room), f"{_BOLD} {_END if is_left else ''}"
        canvas.text(x + (-5 if is_left else 5), bottom - 6, said, size=12, fill=_INK, more=more)
    return bottom


def _markers(canvas: Canvas, axis: Axis, summary: Summary, top: float) -> None:
    """When the answer began, for the agent and for the reader, named above the chart."""
    for at, words, color, above in (
        (summary.first_answer, "first answer token", _WROTE, top - 22),
        (summary.first_visible, "first visible text", _SHOWN, top - 7),
    ):
        if at is not None:
            _marker(canvas, axis, at, f"{words} {seconds(at)}", color, (above, top + _CHART))


def _totals(canvas: Canvas, axis: Axis, line: Timeline, bottom: float, most: int) -> None:
    """What each curve ends at; one number where they end at the same."""
    ends = [
        (curve[-1][1], color) for curve, color in ((line.written, _WROTE), (line.visible, _SHOWN)) if curve
    ]
    if len(ends) == 2 and abs(ends[0][0] - ends[1][0]) * _CHART < 13 * most:
        ends = ends[1:]
    x = axis.x(line.end)
    widest = max((text_width(f"{size:,}", 12) for size, _ in ends), default=0.0)
    more = "" if x + widest + 8 < WIDTH else _END
    for size, color in ends:
        y = bottom - _CHART * size / most + (4 if not more else -6)
        canvas.text(x + (6 if not more else 0), y, f"{size:,}", size=12, fill=color, more=f"{_BOLD} {more}")


def _steps(curve: Curve, axis: Axis, bottom: float, most: int, end: float) -> str:
    """A line that stays where it is until the next value comes."""
    if not curve:
        return ""
    parts = [f"M{axis.x(curve[0][0]):.1f} {bottom:.1f}"]
    for t, size in _coarse(curve, axis):
        parts.append(f"H{axis.x(t):.1f}V{bottom - _CHART * size / most:.1f}")
    return "".join([*parts, f"H{axis.x(end):.1f}"])


def _coarse(curve: Curve, axis: Axis) -> Iterator[tuple[float, int]]:
    """The last point of each half pixel: more cannot be seen."""
    for (t, size), (after, _) in pairwise(curve):
        if axis.x(after) - axis.x(t) >= 0.5 or int(2 * axis.x(after)) != int(2 * axis.x(t)):
            yield t, size
    yield curve[-1]


def _marker(canvas: Canvas, axis: Axis, t: float, words: str, color: str, ys: tuple[float, float]) -> None:
    x, (above, bottom) = axis.x(t), ys
    canvas.line((x, above - 8), (x, bottom), color, 'stroke-dasharray="3 3" stroke-width="1"')
    fits = x + text_width(words, 12) + 10 < WIDTH - _MARGIN
    canvas.text(
        x + (6 if fits else -6), above, words, size=12, fill=color, more=_BOLD if fits else f"{_BOLD} {_END}"
    )


def _labelled(canvas: Canvas, axis: Axis, span: Span, y: float, words: str, color: str) -> None:
    """As much of a silence's label as there is room for."""
    room = axis.x(span.end) - axis.x(span.start) - 8
    middle = (axis.x(span.start) + axis.x(span.end)) / 2
    for text in (f"{seconds(span.length)} {words}", seconds(span.length)):
        if text_width(text, 12) <= room:
            canvas.text(middle, y, text, size=12, fill=color, more=f"{_MIDDLE} {_BOLD}")
            return


def _grid(canvas: Canvas, axis: Axis, top: float, bottom: float) -> None:
    for t, _ in axis.ticks():
        canvas.line((axis.x(t), top), (axis.x(t), bottom), _GRID)


# -- lanes ---------------------------------------------------------------------------------------


def _lanes(canvas: Canvas, axis: Axis, line: Timeline, y: float) -> float:
    groups = (
        ("the agent sent", _agent_lanes(line.rows), line.quiet),
        ("the bot decided", _decision_lanes(line.rows), ()),
        ("Slack was called", _call_lanes(line.rows), ()),
    )
    for title, lanes, quiet in groups:
        top = y + 10
        bottom = top + 16 + _LANE * max(1, len(lanes))
        for span in quiet:
            canvas.rect(
                axis.x(span.start), top, axis.x(span.end) - axis.x(span.start), bottom - top, "url(#quiet)"
            )
        _grid(canvas, axis, y, bottom)
        canvas.text(_MARGIN, top + 11, title, size=12, fill=_INK, more=_BOLD)
        for span in quiet:
            _labelled(canvas, axis, span, top + 12, "without an event", _FAINT)
        for number, lane in enumerate(lanes):
            _lane(canvas, axis, lane, top + 16 + number * _LANE)
        y = bottom
    canvas.line((axis.left, y + 6), (axis.right, y + 6), _FAINT)
    for t, words in axis.ticks():
        canvas.line((axis.x(t), y + 6), (axis.x(t), y + 11), _FAINT)
        canvas.text(axis.x(t), y + 24, words, size=11, fill=_FAINT, more=_MIDDLE)
    return y + 30


def _lane(canvas: Canvas, axis: Axis, lane: _Lane, y: float) -> None:
    """Marks that would lie on each other are drawn as one, the higher the more they are."""
    middle = y + _LANE / 2
    label = f"{lane.label}  {len(lane.marks):,}"
    canvas.text(axis.left - 8, middle + 4, label, size=11, fill=_FAINT, more=_END)
    canvas.line((axis.left, middle), (axis.right, middle), "#f1f5f9")
    heaps = _heaps(axis, [mark for mark in lane.marks if mark[2]])
    most = max((heap.count for heap in heaps), default=1)
    for heap in heaps:
        height = _BAR * (0.4 + 0.6 * log1p(heap.count) / log1p(most))
        more = f" and {heap.count - 1} more" if heap.count > 1 else ""
        tip = f"{seconds(heap.t)}: {heap.said}{more}"
        canvas.rect(heap.x, middle - height / 2, heap.width, height, lane.color, tip=tip)
    for t, _, good, said in lane.marks:
        if not good:
            canvas.rect(axis.x(t) - 2, middle - _BAR / 2 - 2, 4, _BAR + 4, _BAD, tip=f"{seconds(t)}: {said}")


@dataclass(slots=True)
class _Heap:
    """Marks on the same few pixels."""

    x: float
    width: float
    count: int
    t: float
    said: str


def _heaps(axis: Axis, marks: Iterable[tuple[float, float, bool, str]]) -> list[_Heap]:
    found: list[_Heap] = []
    for t, took, _, said in marks:
        x, wide = axis.x(t), max(2.0, axis.x(t + took) - axis.x(t))
        if found and x < found[-1].x + 2.0:
            found[-1].count += 1
            found[-1].width = max(found[-1].width, x + wide - found[-1].x if took else 2.0)
        else:
            found.append(_Heap(x, wide, 1, t, said))
    return found


def _agent_lanes(rows: Iterable[Row]) -> list[_Lane]:
    mine = [row for row in rows if row.lane == "agent"]
    return _of_kinds(AGENT_KINDS, [(row.kind, row.t, f"{row.name} {row.text}") for row in mine])


def _decision_lanes(rows: Iterable[Row]) -> list[_Lane]:
    marks = [
        (kind, row.t, f"{decision.event}: {decision.reason}")
        for row in rows
        for decision in row.decisions
        for kind in decision.kinds
    ]
    return _of_kinds(DECISION_KINDS, marks)


def _of_kinds(kinds: Sequence[str], marks: Sequence[tuple[str, float, str]]) -> list[_Lane]:
    lanes = []
    for kind in kinds:
        mine = tuple((t, 0.0, True, said.strip()) for each, t, said in marks if each == kind)
        if mine:
            lanes.append(_Lane(kind, _COLORS[kind], mine))
    return lanes


def _call_lanes(rows: Iterable[Row]) -> list[_Lane]:
    mine = [row for row in rows if row.lane == "slack"]
    names = dict.fromkeys([*_CALLS, *sorted({row.kind for row in mine})])
    lanes = []
    for name in names:
        marks = tuple((row.t, row.took, row.ok, f"{row.name} {row.text}") for row in mine if row.kind == name)
        if marks:
            lanes.append(_Lane(name.removeprefix("assistant.threads."), "#0f766e", marks))
    return lanes
