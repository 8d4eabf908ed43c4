"""The judge of texts sees what a reader would see: a lost word, a doubled line, a broken fence."""

from __future__ import annotations

import pytest

from .reading import compare

PROSE = "The quick brown fox jumps over the lazy dog, twice.\n\nThen it sleeps until the evening comes.\n"
CODE = "Look:\n```python\nif fox:\n    jump()\n    run_away_from_here()\n```\nDone with it.\n"
TABLE = "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n| 5 | 6 |\n\nThat was it.\n"


def kind(answer: str, *messages: str, whole: bool = True) -> str:
    finding = compare(answer, messages, whole=whole)
    return finding.kind if finding is not None else "right"


@pytest.mark.parametrize("answer", [PROSE, CODE, TABLE, "", "```\nopen", "> quoted\n> on", "a|b\n-|-\n1|2"])
def test_a_text_reads_like_itself(answer: str) -> None:
    assert kind(answer, answer) == "right"


@pytest.mark.parametrize(
    "answer,messages",
    [
        (PROSE, (PROSE[:20], PROSE[20:])),
        (PROSE, (PROSE[:52], "", PROSE[52:].strip())),
        (
            CODE,
            (
                "Look:\n```python\nif fox:\n```",
                "```python\n    jump()\n    run_away_from_here()\n```\nDone with it.",
            ),
        ),
        (CODE, ("Look:", "```python\nif fox:\n    jump()\n    run_away_from_here()\n```", "Done with it.")),
        (TABLE, (TABLE[:30], TABLE[:20] + TABLE[30:])),
        (TABLE, (TABLE[:20], TABLE)),
        ("**a bold text**", ("**a bold**", "**text**")),
        ("***a bold text*** here", ("***a bold***", "***text*** here")),
        ("`some code`", ("`some`", "`code`")),
        ("> a quoted line of words", ("> a quoted line", "> of words")),
        ("> a quoted line of words", ("> a quoted line", "of words")),
    ],
)
def test_a_cut_may_add_what_makes_it_readable(answer: str, messages: tuple[str, ...]) -> None:
    assert kind(answer, *messages) == "right"


def test_a_nested_fence_is_content_and_must_be_carried_whole() -> None:
    answer = "````md\n```\nx\n```\ny\n````"
    assert kind(answer, "````md\n```\nx\n````", "````md\n```\ny\n````") == "right"
    assert kind(answer, "````md\n```\nx\n````", "```md\n```\ny\n````") == "wrong"


@pytest.mark.parametrize("at", range(0, 80, 7))
def test_a_lost_word_is_found(at: int) -> None:
    assert kind(PROSE, PROSE[:at] + PROSE[at + 5 :]) in ("lost", "wrong")
    assert kind(PROSE, PROSE[:at], PROSE[at + 5 :]) in ("lost", "wrong")


def test_a_lost_end_is_lost_unless_the_beginning_is_enough() -> None:
    assert kind(PROSE, PROSE[:60]) == "lost"
    assert kind(PROSE) == "lost"
    assert kind(PROSE, PROSE[:60], whole=False) == "right"
    assert kind(PROSE, whole=False) == "right"
    assert kind(PROSE, PROSE[10:60], whole=False) == "lost"


def test_a_doubled_line_is_found() -> None:
    assert kind(PROSE, PROSE + PROSE[-40:]) == "doubled"
    assert kind(PROSE, PROSE[:60], PROSE[30:]) == "doubled"
    assert kind(PROSE, PROSE, PROSE) == "doubled"
    assert kind(CODE, CODE, "Done with it.") == "doubled"


def test_what_the_agent_never_wrote_is_found() -> None:
    assert kind(PROSE, PROSE, "Sorry, something went wrong.") == "wrong"
    assert kind(PROSE, "Something went wrong\n\n" + PROSE) == "wrong"


def test_turned_around_is_not_right() -> None:
    assert kind(PROSE, PROSE[53:], PROSE[:53]) == "lost"


@pytest.mark.parametrize(
    "messages",
    [
        (
            "Look:\n```python\nif fox:\n",
            "```python\n    jump()\n    run_away_from_here()\n```\nDone with it.",
        ),
        ("Look:\n```python\nif fox:\n```", "    jump()\n    run_away_from_here()\n```\nDone with it."),
        ("Look:\n```python\nif fox:\n```", "```\n    jump()\n    run_away_from_here()\n```\nDone with it."),
        ("Look:\n```python\nif fox:\n```", "```python\njump()\n    run_away_from_here()\n```\nDone with it."),
        ("Look:\n```python\nif fox:\njump()\n    run_away_from_here()\n```\nDone with it.",),
        ("Look:\n```python\nif fox:\n    jump()\n    run_away_from_here()\n```Done with it.",),
    ],
)
def test_a_broken_fence_is_found(messages: tuple[str, ...]) -> None:
    assert kind(CODE, *messages) == "wrong"


def test_a_table_without_its_header_is_found() -> None:
    assert kind(TABLE, TABLE[:30], TABLE[30:]) == "wrong"
    assert kind(TABLE, TABLE[:30], "| x | y |\n|---|---|\n" + TABLE[30:]) == "wrong"


def test_a_row_with_another_number_of_cells_makes_no_table_of_the_one_above() -> None:
    for row in ("|-", "|:--|:-:|", "|---|---|---|---|"):
        assert compare(f"| a | b | c |\n{row}", ["| a | b | c |\n", row]) is None
    for header in ("| a | b |", "a | b", "| a \\| b | c |", "> | a | b |"):
        row = "> |---|---|" if header.startswith(">") else "--- | ---"
        assert compare(f"{header}\n{row}\n", [f"{header}\n", row]) is not None, header


def test_a_heading_heads_no_table() -> None:
    answer = "# one | two\n---|---\n"
    assert kind(answer, answer[:12], answer[12:]) == "right"


def test_a_line_right_below_a_table_may_be_read_as_its_row() -> None:
    answer = TABLE[:30] + "a line of words\n\n" + TABLE[30:]
    assert kind(answer, answer[:36], TABLE[:20] + "| " + answer[36:45], TABLE[:20] + answer[45:]) == "wrong"
    assert kind(answer, answer[:36], TABLE[:20] + "| " + answer[36:]) == "right"
    assert kind(answer, answer[:30], answer[30:]) == "right"
    assert kind(answer, answer[:47], TABLE[:20] + answer[47:]) == "wrong"


def test_a_line_end_that_vanished_is_found() -> None:
    assert kind("one\ntwo", "one two") == "wrong"
    assert kind("one two", "onetwo") == "wrong"
    assert kind("one\n\ntwo", "one\ntwo") == "wrong"


def test_marks_are_only_forgiven_at_a_cut() -> None:
    assert kind("plain words", "**plain words**") == "wrong"
    assert kind("plain words", "plain words**") == "wrong"
    assert kind("a **bold** word", "a bold word") in ("lost", "wrong")


def test_a_fence_that_slack_cut_open_reads_as_code_but_a_cut_of_ours_closes_it() -> None:
    messages = (CODE[:24], "```python\n" + CODE[24:])
    assert compare(CODE, messages, closed=False) is None
    assert kind(CODE, *messages) == "wrong"


def test_a_header_row_without_its_separator_may_end_a_message() -> None:
    answer = "| a | b |\n|---|---|\n| 1 | 2 |"
    assert kind(answer, "| a | b |", whole=False) == "right"
    assert kind(answer, "| a | b |", "| a | b |\n|---|---|\n| 1 | 2 |") == "right"
    assert kind(answer, "| a | b |", "|---|---|\n| 1 | 2 |") == "wrong"


def test_what_nobody_sees_does_not_count() -> None:
    assert kind("**bold text**", "**bold \u2060**", "**\u2060text**") == "right"


def test_what_is_open_at_the_very_end_may_be_closed() -> None:
    assert kind("some **bold", "some **bold**") == "right"
    assert kind("some bold", "some bold**") == "wrong"


def test_a_header_row_that_was_cut_in_two_makes_no_table() -> None:
    answer = "| a | b | c |\n|---|---|---|\n| 1 | 2 | 3 |\n| 4 | 5 | 6 |"
    assert kind(answer, answer[:5], answer[5:]) == "right"
    assert kind(answer, answer[:40], answer[40:]) == "wrong"
    assert kind(answer, answer[:5], answer[5:40], answer[5:28] + answer[40:]) == "right"
