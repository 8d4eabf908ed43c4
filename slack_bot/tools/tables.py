"""What the verbs print of texts and tables: for a terminal, as plain text, as Markdown."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.box import SIMPLE
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

ALL_MARKS = "\\|`*_<>[]"
"""What Markdown may take for markup in a cell."""
_NARROWEST = 3  # columns


def printable(text: str) -> str:
    """`text` without anything that moves a terminal's cursor."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def cut(text: str, room: int) -> str:
    """`text` on exactly `room` columns, printable."""
    text = printable(text)
    if cell_len(text) > room:
        while text and cell_len(text) > room - 1:
            text = text[:-1]
        text += "…"
    return text + " " * (room - cell_len(text))


def plain_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """A line a row, in columns that are as wide as they must be."""
    for row in _padded([heads, *rows]):
        yield "  ".join(row).rstrip()


def terminal_table(heads: Sequence[str], rows: Iterable[Sequence[str]], verdicts: Mapping[str, str]) -> Table:
    """The same for a terminal. `verdicts`: how the words of the first column are drawn."""
    table = Table(*heads, box=SIMPLE)
    for verdict, *cells in rows:
        table.add_row(Text(verdict, verdicts[verdict]), *map(Text, cells))
    return table


def markdown_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """A line a row. Cells are Markdown: what is text only goes through `cell`."""
    yield f"| {' | '.join(heads)} |"
    yield f"|{'|'.join('---' for _ in heads)}|"
    yield from (f"| {' | '.join(row)} |" for row in rows)


def padded_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """A Markdown table that can be read in a terminal too."""
    head, *lines = _padded([heads, *rows], _NARROWEST)
    yield f"| {' | '.join(head)} |"
    yield f"|{'|'.join('-' * (cell_len(name) + 2) for name in head)}|"
    yield from (f"| {' | '.join(line)} |" for line in lines)


def _padded(rows: Sequence[Sequence[str]], least: int = 0) -> Iterator[list[str]]:
    widths = [max(least, *map(cell_len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield [text + " " * (width - cell_len(text)) for text, width in zip(row, widths, strict=True)]


def cell(text: str, marks: str = ALL_MARKS) -> str:
    """`text` in one cell of a Markdown table, on one line, without markup of its own.

    Within a code span only the bar is markup.
    """
    return re.sub(f"([{re.escape(marks)}])", r"\\\1", " ".join(text.split()))
