"""The picture: every mark stands where it belongs, and no label lies on another."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from itertools import combinations, pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.tools.files import open_capture
from slack_bot.tools.replay.scenario import Scenario, make_scenario
from slack_bot.tools.trace.figures import Timeline
from slack_bot.tools.trace.picture import WIDTH, Canvas, draw, fitted, round_ticks, text_width
from slack_bot.tools.trace.trace import trace_capture
from tests.tools.trace.test_figures import two_turns
from tests.tools.trace.turns import drawn, opened

TAPES = Path(__file__).parents[3] / "docs" / "tapes"
SVG = "{http://www.w3.org/2000/svg}"


def taped(name: str, scenario: Scenario | None = None) -> Timeline:
    return trace_capture(open_capture(TAPES / f"{name}.jsonl"), name, scenario or Scenario())[0]


def boxes(root: ET.Element) -> list[tuple[float, float, float, float, str]]:
    """Left, right, top, bottom and words of every text."""
    found = []
    for text in root.iter(f"{SVG}text"):
        x, y, size = (float(text.get(name, "0")) for name in ("x", "y", "font-size"))
        wide = text_width(text.text or "", size) * 0.93
        left = x - wide * {"end": 1.0, "middle": 0.5}.get(text.get("text-anchor", ""), 0.0)
        found.append((left, left + wide, y - size * 0.75, y + size * 0.2, text.text or ""))
    return found


def labels_fit(svg: str) -> None:
    root = ET.fromstring(svg)
    height = float(root.get("height", "0"))
    found = boxes(root)
    for left, right, top, bottom, words in found:
        assert left >= 0 and right <= WIDTH and top >= 0 and bottom <= height, words
    for one, two in combinations(found, 2):
        apart = one[1] <= two[0] or two[1] <= one[0] or one[3] <= two[2] or two[3] <= one[2]
        assert apart, (one[4], two[4])


FAULTS = [None, "internal_error", "ratelimited:3", None]
PICTURES = {
    "gradual and burst": lambda: [taped("caipe-0.2.41-simple"), taped("caipe-0.3.0-simple")],
    "rag": lambda: [taped("caipe-0.3.0-rag")],
    "failures": lambda: [
        taped("caipe-0.2.41-simple", make_scenario({"slack_faults": {"chat.appendStream": FAULTS}}))
    ],
    "stopped": lambda: [taped("caipe-0.2.41-simple", make_scenario({"stop_at": 5}))],
    "by hand": lambda: [drawn("a" * 200), drawn("b")],
    "nothing": lambda: [drawn("nothing", [opened("")])],
}  # fmt: skip


@pytest.mark.parametrize("name", PICTURES)
def test_no_label_lies_on_another(name: str) -> None:
    labels_fit(draw(PICTURES[name]()))


def test_gradual_and_burst_are_plain_to_see() -> None:
    svg = draw([taped("caipe-0.2.41-simple"), taped("caipe-0.3.0-simple")])
    assert "first answer event 2.00 s" in svg
    assert "17.8 s nothing new to read" in svg
    assert "17.8 s without an event" in svg
    waits = [float(found) for found in re.findall(r'width="([\d.]+)" height="180.0" fill="#fef3c7"', svg)]
    assert len(waits) == 2
    assert waits[1] > 8 * waits[0]


def test_failed_calls_stand_out_and_say_why() -> None:
    svg = draw([drawn()])
    assert "5.00 s: chat.appendStream: ratelimited" in svg
    assert "3 (1 failed)" in svg


def test_many_events_are_few_shapes() -> None:
    svg = draw([taped("caipe-0.3.0-rag")])
    assert svg.count("<rect") < 400
    assert re.search(r"114\.\d s: streaming_result .* and \d+ more", svg)


def test_it_is_the_same_every_time() -> None:
    assert draw([taped("caipe-0.3.0-simple")]) == draw([taped("caipe-0.3.0-simple")])


def test_a_further_question_is_drawn_where_it_was_asked() -> None:
    picture = draw([two_turns()])
    assert "U1: two" in picture and "U1: one" not in picture
    assert "338" in picture, "both curves count both answers"


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
