"""What a text needs that is cut over two messages, and how the messages of one answer read as one text again.

A message must look right on its own: a fence, emphasis or a code span that is open where it ends is closed,
and opened again where the next one begins; a table repeats its header there, a quote its bars, a nested list
the level it stands on. What is added this way is *decoration*: no part of the answer.

`joined` is the inverse. It knows only what a person sees, the texts of the messages, and finds what was added
by asking, for each seam, what would have been added there. Where an answer itself happens to look so, whoever
lays it out puts one of `GUARDS` in front of the second message, which says: nothing was added here.

Everything added is short, whatever an agent writes: marks that are too long or too many to be meant are not
carried over.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator, Sequence

from .markdown import MarkdownState, OpenMarks, is_rule, open_at_end

GUARDS = ("\u2060\n", "\u2060")
"""A word joiner, which nobody sees, on a line of its own or not: the message goes on without decoration."""

LONGEST_CLOSER = 64
"""UTF-8 bytes that a closer may have."""

_JOINER = "\u2060"
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
_MARKS_MOST = _MOST_MARKS * _LONGEST_EMPHASIS + 1  # characters of a closer that is none of a fence
_QUOTE = re.compile(r"[ \t]*(?:>[ \t]?)+")
_ITEM = re.compile(r"(?P<indent> {2,})(?:[-*+]|\d{1,9}[.)])[ \t\n]")
_ANY_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]")
_BAR = re.compile(r"(?<!\\)\|")
_RULE_SIGNS = frozenset("|-: \t")
_LEVELS = re.compile(r"(?: *-\n)+")


def state_of(text: str) -> MarkdownState:
    """A message that reads `text`. Slack drops the white space at its front, and a fence's indentation so."""
    lines, end, line = text.lstrip().rpartition("\n")
    return MarkdownState(_open_behind(lines + end)).then(line)


@functools.lru_cache(maxsize=4)
def _open_behind(lines: str) -> OpenMarks:
    """What is open behind whole lines. Remembered: a seam is looked at dozens of times, within one line."""
    return MarkdownState().then(lines).open


def closing_markup(standing: MarkdownState, last: str) -> str:
    """What makes a message look right that ends here; "" if nothing is needed.

    `standing` is the message so far, `last` its last character. At most `LONGEST_CLOSER` bytes. A mark that
    follows white space would not close, so a word joiner stands between. A fence that is closed within a line
    gets a space behind it, by which `joined` knows that the line goes on.
    """
    state = open_at_end("", before=standing)
    if state.fence:
        fence = _carried_fence(state)
        if fence is None:
            return ""
        lead, run = fence
        under = re.sub(r"[^>\s]", " ", lead)
        return f"\n{under}{run} " if standing.line else f"{under}{run}"
    marks = _carried_marks(state)
    if not marks:
        return ""
    joiner = _JOINER if (last.isspace() and not state.code) or last in _MARKS else ""
    return joiner + "".join(reversed(marks))


def opening_markup(standing: MarkdownState, last_line: str, head: str) -> str:
    """What the next message begins with.

    `standing` is the message that was cut, without its closer, `last_line` its last line that is not blank,
    `head` how the text goes on (its first line is enough). Never begins with white space: Slack would drop
    it. Never with a joiner either: that is a guard.
    """
    added = _opener(standing, last_line, head)
    return "" if added.startswith(_JOINER) else added


def _opener(standing: MarkdownState, last_line: str, head: str) -> str:
    state = open_at_end("", before=standing)
    if state.fence:
        return _fence_opener(state, "" if standing.open.fence else standing.line)
    if state.table and (standing.line or _is_row(state.table, head)):
        return _table_opener(state.table, standing.line, head)
    if standing.line:
        quote = _QUOTE.match(last_line)
        bars = quote.group().lstrip() if quote and quote.end() <= _LONGEST_LEAD else ""
    else:
        bars = ""
    marks = "".join(_carried_marks(state))
    if marks:
        return bars + marks + _behind(marks, standing.line, head)
    if head.startswith("\n") and _rules(standing.line, "", head[1:]):
        return standing.line.lstrip()  # the header row's own line end had not been sent
    header = standing.open.header
    if header and _rules(header, standing.line, head):
        return header.lstrip() + standing.line
    return bars or ("" if standing.line else _levels(last_line, head))


def _behind(marks: str, line: str, head: str) -> str:
    """What stands between `marks` and `head`: a line end where that begins a line that may begin a block.

    Marks in front of a fence, a list or a heading would make it text. Told from its first character alone:
    more may not have come.
    """
    if not line and (not head or head[0].isspace() or head[0] in _BLOCK_SIGNS):
        return f"{_JOINER}\n"
    return _JOINER if _stands_apart(marks, head) else ""


def _stands_apart(marks: str, head: str) -> bool:
    """`head` directly behind `marks` would keep them from opening, or make one run of theirs and its own.

    A joiner of the text's own stands apart too, or it would be taken for what was added.
    """
    is_code = marks.endswith("`")
    return head.startswith((_JOINER, marks[-1])) or (head[:1].isspace() and not is_code)


def _carried_fence(state: OpenMarks) -> tuple[str, str] | None:
    """Lead and run of the open fence, if it is one that can be carried over."""
    mark = state.fence[-1]
    lead = state.fence.rstrip(mark)
    run = state.fence[len(lead) :]
    fits = len(lead) <= _LONGEST_LEAD and len(run) <= _LONGEST_RUN and len(state.info) <= _LONGEST_INFO
    return (lead, run) if fits else None


def _fence_opener(state: OpenMarks, line: str) -> str:
    """The fence again. `line`: the line that opens it, where that one was cut itself: it goes on."""
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
    """The open emphasis and code span, outermost first; none if they are too many to be meant."""
    marks = [*state.emphasis, *([state.code] if state.code else [])]
    longest = [_LONGEST_EMPHASIS] * len(state.emphasis) + [_LONGEST_CODE]
    if len(marks) > _MOST_MARKS or any(len(mark) > most for mark, most in zip(marks, longest, strict=False)):
        return []
    return marks


def _rules(header: str, line: str, head: str) -> bool:
    """The row being written, `line` and then `head`, makes a header row of `header`, as far as one can tell.

    Half a row that stands in the message before is believed only when all of it is known: else the header
    would be read twice for nothing.
    """
    row, ends, _ = (line + head).partition("\n")
    return is_rule(header, row) if ends or line else "-" in row and _RULE_SIGNS.issuperset(row)


def _is_row(table: str, head: str) -> bool:
    """`head` goes on with the table. Told from its first character alone: more may not have come."""
    first = head.lstrip(" \t")[:1]
    return first == "|" if table.lstrip().startswith("|") else bool(first) and first not in "\n#>-*+`~"


def _table_opener(table: str, row: str, head: str) -> str:
    """The header again. Where `row` stands whole, and only its line end follows, if the table goes on."""
    if not (row and head.startswith("\n")):
        return table.lstrip() + _cells_before(row)
    goes_on = row.strip() and _is_row(table, head[1:])
    return table.lstrip().removesuffix("\n") if goes_on else ""


def _cells_before(row: str) -> str:
    """Empty cells for those of a row that stand in the message before, so that the columns stay in line."""
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
    """As many empty items, each within the one before, as a line needs that is indented so far."""
    levels = max(1, (indent - _CODE_INDENT + 2) // 2)
    return "".join(f"{'  ' * level}-\n" for level in range(levels)) if levels <= _DEEPEST else ""


# -- the way back --------------------------------------------------------------------------------------------


def seam(first: str, second: str) -> tuple[int, int]:
    """How many characters at the end of `first` and at the beginning of `second` are decoration."""
    first = first.lstrip()
    for guard in GUARDS:
        if second.startswith(guard):
            return 0, len(guard)
    for size in _closers(first):
        body = first[:-size]
        standing = state_of(body)
        if closing_markup(standing, body[-1:]) == first[-size:]:
            added = _opened(standing, last_line(body), second)
            if added:
                return size, added
    return 0, _opened(state_of(first), last_line(first), second) if first else 0


def expected(first: str) -> Iterator[str]:
    """How a message may begin that would be read as decoration after `first`."""
    first = first.lstrip()
    for size in _closers(first):
        yield from _marked(state_of(first[:-size]))
    standing = state_of(first)
    yield from _marked(standing)
    if standing.open.table:
        yield opening_markup(standing, "", "|")
    if standing.open.header:
        yield standing.open.header.lstrip() + standing.line + "|-"
    if "|" in standing.line:
        yield standing.line.lstrip() + "\n|-"
    if standing.open.table and standing.line:
        yield standing.open.table.lstrip()
    if not standing.line:
        yield _levels(last_line(first), " " * 2 + "- ") + " " * 2 + "- "


def _marked(standing: MarkdownState) -> Iterator[str]:
    """How it would go on, and that behind a joiner."""
    added = opening_markup(standing, "", "x")
    yield added
    if added and added[-1] in _MARKS:
        yield f"{added}{_JOINER}{added[-1]}"
        yield f"{added}{_JOINER} "
        yield f"{added}{_JOINER}\n"


def joined(texts: Sequence[str]) -> str:
    """The answer that stands in `texts`, the messages of one turn in their order. Some may have none of it.

    Exact where the texts are as they were sent. Slack drops white space at the front of a message; that of
    the answer is then missing here too.
    """
    texts = [text for text in texts if text]
    seams = [(0, 0), *(seam(a, b) for a, b in itertools.pairwise(texts)), (0, 0)]
    return "".join(
        text[opened : len(text) - closed]
        for text, (_, opened), (closed, _) in zip(texts, seams, seams[1:], strict=False)
    )


def reads_as(texts: Sequence[str], answer: str) -> bool:
    """The messages show `answer`, once. White space does not count: at seams Slack drops some."""
    return "".join(joined(texts).split()) == "".join(answer.split())


def last_line(text: str) -> str:
    """The last line of `text` that is not blank."""
    return text.rstrip().rpartition("\n")[2]


def _closers(text: str) -> Iterator[int]:
    """Lengths of what may be a closer at the end of `text`."""
    if fence := _fence_at_end(text):
        yield len(fence)
        if fence.startswith("\n"):
            yield len(fence) - 1
    marks = text[-_MARKS_MOST:]
    yield from range(len(marks) - len(marks.rstrip(f"{_JOINER}*_~`")), 0, -1)


def _fence_at_end(text: str) -> str:
    """The line that may close a fence at the end of `text`, with the line end before it; "" if there is none.

    Read from the end: a search from the front would try each white space of a long run.
    """
    run = text.removesuffix(" ")
    lead = run.rstrip(run[-1:]) if run.endswith(("```", "~~~")) else run
    line = lead.rstrip(" \t>")
    return text[len(line.removesuffix("\n")) :] if lead != run else ""


def _opened(standing: MarkdownState, line: str, second: str) -> int:
    """The length of the opener at the beginning of `second`, 0 if what should stand there does not."""
    for head in _heads(standing, line, second):
        added = opening_markup(standing, line, second[head:])
        is_it = added and head in (0, len(added)) and second.startswith(added)
        if is_it and opening_markup(standing, line, second[len(added) :]) == added:
            return len(added)
    return 0


def _heads(standing: MarkdownState, line: str, second: str) -> Iterator[int]:
    """Where the answer may go on in `second`: some openers are known only with what follows them.

    0 is for those that are known without.
    """
    if levels := _LEVELS.match(second):
        yield len(levels.group())
    joiner = second.find(_JOINER, 0, LONGEST_CLOSER)
    if joiner >= 0:
        yield joiner + 1
        yield joiner + 2
    yield len(opening_markup(standing, line, "x"))
    if standing.open.header:
        yield second.find("\n") + 1 + len(standing.line)
    if "|" in standing.line:
        yield len(standing.line.lstrip())
    if standing.open.table and standing.line:
        yield len(standing.open.table.lstrip()) - 1
    yield 0
