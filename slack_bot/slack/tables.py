"""PURE. A table in each form that Slack takes: `data_table`, `table`, code block, CSV (facts: Slack 5, 14).
A Markdown table as a `table`, for streams that do not draw it.

Slack counts rows, columns and characters of all tables of a message, so a message has one table.
"""

import csv
import io
import re
from collections.abc import Iterator

from ..text.inline import words_of
from ..text.tables import aligns_of, rows_of
from ..text.words import TABLE_UNTITLED
from ..turn.extras import Cell, DataTable
from .blocks import Block, shorten

CSV_HEAD = 20
"""Rows that are shown of a table that comes as a file."""
_COLUMNS = 20
_DATA_TABLE, _TABLE = (201, 20_000), (100, 10_000)  # rows with the header, characters of all cells
_PAGE = 20  # rows of a page; Slack: 100
_CAPTION = 150
_WIDEST = 60  # characters of a monospaced column
_FORMULA = re.compile(r"[=@\t\r]|[+-](?!\d)")  # what a spreadsheet would run


def table_blocks(table: DataTable) -> list[Block]:
    """Every block that can hold all of it, best first."""
    columns, rows = len(table.columns), len(table.rows) + 1
    if rows > _DATA_TABLE[0] or columns > _COLUMNS:
        return []
    chars = sum(len(_text(cell)) for row in (table.columns, *table.rows) for cell in row)

    def fits(most: tuple[int, int]) -> bool:
        return 2 <= rows <= most[0] and 1 <= columns <= _COLUMNS and chars <= most[1]

    cells = [[_raw(name) for name in table.columns], *([_cell(each) for each in row] for row in table.rows)]
    caption = shorten(" ".join(table.title.split()), _CAPTION) or TABLE_UNTITLED
    found: list[Block] = []
    if fits(_DATA_TABLE):
        size = min(_PAGE, len(table.rows))
        found.append({"type": "data_table", "caption": caption, "rows": cells, "page_size": size})
    if fits(_TABLE):
        found.append({"type": "table", "rows": cells})
    return found


def markdown_table(text: str) -> Block | None:
    """The Markdown table `text` as a `table`. None: it is no table, or more than Slack takes."""
    rows = rows_of(text)
    most_rows, most_chars = _TABLE
    if not 2 <= len(rows) <= most_rows or len(rows[0]) > _COLUMNS or len(text) > most_chars:
        return None
    block: Block = {"type": "table", "rows": [[_rich(cell) for cell in row] for row in rows]}
    aligns = aligns_of(text)[: len(rows[0])]
    if any(aligns):
        block["column_settings"] = [{"align": each or "left"} for each in aligns]
    return block


def _rich(cell: str) -> Block:
    """A cell with the marks of Markdown that people write in tables."""
    words = words_of(cell)
    if not any(each.styles or each.url for each in words):
        return _raw("".join(each.text for each in words))
    elements: list[Block] = []
    for text, styles, url in words:
        element: Block = {"type": "link", "url": url, "text": text} if url else {"type": "text", "text": text}
        elements.append(element | ({"style": dict.fromkeys(styles, True)} if styles else {}))
    return {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": elements}]}


def _cell(value: Cell) -> Block:
    if isinstance(value, str):
        return _raw(value)
    return {"type": "raw_number", "value": value, "text": str(value)}


def _raw(text: str) -> Block:
    return {"type": "raw_text", "text": _text(text)}


def _text(cell: Cell) -> str:
    """Slack takes no empty cell."""
    return str(cell) or " "


def monospaced(table: DataTable, most: int) -> str | None:
    """The table as a code block of at most `most` characters. None: it is too wide or too long for that."""
    if 2 * len(table.columns) * len(table.rows) > most:
        return None
    rows = [[_line(cell) for cell in row] for row in (table.columns, *table.rows)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    if max(widths, default=0) > _WIDEST:
        return None
    head, *lines = (
        " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
    title = [f"**{shorten(_line(table.title), _CAPTION)}**"] if table.title.strip() else []
    text = "\n".join([*title, "```", head, "-+-".join("-" * width for width in widths), *lines, "```"])
    return text if len(text) <= most else None


def cut(table: DataTable, most: int) -> DataTable:
    """Its beginning: what a code block of `most` characters can hold, long cells cut."""
    columns = table.columns[:_COLUMNS]
    width = max(4, min(_WIDEST, (most - 2 * _CAPTION) // (CSV_HEAD + 4) // max(1, len(columns)) - 3))

    def short(cell: Cell) -> Cell:
        return cell if isinstance(cell, int | float) else shorten(_line(cell), width)

    rows = (tuple(map(short, row[:_COLUMNS])) for row in table.rows[:CSV_HEAD])
    return DataTable(tuple(str(short(name)) for name in columns), tuple(rows), table.title)


def _line(cell: Cell) -> str:
    """In one line, without what would end the code block."""
    return " ".join(str(cell).replace("`", "'").split())


def as_csv(table: DataTable) -> bytes:
    """For a spreadsheet, which must not take a cell for a formula."""
    written = io.StringIO()
    csv.writer(written).writerows(_csv_rows(table))
    return written.getvalue().encode("utf-8", "replace")


def _csv_rows(table: DataTable) -> Iterator[list[Cell]]:
    for row in (table.columns, *table.rows):
        yield [f"'{cell}" if isinstance(cell, str) and _FORMULA.match(cell) else cell for cell in row]
