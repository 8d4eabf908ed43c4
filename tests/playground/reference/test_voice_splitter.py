import re
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.playground.reference.voice_splitter import SpokenPiece, Voice, VoiceSplitter
from tests.playground.reference.oracle import cases

N, A, U = Voice.NARRATION, Voice.ANSWER, Voice.UNMARKED
Told = list[tuple[str, Any]]
CALL = "call"

# Where we answer otherwise than the original's gate, and why: a defect of the original (facts: CAIPE 6), or
# the same text told sooner.
CORRECTED: dict[str, Told] = {
    "MG-01": [("Some thinking...", N), ("Here is the answer", A)],  # text before the marker was dropped
    "MG-03": [("Thinking", N), ("Here is the real answer", A)],  # the same
    "MG-05": [("Hello", N)],  # the last 14 characters were held, and never said where no more came
    "MG-07": [("I'll search docs", N), (CALL, "search")],  # the same words, without waiting
    "MG-09": [("Done. ", N), (CALL, "search"), ("Text", A)],  # half a marker leaked, and the answer was lost
    "MG-11": [("A  B", A)],  # a second marker was shown
    "MG-13": [("[FINAL ANSWER] not processed", U)],  # as it was: nothing is looked for there
    "MG-15": [("a", N), ("bc", A)],  # what stood between two markers was lost
    "MG-17": [("t", N)],  # text before the marker was dropped
}


def told(gate: VoiceSplitter, ops: list[list[str]]) -> Told:
    """What comes of the operations, neighbours of one voice joined."""
    found: Told = []
    for op, text, *beside in ops:
        if op == "token":
            found += pairs(gate.feed(text))
            continue
        found += [*pairs(gate.border()), (CALL, text)]
        found += pairs(gate.feed("".join(beside)))  # what is said beside a call is told behind it
    return joined([*found, *pairs(gate.end())])


def pairs(pieces: list[SpokenPiece]) -> Told:
    return list(pieces)


def joined(found: Told) -> Told:
    kept: Told = []
    for text, voice in found:
        if kept and isinstance(voice, Voice) and kept[-1][1] is voice:
            kept[-1] = (kept[-1][0] + text, voice)
        else:
            kept.append((text, voice))
    return kept


def original(case: dict[str, Any]) -> Told:
    """What the original's gate said, in the same form."""
    voices = {"is_final_answer": A, "is_narration": N, "content": U}
    found: Told = []
    for each in case["yields"]:
        if "tool_notification_start" in each:
            found.append((CALL, each["tool_notification_start"]))
        else:
            found.append((each["content"], voices[next(key for key in reversed(each) if key in voices)]))
    return joined(found)


@pytest.mark.parametrize("case", cases("marker_gate_cases"), ids=lambda case: case["id"])
def test_the_oracle_s_marker_cases_with_their_defects_corrected(case: dict[str, Any]) -> None:
    gate = VoiceSplitter(marked=not case["structured"])
    found = told(gate, case["ops"])
    assert found == CORRECTED.get(case["id"].split()[0], original(case))


@pytest.mark.parametrize(
    ("ops", "expected"),
    [
        # the marker's other spelling, in any case
        ([["token", "x[final_ANSWER] y"]], [("x", N), ("y", A)]),
        # text beside a call is narration, told behind the call
        (
            [["token", "I'll "], ["tool", "search", "look it up"], ["token", "[FINAL ANSWER]It."]],
            [("I'll ", N), (CALL, "search"), ("look it up", N), ("It.", A)],
        ),
        # what is no marker is told: before the call, behind it, and at the end
        ([["token", "see [1"], ["tool", "t", ""]], [("see [1", N), (CALL, "t")]),
        (
            [["token", "see [FINAL"], ["tool", "t", ""], ["token", "ly]"]],
            [("see ", N), (CALL, "t"), ("[FINALly]", N)],
        ),
        ([["token", "see [FINAL"]], [("see [FINAL", N)]),
        # a call behind the marker: what then comes is narration, up to the next marker, and a new paragraph
        (
            [
                ["token", "[FINAL ANSWER]One."],
                ["tool", "t", ""],
                ["token", "Let me check."],
                ["token", "[FINAL ANSWER]Two."],
            ],
            [("One.", A), (CALL, "t"), ("Let me check.", N), ("\n\nTwo.", A)],
        ),
        # the answer's own last letters stay the answer's, though they look like a marker
        (
            [["token", "[FINAL ANSWER]See [FI"], ["tool", "t", ""], ["token", "Done"]],
            [("See ", A), (CALL, "t"), ("[FI", A), ("Done", N)],
        ),
        ([["token", "[FINAL ANSWER]See [FI"], ["tool", "t", ""]], [("See ", A), (CALL, "t"), ("[FI", A)]),
        # a marker that a call cuts in two behind another one
        (
            [["token", "[FINAL ANSWER]One.[FINAL"], ["tool", "t", ""], ["token", " ANSWER]Two."]],
            [("One.", A), (CALL, "t"), ("\n\nTwo.", A)],
        ),
        # a marker that is talked about is none
        ([["token", 'Write "[FINAL ANSWER]" first.']], [('Write "[FINAL ANSWER]" first.', N)]),
    ],
)
def test_at_a_tool_s_border(ops: list[list[str]], expected: Told) -> None:
    assert told(VoiceSplitter(), ops) == expected


def test_without_a_marker_the_last_message_is_the_answer() -> None:
    gate = VoiceSplitter()
    told(gate, [["token", "I'll look."], ["tool", "search", ""], ["token", "Found "], ["token", "it [FINAL"]])
    assert gate.answer == "Found it [FINAL"
    assert gate.text == "Found it [FINAL"


def test_a_marker_with_nothing_behind_it_does_not_make_the_answer_empty() -> None:
    gate = VoiceSplitter()
    told(gate, [["token", "All I know.[FINAL ANSWER]\n"]])
    assert gate.answer == "All I know."


MARKERS = ("[FINAL ANSWER]", "[FINAL_ANSWER]")
TEXTS = st.lists(
    st.one_of(
        st.sampled_from([*MARKERS, "[FINAL", "[", " ANSWER]", "\n", '"']), st.text("abc [] .", max_size=8)
    ),
    max_size=12,
)


def cut(text: str, cuts: list[int]) -> list[str]:
    places = sorted({0, len(text), *(at % (len(text) + 1) for at in cuts)})
    return [text[a:b] for a, b in pairwise(places)]


@given(TEXTS, st.lists(st.integers(0, 200), max_size=12))
def test_any_cut_of_the_tokens_tells_the_same(parts: list[str], cuts: list[int]) -> None:
    text = "".join(parts)
    whole, pieces = VoiceSplitter(), VoiceSplitter()
    once = told(whole, [["token", text]])
    assert told(pieces, [["token", each] for each in cut(text, cuts)]) == once
    assert pieces.answer == whole.answer
    bare = re.sub(r"\[FINAL[ _]ANSWER\]", "", text, flags=re.IGNORECASE)
    assert len("".join(bare.split())) <= len("".join("".join(each[0] for each in once).split())), "lost"


PLAIN = st.lists(
    st.one_of(st.sampled_from([*MARKERS, "[FINAL", "["]), st.text("abc [] .", max_size=8)), max_size=6
)


@given(st.lists(st.one_of(PLAIN.map("".join), st.none()), max_size=10))
def test_no_letter_is_lost_at_any_border(parts: list[str | None]) -> None:
    ops = [["tool", "t", ""] if part is None else ["token", part] for part in parts]
    text = re.sub(r"\[FINAL[ _]ANSWER\]", "", "".join(part or "" for part in parts))
    gate = VoiceSplitter()
    found = told(gate, ops)
    assert letters("".join(each for each, voice in found if isinstance(voice, Voice))) == letters(text)
    if letters(answer := "".join(each for each, voice in found if voice is A)):
        assert gate.answer == answer


def letters(text: str) -> int:
    return sum(not each.isspace() for each in text)
