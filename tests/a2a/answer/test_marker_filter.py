"""The marker gate: before it narration, behind it the answer, and never a piece of the marker itself."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.a2a.answer.marker_filter import MarkerFilter


def passed(*chunks: str) -> tuple[str, str]:
    """What is narration, what is answer."""
    gate = MarkerFilter()
    said = [each for chunk in chunks for each in gate.feed(chunk)] + gate.end()
    assert gate.opened or not any(each.is_answer for each in said)
    return (
        "".join(each.text for each in said if not each.is_answer),
        "".join(each.text for each in said if each.is_answer),
    )


@pytest.mark.parametrize(
    ("chunks", "narration", "answer"),
    [
        (["Some thinking...[FINAL ANSWER]Here it is"], "Some thinking...", "Here it is"),
        (["Thinking[FINAL_ANSWER]\n\n", "\nHere it is"], "Thinking", "Here it is"),
        (["Hello"], "Hello", ""),
        (["Done. [FINAL", " ANSWER]Text"], "Done. ", "Text"),
        (["[FINAL ANSWER]A ", "[FINAL ANSWER]B"], "", "A B"),
        (["a[FINAL_ANSWER]b[FINAL ANSWER]c"], "a", "bc"),
        (["t[FINAL ANSWER]\n"], "t", ""),
        (
            ["I write `[FINAL ANSWER]` later. ", "[Final Answer] Yes"],
            "I write `[FINAL ANSWER]` later. ",
            "Yes",
        ),
        (['say "[FINAL ANSWER]', '" first'], 'say "[FINAL ANSWER]" first', ""),
        (['so "[FINAL ANSWER]', "Yes"], 'so "', "Yes"),
        (["an [array] and [FIN"], "an [array] and [FIN", ""),
        (["[FINAL ANSWER]it ends in [FINAL"], "", "it ends in [FINAL"),
        (["[", "[FINAL ANSWER", "]x"], "[", "x"),
        (["`[FINAL ANSWER]", "[FINAL ANSWER]`"], "`", "`"),
    ],
)
def test_both_sides_of_the_marker(chunks: list[str], narration: str, answer: str) -> None:
    assert passed(*chunks) == (narration, answer)


def test_only_what_may_be_a_marker_is_held() -> None:
    gate = MarkerFilter()
    assert [each.text for each in gate.feed("No marker here")] == ["No marker here"]
    assert [each.text for each in gate.feed("see [FI")] == ["see "]
    assert [each.text for each in gate.feed("GURE 1]")] == ["[FIGURE 1]"]
    assert gate.feed("") == []


PIECES = st.lists(
    st.sampled_from(
        ["[FINAL ANSWER]", "[FINAL_ANSWER]", "[", "]", "FINAL", " ", "\n", "`", '"', "word", "é"]
    ),
    max_size=12,
).map("".join)


@given(PIECES, st.data())
def test_how_it_is_cut_changes_nothing(text: str, data: st.DataObject) -> None:
    whole = passed(text)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)))))
    chunks = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert passed(*chunks) == whole
    plain = re.sub(r"\[FINAL[ _]ANSWER\]", "", text)
    said = re.sub(r"\[FINAL[ _]ANSWER\]", "", "".join(whole))
    assert "".join(said.split()) == "".join(plain.split()), "no visible character is lost"
