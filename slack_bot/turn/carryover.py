"""What is added where one text is cut over two messages, so that each looks right on its own.

Fences, emphasis and code spans are closed where a message ends and opened again in the next one; a table
repeats its header, a quote its bars, a nested list its level. Marks too long or too many to be meant are not.
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
    """A message that reads `text`. Slack drops the white space at its front."""
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
    """What the next message begins with; never white space, which Slack would drop.

    `state` and `last_line` are those of the message that was cut, without what closes it; `head` follows.
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
    """What separates `marks` from `head`, whose first character alone may have come."""
    # marks in front of a fence, a list or a heading would make it text
    if not line and (not head or head[0].isspace() or head[0] in _BLOCK_SIGNS):
        return f"{WORD_JOINER}\n"
    # in front of white space or of their like they would not open
    is_apart = head.startswith(marks[-1]) or (head[:1].isspace() and not marks.endswith("`"))
    return WORD_JOINER if is_apart else ""


def _is_short(fence: OpenMarks) -> bool:
    return (
        len(fence.lead) <= _LONGEST_LEAD
        and len(fence.fence) <= _LONGEST_RUN
        and len(fence.info) <= _LONGEST_INFO
    )


def _fence_opener(state: OpenMarks, line: str) -> str:
    """`line`: the fence's first line, where the cut is within that line."""
    if not _is_short(state):
        return ""
    opener = f"{state.fence}{state.info}" + ("" if line else "\n")
    quoted = state.lead.rfind(">") + 1
    if quoted:
        return f"{state.lead[:quoted].lstrip()} {opener}"
    indent = len(state.lead.expandtabs())
    return opener if indent < _CODE_INDENT else f"{_nest(indent)}{' ' * indent}{opener}"


def _carried_marks(state: OpenMarks) -> tuple[str, ...]:
    marks = state.inline
    are_long = len(marks) > _MOST_MARKS or len(state.code) > _LONGEST_CODE
    if are_long or any(len(run) > _LONGEST_EMPHASIS for run in state.emphasis):
        return ()
    return () if "~~~" in "".join(marks) else marks  # that would begin a fence


def _rules(header: str, line: str, head: str) -> bool:
    """The row of `line` and `head` makes `header` a table's header row, as far as is known."""
    if not BAR.search(header):
        return False
    row, ends, _ = (line + head).partition("\n")
    if ends or line:
        return is_rule(header, row)
    # a dash alone may begin a list
    return "-" in row and RULE_SIGNS.issuperset(row) and row.strip() != "-"


def _is_row(table: str, head: str) -> bool:
    first = head.lstrip(" \t")[:1]
    return first == "|" if table.lstrip().startswith("|") else bool(first) and first not in "\n#>-*+`~"


def _table_opener(table: str, row: str, head: str) -> str:
    if row and head.startswith("\n"):
        goes_on = row.strip() and _is_row(table, head[1:])
        return table.lstrip().removesuffix("\n") if goes_on else ""
    cells = len(BAR.findall(row.strip().removeprefix("|"))) + 1 if row.strip() else 0
    return table.lstrip() + "| " * cells


def _levels(last_line: str, head: str) -> str:
    """Without list items above it, a nested one would lose its indentation."""
    item = _ITEM.match(head)
    in_list = _ANY_ITEM.match(last_line) or last_line[:1] in {" ", "\t"}
    return _nest(len(item["indent"])) if item and in_list and last_line else ""


def _nest(indent: int) -> str:
    levels = max(1, (indent - _CODE_INDENT + 2) // 2)
    return "".join(f"{'  ' * level}-\n" for level in range(levels)) if levels <= _DEEPEST else ""
