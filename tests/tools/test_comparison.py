"""Two streams side by side, as Markdown that no agent can break."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slack_bot.testing.tape.tape import Tape
from slack_bot.tools.comparison import cell, compared, findings
from slack_bot.tools.stream_profile import Profile, Sent, profile
from tests.tools.trace.turns import drawn


def side(visible: str = "Hi.", name: str = "mine", **more: Any) -> Profile:
    message = {"state": "sealed", "text": visible, "tasks": [{"title": "Search", "status": "complete"}]}
    found = profile(Tape({}, ()), drawn(name), {"visible": visible, "thread": [message]})
    return replace(found, **more)


def test_every_part_is_there_and_every_table_is_whole() -> None:
    sent = {"answer": Sent(3, 30, 1.0, 2.0, {"a", "b"})}
    text = compared(side(artifacts=sent, parts={"text": 3}), side("Ho.", "other", flags={"x = 1": 2}))
    for head in (
        "In short",
        "Timing",
        "What could be read, when",
        "Artifacts",
        "Text",
        "What the reader saw",
    ):
        assert f"\n## {head}\n" in text
    for block in text.split("\n\n"):
        rows = [line for line in block.splitlines() if line.startswith("|")]
        assert len({row.replace("\\|", "").count("|") for row in rows}) <= 1
        assert len({len(row) for row in rows}) <= 1
    assert "| answer | 3 (30 characters, 2 ids), 1.00 s to 2.00 s | –   |" in text
    assert "- Search: complete" in text


@pytest.mark.parametrize(
    "before,after,said",
    [
        ("Same.", "Same.", "reads the same text in the end (5 characters)"),
        ("a b", "a  b\n", "differ in white space only"),
        ("", "b", "A shows no text"),
        ("a", "", "B shows no text"),
        ("one two three four", "one two three five", "75% of the words are common"),
    ],
)
def test_texts(before: str, after: str, said: str) -> None:
    assert said in compared(side(before), side(after))


def test_a_difference_is_shown() -> None:
    text = compared(side("one\ntwo\nthree\n"), side("one\nzwei\nthree\n"))
    assert "They part at character 4." in text
    assert "-two\n+zwei\n" in text
    long = compared(side("\n".join(f"a{n}" for n in range(99))), side("\n".join(f"b{n}" for n in range(99))))
    assert "further lines differ" in long
    assert "```diff" not in compared(side("a " * 40_000), side("b " * 40_000))


def test_what_matters_comes_first() -> None:
    one, two = side(artifacts={"a|b": Sent()}), side(parts={"data": 1})
    summary = replace(two.timeline.summary, first_visible=20.0, burst_share=0.9, shown=900, outcome="failed")
    found = findings(one, replace(two, timeline=replace(two.timeline, summary=summary)))
    assert found == [
        "A ended answered, B failed.",
        "A could be read 15.4 s sooner.",
        "B was shown in a burst: 90% of its text within half a second, after 4.60 s of waiting.",
        r"Artifacts that only one of them sends: a\|b (A).",
        "Flags that only one of them has: part: data (B).",
        "The reader reads the same text in the end (3 characters).",
    ]


def test_no_text_ends_its_block_or_its_cell() -> None:
    evil = "```\n# Mine\n````\n| a | b |"
    text = compared(side(evil), side(evil, "a|b\n[x](y)"))
    assert text.count("`````text\n") == 2
    assert "a\\|b \\[x\\](y)" in text
    assert cell("a\x1b[2J*b*") == r"a \[2J\*b\*"


def test_a_turn_that_showed_nothing() -> None:
    empty = profile(Tape({}, ()), drawn("x", []), {"visible": "", "thread": []})
    text = compared(empty, empty)
    assert "Nothing." in text
    assert "| first event" in text
