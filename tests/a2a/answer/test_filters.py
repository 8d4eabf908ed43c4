"""Both gates in a row: the envelope off, the marker read."""

from __future__ import annotations

import pytest

from slack_bot.a2a.answer.filters import TextFilter, passed
from slack_bot.a2a.answer.marker_filter import MarkedText


def through(*chunks: str) -> tuple[list[MarkedText], TextFilter]:
    gate = TextFilter()
    return [each for chunk in chunks for each in gate.feed(chunk)] + gate.end(), gate


def test_plain_text_passes() -> None:
    said, gate = through("One ", "two [")
    assert "".join(each.text for each in said) == "One two ["
    assert gate.is_plain and not gate.is_envelope and not gate.opened and gate.data is None


def test_a_marker_within_an_envelope() -> None:
    said, gate = through('{"is_task_complete": true, "content": "hm [FINAL', ' ANSWER] Yes"}')
    assert said == [MarkedText("hm ", False), MarkedText("Yes", True)]
    assert gate.opened and gate.is_envelope and gate.has_content


def test_what_an_envelope_holds_besides_is_not_lost() -> None:
    assert passed('{"content": "The fox", "sources": ["a", "b"]}') == "The fox\n\n- **sources**: a, b"
    assert passed('{"is_task_complete": true, "content": {"fox": 1}}') == "- **fox**: 1"
    assert passed('{"is_task_complete": true, "content": null}') == ""
    assert passed('{"is_task_complete": true}') == ""


def test_a_whole_text() -> None:
    assert passed("thinking [FINAL ANSWER]\n\nYes") == "Yes"
    assert passed("no marker") == "no marker"
    assert passed("[FINAL ANSWER]") == ""


@pytest.mark.parametrize(
    "text",
    [
        "<think>Hm.</think>\n\nThe fox.",
        '<think>Hm.</think>{"is_task_complete": true, "content": "The fox."}',
        "<think>Hm.</think>More thoughts. [FINAL ANSWER] The fox.",
    ],
)
def test_thoughts_in_tags_come_before_all_else(text: str) -> None:
    gate = TextFilter()
    said = [*gate.feed(text), *gate.end()]
    assert "".join(each.text for each in said if each.is_answer or not gate.opened).strip() == "The fox."
    assert gate.take_thoughts() == "Hm.\n"
    assert passed(text).strip() == "The fox."


def test_a_tag_that_is_never_closed_is_text() -> None:
    assert passed("<think> is a tag") == "<think> is a tag"
