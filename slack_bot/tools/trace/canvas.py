"""PURE. SVG: a few shapes over an axis in seconds, and text that cannot break out of them."""

from __future__ import annotations

import re
from html import escape

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
        """The place of `t` seconds."""
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
        """A straight line."""
        (x1, y1), (x2, y2) = start, end
        self._shapes.append(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{stroke}" {more}/>'
        )

    def path(self, data: str, more: str) -> None:
        """Any path."""
        self._shapes.append(f'<path d="{data}" {more}/>')

    def text(self, x: float, y: float, text: str, size: float, fill: str, more: str = "") -> None:
        """Text on the base line `y`."""
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
