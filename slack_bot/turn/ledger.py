"""The ledger: which characters of an answer wait, which were sent, and in which message each one stands.

An answer is laid into segments, one message each, because a message takes only so much, for so long. Text
is confirmed by Slack's ok alone. What was sent without an answer is in doubt, and nothing more is given out
until it is settled. So no character is asked for twice, and none is lost, whatever becomes of a call.

The ledger says what to do (`next`), is told what became of it (`confirmed`, `refused`, `unknown`, `settled`,
`closed`), and says by when to ask again though nothing came (`deadline`). It knows neither Slack nor the
time. It is used so:

    ledger.push(text)
    while (step := ledger.next(clock.now())) is not None:
        match step:
            case Show():      write step.text into the present message, or begin one with it
                              -> confirmed() | refused() | unknown(), settled(stands=)
            case Finish():    stop the present message                     -> closed()
            case Overflow():  say so, give the rest as a file, or `use` limits with more segments
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from .carryover import GUARDS, closing_markup, expected, last_line, opening_markup, seam, state_of
from .fit import Fit, MessageLimits, fit, fit_line, quality_at_end, utf8_len
from .markdown import CutQuality, MarkdownState

_BLOCK_HEAD = re.compile(r"\s*(?:[`~#>+-]|\d|\*(?:\s|$))")
_BEGINS_BLOCK = re.compile(r">|#{1,6}(?:\s|\Z)|[-+*](?:\s|\Z)|\d{1,9}[.)](?:\s|\Z)")
_HEAD = 2_048  # characters of the waiting text that may decide about how a message begins


@dataclass(frozen=True, slots=True)
class Segment:
    """One message, as far as it is known.

    `text` is what it shows of the answer, with what was added to make it look right; `start` and `end` are
    the characters of the answer in it, counted from 0. `weight` is in weighted bytes, cards included.
    `opened_at` is when its first call was asked for. `is_over`: it takes no more. `closed_by` is how much of
    `text` closes it.
    """

    number: int
    start: int
    end: int
    opened_at: float
    text: str = ""
    weight: int = 0
    is_over: bool = False
    closed_by: str = ""
    standing: MarkdownState = field(default=MarkdownState(), repr=False)

    @property
    def body(self) -> str:
        """`text` without what closes it."""
        return self.text.removesuffix(self.closed_by)

    @property
    def closer(self) -> str:
        """What would make the message look right if it ended here."""
        return "" if self.closed_by or not self.text else closing_markup(self.standing, self.text[-1:])


@dataclass(frozen=True, slots=True)
class SendText:
    """Write `text`, which holds `chars` characters of the answer, into the present message.

    `begins`: the message does not exist yet. `ends`: it gets nothing more, a `FinishSegment` follows.
    `cards` is the
    weight of the cards that go along, 0 if they must wait. `text` is "" where only cards go.
    """

    text: str
    chars: int
    begins: bool
    ends: bool = False
    cards: int = 0


@dataclass(frozen=True, slots=True)
class FinishSegment:
    """Stop the present message: more of the answer follows in another one."""


@dataclass(frozen=True, slots=True)
class SegmentsExhausted:
    """More waits, and the answer has all the messages it may have."""


Step = SendText | FinishSegment | SegmentsExhausted


@dataclass(frozen=True, slots=True)
class _Sent:
    show: SendText
    closer: str
    at: float
    in_doubt: bool = False


class Ledger:
    """Lays one answer into segments. Its work for a call is proportional to a segment, not to the answer."""

    def __init__(self, limits: MessageLimits) -> None:
        self._limits = limits
        self._waiting = ""
        self._confirmed = 0
        self._sent: _Sent | None = None
        self._over: list[Segment] = []
        self._present: Segment | None = None
        self._ending = False  # the present message gets no more text
        self._ended = False  # and it has what closes it

    # -- what stands -----------------------------------------------------------------------------------------

    @property
    def segments(self) -> tuple[Segment, ...]:
        """All messages so far, the present one last."""
        return (*self._over, self._present) if self._present else tuple(self._over)

    @property
    def present(self) -> Segment | None:
        """The message that text goes into now; None: the next text begins one."""
        return self._present

    @property
    def waiting(self) -> str:
        """The text that is not confirmed. That of a call which is out or in doubt is part of it."""
        return self._waiting

    @property
    def has_more(self) -> bool:
        """Text waits that can be seen."""
        return bool(self._waiting) and not self._waiting.isspace()

    @property
    def in_doubt(self) -> bool:
        """A call had no answer and is not settled."""
        return self._sent is not None and self._sent.in_doubt

    # -- what is asked ---------------------------------------------------------------------------------------

    def push(self, text: str) -> None:
        """More of the answer."""
        self._waiting += text

    def retract(self) -> str:
        """Take back all that waits, to be pushed again or never. Not while a call is out or in doubt."""
        assert self._sent is None, "text is on its way"
        text, self._waiting = self._waiting, ""
        return text

    def use(self, limits: MessageLimits) -> None:
        """From now on these limits hold: for another surface, or with more segments."""
        self._limits = limits

    def rotate(self) -> None:
        """The present message ends here, whatever its size and age; `next` says how."""
        self._ending = self._present is not None

    def deadline(self, now: float = math.inf) -> float | None:
        """When `next` may have something to do although no text came; None: never. Ask again at that time."""
        present = self._present
        if present is None or self._sent is not None or math.isinf(self._limits.rotate_after):
            return None
        due = present.opened_at + self._limits.rotate_after
        return due if now < due or _ends_well(present) else due + self._limits.rotate_grace

    def next(self, now: float, *, cards: int = 0, final: bool = False) -> Step | None:
        """What to do now; None: nothing, or a call is out whose outcome was not told.

        `cards` is the weight of cards that wait to go along: title + 2 x (details + output), in UTF-8 bytes.
        `final`: no more text comes.
        """
        if self._sent is not None:
            return None
        if self._present is not None and self._must_end(self._present, now, cards, final=final):
            return self._end(self._present, now)
        if not self.has_more and not cards:
            return None
        if self._present is None and len(self._over) >= self._limits.max_segments:
            return SegmentsExhausted()
        laid, added = self._lay(now, cards, final=final)
        if self._present is not None and laid.ends and not laid.chars:
            return self._end(self._present, now)
        return self._show(laid, added, cards, now)

    # -- what became of it -----------------------------------------------------------------------------------

    def confirmed(self) -> None:
        """Slack said ok to what `next` gave out last."""
        self._apply(self._take())

    def refused(self) -> None:
        """It was not applied. The message takes more; `next` gives the text out again."""
        self._take()

    def unknown(self) -> None:
        """It had no answer: it stands, or not. Nothing is given out until it is `settled`."""
        assert self._sent is not None, "nothing is on its way"
        self._sent = replace(self._sent, in_doubt=True)

    def settled(self, *, stands: bool) -> None:
        """The text given out last stands, or nothing of it; no more goes into that message.

        If not, a message that it would have begun does not exist. To use a message further that was found
        whole, say `confirmed`.
        """
        sent = self._take()
        if stands:
            self._apply(sent)
        if self._present is not None:
            self.closed()

    def closed(self) -> None:
        """The present message is stopped."""
        assert self._present is not None, "no message is open"
        self._over.append(replace(self._present, is_over=True))
        self._present = None
        self._ending = self._ended = False

    def _take(self) -> _Sent:
        sent, self._sent = self._sent, None
        assert sent is not None, "nothing is on its way"
        return sent

    def _apply(self, sent: _Sent) -> None:
        """What was sent stands."""
        show = sent.show
        body = show.text[: len(show.text) - len(sent.closer)]
        old = self._present or Segment(len(self._over) + 1, self._confirmed, self._confirmed, sent.at)
        self._present = replace(
            old,
            end=old.end + show.chars,
            text=old.text + show.text,
            weight=old.weight + utf8_len(show.text) + show.cards,
            closed_by=sent.closer,
            standing=_standing(old, body),
        )
        self._confirmed += show.chars
        self._waiting = self._waiting[show.chars :]
        self._ended = self._ending = show.ends

    # -- deciding --------------------------------------------------------------------------------------------

    def _must_end(self, present: Segment, now: float, cards: int, *, final: bool) -> bool:
        if self._ending:
            return True
        limits = self._limits
        if cards and present.weight + cards > limits.rotate_bytes - limits.reserve:
            return True
        due = present.opened_at + limits.rotate_after  # summed as in `deadline`: no rounding may part them
        if now >= due + limits.rotate_grace:
            return self.has_more or not final
        return now >= due and not final and _ends_well(present)

    def _end(self, present: Segment, now: float) -> Step:
        """Close the message where it stands."""
        self._ending = True
        added = "" if self._ended else self._closer(present.text, present.standing, present.weight)
        if not added:
            return FinishSegment()
        show = SendText(added, 0, begins=False, ends=True)
        self._sent = _Sent(show, added, now)
        return show

    def _lay(self, now: float, cards: int, *, final: bool) -> tuple[Fit, str]:
        """How much goes into the message, and what stands in front of it."""
        present, limits = self._present, self._limits
        if not self.has_more:
            return Fit(0, ends=False), ""
        added = self._opener() if present is None or not present.text else ""
        before = (present.standing if present else MarkdownState()).then(added)
        used = (present.weight if present else 0) + cards + utf8_len(added)
        here = _quality(present) if present and present.text else None
        if present is not None and not final and now >= present.opened_at + limits.rotate_after:
            line = fit_line(self._waiting, before, used, limits)
            if line is not None:
                return line, added
        return fit(self._waiting, before, used, here, limits, final=final), added

    def _show(self, laid: Fit, added: str, cards: int, now: float) -> SendText:
        body = added + self._waiting[: laid.chars]
        old = self._present
        closing = ""
        if laid.ends:
            text, weight = (old.text, old.weight) if old else ("", 0)
            closing = self._closer(text + body, _standing(old, body), weight + cards + utf8_len(body))
        show = SendText(body + closing, laid.chars, begins=old is None, ends=laid.ends, cards=cards)
        self._sent = _Sent(show, closing, now)
        return show

    def _closer(self, text: str, standing: MarkdownState, weight: int) -> str:
        """What closes the message that reads `text`; "" where that would not be understood, or not fit."""
        added = closing_markup(standing, text[-1:]) if text else ""
        if not added or weight + utf8_len(added) > self._limits.rotate_bytes:
            return ""
        follows = opening_markup(standing, last_line(text.lstrip()), "x")
        fits = (
            utf8_len(follows + GUARDS[0]) <= self._limits.decoration
        )  # a joiner may have to stand behind it
        return added if fits and seam(text + added, follows + "x") == (len(added), len(follows)) else ""

    def _opener(self) -> str:
        """What the next message begins with: what was open in the last one, or a guard, or nothing."""
        last = next((segment for segment in reversed(self._over) if segment.text), None)
        if last is None:
            return ""
        head = self._waiting[:_HEAD]
        added = opening_markup(last.standing, last_line(last.body.lstrip()), head)
        if utf8_len(added) > self._limits.decoration and not last.closed_by:
            added = ""  # what was closed is opened again, whatever limits hold by now
        if not added and last.standing.line and _begins_block(last.standing, head):
            return GUARDS[1]  # in the middle of a line it begins no quote, no list and no fence
        if last.closed_by or _is_clear(last.text, added, head):
            return added
        guards = tuple(reversed(GUARDS)) if _is_inline(head) else GUARDS
        return next((guard for guard in guards if _is_clear(last.text, guard, head)), added)


def split_into_segments(text: str, limits: MessageLimits) -> Iterator[str]:
    """The whole of `text` as the messages it needs, however many, one by one as they are asked for.

    White space at its end is left out.
    """
    ledger = Ledger(replace(limits, rotate_after=math.inf, max_segments=len(text) + 1))
    ledger.push(text)
    while (step := ledger.next(0.0, final=True)) is not None:
        if isinstance(step, SendText):
            ledger.confirmed()
        elif (present := ledger.present) is not None:
            ledger.closed()
            yield present.text
    if ledger.present is not None:
        yield ledger.present.text


def _standing(present: Segment | None, text: str) -> MarkdownState:
    """How the message stands with `text` behind it."""
    return present.standing.then(text) if present and present.text.strip() else state_of(text)


def _begins_block(standing: MarkdownState, head: str) -> bool:
    """In a message of its own `head` would begin a block, and behind `standing` it begins none."""
    line = head.partition("\n")[0] + "\n"
    is_fence = state_of(line).open.fence and not standing.then(line).open.fence
    return bool(is_fence or _BEGINS_BLOCK.match(head))


def _is_clear(before: str, added: str, head: str) -> bool:
    """Behind a message that reads `before`, `added` is taken for what it is, however the text goes on."""
    as_sent = added + head
    for begins in dict.fromkeys((as_sent, as_sent.lstrip())):  # Slack drops white space at the front
        if seam(before, begins) != (0, len(added)):
            return False
        if any(each.startswith(begins) and each != begins for each in expected(before)):
            return False
    return True


def _is_inline(head: str) -> bool:
    """`head` need not begin a line of its own to look right, however it goes on."""
    return not _BLOCK_HEAD.match(head) and "|" not in head.partition("\n")[0]


def _ends_well(segment: Segment) -> bool:
    rank = _quality(segment)
    return not segment.text or (rank is not None and rank >= CutQuality.ROW)


def _quality(segment: Segment) -> CutQuality | None:
    return quality_at_end(segment.text, segment.standing)
