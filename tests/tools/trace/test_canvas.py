"""SVG by hand."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.tools.trace.canvas import Canvas, fitted, round_ticks, text_width


@given(st.text(max_size=60))
def test_no_text_breaks_out(text: str) -> None:
    canvas = Canvas(0, 10, 1)
    canvas.text(1, 2, text, 12, "#000")
    canvas.rect(0, 0, 1, 1, "#fff", tip=text, more='rx="1"')
    canvas.line((0, 0), (1, 1), "#fff")
    canvas.path("M0 0", 'fill="none"')
    root = ET.fromstring(canvas.svg(10, 10, text, "").encode())
    assert len(root) == 4 + bool(text)
    assert not root.findall(".//{*}script")


@pytest.mark.parametrize("end", [0.004, 0.3, 1.0, 12.5, 18.2, 115, 400, 3600, 100_000])
def test_the_axis_has_room_for_its_labels(end: float) -> None:
    axis = Canvas(178, 1240, end)
    ticks = axis.ticks()
    assert ticks[0] == (178.0, "0 s")
    assert 2 <= len(ticks) <= 15
    for (left, one), (right, _) in pairwise(ticks):
        assert right - left > text_width(one, 11) + 8
    assert axis.x(-5) == 178
    assert axis.x(end * 2) == 1240


@pytest.mark.parametrize(
    "most,expected",
    [
        (0, [0, 1]),
        (3, [0, 1, 2, 3]),
        (13, [0, 5, 10, 15]),
        (2098, [0, 1000, 2000, 3000]),
        (4000, [0, 1000, 2000, 3000, 4000]),
    ],
)
def test_round_numbers(most: int, expected: list[int]) -> None:
    assert round_ticks(most) == expected


@given(st.integers(1, 10**9))
def test_round_numbers_reach_the_top(most: int) -> None:
    ticks = round_ticks(most)
    assert ticks[-1] >= most
    assert len(ticks) <= 6


def test_text_is_shortened_to_its_room() -> None:
    assert fitted("short\n text", 12, 100) == "short text"
    cut = fitted("a text that is far too long for so little room", 12, 100)
    assert cut.endswith("…") and text_width(cut, 12) <= 108
    assert fitted("anything", 12, 5) == ""
    assert text_width("日本", 10) > text_width("ab", 10)
