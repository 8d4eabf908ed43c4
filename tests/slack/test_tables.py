"""A table in each form, at each of Slack's limits and one beyond."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from slack_sdk.models.blocks import Block, TableBlock

from slack_bot.slack.readback import words_of
from slack_bot.slack.tables import as_csv, cut, markdown_table, monospaced, table_blocks
from slack_bot.testing.slack.blocks import check
from slack_bot.testing.slack.workspace import Workspace
from slack_bot.turn.extras import Cell, DataTable

STATE = Workspace().state


def table(rows: int, columns: int = 2, cell: Cell = "x", title: str = "") -> DataTable:
    return DataTable(tuple(f"c{n}" for n in range(columns)), ((cell,) * columns,) * rows, title)


def of_chars(total: int) -> DataTable:
    """A table whose cells hold so many characters."""
    return DataTable(("a", "b"), (("x" * (total - 3), "y"),))


@pytest.mark.parametrize(
    ("made", "kinds"),
    [
        (table(1), ["data_table", "table"]),
        (table(0), []),
        (table(99), ["data_table", "table"]),
        (table(100), ["data_table"]),
        (table(200), ["data_table"]),
        (table(201), []),
        (table(2, columns=20), ["data_table", "table"]),
        (table(2, columns=21), []),
        (of_chars(10_000), ["data_table", "table"]),
        (of_chars(10_001), ["data_table"]),
        (of_chars(20_000), ["data_table"]),
        (of_chars(20_001), []),
        (table(2, cell="", title="t" * 500), ["data_table", "table"]),
        (table(2, cell=-1.5), ["data_table", "table"]),
    ],
)
def test_the_blocks_that_can_hold_it(made: DataTable, kinds: list[str]) -> None:
    blocks = table_blocks(made)
    assert [block["type"] for block in blocks] == kinds
    for block in blocks:
        check(STATE, [block])
    for block in blocks[1:]:  # of these two the SDK knows only `table`
        read = Block.parse(block)
        assert isinstance(read, TableBlock)
        read.validate_json()
        assert read.to_dict() == block


def test_numbers_stay_numbers_and_no_cell_is_empty() -> None:
    (block, _) = table_blocks(DataTable(("city", "n"), (("", 1.5),), "T"))
    assert block == {
        "type": "data_table",
        "caption": "T",
        "rows": [
            [{"type": "raw_text", "text": "city"}, {"type": "raw_text", "text": "n"}],
            [{"type": "raw_text", "text": " "}, {"type": "raw_number", "value": 1.5, "text": "1.5"}],
        ],
        "page_size": 1,
    }


def test_a_code_block_that_no_cell_can_leave() -> None:
    text = monospaced(DataTable(("a", "b"), (("```x", 1),), "T `1`"), 12_000)
    assert text == "**T '1'**\n```\na    | b\n-----+--\n'''x | 1\n```"
    assert monospaced(table(1, cell="x" * 60), 12_000) is not None
    assert monospaced(table(1, cell="x" * 61), 12_000) is None
    assert monospaced(table(2_000), 12_000) is None


@pytest.mark.parametrize("columns", [1, 2, 7, 20, 100])
def test_the_beginning_fits_into_a_message(columns: int) -> None:
    part = cut(table(1_000, columns, "`x" * 5_000, title="t" * 5_000), 12_000)
    assert len(part.rows) == 20
    assert len(part.columns) == min(20, columns)
    assert monospaced(part, 11_900) is not None
    assert table_blocks(part)


def test_a_spreadsheet_gets_all_of_it_and_no_formula() -> None:
    rows = (("=1+1", -5), ("-5", 'a "b", c'), ("+1 555", "@x"), ("-x", "e\u0301"))
    read = list(csv.reader(io.StringIO(as_csv(DataTable(("a", "b"), rows)).decode())))
    assert read == [["a", "b"], ["'=1+1", "-5"], ["-5", 'a "b", c'], ["+1 555", "'@x"], ["'-x", "e\u0301"]]


def test_a_markdown_table_keeps_its_marks_and_links() -> None:
    text = "| **a** | b |\n|---|---|\n| `1` and [it](https://x.example/y) | |\n"
    block = markdown_table(text)
    assert block is not None
    elements = [
        {"type": "text", "text": "1", "style": {"code": True}},
        {"type": "text", "text": " and "},
        {"type": "link", "url": "https://x.example/y", "text": "it"},
    ]
    section = {"type": "rich_text_section", "elements": elements}
    assert block["rows"][0][1] == {"type": "raw_text", "text": "b"}
    assert block["rows"][1] == [
        {"type": "rich_text", "elements": [section]},
        {"type": "raw_text", "text": " "},
    ]
    assert words_of([block]) == "| a | b |\n| 1 and it |  |\n"


ITALIC, BOLD, BOTH = {"italic": True}, {"bold": True}, {"bold": True, "italic": True}
URL = "https://x.example/y"


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        ("*a*", [("a", ITALIC)]),
        ("_a b_ c", [("a b", ITALIC), (" c", None)]),
        ("__a__", [("a", BOLD)]),
        ("***a***", [("a", BOTH)]),
        ("**a *b* c**", [("a ", BOLD), ("b", BOTH), (" c", BOLD)]),
        ("*~~a~~*", [("a", ITALIC | {"strike": True})]),
        (f"**[a]({URL})**", [("a", BOLD)]),
        ("`*a*`", [("*a*", {"code": True})]),
        ("snake_case_name", None),
        ("2 * 3 * 4", None),
        ("a*b*c", None),
        ("* a *", None),
        (r"\*a\* and `\*`", [("*a* and ", None), (r"\*", {"code": True})]),
        ("``a`b`` `` ` ``", [("a`b", {"code": True}), (" ", None), ("`", {"code": True})]),
        ("*a `*` b*", [("a ", ITALIC), ("*", ITALIC | {"code": True}), (" b", ITALIC)]),
        (r"`C:\` and *b*", [("C:\\", {"code": True}), (" and ", None), ("b", ITALIC)]),
        ("5` of *b*", [("5` of ", None), ("b", ITALIC)]),
        ("** a **", None),
        ("~~a~b~~", [("a~b", {"strike": True})]),
        ("f_(x)_ and a_b", None),
        (f"[**a** b]({URL})", [("a", BOLD), (" b", None)]),
        (f"[a]({URL}_(z))", [("a", None)]),
        (f"![a]({URL})", [("a", None)]),
        (f"<{URL}>", [(URL, None)]),
        ("[a](b) and [c]", None),
        (f"[a]({URL} b", None),
    ],
)
def test_the_marks_of_a_cell_are_its_style(cell: str, shown: list[tuple[str, Any]] | None) -> None:
    block = markdown_table(f"| a | b |\n|---|---|\n| {cell} | |\n")
    assert block is not None
    check(STATE, [block])
    found = block["rows"][1][0]
    if shown is None:
        assert found == {"type": "raw_text", "text": cell}
    else:
        (section,) = found["elements"]
        assert [(each["text"], each.get("style")) for each in section["elements"]] == shown


@pytest.mark.parametrize(
    ("rule", "aligns"),
    [
        ("|---|---|", None),
        ("|:--|--:|", ["left", "right"]),
        ("| --- | :-: |", ["left", "center"]),
        (":--|---", ["left", "left"]),
    ],
)
def test_the_columns_of_a_markdown_table_keep_their_alignment(rule: str, aligns: list[str] | None) -> None:
    block = markdown_table(f"| a | b |\n{rule}\n| 1 | 2 |\n")
    assert block is not None
    check(STATE, [block])
    settings = block.get("column_settings")
    assert (settings and [each["align"] for each in settings]) == aligns


@pytest.mark.parametrize(
    ("rows", "columns", "fits"), [(99, 20, True), (100, 1, False), (1, 21, False), (0, 1, False)]
)
def test_a_markdown_table_that_slack_would_refuse_is_none(rows: int, columns: int, fits: bool) -> None:
    row = f"|{' x |' * columns}\n"
    block = markdown_table(f"{row}|{'---|' * columns}\n{row * rows}")
    assert (block is not None) is fits
    if block is not None:
        check(STATE, [block])
