"""How much of a text goes into a message, whether that ends there, and what is added at its border.

The nearer the limit, the less good a place is enough to end a message: first only a blank line, then a line's
end. Where more waits than fits, the best place of the last quarter is taken.

Each message is to look right on its own. Fences, emphasis and code spans are closed where one ends and opened
again in the next; a table repeats its header, a quote its bars, a nested list its level. Marks too long or
too many to be meant are not.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from .markdown import (
    BAR,
    Cut,
    CutQuality,
    MarkdownState,
    OpenMarks,
    cluster_cut,
    cuts_up_to,
    is_rule,
)

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
_TAKEN_FROM = {CutQuality.PARAGRAPH: 0.90, CutQuality.LINE: 0.94, CutQuality.ROW: 0.97}  # part of the limit
_LEADS_ON = re.compile(r"[ \t>]*#{1,6}(?:[ \t].*)?|.*[:：]")
_SENTENCE_END = re.compile(r".*[.!?…;:。！？；：][\"'”’»)\]*_`」』）]*\s*", re.DOTALL)
_CLOSES = re.compile(r"[ \t>]*(?:`{3}|~{3})")
_FRAGILE = re.compile(r"(?:[*_~`|\\#>-]+|&#?\w*|<\S*)\Z")
_FRAGILE_REACH = 64  # characters looked back over to keep a run of marks or an entity whole
_LINE_REACH = 400  # characters of the line before a cut that are looked at


@dataclass(frozen=True, slots=True)
class MessageLimits:
    """What one message takes.

    After `rotate_after` seconds (`math.inf`: never) it ends if it ends well there, after `rotate_grace` more
    in any case. `rotate_bytes` are UTF-8 bytes of text + titles + 2 x details. `tables_apart`: a table goes
    in a write of its own, once it is whole.
    """

    rotate_after: float = 240.0
    rotate_grace: float = 20.0
    rotate_bytes: int = 9_000
    max_segments: int = 20
    max_call_chars: int = 12_000
    tables_apart: bool = False

    @property
    def reserve(self) -> int:
        """Bytes kept free for what closes a message."""
        return min(LONGEST_CLOSER, self.rotate_bytes // 8)

    @property
    def decoration(self) -> int:
        """Bytes that may be spent on how a message begins."""
        return self.rotate_bytes // 4


Fit: TypeAlias = tuple[int, bool]
"""How many characters of the text go into the message, and whether it ends there."""


def utf8_len(text: str) -> int:
    """Bytes of `text` in UTF-8."""
    return len(text.encode("utf-8", "surrogatepass"))


def max_chars(text: str, room: int) -> int:
    """How many characters of `text` have at most `room` bytes."""
    room = max(0, room)
    data = text[:room].encode("utf-8", "surrogatepass")
    while room < len(data) and data[room] & 0xC0 == 0x80:
        room -= 1
    return len(data[:room].decode("utf-8", "surrogatepass"))


def fit(
    waiting: str,
    before: MarkdownState,
    used: int,
    quality: Callable[[], CutQuality | None],
    limits: MessageLimits,
    *,
    final: bool = False,
) -> Fit:
    """How much of `waiting` fits into a message of `used` bytes whose state is `before`.

    `quality`: how good its present end is; None: it has no text. `final`: no more text comes.
    """
    if _fits(waiting, before, used, limits):
        if final or used + utf8_len(waiting) < limits.rotate_bytes * _TAKEN_FROM[CutQuality.PARAGRAPH]:
            return (len(waiting), False)
        return _passing(waiting, before, used, quality(), limits)
    room = max_chars(waiting, limits.rotate_bytes - limits.reserve - used)
    if room > limits.max_call_chars:
        return (best_cut(waiting, before, limits.max_call_chars, 0, None), False)
    last_quarter = limits.rotate_bytes - limits.rotate_bytes // 4 - used
    near = max_chars(waiting, last_quarter)
    return (best_cut(waiting, before, room, near, quality(), is_near=last_quarter <= 0), True)


def fit_line(waiting: str, before: MarkdownState, used: int, limits: MessageLimits) -> Fit | None:
    """End the message at the first line end of `waiting`; None: no line ends in time."""
    room = min(max_chars(waiting, limits.rotate_bytes - limits.reserve - used), limits.max_call_chars)
    for cut in cuts_up_to(waiting, room, before, words=False):
        # of a line that may be a table's header row, the next line is not known yet
        if "\n" in waiting[cut.at :] or not before.then(waiting[: cut.at]).open.header:
            return (cut.at, True)
    return None


def quality_at_end(text: str, state_at_end: MarkdownState) -> CutQuality | None:
    """How good the end of `text` is; None: within a word or a mark."""
    state = state_at_end.at_end
    is_inside = bool(state.fence or state.table or state.inline)
    if text.endswith("\n") and not state.header:
        if is_inside:
            return CutQuality.ROW
        is_blank = not text[:-1].rpartition("\n")[2].strip()
        return _leading_on(text[-_LINE_REACH:], CutQuality.PARAGRAPH if is_blank else CutQuality.LINE)
    if not text[-1:].isspace():
        return None
    if is_inside or text.endswith("\n") or not _SENTENCE_END.fullmatch(text[-_FRAGILE_REACH:]):
        return CutQuality.WORD
    return CutQuality.SENTENCE


def _fits(waiting: str, before: MarkdownState, used: int, limits: MessageLimits) -> bool:
    if len(waiting) > min(limits.max_call_chars, limits.rotate_bytes - used):
        return False
    weight = used + utf8_len(waiting)
    if weight + limits.reserve <= limits.rotate_bytes:
        return True
    return weight + utf8_len(closing_markup(before.then(waiting), waiting[-1:])) <= limits.rotate_bytes


def _passing(
    waiting: str, before: MarkdownState, used: int, here: CutQuality | None, limits: MessageLimits
) -> Fit:
    starts = {
        rank: max_chars(waiting, math.ceil(part * limits.rotate_bytes) - used)
        for rank, part in _TAKEN_FROM.items()
    }
    if here in starts and used >= _TAKEN_FROM[here] * limits.rotate_bytes:
        return (0, True)
    for cut in cuts_up_to(waiting, len(waiting) - 1, before, words=False):
        if cut.at >= starts.get(_rank(cut, waiting), math.inf):
            return (cut.at, True)
    return (len(waiting), False)


def best_cut(
    text: str,
    before: MarkdownState,
    room: int,
    near: int,
    here: CutQuality | None,
    *,
    is_near: bool = False,
) -> int:
    """The best place up to `room`, if possible from `near` on; 0: the present end, which is `here` good."""
    found: dict[CutQuality, int] = {}
    word = anywhere = 0
    lead = len(text) - len(text.lstrip()) if here is None else 0  # nobody sees a message of white space
    for cut in cuts_up_to(text, room, before):
        if cut.at <= lead:
            continue
        anywhere = cut.at
        if cut.inside and cut.rank < CutQuality.ROW:
            continue
        word = cut.at
        if cut.at >= near:
            found[_rank(cut, text)] = cut.at
    if is_near and here is not None and here >= max(found, default=CutQuality.WORD):
        return found.get(here, 0)
    if found:
        return found[max(found)]
    if word or anywhere or here is not None or is_near:
        return word or anywhere
    return _anywhere(text, max(1, room))


def _rank(cut: Cut, text: str) -> CutQuality:
    if cut.rank is CutQuality.ROW and _CLOSES.match(text, cut.at):
        return CutQuality.SENTENCE  # the next message would begin with an empty fence
    if cut.rank < CutQuality.LINE:
        return cut.rank
    rank = CutQuality.ROW if text[cut.at : cut.at + 1] in {" ", "\t"} else cut.rank
    return _leading_on(text[max(0, cut.at - _LINE_REACH) : cut.at], rank)


def _leading_on(text: str, rank: CutQuality) -> CutQuality:
    """No heading alone ends a message."""
    return CutQuality.ROW if _LEADS_ON.fullmatch(last_line(text)) else rank


def _anywhere(text: str, room: int) -> int:
    cut = cluster_cut(text, room)
    fragile = _FRAGILE.search(text[max(0, cut - _FRAGILE_REACH) : cut])
    if fragile and len(fragile.group()) < min(cut, _FRAGILE_REACH):
        cut = cluster_cut(text, cut - len(fragile.group()))
    return cut


# -- at a border ---------------------------------------------------------------------------------------------


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
    """The row of `line` and `head` makes `header` a table's header row. `StreamBuffer` keeps it whole."""
    return BAR.search(header) is not None and is_rule(header, (line + head).partition("\n")[0])


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
