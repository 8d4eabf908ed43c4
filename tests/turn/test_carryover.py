"""What is added at a cut, and that it is found again."""

import pytest

from slack_bot.turn import carryover, inline_marks
from slack_bot.turn.carryover import (
    GUARDS,
    LONGEST_CLOSER,
    closing_markup,
    expected,
    joined,
    last_line,
    opening_markup,
    reads_as,
    seam,
    state_of,
)
from slack_bot.turn.markdown import MarkdownState, open_at_end

from .work import HOSTILE, grows_like_its_text, work


@pytest.mark.parametrize(
    ("before", "closing", "reopening"),
    [
        ("plain text", "", ""),
        ("```py\nx = 1\n", "```", "```py\n"),
        ("```py\nx = 1", "\n``` ", "```py\n"),
        ("> ~~~\n> a\n", "> ~~~", "> ~~~\n"),
        ("1. ```sh\n   a\n", "   ```", "```sh\n"),
        ("| a | b |\n|---|---|\n| 1 | 2 |\n", "", ""),
        ("**a *b", "***", "***"),
        ("**a _b", "_**", "**_"),
        ("**a b ", "\u2060**", "**"),
        ("*a `b", "`*", "*`"),
        ("`b ", "`", "`"),
        ("``b ` c", "``", "``"),
        ("word```py\n", "", ""),
        ("**so ```a", "", ""),
        ("- one\n- two\n", "", ""),
    ],
)
def test_what_is_open_is_closed_and_opened_again(before: str, closing: str, reopening: str) -> None:
    standing = MarkdownState().then(before)
    assert closing_markup(standing, before[-1:]) == closing
    assert opening_markup(standing, last_line(before), "and more") == reopening
    assert seam(before + closing, reopening + "and more") == (len(closing), len(reopening))
    assert joined([before + closing, reopening + "and more"]) == before + "and more"
    if closing:
        assert open_at_end(before + closing).fence == ""
        assert open_at_end(before + closing).emphasis == ()


TABLE = "| a | b |\n|---|---|\n"


@pytest.mark.parametrize(
    ("before", "head", "begins"),
    [
        (TABLE + "| 1 | 2 |\n", "| 3 | 4 |\n", TABLE),
        (TABLE + "| 1 | 2 |\n", "\nA paragraph", ""),  # the table is over
        (TABLE + "| 1 | 2 |\n", "- item", ""),
        (TABLE + "| 1 | 2 |\n", "", ""),
        ("a | b\n---|---\n1 | 2\n", "3 | 4\n", "a | b\n---|---\n"),
        ("a | b\n---|---\n1 | 2\n", "- item", ""),
        ("a | b\n---|---\n1 | 2\n", "\nA paragraph", ""),
        (TABLE + "| 1 | tw", "o |\n| 3 | 4 |", TABLE + "| | "),  # the rest of a row stays in its column
        ("a | b\n---|---\n1 | tw", "o\n", "a | b\n---|---\n| | "),
        ("a | b\n---|---\n1", "\u2060\nx", "a | b\n---|---\n| "),
        ("a | b\n---|---\n1", "2\u2060\nx", "a | b\n---|---\n| "),
        (TABLE + "| 1 | 2 |", "\n| 3 | 4 |\n", TABLE[:-1]),  # the row is whole, but for its line end
        (TABLE + "| 1 | 2", "\n| 3 | 4 |\n", TABLE[:-1]),
        (TABLE + "| 1 | 2 |", "\n\nA paragraph", ""),
        (TABLE + "| 1 | 2 |", "\n- item", ""),
        ("a | b\n---|---\n1 | 2", "\n3 | 4\n", "a | b\n---|---"),
        (TABLE + "  ", "\n| 3 | 4 |", ""),
        (TABLE + "  ", "| 3 | 4 |", TABLE),
        ("  " + TABLE, "| 3 | 4 |", TABLE),  # Slack would drop the white space in front
        ("| a | b |\n", "|---|---|\n", "| a | b |\n"),
        ("| a | b |\n|--", "-|---|\n", "| a | b |\n|--"),
        ("| a | b |\n", "no table", ""),
        ("> said ", "he", "> "),
        ("> > **said ", "he", "> > **"),
        ("> " * 20 + "said ", "he", ""),  # nobody means that
        ("> said\n", "> he", ""),
        ("**a b", " c", "**\u2060"),  # in front of white space a mark does not open
        ("`a b", " c", "`"),
        ("`a b", "` c", "`\u2060"),  # its own end, behind ours: one run of two would open a span
        ("`a b", "``c", "`\u2060"),
        ("**a b", "** c", "**\u2060"),
        ("~~a b", "~~ c", "~~\u2060"),
        ("> *a `b", "` c", "> *`\u2060"),
        ("**a b", "_c_", "**"),
        ("`a b", "\u2060c", "`\u2060"),  # a joiner of the text's own
        ("- one\n  - two\n", "  - three", "-\n"),
        ("- one\n  - two\n", "    - three", "-\n"),
        ("1. one\n\n", "      - three", "-\n  -\n"),
        ("- one\n  - two\n", "- three", ""),
        ("- one\n  more\n", "  even more", ""),
        ("no list\n", "  - two", ""),
        ("a\n  indented\n", "  - two", "-\n"),
        ("  indented\n", "  - two", ""),  # not as Slack shows it
        ("\u2060a | b\n", "--|--\n", ""),  # what begins with a joiner begins with a guard
        ("- one\n", " " * 60 + "- two", ""),
        ("- - x\n      ```sh\n      a\n", "      b", "-\n  -\n      ```sh\n"),
        ("      ```sh\n      a\n", "      b", "```sh\n"),  # Slack drops the white space at its front
        ("> - ```sh\n> a\n", "> b", "> ```sh\n"),
        ("```py", "thon\na", "```py"),  # the line that opens the fence goes on
        ("```", "`\n```\na", "```"),
        ("- ```di", "ff\na", "```di"),
        ("> ~~~ ti", "tle\n> a", "> ~~~ ti"),
        ("```" + "x" * 200 + "\n", "a", ""),
        ("`" * 99 + "\n", "a", ""),
        (">" * 30 + "```\n", "a", ""),
    ],
)
def test_how_the_next_message_begins(before: str, head: str, begins: str) -> None:
    standing = state_of(before)
    assert opening_markup(standing, last_line(before.lstrip()), head) == begins
    assert not begins[:1].isspace()
    closing = closing_markup(standing, before[-1:])
    if head:
        assert seam(before + closing, begins + head) == (len(closing), len(begins))
        assert seam(before, begins + head) == (0, len(begins))  # sealed by Slack: nothing closes it


@pytest.mark.parametrize(
    "text",
    [
        "**" * 9 + "a",
        "****a",
        "*a **b *c **d *e **f *g",
        "x " + "`" * 9 + "a",
        "```" + "x" * 200 + "\n",
        "`" * 99 + "\n",
    ],
)
def test_marks_that_are_too_many_to_be_meant_are_not_carried_over(text: str) -> None:
    standing = MarkdownState().then(text)
    assert closing_markup(standing, text[-1]) == ""
    assert opening_markup(standing, text, "x") == ""


@pytest.mark.parametrize(
    "text", ["*" * 3 + "_a" * 5, "> " * 9 + "~" * 32 + "\n", "**_~~*__`" + "a ", "> " * 10 + "```"]
)
def test_a_closer_is_short(text: str) -> None:
    assert len(closing_markup(MarkdownState().then(text), text[-1]).encode()) <= LONGEST_CLOSER


@pytest.mark.parametrize("head", ["```py\n", "~~~\n", "- one", "1. one", "# Title", "> said", "  - two"])
def test_a_line_that_may_begin_a_block_stands_below_the_marks(head: str) -> None:
    first = "some *words\n"
    added = opening_markup(MarkdownState().then(first), first.strip(), head)
    assert added == "*\u2060\n"
    assert seam(f"{first}\u2060*", added + head) == (2, 3)


def test_a_fence_below_marks_that_were_open_is_a_fence() -> None:
    added = opening_markup(MarkdownState().then("some *words\n"), "some *words", "```py\n")
    assert open_at_end("", before=state_of(f"{added}```py\n")).fence == "```"


def test_a_line_that_goes_on_stands_behind_the_marks() -> None:
    assert opening_markup(MarkdownState().then("some *words\n"), "some *words", "and more") == "*"


def test_a_mark_behind_a_mark_stands_apart() -> None:
    text = "**a **"
    assert closing_markup(MarkdownState().then(text), text[-1:]) == "\u2060**"


@pytest.mark.parametrize("before", ["`a b", "**a b", "_a b"])
@pytest.mark.parametrize("begins", ["\u2060", "mark", "mark\u2060", "mark \u2060"])
def test_what_may_become_decoration_is_expected(before: str, begins: str) -> None:
    """However little of the second message is known, it is no decoration yet, or may become none any more."""
    mark = opening_markup(MarkdownState().then(before), before, "x")
    begins = begins.replace("mark", mark)
    later = [f"{begins}{head}" for head in ("x", " x", f"{mark}x", f"\u2060{mark}x", "\u2060 x")]
    if any(seam(before, second)[1] for second in later):
        is_one = seam(before, begins)[1] > 0
        assert is_one or any(each.startswith(begins) and each != begins for each in expected(before))


def test_a_guard_says_that_nothing_was_added() -> None:
    first, second = "```py\na\n```", "```py\nb\n```"
    assert joined([first, second]) == "```py\na\nb\n```"  # what it looks like
    assert joined([first, GUARDS[0] + second]) == first + second
    assert joined([first, GUARDS[1] + second]) == first + second


def test_joining_leaves_alone_what_looks_closed_but_does_not_go_on() -> None:
    assert joined(["a **b**", "c"]) == "a **b**c"
    assert joined(["```\na\n```", "c"]) == "```\na\n```c"
    assert joined(["a\n```", "b"]) == "a\n```b"
    assert joined(["~~~", "b"]) == "~~~b"
    assert joined([]) == ""
    assert joined(["a"]) == "a"
    assert joined(["", "a"]) == "a"


def test_messages_read_as_an_answer_whatever_its_white_space() -> None:
    assert reads_as(["```\na\n```", "```\nb\n```"], "```\na\n\nb\n```\n")
    assert not reads_as(["a b", "b c"], "a b c")
    assert not reads_as(["a b"], "a b c")


def test_what_may_be_taken_for_decoration_is_known_before_it_is_written() -> None:
    assert "```py\n" in set(expected("```py\na\n```"))
    assert "**" in set(expected("a **b**"))
    assert TABLE in set(expected(TABLE + "| 1 | 2 |\n"))
    assert "| a | b |\n|-" in set(expected("| a | b |\n"))
    assert "-\n  - " in set(expected("- one\n"))
    assert set(expected("half a line")) == {""}


@pytest.mark.parametrize(
    ("head", "again"),
    [
        ("\n|---|---|\n| 1 | 2 |", "| a | b |"),
        ("\n|--", "| a | b |"),
        ("\n|---|\n", ""),
        ("\n| c | d |\n", ""),
        ("\nx", ""),
    ],
)
def test_a_header_row_whose_line_end_follows_the_cut_is_repeated_too(head: str, again: str) -> None:
    before = "text\n\n| a | b |"
    added = opening_markup(MarkdownState().then(before), last_line(before), head)
    assert added == again
    assert joined([before, added + head]) == before + head


# -- work ----------------------------------------------------------------------------------------------------


def look_at_seam(text: str) -> None:
    """All that is asked about one seam, with nothing remembered of another text."""
    inline_marks._front.cache_clear()
    carryover._open_behind.cache_clear()
    seam(text, text)
    list(expected(text))
    opening_markup(state_of(text), last_line(text), text)


@pytest.mark.slow
@pytest.mark.parametrize("piece", HOSTILE)
def test_a_seam_takes_linear_work(piece: str) -> None:
    """The signs that may close something at a message's end do not have it read a dozen times over."""

    def lines(size: int) -> int:
        text = "x" + (piece * size)[:size]
        return work(lambda: look_at_seam(text))

    assert lines(8_000) < 2.2 * lines(4_000) + 100
    one_reading = work(lambda: state_of("x" + (piece * 8_000)[:8_000]))
    assert lines(8_000) < 12 * one_reading + 40_000


@pytest.mark.parametrize("piece", HOSTILE)
def test_a_seam_takes_linear_time(piece: str) -> None:
    assert grows_like_its_text(lambda text: look_at_seam(f"x{text}"), piece, size=5_000)


def test_twenty_thousand_spaces_do_not_hold_up_a_seam() -> None:
    text = f"One{' ' * 20_000}two"
    assert seam(text, "and more") == (0, 0)
    assert seam(f"```\n{text}\n``` ", "```\nmore") == (5, 4)
