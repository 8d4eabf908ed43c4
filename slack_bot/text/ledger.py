"""The ledger: the one queue of an answer's text, and what became of each character.

Each character is in exactly one place, in order: it waits, is released (it may be sent), was sent, or is
confirmed and shown in a message. `StreamBuffer` decides when waiting text is released. Only Slack's ok
confirms. While the outcome of a call is in doubt, nothing more is given out. So no character is lost, and
none is shown twice.

An answer is laid into segments, one message each, because a message takes only so much, for so long:

    ledger.push(text)
    ledger.release(ledger.waiting.size)
    while (step := ledger.next(clock.now())) is not None:
        match step:
            case SendText():           write step.text -> confirmed() | refused(); without an answer settled()
            case FinishSegment():      stop the present message -> closed()
            case SegmentsExhausted():  give the rest as a file, or set `limits` with more segments
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from .fit import (
    WORD_JOINER,
    Fit,
    MessageLimits,
    closing_markup,
    fit,
    fit_line,
    last_line,
    opening_markup,
    quality_at_end,
    state_of,
    utf8_len,
)
from .markdown import CutQuality, MarkdownState
from .tables import TableHold, first_table

_BEGINS_BLOCK = re.compile(r">|#{1,6}(?:\s|\Z)|[-+*](?:\s|\Z)|\d{1,9}[.)](?:\s|\Z)")
_HEAD = 2_048  # characters that may decide about how a message begins
_MARGIN = 400  # characters read beyond one call's worth, to know what follows the cut


class TextQueue:
    """Text in order. `front` is its first `reach` characters, `size` the number of all."""

    def __init__(self, reach: int) -> None:
        self._reach = reach
        self.front, self.size = "", 0
        self._more: list[str] = []  # what follows the front, in pieces

    def push(self, text: str) -> None:
        self.size += len(text)
        room = self._reach - len(self.front)
        self.front += text[:room]
        if len(text) > room:
            self._more.append(text[room:])

    def take(self, count: int) -> str:
        return self._keep(slice(count, None))[:count]

    def drop_last(self, count: int) -> None:
        self._keep(slice(self.size - count))

    def clear(self) -> None:
        self._keep(slice(0))

    def _keep(self, part: slice) -> str:
        text = self.front + "".join(self._more)
        self.front, self.size, self._more = "", 0, []
        self.push(text[part])
        return text

    def tail(self, count: int) -> str:
        tail = ""
        for piece in (*reversed(self._more), self.front):
            tail = piece[-count:] + tail
            if len(tail) >= count:
                break
        return tail[-count:]

    def is_visible(self, count: int) -> bool:
        if self.front[:count].strip():
            return True
        return count > len(self.front) and any(piece.strip() for piece in self._more)


@dataclass(frozen=True, slots=True)
class Segment:
    """One message. `body` is its part of the answer, `weight` its weighted bytes, cards included."""

    opened_at: float
    opening: str = ""
    body: str = ""
    closing: str = ""
    weight: int = 0
    state: MarkdownState = field(default=MarkdownState(), repr=False)

    @property
    def text(self) -> str:
        return self.opening + self.body + self.closing

    @property
    def quality(self) -> CutQuality | None:
        return quality_at_end(self.text, self.state)

    def grown(self, opening: str, body: str, cards: int) -> Segment:
        added = opening + body
        is_blank = not self.opening and (not self.body or self.body.isspace())
        return Segment(
            self.opened_at,
            self.opening or opening,
            self.body + body,
            "",
            self.weight + utf8_len(added) + cards,
            state_of(added) if is_blank else self.state.then(added),
        )

    def closed(self, closing: str) -> Segment:
        return replace(self, closing=closing, weight=self.weight + utf8_len(closing))


@dataclass(frozen=True, slots=True)
class SendText:
    """Write `text`, and cards of this weight, into the present message; this `begins` or `ends` it or not.

    `is_table`: it is a table, the whole of it and nothing else, with the blank lines that begin its message.
    """

    text: str
    begins: bool
    ends: bool = False
    cards: int = 0
    is_table: bool = False


@dataclass(frozen=True, slots=True)
class FinishSegment:
    """Stop the present message: more of the answer follows in another one."""


@dataclass(frozen=True, slots=True)
class SegmentsExhausted:
    """More waits, and the answer has all the messages it may have."""


LedgerStep = SendText | FinishSegment | SegmentsExhausted


PartOf: TypeAlias = Callable[[str, bool], tuple[int, bool] | None]
"""How many of the next characters of an answer belong to the last message of another process, and whether it
reads so already; None: more text must come. The second argument: no more comes."""


class RepeatedText:
    """What another process has shown (`rest`), while it is pushed again: it is left out.

    `has_diverged`: what was pushed is not that text.
    """

    def __init__(self) -> None:
        self.rest = ""
        self.has_diverged = False

    def expect(self, text: str) -> None:
        """What is pushed from now on begins with `text`."""
        self.rest = text

    def leave_out(self, text: str) -> str:
        """What of `text` was not shown. White space may differ."""
        known, at = self.rest, 0
        for count, letter in enumerate(text):
            if letter.isspace() and at < len(known):
                at += known[at].isspace()
                continue
            while at < len(known) and known[at].isspace():
                at += 1
            if at == len(known):
                self.rest = ""
                return text[count:]
            if known[at] != letter:
                self.has_diverged, self.rest = True, ""
                return text
            at += 1
        self.rest = known[at:]
        return ""


class TextToCompare:
    """Released text, while it is not known what of it the last message of another process shows.

    `is_misread`: that message does not read as its segment.
    """

    def __init__(self) -> None:
        self.text = ""
        self.is_misread = False
        self._part_of: PartOf | None = None
        self._compare_from = 0  # characters that must be held before they are compared

    @property
    def is_comparing(self) -> bool:
        """Text is held until it is known what of it is shown."""
        return self._part_of is not None

    def compare(self, part_of: PartOf) -> None:
        """The last message that was restored may show more than was known of it."""
        self._part_of = part_of

    def push(self, text: str) -> None:
        self.text += text

    def find_part(self, *, is_all: bool) -> tuple[int, bool] | None:
        """As `PartOf` says, of the text so far. `is_all`: no more comes."""
        if self._part_of is None or not (is_all or len(self.text) >= self._compare_from):
            return None
        part = self._part_of(self.text, is_all)
        if part is None:
            self._compare_from = len(self.text) * 9 // 8  # each time all of it is read again
        return part

    def end(self, *, is_misread: bool) -> None:
        """It is known now."""
        self.is_misread = is_misread
        self.clear()

    def clear(self) -> None:
        self.text, self._part_of = "", None


class Ledger:
    """Lays one answer into segments. The work for a call does not grow with the answer.

    `present` is the message that text goes into now; if it `is_ending`, it gets no more. `in_doubt`: what was
    given out last is not known to be shown, and nothing more is given out until it is. `repeated` and `held`:
    what another process has shown of the answer.
    """

    def __init__(self, limits: MessageLimits) -> None:
        self.limits = limits
        self.waiting = TextQueue(limits.max_call_chars + _MARGIN)
        self.released = ""
        self.present: Segment | None = None
        self.in_doubt = False
        self.repeated = RepeatedText()
        self.held = TextToCompare()
        self._over: list[Segment] = []
        self._sent: tuple[str, Segment, bool] | None = None  # text, then its message, and whether that ends
        self.is_ending = False
        self._tables = TableHold()  # released, while its table is not whole

    @property
    def segments(self) -> tuple[Segment, ...]:
        return (*self._over, self.present) if self.present else tuple(self._over)

    @property
    def text(self) -> str:
        shown = (segment.body for segment in self.segments)
        sent = self._sent[0] if self._sent else ""
        return "".join((*shown, sent, self.held.text, self.released, self._tables.held))

    @property
    def has_more(self) -> bool:
        sent = self._sent[0] if self._sent else ""
        return any(text and not text.isspace() for text in (self.released, sent))

    def restore(self, segments: Iterable[Segment]) -> None:
        """Messages that another process wrote. The text that is pushed now begins with theirs again, which is
        left out; where it does not, `repeated.has_diverged`.
        """
        self._over += segments
        self.repeated.expect("".join(segment.body for segment in self._over))

    def place_held(self, *, is_all: bool = False) -> None:
        """What of the held text belongs to that message is confirmed. `is_all`: no more comes."""
        if (part := self.held.find_part(is_all=is_all)) is None:
            return
        (count, is_shown), last, text = part, self._over[-1], self.held.text
        if len(last.text) + count > self.limits.max_call_chars:
            count, is_shown = 0, False
        self._over[-1] = last.grown("", text[:count], 0)
        self.released = text[count:] + self.released
        self.held.end(is_misread=not is_shown)

    def push(self, text: str) -> str:
        """Returns what of `text` waits now."""
        if self.repeated.rest:
            text = self.repeated.leave_out(text)
        self.waiting.push(text)
        return text

    def release(self, count: int) -> str:
        text = self.waiting.take(count)
        if self.held.is_comparing:
            self.held.push(text)
            self.place_held()
        else:
            apart = self.limits.tables_apart
            self.released += self._tables.push(text) if apart else self._tables.release() + text
        return text

    def release_tables(self) -> None:
        """Give out a table though more of it may come."""
        self.released += self._tables.release()

    def discard(self) -> None:
        assert self._sent is None, "text is on its way"
        self.waiting.clear()
        self._tables.clear()
        self.held.clear()
        self.released = ""

    def rotate(self) -> None:
        """The present message ends here, whatever its size and age; `next` says how."""
        self.is_ending = self.present is not None

    def due(self, now: float) -> float | None:
        """When `next` may have something to do although no text came; None: never. math.inf: nothing may be
        written before more text has come.
        """
        if self.held.is_comparing:
            return math.inf
        if self.has_more:
            return now
        present = self.present
        if present is None or self._sent is not None or math.isinf(self.limits.rotate_after):
            return None
        due = present.opened_at + self.limits.rotate_after
        return due if now < due or _ends_well(present) else due + self.limits.rotate_grace

    def next(self, now: float, *, cards: int = 0, final: bool = False) -> LedgerStep | None:
        """The next step; None: nothing to do now. `cards`: their weight, if some wait to go along."""
        if self._sent is not None:
            return None
        present = self.present
        has_more = self.has_more
        if present is not None:
            is_over = not _takes_text(present, self.limits, now, has_more=has_more, final=final)
            if self.is_ending or is_over or (cards and not _takes_cards(present, self.limits, cards)):
                return self._end(present)
        if not has_more and not cards:
            return None
        if present is None and len(self._over) >= self.limits.max_segments:
            return SegmentsExhausted()
        message = present or Segment(now)
        opening, (chars, ends), is_table = _fit(
            self.released, message, self._over, self.limits, now=now, cards=cards, final=final
        )
        if present is not None and ends and not chars:
            return self._end(present)
        body, self.released = self.released[:chars], self.released[chars:]
        segment = message.grown(opening, body, cards)
        closing = _closing(segment, self.limits) if ends else ""
        self._sent, self.in_doubt = (body, segment.closed(closing) if closing else segment, ends), True
        return SendText(opening + body + closing, present is None, ends, cards, is_table and not closing)

    def confirmed(self) -> None:
        """Slack said ok to what `next` gave out last."""
        _, self.present, self.is_ending = self._take_sent()

    def refused(self) -> None:
        """It was not applied: `next` gives the text out again."""
        self.released = self._take_sent()[0] + self.released

    def settled(self, *, stands: bool) -> None:
        """All of it was applied (`stands`), or nothing; the message takes no more, if it exists."""
        if stands:
            self.confirmed()
        else:
            self.refused()
        if self.present is not None:
            self.closed()

    def closed(self) -> None:
        assert self.present is not None, "no message is open"
        self._over.append(self.present)
        self.present, self.is_ending = None, False

    def _take_sent(self) -> tuple[str, Segment, bool]:
        sent, self._sent, self.in_doubt = self._sent, None, False
        assert sent is not None, "nothing is on its way"
        return sent

    def _end(self, present: Segment) -> LedgerStep:
        self.is_ending = True
        closing = "" if present.closing else _closing(present, self.limits)
        if not closing:
            return FinishSegment()
        self._sent, self.in_doubt = ("", present.closed(closing), True), True
        return SendText(closing, begins=False, ends=True)


def split_into_segments(text: str, limits: MessageLimits) -> Iterator[Segment]:
    """`text` as the messages it needs, however many, without white space at its end."""
    ledger = Ledger(replace(limits, rotate_after=math.inf, max_segments=len(text) + 1, tables_apart=False))
    ledger.released = text
    while (step := ledger.next(0.0, final=True)) is not None:
        if isinstance(step, SendText):
            ledger.confirmed()
        else:
            ledger.closed()
            yield ledger._over[-1]
    if ledger.present is not None:
        yield ledger.present


def _takes_cards(present: Segment, limits: MessageLimits, cards: int) -> bool:
    return present.weight + cards <= limits.rotate_bytes - limits.reserve


def _takes_text(present: Segment, limits: MessageLimits, now: float, *, has_more: bool, final: bool) -> bool:
    """`present` is not too old: an old one ends where it ends well, a very old one anywhere."""
    due = present.opened_at + limits.rotate_after  # summed as in `due`
    if now >= due + limits.rotate_grace:
        return final and not has_more
    return now < due or final or not _ends_well(present)


def _fit(
    released: str,
    message: Segment,
    over: Sequence[Segment],
    limits: MessageLimits,
    *,
    now: float,
    cards: int,
    final: bool,
) -> tuple[str, Fit, bool]:
    """What `message` begins with, how much of the text fits into it, and whether that is a table."""
    if not released or released.isspace():  # only cards go
        return "", (0, False), False
    opening = "" if message.text else _opening(over, released, limits)
    before, used = message.state.then(opening), message.weight + cards + utf8_len(opening)
    text, is_table = released, False
    if limits.tables_apart:
        text, is_table = _up_to_table(released, before, limits, begins=not message.text)
    is_old = not final and now >= message.opened_at + limits.rotate_after
    if is_old and not is_table and (line := fit_line(text, before, used, limits)) is not None:
        return opening, line, False

    def quality() -> CutQuality | None:
        return message.quality if message.text else None

    count, ends = fit(text, before, used, quality, limits, final=final)
    if is_table and message.text and (is_old or count < len(text)):
        return opening, (0, True), False  # it has a message where it is whole
    return opening, (count, ends), is_table and count == len(text) and not opening


def _up_to_table(
    released: str, before: MarkdownState, limits: MessageLimits, *, begins: bool
) -> tuple[str, bool]:
    """What is released, up to a table that goes apart; or that table alone. `begins`: it begins a message.

    Blank lines before a table go with it there: alone they would be a message without words.
    """
    table = first_table(released[: limits.max_call_chars + _MARGIN], before)
    if table is None:
        return released, False
    start, end = table
    is_table = not start or (begins and released[:start].isspace())
    return released[: end if is_table else start], is_table


def _closing(message: Segment, limits: MessageLimits) -> str:
    """What closes `message`; "" where it has no room or cannot be opened again."""
    text = message.text
    added = closing_markup(message.state, text[-1:]) if text else ""
    if not added or message.weight + utf8_len(added) > limits.rotate_bytes:
        return ""
    # with all that may follow a mark
    again = opening_markup(message.state, last_line(text.lstrip()), "\n")
    return added if utf8_len(again) <= limits.decoration else ""


def _opening(over: Sequence[Segment], released: str, limits: MessageLimits) -> str:
    """What opens again, in the next message, what is open at the end of those that are `over`."""
    last = next((segment for segment in reversed(over) if segment.text), None)
    if last is None:
        return ""
    head = released[:_HEAD]
    added = opening_markup(last.state, last_line((last.opening + last.body).lstrip()), head)
    if utf8_len(added) > limits.decoration and not last.closing:
        added = ""  # what was closed is opened again, whatever limits hold by now
    if not added and last.state.line and _begins_block(last.state, head):
        return WORD_JOINER  # in the middle of a line it begins no quote, no list and no fence
    return added


def _begins_block(state: MarkdownState, head: str) -> bool:
    line = head.partition("\n")[0] + "\n"
    is_fence = state_of(line).open.fence and not state.then(line).open.fence
    return bool(is_fence or _BEGINS_BLOCK.match(head))


def _ends_well(segment: Segment) -> bool:
    quality = segment.quality
    return not segment.text or (quality is not None and quality >= CutQuality.ROW)
