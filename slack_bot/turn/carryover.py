"""What is added where one text is cut over two messages, so that each looks right on its own.

A fence, emphasis or a code span that is open where a message ends is closed, and opened again where the next
one begins. A table repeats its header there, a quote its bars, a nested list the level of its item. None of
this is part of the answer. All of it is short: marks that are too long or too many to be meant are left out.
"""

from __future__ import annotations

import re

from .markdown import BAR, RULE_SIGNS, MarkdownState, OpenMarks, is_rule

LONGEST_CLOSER = 64
"""UTF-8 bytes that `closing_markup` may have."""
WORD_JOINER = "\u2060"
"""A character without width. A mark opens in front of it and closes behind it; no block begins with it."""

_MARKS = frozenset("*_~`")
_BLOCK_SIGNS = frozenset("`~#>-+*0123456789")
_MOST_MARKS = 6
_LONGEST_EMPHASIS = 3
_LONGEST_CODE = 2  # three backticks at a message's front would begin a fence
_LONGEST_RUN = 32
_LONGEST_LEAD = 20
_LONGEST_INFO = 80
_DEEPEST = 12
_CODE_INDENT = 4  # columns from which a line is code, or no longer ends it (CommonMark 4.4, 4.5)
_QUOTE = re.compile(r"[ \t]*(?:>[ \t]?)+")
_ITEM = re.compile(r"(?P<indent> {2,})(?:[-*+]|\d{1,9}[.)])[ \t\n]")
_ANY_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]")


def state_of(text: str) -> MarkdownState:
    """A message that reads `text`. Slack drops the white space at its front, and so a fence's indentation."""
    return MarkdownState().then(text.lstrip())


def last_line(text: str) -> str:
    """The last line of `text` that is not blank."""
    return text.rstrip().rpartition("\n")[2]


def closing_markup(state: MarkdownState, last: str) -> str:
    """What closes a message that ends in the character `last`; "" if nothing is open."""
    at_end = state.at_end
    if at_end.fence:
        under = re.sub(r"[^>\s]", " ", at_end.lead)
        closing = f"\n{under}{at_end.fence}" if state.line else f"{under}{at_end.fence}"
        return closing if _is_short(at_end) else ""
    marks = _carried_marks(at_end)
    if not marks:
        return ""
    is_apart = last in _MARKS or (last.isspace() and not at_end.code)  # behind white space no mark closes
    return (WORD_JOINER if is_apart else "") + "".join(reversed(marks))


def opening_markup(state: MarkdownState, last_line: str, head: str) -> str:
    """What the next message begins with. Never white space: Slack would drop it.

    `state` is that of the message that was cut, without what closes it, `last_line` its last line that is not
    blank, `head` how the text goes on (its first line is enough).
    """
    at_end, line = state.at_end, state.line
    if at_end.fence:
        return _fence_opener(at_end, "" if state.open.fence else line)
    if at_end.table and (line or _is_row(at_end.table, head)):
        return _table_opener(at_end.table, line, head)
    quote = _QUOTE.match(last_line) if line else None
    bars = quote.group().lstrip() if quote and quote.end() <= _LONGEST_LEAD else ""
    marks = "".join(_carried_marks(at_end))
    if marks:
        return bars + marks + _behind(marks, line, head)
    if head.startswith("\n") and _rules(line, "", head[1:]):
        return line.lstrip()  # the header row's own line end had not been sent
    if _rules(state.open.header, line, head):
        return state.open.header.lstrip() + line
    if head.startswith("\n"):
        bars = ""
    return bars if line else _levels(last_line, head)


def _behind(marks: str, line: str, head: str) -> str:
    """What separates `marks` from `head`, whose first character alone may have come.

    Marks in front of a fence, a list or a heading would make it text: a line end is between. Directly in
    front of white space or of their like they would not open.
    """
    if not line and (not head or head[0].isspace() or head[0] in _BLOCK_SIGNS):
        return f"{WORD_JOINER}\n"
    is_apart = head.startswith(marks[-1]) or (head[:1].isspace() and not marks.endswith("`"))
    return WORD_JOINER if is_apart else ""


def _is_short(fence: OpenMarks) -> bool:
    return (
        len(fence.lead) <= _LONGEST_LEAD
        and len(fence.fence) <= _LONGEST_RUN
        and len(fence.info) <= _LONGEST_INFO
    )


def _fence_opener(state: OpenMarks, line: str) -> str:
    """The fence again. `line`: its opening line, where the cut is within that line."""
    if not _is_short(state):
        return ""
    opener = f"{state.fence}{state.info}" + ("" if line else "\n")
    quoted = state.lead.rfind(">") + 1
    if quoted:
        return f"{state.lead[:quoted].lstrip()} {opener}"
    indent = len(state.lead.expandtabs())
    return opener if indent < _CODE_INDENT else f"{_nest(indent)}{' ' * indent}{opener}"


def _carried_marks(state: OpenMarks) -> tuple[str, ...]:
    """The open emphasis and code span, outermost first."""
    marks = state.inline
    are_long = len(marks) > _MOST_MARKS or len(state.code) > _LONGEST_CODE
    if are_long or any(len(run) > _LONGEST_EMPHASIS for run in state.emphasis):
        return ()
    return () if "~~~" in "".join(marks) else marks  # that would begin a fence


def _rules(header: str, line: str, head: str) -> bool:
    """The present row, `line` and then `head`, makes `header` a table's header row, as far as is known.

    Where none of the row was sent, its signs must fit, and be more than a dash, which may begin a list.
    """
    if not BAR.search(header):
        return False
    row, ends, _ = (line + head).partition("\n")
    if ends or line:
        return is_rule(header, row)
    return "-" in row and RULE_SIGNS.issuperset(row) and row.strip() != "-"


def _is_row(table: str, head: str) -> bool:
    """`head`, of which the first character alone may have come, goes on with the table."""
    first = head.lstrip(" \t")[:1]
    return first == "|" if table.lstrip().startswith("|") else bool(first) and first not in "\n#>-*+`~"


def _table_opener(table: str, row: str, head: str) -> str:
    """The header again, and empty cells for those of `row` in the last message.

    Where only the line end of `row` follows: only if the table goes on.
    """
    if row and head.startswith("\n"):
        goes_on = row.strip() and _is_row(table, head[1:])
        return table.lstrip().removesuffix("\n") if goes_on else ""
    cells = len(BAR.findall(row.strip().removeprefix("|"))) + 1 if row.strip() else 0
    return table.lstrip() + "| " * cells


def _levels(last_line: str, head: str) -> str:
    """Empty list items above a nested one, without which it would lose its indentation."""
    item = _ITEM.match(head)
    in_list = _ANY_ITEM.match(last_line) or last_line[:1] in {" ", "\t"}
    return _nest(len(item["indent"])) if item and in_list and last_line else ""


def _nest(indent: int) -> str:
    """Empty list items, one within the other, for a line with this indentation."""
    levels = max(1, (indent - _CODE_INDENT + 2) // 2)
    return "".join(f"{'  ' * level}-\n" for level in range(levels)) if levels <= _DEEPEST else ""
