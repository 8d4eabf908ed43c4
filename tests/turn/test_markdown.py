"""Where a growing text may be cut, and what is carried over a cut."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.turn.graphemes import inside_cluster
from slack_bot.turn.markdown import (
    _LONG_LINE,
    Cuts,
    MarkdownState,
    OpenMarks,
    _within,
    find_cuts,
)
from tests.examples import examples, texts
from tests.turn.work import work

MARKDOWN = texts(40)
SPACELESS = re.compile("[\u0e00-\u0eff\u3000-\u30ff\u3400-\u9fff\uf900-\uffef]")  # no word ends in a space


def cuts_of(text: str, limit: int | None = None, before: str = "") -> Cuts:
    return find_cuts(text, len(text) if limit is None else limit, MarkdownState().then(before))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Hel", ""),
        ("Hello wor", "Hello "),
        ("Hello world. ", "Hello world. "),
        ("see `a b", "see "),
        ("see `a b` and c", "see `a b` and "),
        ("so **bold text", "so "),
        ("so **bold text** is", "so **bold text** "),
        ("so __bold text", "so "),
        ("so ~~old text", "so "),
        ("see [the docs](http://x y", "see "),
        ("see [the docs](http://x) now", "see [the docs](http://x) "),
        ("see ![a cat](http://x", "see "),
        ("a &lt;b", "a "),
        ("# ", ""),
        ("# Title of", "# Title "),
        ("## ", ""),
        ("- ", ""),
        ("* ", ""),
        ("1. ", ""),
        ("- one two", "- one "),
        ("in 2020. Then", "in 2020. "),
        ("a - b", "a "),
        ("> ", ""),
        ("> said he", "> said "),
        ("--- ", ""),
        ("```py", ""),
        ("``` py x", ""),
        ("中文字", "中文字"),
        ("a\ud83d", ""),
        ("one 👩\u200d👧 two", "one 👩\u200d👧 "),
        ("\\* a b", "\\* a "),
    ],
)
def test_safe_cut(text: str, shown: str) -> None:
    assert text[: cuts_of(text).safe] == shown


@pytest.mark.parametrize(
    ("before", "text", "shown"),
    [
        ("```py\n", "if a * b", "if a * "),
        ("```py\n", "x = [1, 2", "x = [1, "),
        ("```py\n", "``", ""),
        ("```py\nx\n```\n", "so **b c", "so "),
        ("**bold ", "and more t", "and more "),
        ("**bold ", "done** and *new b", "done** and "),
        ("`code ", "and more", "and "),
        ("**a\n", "b c** d e", "b c** d "),
        ("**a\n\n", "b **c d", "b "),
        ("| a | b |\n|---|---|\n", "| 1 | 2 |", "| 1 | 2 "),
        ("| a ", "| b c", "| b "),
        ("- one\n", "- **b c", ""),
        ("x", "y z", "y "),
    ],
)
def test_safe_cut_knows_what_stands_before(before: str, text: str, shown: str) -> None:
    assert text[: cuts_of(text, before=before).safe] == shown


def test_a_limit_is_kept_and_what_is_behind_it_counts() -> None:
    assert cuts_of("one two three", 8).safe == 8
    assert cuts_of("one two three", 7).safe == 4
    assert cuts_of("one two three", 0).safe == 0
    assert cuts_of("one two", 99).safe == 4


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("| a | b |", ""),
        ("| a | b |\n", ""),
        ("| a | b |\n|--", ""),
        ("| a | b |\n|---|---|", ""),
        ("| a | b |\n|---|---|\n", "| a | b |\n|---|---|\n"),
        ("| a | b |\n|:--|--:|\n| 1 | 2 |\n| 3", "| a | b |\n|:--|--:|\n| 1 | 2 |\n"),
        ("text\n| a | b |\n", "text\n"),
        ("a | b\nno table", "a | b\n"),
        ("a | b\nno | table", "a | b\n"),
        ("a | b\n\nnew", "a | b\n\n"),
        ("a | b\n---\nsetext", "a | b\n---\n"),
        ("a \\| b\nx", "a \\| b\n"),
        ("```\na | b\nx", "```\na | b\n"),
        ("one\ntwo", "one\n"),
        ("one", ""),
    ],
)
def test_line_cut(text: str, shown: str) -> None:
    assert text[: cuts_of(text).line] == shown


def test_a_header_row_is_not_cut_either() -> None:
    assert cuts_of("| Name | Age |\n|-").safe == 0
    assert cuts_of("Name | Age of").safe == 5  # no telling yet that it is a row
    assert cuts_of("| a | b |\nno table at all").safe == len("| a | b |\nno table at ")


def test_a_header_row_that_stands_already_is_not_waited_for() -> None:
    assert cuts_of(" | b |\n", before="| a").line == len(" | b |\n")


def test_no_cut_between_header_and_separator_row() -> None:
    text = "one two\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    within = text.index("|---")
    assert cuts_of(text, within).word == len("one two\n")


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("", OpenMarks()),
        ("```py title=x\ncode\n", OpenMarks(fence="```", info="py title=x")),
        ("- ~~~~\ncode", OpenMarks(lead="- ", fence="~~~~")),
        ("> ```\n> a", OpenMarks(lead="> ", fence="```")),
        ("```\na\n````\n", OpenMarks()),
        ("```\na\n```", OpenMarks()),
        ("```py", OpenMarks(fence="```", info="py")),
        ("````\na\n```\n", OpenMarks(fence="````")),
        ("```a`b", OpenMarks(code="```")),
        ("```a`b\n", OpenMarks(code="```")),
        ("**a *b", OpenMarks(emphasis=("**", "*"))),
        ("**a\nb", OpenMarks(emphasis=("**",))),
        ("**a\n\nb", OpenMarks()),
        ("# **a\nb", OpenMarks()),
        ("**a\n- b", OpenMarks()),
        ("`a", OpenMarks(code="`")),
        ("| a | b |\n", OpenMarks(header="| a | b |\n")),
        ("a | b\n--- | ---\n1 | 2\nplain", OpenMarks(table="a | b\n--- | ---\n")),
        ("|a|\n|-|\n- item\n", OpenMarks()),
        ("|a|\n|-|\n\nafter", OpenMarks()),
    ],
)
def test_open_at_end(text: str, state: OpenMarks) -> None:
    assert MarkdownState().then(text).at_end == state


@examples(1_000)
@given(MARKDOWN, MARKDOWN, st.integers(0, 60))
def test_cuts_keep_the_limit_and_never_cut_a_word_or_a_cluster(before: str, text: str, limit: int) -> None:
    cuts = cuts_of(text, limit, before)
    for at in (cuts.line, cuts.safe, cuts.word):
        assert 0 <= at <= min(limit, len(text))
        ended = at == min(limit, len(text)) and text[at - 1 : at] in ".!?…"
        assert at == 0 or ended or text[at - 1].isspace() or SPACELESS.match(text[at - 1])
        assert at == 0 or not inside_cluster(text, at)
    assert cuts.line <= cuts.word
    assert cuts.safe <= cuts.word


TABLES = st.lists(
    st.sampled_from(["| a | b |\n", "|---|---|\n", "|--", "a | b", "\n", "```\n", "text\n", "> q\n", "-"]),
    max_size=9,
).map("".join)


@examples(2_000)
@given(texts(12) | TABLES, texts(12) | TABLES, st.integers(0, 60))
def test_the_last_line_end_is_found_without_a_look_at_words(before: str, text: str, limit: int) -> None:
    state = MarkdownState().then(before)
    assert find_cuts(text, limit, state, words=False).line == find_cuts(text, limit, state).line


@examples(1_000)
@given(MARKDOWN)
def test_a_line_cut_stands_behind_a_line_end(text: str) -> None:
    at = cuts_of(text).line
    assert at == 0 or text[at - 1] == "\n"
    assert "\n" not in text[at:] or "|" in text[at:]


@examples(1_000)
@given(st.lists(MARKDOWN, max_size=6))
def test_a_message_read_in_parts_stands_as_one_read_whole(parts: list[str]) -> None:
    standing = MarkdownState()
    for part in parts:
        standing = standing.then(part)
    whole = MarkdownState().then("".join(parts))
    assert _within(standing.open, standing.line) == _within(whole.open, whole.line)
    if (
        max(map(len, "".join(parts).split("\n"))) <= _LONG_LINE
    ):  # of a line too long to be kept, only what is open in it is known
        assert standing == whole


def test_a_very_long_line_is_not_kept() -> None:
    standing = MarkdownState().then("**" + "word " * 2_000)
    assert len(standing.line) == 1
    assert find_cuts("and more** then *it is", 99, standing).safe == len("and more** then ")
    fenced = MarkdownState().then("```\n" + "word " * 2_000)
    assert find_cuts("a * b", 9, fenced).safe == 4


HOSTILE = ["[", "`", "` ", "*a ", "**a _b ", "[a](", "<https://", "| a ", "|\n", "> ", "\\", "(", "🇩", "- **"]


@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_text_takes_linear_work(piece: str) -> None:
    def read(times: int) -> int:
        text = piece * times
        return work(lambda: (cuts_of(text).safe, MarkdownState().then(text).at_end))

    assert read(1_200) <= 6 * read(300)
