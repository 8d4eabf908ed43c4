"""How much goes into a message, and where it ends."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.text.fit import (
    LONGEST_CLOSER,
    MessageLimits,
    best_cut,
    closing_markup,
    fit,
    fit_line,
    last_line,
    max_chars,
    opening_markup,
    quality_at_end,
    state_of,
    utf8_len,
)
from slack_bot.text.markdown import CutQuality, MarkdownState, inside_cluster
from tests.examples import examples, texts
from tests.turn.work import HOSTILE, grows_like_its_text, work

HUNDRED = MessageLimits(rotate_bytes=100)  # 12 of them are kept for what closes the message


def laid(
    waiting: str,
    *,
    before: str = "",
    used: int | None = None,
    limits: MessageLimits = HUNDRED,
    final: bool = False,
) -> tuple[str, bool]:
    standing = MarkdownState().then(before)
    here = quality_at_end(before, standing) if before else None
    chars, ends = fit(
        waiting, standing, utf8_len(before) if used is None else used, lambda: here, limits, final=final
    )
    return waiting[:chars], ends


def test_a_text_is_weighed_in_bytes() -> None:
    assert utf8_len("a中👩") == 8
    assert [max_chars("a中👩", room) for room in range(10)] == [0, 1, 1, 1, 2, 2, 2, 2, 3, 3]
    assert utf8_len("\ud83d") == 3
    assert max_chars("abc", -5) == 0


def test_what_fits_goes_whole() -> None:
    assert laid("a line\nand half a") == ("a line\nand half a", False)
    assert laid("x" * 100, final=True) == ("x" * 100, False)  # nothing has to be closed
    assert laid("x" * 95, before="**a") == ("x" * 95, False)
    assert laid("", before="**a") == ("", False)


def test_what_closes_the_message_needs_room_too() -> None:
    assert laid("xx", before="**" + "y" * 94) == ("xx", False)
    assert laid("xxx", before="**" + "y" * 94) == ("", True)


@pytest.mark.parametrize(
    ("before", "waiting", "goes"),
    [
        ("", "a" * 80 + ".\n\n" + "b" * 30, "a" * 80 + ".\n\n"),
        ("", "a" * 40 + "\n\n" + "b" * 35 + " c.\n" + "d" * 40, "a" * 40 + "\n\n" + "b" * 35 + " c.\n"),
        ("", "a" * 76 + "\n\nb\nc\n" + "d" * 40, "a" * 76 + "\n\n"),
        ("", "a" * 70 + " b. c d e f g h i j k l m n o p q r s", "a" * 70 + " b. c d e f g h i "),
        ("", "a" * 76 + ". b c d e f g h i j k l m n o p q r s", "a" * 76 + ". "),
        ("", "a" * 200, "a" * 88),
        ("", "**" + "a" * 60 + " " + "b" * 60, "**" + "a" * 60 + " "),
        ("", "a" * 84 + "🇩🇪" + "a" * 50, "a" * 84),
        ("", "a" * 86 + "&amp;" + "a" * 50, "a" * 86),
        ("", "a" * 87 + "**b**" + "a" * 50, "a" * 87),
        ("", "*" * 200, "*" * 88),
        ("", "# " + "a" * 76 + "\n\n" + "b\n" * 3 + "c" * 60, "# " + "a" * 76 + "\n\nb\nb\nb\n"),
        ("", "a" * 76 + "\nsteps:\n" + "c" * 60, "a" * 76 + "\n"),
        ("", "- " + "a" * 76 + "\n  - b\n  - c\n- d\n- " + "e" * 40, "- " + "a" * 76 + "\n  - b\n"),
        ("", "```\n" + "a" * 74 + "\nbb\n```\n" + "c" * 40, "```\n" + "a" * 74 + "\nbb\n```\n"),
        ("", "```\n" + "a" * 74 + "\nbbb\nc\n```\n" + "c" * 40, "```\n" + "a" * 74 + "\nbbb\n"),
        ("a" * 78 + "\n\n", "b c d e f g h i j k l m n o p", ""),
        ("a" * 78 + ".", "b c d e f g h i j k l m n o p", "b c d e "),
        ("a" * 78 + ". ", "b" * 40, ""),
        ("a" * 40 + ". ", "b" * 90, ""),
        ("a" * 78 + ". ", "b. c " + "b" * 40, "b. "),
    ],
)
def test_what_does_not_fit_is_cut_at_the_best_place_of_the_last_quarter(
    before: str, waiting: str, goes: str
) -> None:
    assert laid(waiting, before=before) == (goes, True)
    assert not inside_cluster(waiting, len(goes))


def test_near_the_limit_a_good_place_is_taken_when_it_comes_by() -> None:
    assert laid("b", before="a" * 89 + "\n\n") == ("", True)
    assert laid("b", before="a" * 87 + "\n\n") == ("b", False)
    assert laid("b", before="a" * 94 + "\n") == ("", True)
    assert laid("b", before="a" * 92 + "\n") == ("b", False)
    assert laid("a.\n\nb", before="a" * 88) == ("a.\n\n", True)
    assert laid("a.\n\n", before="a" * 88) == ("a.\n\n", False)  # perhaps nothing follows
    assert laid("a.\n\nb", before="a" * 88, final=True) == ("a.\n\nb", False)
    assert laid("| 1 |\n| 2", before="|a|\n|-|\n" + "| 1 |\n" * 13) == ("| 1 |\n| 2", False)


def test_limits_say_what_is_kept_for_decoration() -> None:
    assert (MessageLimits().reserve, MessageLimits().decoration) == (64, 2_250)
    assert (HUNDRED.reserve, HUNDRED.decoration) == (12, 25)


def test_a_call_takes_only_so_much() -> None:
    limits = MessageLimits(rotate_bytes=10_000, max_call_chars=50)
    assert laid("word " * 100, limits=limits) == ("word " * 10, False)


def test_cards_that_fill_a_message_leave_no_room_for_text() -> None:
    assert laid("b" * 40, used=80) == ("", True)
    assert laid("b " + "c" * 40, used=80) == ("b ", True)
    assert laid("b", used=500) == ("", True)


def cut_of(text: str, limit: int, before: str = "") -> int:
    return best_cut(text, MarkdownState().then(before), limit, limit - limit // 4, None)


@pytest.mark.parametrize(
    ("text", "limit", "shown"),
    [
        ("aaa bbb ccc\n\nddd e", 17, "aaa bbb ccc\n\n"),
        ("aaa bbb ccc\nddd eee", 14, "aaa bbb ccc\n"),
        ("aaa bbb. ccc ddd", 11, "aaa bbb. "),
        ("aaa bbb ccc", 9, "aaa bbb "),
        ("\n\naaaaaaaaa bbbbbbbbbb", 20, "\n\naaaaaaaaa "),
        ("a b**ccccccccccccccccc dddd", 24, "a "),
        ("**cccccccccccccccccccc dddd", 24, "**cccccccccccccccccccc "),
        ("aaaaaaaaaaaaaaa", 10, "aaaaaaaaaa"),
        ("aaaaaaaaae\u0301aaaa", 10, "aaaaaaaaa"),
        ("one two\n| a | b |\n|---|---|\n", 18, "one two\n"),
        ("| a | b |\n|---|---|\n", 12, "| a | b |\n"),
    ],
)
def test_a_call_ends_at_the_best_place_of_its_last_quarter(text: str, limit: int, shown: str) -> None:
    assert text[: cut_of(text, limit)] == shown


def test_a_call_that_ends_in_code_ends_at_a_line() -> None:
    assert cut_of("a * b\n\nc d e f", 12, before="```\n") == 11  # a blank line in code ends no paragraph...
    assert cut_of("a * b\n\nc", 7, before="```\n") == 7  # ...but is a line's end


@examples(1_000)
@given(texts(40).filter(bool), st.integers(1, 60))
def test_best_cut_always_cuts(text: str, limit: int) -> None:
    assert 0 < cut_of(text, limit) <= limit


def test_there_is_always_some_progress() -> None:
    assert laid("👩👩", limits=MessageLimits(rotate_bytes=2)) == ("👩", True)


def test_a_message_past_its_time_ends_at_the_next_line() -> None:
    assert fit_line("more\nand", MarkdownState().then("half "), 5, HUNDRED) == (5, True)
    assert fit_line("more and", MarkdownState().then("half "), 5, HUNDRED) is None
    assert fit_line("more\nand", MarkdownState().then("half "), 98, HUNDRED) is None
    assert fit_line("| a |\nb\n", MarkdownState(), 0, HUNDRED) == (6, True)
    assert fit_line("| a |\n|-", MarkdownState(), 0, HUNDRED) is None
    assert fit_line("\n", MarkdownState().then("| a | b |"), 9, HUNDRED) is None
    assert fit_line("\nno\n", MarkdownState().then("| a | b |"), 9, HUNDRED) == (1, True)


@pytest.mark.parametrize(
    ("text", "rank"),
    [
        ("one\n\n", CutQuality.PARAGRAPH),
        ("one\n", CutQuality.LINE),
        ("# one\n", CutQuality.ROW),
        ("# one\n\n", CutQuality.ROW),
        ("So:\n", CutQuality.ROW),
        ("```\none\n", CutQuality.ROW),
        ("```\none\n\n", CutQuality.ROW),
        ("|a|\n|-|\n|1|\n", CutQuality.ROW),
        ("|a|\n", CutQuality.WORD),
        ("**a\n", CutQuality.ROW),
        ("one. ", CutQuality.SENTENCE),
        ("one ", CutQuality.WORD),
        ("**one. ", CutQuality.WORD),
        ("**one", None),
        ("one", None),
    ],
)
def test_how_good_a_place_a_text_ends_at(text: str, rank: CutQuality | None) -> None:
    assert quality_at_end(text, MarkdownState().then(text)) == rank


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
        ("\n|---|---", "| a | b |"),
        ("\n|--", ""),  # it is kept whole: so the text ends here
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
