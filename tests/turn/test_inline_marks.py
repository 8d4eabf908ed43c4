"""What stands open in a line, and where its words end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_bot.turn.inline_marks import InlineMarks
from tests.examples import examples


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
    [("`a", "`"), ("`a`", ""), ("``a` b", "``"), ("``a`` b", ""), ("`*a", "`"), ("[x](a`b_c) d", "")],
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
