"""Where a growing text may be cut, and what is carried over a cut."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.text.markdown import (
    _LONG_LINE,
    Cuts,
    InlineMarks,
    MarkdownState,
    OpenMarks,
    _within,
    cluster_cut,
    code_blocks,
    ends_in_code,
    find_cuts,
    inside_cluster,
    outside_code,
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
        ("- ``` py x", ""),
        ("```a b``` is code, not a fence", "```a b``` is code, not a "),
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


def opened(line: str, inherited: tuple[str, ...] = ()) -> tuple[tuple[str, ...], str]:
    spans = InlineMarks(inherited)
    list(spans.places(line))
    return spans.runs("*_~"), "".join(spans.runs("`"))


@pytest.mark.parametrize(
    ("line", "emphasis"),
    [
        ("**bold", ("**",)),
        ("**bold**", ()),
        ("**bold *it", ("**", "*")),
        ("**bold *it***", ()),
        ("***both", ("***",)),
        ("***both* bold", ("**",)),
        ("_it_ ~~gone~~ ~one~", ()),
        ("~~gone", ("~~",)),
        ("2 * 3 and a_b_c", ()),
        ("* item", ()),
        ("a ** b", ()),
        (r"\*not", ()),
        ("*a _b* c", ()),
        ("__init__.py", ()),
        ("[a *b](u) c", ()),
        ("(c) and a > b < c", ()),
        ("] **x", ("**",)),
        ("a\\", ()),
    ],
)
def test_emphasis(line: str, emphasis: tuple[str, ...]) -> None:
    assert opened(line) == (emphasis, "")


@pytest.mark.parametrize(
    ("line", "code"),
    [
        *(("`a", "`"), ("`a`", ""), ("``a` b", "``"), ("``a`` b", ""), ("`*a", "`"), ("[x](a`b_c) d", "")),
        *((r"`C:\`", ""), (r"``a\``", ""), (r"`a\\`", ""), (r"\`a", ""), (r"\``a", "`"), (r"\\`a", "`")),
    ],
)
def test_code(line: str, code: str) -> None:
    assert opened(line) == ((), code)


def test_what_earlier_lines_left_open_is_closed_here() -> None:
    assert opened("more** text", ("**",)) == ((), "")
    assert opened("more` text", ("**", "`")) == (("**",), "")
    assert opened("more text", ("**", "`")) == (("**",), "`")


def marks(line: str) -> list[tuple[int, int]]:
    return [(at, mark) for at, mark, _, _ in InlineMarks().places(line)]


@pytest.mark.parametrize(
    ("line", "places"),
    [
        ("one two", [(4, -1)]),
        ("one  two ", [(5, -1), (9, -1)]),
        ("a **b c** d", [(2, -1), (6, 2), (10, -1)]),
        ("[a b](u v) w", [(3, 0), (8, 0), (11, -1)]),
        ("[a b](u (v) w) x", [(3, 0), (8, 0), (12, 0), (15, -1)]),
        ("[a b][c] d", [(3, 0), (9, -1)]),
        ("<http://a|*b `c> d", [(13, 0), (17, -1)]),
        ("<http://a|b c> d", [(12, 0), (15, -1)]),
        ("<https://a> b < c", [(12, -1), (14, -1), (16, -1)]),
        ("中文", [(1, -1), (2, -1)]),
        ("か\u0301x", []),
        ("か\u3099x", [(2, -1)]),
        ("a \u0301b", []),
    ],
)
def test_places_and_the_mark_they_stand_in(line: str, places: list[tuple[int, int]]) -> None:
    assert marks(line) == places


def test_a_place_knows_the_word_before_it() -> None:
    first, second = InlineMarks().places("- one. two")
    assert first[2:] == ("-", True)
    assert second[2:] == ("one.", False)
    (indented, number) = InlineMarks().places("  1. two")
    assert indented[2:] == ("", True)
    assert number[2:] == ("1.", True)


def test_a_sentence_s_end_is_a_border_where_nothing_is_open() -> None:
    assert marks("one two.") == [(4, -1), (8, -1)]
    assert marks("**one two.") == [(6, 0)]
    assert marks("one.") == []


def test_of_a_long_word_only_the_end_is_told() -> None:
    (place,) = InlineMarks().places("x" * 100 + ". ")
    assert place[2] == "x" * 39 + "."


SIGNS = st.sampled_from(
    [
        *("*", "_", "**", "`", "``", "[", "](", "(", ")", "<https://a ", "<", ">", "\\", "~~"),
        *("é", "字", " ", "a b "),
    ]
)


@examples(300)
@given(
    st.lists(st.one_of(SIGNS, st.sampled_from(["a", ".", "\t", "  ", "1."])), min_size=1, max_size=40),
    st.data(),
)
def test_the_borders_of_the_end_of_a_line_are_those_of_the_whole(
    pieces: list[str], data: st.DataObject
) -> None:
    line = "".join(pieces)
    after = data.draw(st.integers(0, len(line) - 1))
    whole = [place for place in InlineMarks().places(line) if place[0] > after]
    assert list(InlineMarks().places(line, after=after)) == whole


@examples(300)
@given(st.lists(SIGNS, min_size=1, max_size=99).map("".join), st.sampled_from([(), ("**", "`")]))
def test_the_marks_are_the_same_whether_or_not_the_borders_are_asked_for(
    line: str, inherited: tuple[str, ...]
) -> None:
    marks = InlineMarks(inherited).read(line)
    assert (marks.runs("*_~"), "".join(marks.runs("`"))) == opened(line, inherited)


def test_of_very_many_open_marks_the_innermost_count() -> None:
    many = InlineMarks().read("*a " * 5_000)
    assert many.runs("*") == ("*",) * 100
    spans = InlineMarks(many.runs("*"))
    assert len(list(spans.places("b* c* d "))) == 3  # borders
    assert spans.runs("*") == ("*",) * 98
    assert InlineMarks(("**",)).read("[a " * 5_000 + "*b").runs("*") == ("*",)


FAMILY = "👩\u200d👩\u200d👧"
TRICKY = st.text(
    st.sampled_from("a \r\n\u0301\u200d\ufe0f👩🏽🇩🇪\U000e0067\U000e007f中") | st.characters(), max_size=40
)


@pytest.mark.parametrize(
    "cluster",
    [
        "e\u0301",
        "👍🏽",
        FAMILY,
        "🇩🇪",
        "❤\ufe0f",
        "🏴\U000e0067\U000e0062\U000e007f",
        "\ud83d\ude00",
        "\r\n",
        "น้ำ"[:2],
    ],
)
def test_a_cluster_is_whole(cluster: str) -> None:
    text = f"a{cluster}b"
    inner = range(2, 1 + len(cluster))
    assert all(inside_cluster(text, at) for at in inner)
    assert not inside_cluster(text, 1)
    assert not inside_cluster(text, 1 + len(cluster))


def test_flags_go_by_two() -> None:
    text = "🇩🇪🇫🇷"
    assert [inside_cluster(text, at) for at in range(5)] == [False, True, False, True, False]


@pytest.mark.parametrize(
    ("text", "waits"), [("👩\u200d", True), ("\ud83d", True), ("🇩", True), ("🇩🇪", False), ("a", False)]
)
def test_an_end_that_wants_a_partner_is_inside(text: str, waits: bool) -> None:
    assert inside_cluster(text, len(text)) is waits


def test_outside_of_the_text_nothing_is_inside() -> None:
    assert not inside_cluster("", 0)
    assert not inside_cluster("a", 2)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\u2028"])
def test_nothing_is_drawn_onto_a_lines_end(end: str) -> None:
    assert not inside_cluster(f"a{end}\u0301b", 1 + len(end))
    assert inside_cluster("a\r\n", 2)


def test_a_flag_half_before_another_letter_is_a_border() -> None:
    assert not inside_cluster("🇩x", 1)


@pytest.mark.parametrize(
    ("text", "limit", "at"),
    [("abc", 2, 2), ("abc", 9, 3), ("ab\u0301c", 2, 1), (FAMILY, 3, 3), (f"x{FAMILY}", 3, 1), ("", 4, 0)],
)
def test_cluster_cut(text: str, limit: int, at: int) -> None:
    assert cluster_cut(text, limit) == at


@examples(1_000)
@given(TRICKY, st.integers(1, 50))
def test_cluster_cut_makes_progress_and_keeps_the_limit(text: str, limit: int) -> None:
    at = cluster_cut(text, limit)
    assert at <= limit
    assert at > 0 or not text
    assert not inside_cluster(text, at) or at == min(limit, len(text))


@examples(1_000)
@given(texts(40))
def test_a_block_of_code_is_where_a_growing_text_says_so(text: str) -> None:
    text += "\n"
    blocks = code_blocks(text)
    for end in (found.end() for found in re.finditer("\n", text)):
        is_open = any(start < end < after for start, after in blocks)
        assert bool(MarkdownState().then(text[:end]).open.fence) == is_open
    opened = MarkdownState().then(text).open
    assert ends_in_code(text) == bool(opened.fence or opened.code)


@pytest.mark.parametrize("fence", ["```", "~~~", "````", "> ```", "- ```"])
def test_what_is_code_is_not_found(fence: str) -> None:
    text = f"one x\n{fence}\ntwo x\n{fence.lstrip('>- ')}\nthree x and `four x` x"
    assert [text[: found.start()].count("x") for found in outside_code(re.compile("x"), text)] == [0, 2, 4]
    inside, closing = "two x\n", fence.lstrip(">- ") + "\n"
    assert [each.start() for each in outside_code(re.compile("x"), inside, f"{fence}\n")] == []
    assert [each.start() for each in outside_code(re.compile("x"), inside, f"{fence}\n{closing}")] == [4]
    assert [each.start() for each in outside_code(re.compile("x"), "x` x", "a `")] == [3]
