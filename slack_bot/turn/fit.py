"""How much of a text goes into the present message, and whether the message ends there.

The nearer the limit, the less good a place is enough to end a message: first only a blank line, then a line's
end. Where more waits than fits, the best place of the last quarter is taken.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TypeAlias

from .carryover import LONGEST_CLOSER, closing_markup, last_line
from .graphemes import cluster_cut
from .markdown import Cut, CutQuality, MarkdownState, cuts_up_to

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
    in any case. `rotate_bytes` are UTF-8 bytes of text + titles + 2 x (details + output).
    """

    rotate_after: float = 240.0
    rotate_grace: float = 20.0
    rotate_bytes: int = 9_000
    max_segments: int = 20
    max_call_chars: int = 12_000

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
    here: CutQuality | None,
    limits: MessageLimits,
    *,
    final: bool = False,
) -> Fit:
    """How much of `waiting` fits into a message of `used` bytes whose state is `before`.

    `here`: how good its present end is; None: it has no text. `final`: no more text comes.
    """
    if _fits(waiting, before, used, limits):
        if final or used + utf8_len(waiting) < limits.rotate_bytes * _TAKEN_FROM[CutQuality.PARAGRAPH]:
            return (len(waiting), False)
        return _passing(waiting, before, used, here, limits)
    room = max_chars(waiting, limits.rotate_bytes - limits.reserve - used)
    if room > limits.max_call_chars:
        return (best_cut(waiting, before, limits.max_call_chars, 0, None), False)
    last_quarter = limits.rotate_bytes - limits.rotate_bytes // 4 - used
    near = max_chars(waiting, last_quarter)
    return (best_cut(waiting, before, room, near, here, is_near=last_quarter <= 0), True)


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
