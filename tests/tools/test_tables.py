"""Texts and tables as the verbs print them."""

from __future__ import annotations

import io

import pytest
from rich.cells import cell_len
from rich.console import Console

from slack_bot.text.tables import rows_of
from slack_bot.tools.tables import (
    cell,
    cut,
    markdown_table,
    padded_table,
    plain_table,
    printable,
    terminal_table,
)

HEADS = ("", "name")
ROWS = [("PASS", "中文"), ("FAIL", "a long one")]


def test_a_terminal_s_cursor_stays_where_it_is() -> None:
    assert printable("a\x1b[2Jb\n") == "a [2Jb "
    assert (cut("a\tb", 2), cut("中文", 3), cut("a", 3)) == ("a…", "中…", "a  ")


@pytest.mark.parametrize("table", [markdown_table, padded_table])
@pytest.mark.parametrize("text", ["a|b", "\\\\|", "a\nb", "*a* `b` [c](d) <e>"])
def test_a_text_stays_in_its_cell(table: type, text: str) -> None:
    lines = list(table(HEADS, [("x", cell(text))]))
    assert len(lines) == 3
    assert all(len(row) == 2 for row in rows_of("\n".join(lines)))


def test_what_is_markup_in_a_cell() -> None:
    assert cell(" a  [2J*b*|\n") == r"a \[2J\*b\*\|"
    assert cell("`*a*` |", "|") == r"`*a*` \|"


def test_columns_are_as_wide_as_they_must_be() -> None:
    assert list(plain_table(HEADS, ROWS)) == ["      name", "PASS  中文", "FAIL  a long one"]
    assert {cell_len(line) for line in padded_table(HEADS, ROWS)} == {len("| FAIL | a long one |")}
    assert list(padded_table(("", "a"), []))[1] == "|-----|-----|"


def test_a_table_for_a_terminal_has_no_markup() -> None:
    console = Console(file=io.StringIO(), width=60, force_terminal=True, legacy_windows=False)
    console.print(terminal_table(HEADS, [("FAIL", "[bold]x[/bold]")], {"FAIL": "red"}))
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert "[bold]x[/bold]" in shown and "\x1b[31m" in shown
