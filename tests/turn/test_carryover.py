"""What is added at a cut."""

import pytest

from slack_bot.turn.carryover import LONGEST_CLOSER, closing_markup, last_line, opening_markup, state_of
from slack_bot.turn.markdown import MarkdownState

from .work import HOSTILE, grows_like_its_text, work


@pytest.mark.parametrize(
    ("before", "closing", "reopening"),
    [
        ("plain text", "", ""),
        ("```py\nx = 1\n", "```", "```py\n"),
        ("```py\nx = 1", "\n```", "```py\n"),
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
    if closing:
        at_end = MarkdownState().then(before + closing).at_end
        assert (at_end.fence, at_end.emphasis) == ("", ())


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
        ("`a b", "\u2060c", "`"),
        ("> said", "\n\nand", ""),
        ("> *said", "\n> and", "> *\u2060"),
        ("~~a ~~b", " c", ""),  # would begin a fence
        ("- one\n  - two\n", "  - three", "-\n"),
        ("- one\n  - two\n", "    - three", "-\n"),
        ("1. one\n\n", "      - three", "-\n  -\n"),
        ("- one\n  - two\n", "- three", ""),
        ("- one\n  more\n", "  even more", ""),
        ("no list\n", "  - two", ""),
        ("a\n  indented\n", "  - two", "-\n"),
        ("  indented\n", "  - two", ""),  # not as Slack shows it
        ("\u2060a | b\n", "--|--\n", "\u2060a | b\n"),
        ("| a | b |\n", "-", ""),  # may begin a list
        ("| a | b |\n", "|", ""),
        ("a title\n", "---", ""),  # no table without bars
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


def test_a_fence_below_marks_that_were_open_is_a_fence() -> None:
    added = opening_markup(MarkdownState().then("some *words\n"), "some *words", "```py\n")
    assert state_of(f"{added}```py\n").at_end.fence == "```"


def test_a_line_that_goes_on_stands_behind_the_marks() -> None:
    assert opening_markup(MarkdownState().then("some *words\n"), "some *words", "and more") == "*"


def test_a_mark_behind_a_mark_stands_apart() -> None:
    text = "**a **"
    assert closing_markup(MarkdownState().then(text), text[-1:]) == "\u2060**"


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


# -- work ----------------------------------------------------------------------------------------------------


def markup_of(text: str) -> None:
    """All that is asked where a message ends and where the next one begins."""
    state = state_of(text)
    closing_markup(state, text[-1:])
    opening_markup(state, last_line(text), text)


@pytest.mark.slow
@pytest.mark.parametrize("piece", HOSTILE)
def test_a_border_takes_linear_work(piece: str) -> None:
    def lines(size: int) -> int:
        return work(lambda: markup_of("x" + (piece * size)[:size]))

    assert lines(8_000) < 2.2 * lines(4_000) + 100


@pytest.mark.parametrize("piece", HOSTILE)
def test_a_border_takes_linear_time(piece: str) -> None:
    assert grows_like_its_text(lambda text: markup_of(f"x{text}"), piece, size=5_000)
