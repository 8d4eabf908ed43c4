"""What is added where one text is cut over two messages, so that each looks right on its own.

A fence, emphasis or a code span that is open where a message ends is closed, and opened again where the next
one begins. A table repeats its header there, a quote its bars, a nested list the level of its item. None of
this is part of the answer: the ledger keeps it apart.

Everything added is short, whatever an agent writes: marks that are too long or too many to be meant are not
carried over.
"""

from __future__ import annotations

import re

from .markdown import MarkdownState, OpenMarks, is_rule, open_at_end

LONGEST_CLOSER = 64
"""UTF-8 bytes that a closer may have."""
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
_BAR = re.compile(r"(?<!\\)\|")
_RULE_SIGNS = frozenset("|-: \t")


def state_of(text: str) -> MarkdownState:
    """A message that reads `text`. Slack drops the white space at its front, and so a fence's indentation."""
    return MarkdownState().then(text.lstrip())


def closing_markup(state: MarkdownState, last: str) -> str:
    """What closes a message that ends here; "" if nothing is open. At most `LONGEST_CLOSER` bytes.

    `last` is the message's last character. A mark that follows white space would not close, so a word joiner
    is put between.
    """
    at_end = open_at_end("", before=state)
    if at_end.fence:
        fence = _carried_fence(at_end)
        if fence is None:
            return ""
        lead, run = fence
        under = re.sub(r"[^>\s]", " ", lead)
        return f"\n{under}{run}" if state.line else f"{under}{run}"
    marks = _carried_marks(at_end)
    if not marks:
        return ""
    joiner = WORD_JOINER if (last.isspace() and not at_end.code) or last in _MARKS else ""
    return joiner + "".join(reversed(marks))


def opening_markup(state: MarkdownState, last_line: str, head: str) -> str:
    """What the next message begins with. Never white space: Slack would drop it.

    `state` is that of the message that was cut, without what closes it, `last_line` its last line that is not
    blank, `head` how the text goes on (its first line is enough).
    """
    at_end, line = open_at_end("", before=state), state.line
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
    """What separates `marks` from `head`: a line end where `head` may begin a block.

    Marks in front of a fence, a list or a heading would make it text. Decided by the first character alone:
    more may not have come.
    """
    if not line and (not head or head[0].isspace() or head[0] in _BLOCK_SIGNS):
        return f"{WORD_JOINER}\n"
    return WORD_JOINER if _stands_apart(marks, head) else ""


def _stands_apart(marks: str, head: str) -> bool:
    """`head` directly behind `marks` would keep them from opening, or make one run of theirs and its own."""
    return head.startswith(marks[-1]) or (head[:1].isspace() and not marks.endswith("`"))


def _carried_fence(state: OpenMarks) -> tuple[str, str] | None:
    """Lead and run of the open fence; None if it is too long."""
    mark = state.fence[-1]
    lead = state.fence.rstrip(mark)
    run = state.fence[len(lead) :]
    fits = len(lead) <= _LONGEST_LEAD and len(run) <= _LONGEST_RUN and len(state.info) <= _LONGEST_INFO
    return (lead, run) if fits else None


def _fence_opener(state: OpenMarks, line: str) -> str:
    """The fence again. `line`: its opening line, where the cut is within that line."""
    fence = _carried_fence(state)
    if fence is None:
        return ""
    lead, run = fence
    end = "" if line else "\n"
    quoted = lead.rfind(">") + 1
    if quoted:
        return f"{lead[:quoted].lstrip()} {run}{state.info}{end}"
    indent = len(lead.expandtabs())
    if indent < _CODE_INDENT:
        return f"{run}{state.info}{end}"
    return f"{_nest(indent)}{' ' * indent}{run}{state.info}{end}"


def _carried_marks(state: OpenMarks) -> list[str]:
    """The open emphasis and code span, outermost first; nothing if they are too many to be meant."""
    marks = [*state.emphasis, *([state.code] if state.code else [])]
    longest = [_LONGEST_EMPHASIS] * len(state.emphasis) + [_LONGEST_CODE]
    if len(marks) > _MOST_MARKS or any(len(mark) > most for mark, most in zip(marks, longest, strict=False)):
        return []
    return [] if "~~~" in "".join(marks) else marks  # that would begin a fence


def _rules(header: str, line: str, head: str) -> bool:
    """The present row, `line` and then `head`, makes `header` a table's header row, as far as is known.

    Half a row that is in the last message is believed only when all of it is known, and a dash alone, which
    may begin a list, never: else the header would be read twice for nothing.
    """
    if not _BAR.search(header):
        return False
    row, ends, _ = (line + head).partition("\n")
    if ends or line:
        return is_rule(header, row)
    return "-" in row and _RULE_SIGNS.issuperset(row) and row.strip() != "-"


def _is_row(table: str, head: str) -> bool:
    """`head` goes on with the table. Decided by its first character alone: more may not have come."""
    first = head.lstrip(" \t")[:1]
    return first == "|" if table.lstrip().startswith("|") else bool(first) and first not in "\n#>-*+`~"


def _table_opener(table: str, row: str, head: str) -> str:
    """The header again. Where only the line end of `row` follows: only if the table goes on."""
    if not (row and head.startswith("\n")):
        return table.lstrip() + _cells_before(row)
    goes_on = row.strip() and _is_row(table, head[1:])
    return table.lstrip().removesuffix("\n") if goes_on else ""


def _cells_before(row: str) -> str:
    """Empty cells for those of a row in the last message, so that its columns stay in line."""
    if not row.strip():
        return ""
    bars = len(_BAR.findall(row.strip().removeprefix("|")))
    return "| " * (bars + 1)


def _levels(last_line: str, head: str) -> str:
    """Empty list items above a nested one, without which it would lose its indentation."""
    item = _ITEM.match(head)
    in_list = _ANY_ITEM.match(last_line) or last_line[:1] in {" ", "\t"}
    return _nest(len(item["indent"])) if item and in_list and last_line else ""


def _nest(indent: int) -> str:
    """Empty list items, one within the other, for a line with this indentation."""
    levels = max(1, (indent - _CODE_INDENT + 2) // 2)
    return "".join(f"{'  ' * level}-\n" for level in range(levels)) if levels <= _DEEPEST else ""


def last_line(text: str) -> str:
    """The last line of `text` that is not blank."""
    return text.rstrip().rpartition("\n")[2]
