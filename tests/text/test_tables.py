"""Where tables begin and end. How they are held and cut out is tested with the ledger."""

import pytest

from slack_bot.text.markdown import MarkdownState
from slack_bot.text.tables import aligns_of, first_table, most_tables, rows_of

TABLE = "| a | b |\n|---|---|\n| 1 | 2 |\n"


@pytest.mark.parametrize(
    ("before", "text", "found"),
    [
        ("", f"x\n\n{TABLE}\ny", TABLE),
        ("", TABLE.rstrip(), TABLE.rstrip()),
        ("", f"{TABLE}# y", TABLE),
        ("", f"{TABLE}\n{TABLE}", TABLE),
        ("", f"x\n{TABLE}", TABLE),
        ("x", f"\n{TABLE}", TABLE),
        ("x", TABLE, None),
        ("```\n", TABLE, None),
        (TABLE, "| 3 | 4 |\n", None),
        ("", "a | b\nc", None),
        ("", "| a | b |\n|---|\n", None),
    ],
)
def test_the_first_table_of_a_text(before: str, text: str, found: str | None) -> None:
    span = first_table(text, MarkdownState().then(before))
    assert (None if span is None else text[slice(*span)]) == found


@pytest.mark.parametrize(
    ("text", "most"),
    [
        ("", 0),
        ("a\nb", 0),
        (TABLE, 1),
        (f"{TABLE}\nx\n\n{TABLE}", 2),
        ("a | b\n- | -\n1 | 2", 1),
        ("|\n| |", 0),
    ],
)
def test_how_many_tables_there_are_at_most(text: str, most: int) -> None:
    assert most_tables(text) == most


def test_the_cells_of_a_table() -> None:
    assert rows_of(TABLE) == [["a", "b"], ["1", "2"]]
    assert rows_of("a | b\n:-|-\n1\n x\\|y | | ") == [["a", "b"], ["1", ""], ["x|y", ""]]
    assert rows_of("| a | b |\n|---|---|\n| 1 | 2 | 3 |\n") == [], "a cell would be lost"


@pytest.mark.parametrize(
    ("table", "aligns"),
    [
        (TABLE, ["", ""]),
        ("| a | b | c |\n|:---|:-:| --: |\n| 1 | 2 | 3 |\n", ["left", "center", "right"]),
        ("a | b\n:-: | -\n", ["center", ""]),
        ("a | b", [""]),
    ],
)
def test_how_the_columns_are_aligned(table: str, aligns: list[str]) -> None:
    assert aligns_of(table) == aligns
