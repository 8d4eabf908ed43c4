"""PURE. Where a Markdown table of an answer begins and ends, for streams that do not draw it.

There a table is held until it is whole, and goes in a write of its own. It ends as Markdown says: at a blank
line or where another block begins (GFM 4.10).
"""

from __future__ import annotations

from .markdown import BAR, RULE_SIGNS, MarkdownState, cells_of

_MOST_HELD = 10_000
"""Characters. Slack takes no more in the tables of a message (facts: Slack 5)."""
_ESCAPED_BAR = "\\|"
_ALIGNS = {(False, False): "", (True, False): "left", (True, True): "center", (False, True): "right"}


class TableHold:
    """Holds back what is, or may become, a table that is not whole yet."""

    def __init__(self) -> None:
        self.held = ""
        self._before = MarkdownState()  # of what was given

    def push(self, text: str) -> str:
        """What may be shown now, of what was held and `text` behind it."""
        self.held += text
        at = _unfinished(self.held, self._before) if "|" in self.held else len(self.held)
        return self._give(len(self.held) if len(self.held) - at > _MOST_HELD else at)

    def release(self) -> str:
        """All of it: nothing follows soon."""
        return self._give(len(self.held))

    def clear(self) -> None:
        self.held = ""

    def _give(self, count: int) -> str:
        text, self.held = self.held[:count], self.held[count:]
        self._before = self._before.then(text)
        return text


def _unfinished(text: str, before: MarkdownState) -> int:
    """Where the table begins that `text` ends in, as far as is known; its length if it ends in no table."""
    *lines, last = text.split("\n")
    state, at = before, 0
    start = len(text)
    for line in lines:
        is_whole, state = not state.line, state.then(f"{line}\n")
        if state.open.header and is_whole:
            start = at
        elif not state.open.table:
            start = len(text)
        at += len(line) + 1
    opened = state.open
    if not last or opened.table or (opened.header and RULE_SIGNS.issuperset(last)):
        return start
    return at if not (state.line or opened.fence) and BAR.search(last) else len(text)


def first_table(text: str, before: MarkdownState) -> tuple[int, int] | None:
    """Where the first table that begins in `text` begins and ends. `before`: the state of the message."""
    if "|" not in text:
        return None
    state, at = before, 0
    header = start = -1
    for line in text.split("\n"):
        was, state = state, state.then(f"{line}\n")
        if start < 0 and state.open.table and not was.open.table:
            start = header
        elif start >= 0 and not state.open.table:
            return start, at
        header = at if state.open.header and not was.line else -1
        at += len(line) + 1
    return (start, len(text)) if start >= 0 else None


def most_tables(text: str) -> int:
    """At most so many tables are in `text`: lines that may be the rule below a header."""
    return sum("-" in line and RULE_SIGNS.issuperset(line) for line in text.split("\n"))


def rows_of(table: str) -> list[list[str]]:
    """The cells of a Markdown table, as many in each row as its header has. [] if that is not what it is."""
    header, _, *rows = [_cells(line) for line in table.strip().split("\n")] or [[]]
    width = len(header)
    if any(len(row) > width for row in rows):
        return []  # Markdown drops what is too much; nothing of an answer may be lost
    return [header, *(row + [""] * (width - len(row)) for row in rows)]


def aligns_of(table: str) -> list[str]:
    """How the columns of a Markdown table are aligned: left, center, right, or "" where it does not say."""
    lines = table.strip().split("\n")
    rule = lines[1] if len(lines) > 1 else ""
    return [_ALIGNS[cell.startswith(":"), cell.endswith(":")] for cell in _cells(rule)]


def _cells(line: str) -> list[str]:
    return [cell.strip().replace(_ESCAPED_BAR, "|") for cell in cells_of(line)]
