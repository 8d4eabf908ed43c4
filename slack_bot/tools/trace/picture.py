"""PURE. The picture of a trace: what could be read when, above the lanes of what made it so.

The two curves are characters of the answer: written by the agent, visible in the thread. Where they part,
the bot is late; where both are flat, the agent is silent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from itertools import pairwise
from math import log1p
from typing import TypeAlias

from ..pace import BURST_WITHIN, SILENCE, Curve, Span, is_burst, seconds, share
from .figures import Summary, Timeline
from .timeline import AGENT_KINDS, DECISION_KINDS, Row

WIDTH = 1280.0
_MARGIN, _LEFT, _RIGHT = 24.0, 178.0, 64.0
_CHART, _LANE, _BAR = 180.0, 17.0, 11.0

_INK, _FAINT, _GRID = "#0f172a", "#64748b", "#e2e8f0"
_WROTE, _SHOWN = "#2563eb", "#059669"
_WAIT, _WAIT_INK, _BAD = "#fef3c7", "#92400e", "#dc2626"
_CALL = "#0f766e"
_COLORS = {
    "status": "#94a3b8",
    "plan": "#8b5cf6",
    "tool": "#d97706",
    "narration": "#64748b",
    "held": "#38bdf8",
    "answer": _WROTE,
    "result": "#1e3a8a",
    "question": "#db2777",
    "other": "#cbd5e1",
    "append": _WROTE,
    "flush": "#60a5fa",
    "card": "#d97706",
    "rewrite": _BAD,
    "close": _INK,
    "ask": "#db2777",
    "cancel": _BAD,
    "dropped": "#a1a1aa",
}
_CALLS = ("assistant.threads.setStatus", "chat.startStream", "chat.appendStream", "chat.stopStream")
_END = 'text-anchor="end"'
_MIDDLE = 'text-anchor="middle"'
_BOLD = 'font-weight="600"'
_HEAVY = 'font-weight="700"'
_STRIPES = (
    '<defs><pattern id="quiet" width="7" height="7" patternUnits="userSpaceOnUse"'
    ' patternTransform="rotate(45)">'
    '<rect width="7" height="7" fill="#f8fafc"/><rect width="2.5" height="7" fill="#e2e8f0"/>'
    "</pattern></defs>\n"
)

_Mark: TypeAlias = tuple[float, float, bool, str]
"""Start, length, whether it is good, and what it says."""
_Lanes: TypeAlias = Mapping[str, list[_Mark]]


def draw(timelines: Sequence[Timeline]) -> str:
    """The SVG document."""
    end = max([each.end for each in timelines], default=0.0) * 1.01 or 1.0
    canvas = Canvas(_LEFT, WIDTH - _RIGHT, end)
    y = _legend(canvas, _MARGIN)
    for each in timelines:
        y = _panel(canvas, each, y + 14)
    names = ", ".join(each.name for each in timelines)
    return canvas.svg(WIDTH, y + _MARGIN / 2, f"Trace of {names}", _STRIPES)


def _legend(canvas: Canvas, y: float) -> float:
    x = _MARGIN
    for color, wide, words in (
        (_WROTE, 0, "characters the agent wrote"),
        (_SHOWN, 0, "characters in the thread"),
        (_WAIT, 22, f"nothing new to read for {SILENCE:g} s or more"),
        ("url(#quiet)", 22, f"the agent sends nothing for {SILENCE:g} s or more"),
        (_BAD, 6, "failed call"),
    ):
        if wide:
            more = 'stroke="#cbd5e1" stroke-width="0.5"' if wide > 6 else ""
            canvas.rect(x, y + 1, wide, 12, color, more=more)
        else:
            canvas.line((x, y + 7), (x + 22, y + 7), color, 'stroke-width="3"')
        x += (wide or 22) + 8
        canvas.text(x, y + 11, words, 12, _FAINT)
        x += text_width(words, 12) + 18
    return y + 18


def _panel(canvas: Canvas, line: Timeline, y: float) -> float:
    """One trace. Returns where it ends."""
    canvas.line((_MARGIN, y), (WIDTH - _MARGIN, y), _GRID)
    canvas.text(_MARGIN, y + 26, fitted(line.name, 17, 620), 17, _INK, _HEAVY)
    left = _MARGIN + min(text_width(line.name, 17.6), 640) + 16
    asked = f"“{line.question}”" if line.question else ""
    canvas.text(left, y + 26, fitted(asked, 13, WIDTH - left - 220), 13, _FAINT)
    ended = line.summary.outcome + (f" ({line.summary.reason})" if line.summary.reason else "")
    canvas.text(WIDTH - _MARGIN, y + 26, fitted(ended, 13, 210), 13, _INK, f"{_END} {_BOLD}")
    _tiles(canvas, line.summary, y + 40)
    _chart(canvas, line, y + 154)
    return _groups(canvas, line, y + 154 + _CHART)


# -- figures ---------------------------------------------------------------------------------------


def _tiles(canvas: Canvas, summary: Summary, y: float) -> None:
    tiles = _figures(summary)
    width = (WIDTH - 2 * _MARGIN) / len(tiles)
    for number, (label, value, is_bad) in enumerate(tiles):
        x = _MARGIN + number * width
        canvas.rect(x, y, width - 8, 48, "#fef2f2" if is_bad else "#f8fafc", more='rx="6"')
        size = 18 if text_width(value, 20) <= width - 24 else 14
        canvas.text(x + 10, y + 23, value, size, _BAD if is_bad else _INK, _HEAVY)
        canvas.text(x + 10, y + 40, fitted(label, 11, width - 24), 11, _FAINT)
    chars = ", ".join(f"{kind} {count:,}" for kind, count in summary.chars.items() if count)
    said = f"characters sent: {chars or 'none'}; shown: {summary.shown:,}"
    canvas.text(_MARGIN, y + 66, fitted(said, 12, WIDTH - 2 * _MARGIN), 12, _FAINT)


def _figures(summary: Summary) -> list[tuple[str, str, bool]]:
    lag = (summary.first_visible or 0.0) - (summary.first_answer or 0.0)
    burst, is_bad = summary.burst_share, is_burst(summary.burst_share, summary.shown)
    calls, failed = sum(summary.calls.values()), summary.failed_calls
    return [
        ("first event", seconds(summary.first_event), False),
        ("first answer event", seconds(summary.first_answer), False),
        ("first sign of life", seconds(summary.first_sign), False),
        ("first visible text", seconds(summary.first_visible), lag > 1.0),
        ("streaming for", seconds(summary.streaming), False),
        ("longest agent silence", seconds(summary.longest_silence), summary.longest_silence > 10),
        ("longest reader wait", seconds(summary.longest_wait), summary.longest_wait > 10),
        (f"most within {BURST_WITHIN:g} s", share(burst), is_bad),
        ("Slack calls", f"{calls}" + (f" ({failed} failed)" if failed else ""), failed > 0),
    ]


# -- curves ---------------------------------------------------------------------------------------


def _chart(canvas: Canvas, line: Timeline, y: float) -> None:
    """The curves, in a frame whose top is `y`."""
    bottom = y + _CHART
    _bands(canvas, line.waiting, y, bottom, _WAIT)
    ticks = round_ticks(max((size for _, size in (*line.written, *line.visible)), default=0))
    most = ticks[-1]
    for tick in ticks:
        at = bottom - _CHART * tick / most
        canvas.line((canvas.left, at), (canvas.right, at), _GRID)
        canvas.text(canvas.left - 8, at + 4, f"{tick:,}", 11, _FAINT, _END)
    canvas.text(_MARGIN, y + 4, "characters", 11, _FAINT)
    _grid(canvas, y, bottom)
    _labels(canvas, line.waiting, y + 18, "nothing new to read", _WAIT_INK)
    wrote, shown = (_steps(canvas, curve, bottom, most, line.end) for curve in (line.written, line.visible))
    if wrote:
        area = f"{wrote}V{bottom:.1f}H{canvas.x(line.written[0][0]):.1f}Z"
        canvas.path(area, f'fill="{_WROTE}" fill-opacity="0.10" stroke="none"')
        canvas.path(wrote, f'fill="none" stroke="{_WROTE}" stroke-width="2"')
    if shown:
        canvas.path(shown, f'fill="none" stroke="{_SHOWN}" stroke-width="2.5"')
    _totals(canvas, line, bottom, most)
    _markers(canvas, line.summary, y)
    for turn in line.turns[1:]:
        x = canvas.x(turn.t)
        canvas.line((x, y), (x, bottom), _INK, 'stroke-width="1"')
        is_left = x > (canvas.left + canvas.right) / 2
        room = (x - canvas.left if is_left else canvas.right - x) - 8
        said, more = fitted(f"{turn.user}: {turn.question}", 12, room), f"{_BOLD} {_END if is_left else ''}"
        canvas.text(x + (-5 if is_left else 5), bottom - 6, said, 12, _INK, more)


def _steps(canvas: Canvas, curve: Curve, bottom: float, most: int, end: float) -> str:
    """A line that stays where it is until the next value comes."""
    if not curve:
        return ""
    points = (f"H{canvas.x(t):.1f}V{bottom - _CHART * size / most:.1f}" for t, size in _coarse(canvas, curve))
    return f"M{canvas.x(curve[0][0]):.1f} {bottom:.1f}{''.join(points)}H{canvas.x(end):.1f}"


def _coarse(canvas: Canvas, curve: Curve) -> Iterator[tuple[float, int]]:
    """The last point of each half pixel: more cannot be seen."""
    for (t, size), (after, _) in pairwise(curve):
        x, next_x = canvas.x(t), canvas.x(after)
        if next_x - x >= 0.5 or int(2 * next_x) != int(2 * x):
            yield t, size
    yield curve[-1]


def _totals(canvas: Canvas, line: Timeline, bottom: float, most: int) -> None:
    """What each curve ends at; one number where they end at the same."""
    curves = ((line.written, _WROTE), (line.visible, _SHOWN))
    ends = [(curve[-1][1], color) for curve, color in curves if curve]
    if len(ends) == 2 and abs(ends[0][0] - ends[1][0]) * _CHART < 13 * most:
        ends = ends[1:]
    x = canvas.x(line.end)
    widest = max((text_width(f"{size:,}", 12) for size, _ in ends), default=0.0)
    dx, dy, more = (6, 4, "") if x + widest + 8 < WIDTH else (0, -6, _END)
    for size, color in ends:
        canvas.text(x + dx, bottom - _CHART * size / most + dy, f"{size:,}", 12, color, f"{_BOLD} {more}")


def _markers(canvas: Canvas, summary: Summary, top: float) -> None:
    """When the answer began, for the agent and for the reader, named above the chart."""
    for t, words, color, y in (
        (summary.first_answer, "first answer event", _WROTE, top - 22),
        (summary.first_visible, "first visible text", _SHOWN, top - 7),
    ):
        if t is not None:
            x, said = canvas.x(t), f"{words} {seconds(t)}"
            canvas.line((x, y - 8), (x, top + _CHART), color, 'stroke-dasharray="3 3" stroke-width="1"')
            fits = x + text_width(said, 12) + 10 < WIDTH - _MARGIN
            dx, more = (6, _BOLD) if fits else (-6, f"{_BOLD} {_END}")
            canvas.text(x + dx, y, said, 12, color, more)


def _bands(canvas: Canvas, spans: Iterable[Span], top: float, bottom: float, fill: str) -> None:
    for span in spans:
        x = canvas.x(span.start)
        canvas.rect(x, top, canvas.x(span.end) - x, bottom - top, fill)


def _labels(canvas: Canvas, spans: Iterable[Span], y: float, words: str, color: str) -> None:
    """As much of each label as there is room for."""
    for span in spans:
        left, right = canvas.x(span.start), canvas.x(span.end)
        for text in (f"{seconds(span.length)} {words}", seconds(span.length)):
            if text_width(text, 12) <= right - left - 8:
                canvas.text((left + right) / 2, y, text, 12, color, f"{_MIDDLE} {_BOLD}")
                break


def _grid(canvas: Canvas, top: float, bottom: float) -> None:
    for x, _ in canvas.ticks():
        canvas.line((x, top), (x, bottom), _GRID)


# -- lanes ---------------------------------------------------------------------------------------


def _groups(canvas: Canvas, line: Timeline, y: float) -> float:
    titles = ("the agent sent", "the bot decided", "Slack was called")
    for title, lanes, quiet in zip(titles, _lanes(line.rows), (line.quiet, (), ()), strict=True):
        used = [(label, marks) for label, marks in lanes.items() if marks]
        top = y + 10
        bottom = top + 16 + _LANE * max(1, len(used))
        _bands(canvas, quiet, top, bottom, "url(#quiet)")
        _grid(canvas, y, bottom)
        canvas.text(_MARGIN, top + 11, title, 12, _INK, _BOLD)
        _labels(canvas, quiet, top + 12, "without an event", _FAINT)
        for number, (label, marks) in enumerate(used):
            _lane(canvas, label, marks, top + 16 + number * _LANE)
        y = bottom
    canvas.line((canvas.left, y + 6), (canvas.right, y + 6), _FAINT)
    for x, words in canvas.ticks():
        canvas.line((x, y + 6), (x, y + 11), _FAINT)
        canvas.text(x, y + 24, words, 11, _FAINT, _MIDDLE)
    return y + 30


def _lanes(rows: Sequence[Row]) -> tuple[_Lanes, _Lanes, _Lanes]:
    methods = sorted({row.kind for row in rows if row.lane == "slack"})
    events: _Lanes = {kind: [] for kind in AGENT_KINDS}
    decided: _Lanes = {kind: [] for kind in DECISION_KINDS}
    calls: _Lanes = {kind: [] for kind in (*_CALLS, *methods)}
    for row in rows:
        said = f"{row.name} {row.text}"
        if row.lane == "agent":
            events[row.kind].append((row.t, 0.0, True, said.strip()))
        elif row.lane == "slack":
            calls[row.kind].append((row.t, row.took, row.ok, said))
        for each in row.decisions:
            for kind in each.kinds:
                decided[kind].append((row.t, 0.0, True, f"{each.event}: {each.reason}".strip()))
    return events, decided, calls


def _lane(canvas: Canvas, label: str, marks: Sequence[_Mark], y: float) -> None:
    """Marks on each other are drawn as one, the higher the more they are."""
    middle = y + _LANE / 2
    name = f"{label.removeprefix('assistant.threads.')}  {len(marks):,}"
    canvas.text(canvas.left - 8, middle + 4, name, 11, _FAINT, _END)
    canvas.line((canvas.left, middle), (canvas.right, middle), "#f1f5f9")
    heaps = _heaps(canvas, [mark for mark in marks if mark[2]])
    most = max(map(len, heaps), default=1)
    for heap in heaps:
        t, _, _, said = heap[0]
        x = canvas.x(t)
        ends = [max(canvas.x(start) + 2.0, canvas.x(start + took)) for start, took, _, _ in heap if took]
        width = max([2.0, *(end - x for end in ends)])
        height = _BAR * (0.4 + 0.6 * log1p(len(heap)) / log1p(most))
        tip = f"{seconds(t)}: {said}" + (f" and {len(heap) - 1} more" if len(heap) > 1 else "")
        canvas.rect(x, middle - height / 2, width, height, _COLORS.get(label, _CALL), tip=tip)
    for t, _, good, said in marks:
        if not good:
            canvas.rect(
                canvas.x(t) - 2, middle - _BAR / 2 - 2, 4, _BAR + 4, _BAD, tip=f"{seconds(t)}: {said}"
            )


def _heaps(canvas: Canvas, marks: Iterable[_Mark]) -> list[list[_Mark]]:
    found: list[list[_Mark]] = []
    for mark in marks:
        if found and canvas.x(mark[0]) < canvas.x(found[-1][0][0]) + 2.0:
            found[-1].append(mark)
        else:
            found.append([mark])
    return found


# -- shapes --------------------------------------------------------------------------------------------------

FONT = "ui-sans-serif, system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"
_ROUND = [factor * 10**power for power in range(-3, 10) for factor in (1, 2, 5)]
_STEPS = (*(each for each in _ROUND if each < 20), 20, 30, 60, 120, 300, 600, 1200, 1800)  # seconds
_TICK_ROOM = 80.0  # pixels that a label and the space around it need
_NARROW, _WIDE = 0.56, 1.0  # widths of a letter, as parts of the font's size
_GONE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def round_ticks(most: int, lines: int = 4) -> list[int]:
    """Round numbers from 0 to at least `most`, about `lines` of them."""
    if most <= 0:
        return [0, 1]
    step = next(each for each in _ROUND if each >= 1 and each * lines >= most)
    return list(range(0, step * -(-most // step) + 1, step))


def text_width(text: str, size: float) -> float:
    """About how wide `text` is, in pixels, at a font size."""
    return sum(_WIDE if ord(letter) > 0x2E80 else _NARROW for letter in text) * size


def fitted(text: str, size: float, room: float) -> str:
    """`text`, shortened to at most `room` pixels; "" where not even a few letters fit."""
    text = " ".join(_GONE.sub("\ufffd", text).split())
    if text_width(text, size) <= room:
        return text
    while text and text_width(text + "…", size) > room:
        text = text[:-1]
    return text.rstrip() + "…" if len(text) > 3 else ""


class Canvas:
    """Shapes over one axis of time: from pixel `left` to `right`, until second `end`."""

    def __init__(self, left: float, right: float, end: float) -> None:
        self.left, self.right, self._end = left, right, end
        self._shapes: list[str] = []

    def x(self, t: float) -> float:
        return self.left + (self.right - self.left) * min(max(t, 0.0), self._end) / self._end

    def ticks(self) -> list[tuple[float, str]]:
        """Round times, far enough from each other: where and how they are written."""
        most = max(2, int((self.right - self.left) / _TICK_ROOM))
        step = next((each for each in _STEPS if self._end / each <= most), self._end / most)
        times = [number * step for number in range(int(self._end / step + 1e-9) + 1)]
        return [(self.x(t), f"{t:g} s") for t in times]

    def rect(
        self, x: float, y: float, width: float, height: float, fill: str, *, tip: str = "", more: str = ""
    ) -> None:
        """A rectangle; `tip` is shown to who points at it."""
        self._shapes.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{height:.1f}" fill="{fill}"'
            + (f" {more}" if more else "")
            + (f"><title>{_text(tip)}</title></rect>" if tip else "/>")
        )

    def line(self, start: tuple[float, float], end: tuple[float, float], stroke: str, more: str = "") -> None:
        (x1, y1), (x2, y2) = start, end
        self._shapes.append(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{stroke}" {more}/>'
        )

    def path(self, data: str, more: str) -> None:
        self._shapes.append(f'<path d="{data}" {more}/>')

    def text(self, x: float, y: float, text: str, size: float, fill: str, more: str = "") -> None:
        if text:
            self._shapes.append(
                f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" fill="{fill}"'
                + (f" {more}" if more else "")
                + f">{_text(text)}</text>"
            )

    def svg(self, width: float, height: float, label: str, defs: str) -> str:
        """The whole picture, on white. `defs` are patterns that fills refer to."""
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}"'
            f' height="{height:g}" role="img" aria-label="{_text(label)}" font-family="{FONT}">\n'
        )
        paper = f'<rect width="{width:g}" height="{height:g}" fill="#ffffff"/>\n'
        return head + defs + paper + "\n".join(self._shapes) + "\n</svg>\n"


def _text(text: str) -> str:
    return escape(_GONE.sub("\ufffd", text), quote=True)
