"""The text between the agent and Slack: nothing lost, nothing twice, shown soon, cut where it may be cut.

Text leaves only when Slack has said ok (`shown`); a call that failed leaves everything where it was. When it
is shown is decided by what came and by the time, never by which token happens to come next: `deadline` tells
when to look again, so the last words before a pause do not stay unseen (delivery.md 3).

White space alone is not worth a call, and Slack trims it: it stays in front of what comes next. Cuts are made
behind white space, not before it, for the same reason.
"""

from __future__ import annotations

import re
from collections import deque

from .graphemes import cluster_cut
from .markdown import Cuts, MarkdownState, best_cut, find_cuts

TIMER_TOLERANCE = 1e-6
"""Seconds a timer may fire before the time it was set to, by rounding."""
_MARGIN = 400  # characters read beyond one call's worth, to know what follows the cut
_PAUSES_IN_AGE = (
    5  # a pause is this part of the answer's age: the reader never misses more than a fifth of it
)
_SETTLED = 200  # characters of the window that are safe to be cut behind, before they are not read again
_GROWTH = 32  # text without a cut is read again when it grew by this part of it: one token, for a line or two
_SLOW_GROWTH = 8  # the same for more than `_MUCH` characters
_MUCH = 1_000
_WORD_MOST = 40  # letters; a longer run of them is a script without spaces, where nothing is torn
_WORD = re.compile(rf"(?<!\w)\w{{1,{_WORD_MOST}}}\Z")


class StreamBuffer:
    """Holds the text of one answer until Slack shows it.

    `first_flush_delay` and `flush_interval` are seconds, `max_call_chars` the most that one call may carry.
    A line
    is ready at its end. Less than a line is ready, up to the last safe cut, `first_flush_delay` after the
    first
    token of all, and from then on a pause after the last flush: a fifth of the answer's age, so that four
    fifths of it stand at any time, but at least `first_flush_delay` and at most `flush_interval`. What
    cannot be
    cut safely is held once as long again and then shown as it is.

    Only the beginning of a long text is ever looked at, so what a call here costs has a bound.
    """

    def __init__(self, *, first_flush_delay: float, flush_interval: float, max_call_chars: int) -> None:
        self._first, self._interval, self._max = first_flush_delay, flush_interval, max_call_chars
        self._reach = max_call_chars + _MARGIN
        self._window = ""  # the first `_reach` characters held
        self._more: deque[str] = deque()  # those behind them, in pieces of at most `_reach`
        self._length = 0
        self._out = 0  # how many of them were handed out for a call
        self._forced = 0  # how many of them `flush` wants out
        self._standing = MarkdownState()
        self._since: float | None = None  # when the wait began; None: nothing to be seen waits
        self._joined: float | None = None  # the first push since text was handed out for a call
        self._cuts = Cuts()
        self._looked = 0  # how much of the window `_cuts` was told from
        self._best: int | None = None  # where to cut what is more than a call's worth
        self._base = 0  # a safe cut of the window from which on it is read
        self._based = MarkdownState()  # how the message would stand there
        self._began_at: float | None = None  # when the first token of all came
        self._handed: float | None = None  # when what is being shown was handed out
        self._last = 0.0  # when what was shown last was handed out: a slow call is no reason to wait longer
        self.begun = False

    def push(self, text: str, now: float) -> None:
        """Add `text`, which came at `now`."""
        self._hold(text)
        if text.strip():
            self._began_at = now if self._began_at is None else self._began_at
            self._since = now if self._since is None else self._since
            self._joined = now if self._joined is None else self._joined

    def flush(self, *, in_word: bool = False) -> None:
        """Nothing follows soon: all that is held now is ready, whatever the cut.

        `in_word`: the rest of the last word is kept elsewhere and comes later, so the word waits for it.
        """
        word = _WORD.search(self._tail(_WORD_MOST + 1)) if in_word else None
        self._forced = self._length - (len(word.group()) if word else 0)

    def deadline(self) -> float | None:
        """When `ready` may give something without a further push; a time that has passed means now.

        None: nothing to be seen waits. Only a line's end is looked for here, so it may be too early:
        `is_ready` looks for other cuts when the time has come, and knows better afterwards.
        """
        if self._since is None or self._is_due():
            return self._since
        pause = self._pause()
        due = max(self._since, self._last + pause) if self.begun else self._since + pause
        return due if self._cuts.safe or self._needs_look() else due + pause

    def is_ready(self, now: float) -> bool:
        """`ready` may give something now."""
        if not self._has_passed(self.deadline(), now):
            return False
        if not self._is_due() and self._needs_look():
            self._look()
        return self._has_passed(self.deadline(), now)

    def _pause(self) -> float:
        age = 0.0 if self._began_at is None or not self.begun else self._last - self._began_at
        return min(self._interval, max(self._first, age / _PAUSES_IN_AGE))

    def ready(self, now: float) -> str:
        """What should be sent now, "" if nothing. The same answer until something is pushed or shown."""
        if not self.is_ready(now):
            return ""
        text = self._window[: self._cut(now)]
        if text:
            self._out = len(text)
            self._joined = None
            self._handed = now if self._handed is None else self._handed
        return text

    def acknowledge(self, text: str, now: float) -> None:
        """Slack shows `text`, which is how the held text began. ValueError if it is not."""
        if not text:
            return
        self._drop(text)
        self._forced, self._out = max(0, self._forced - len(text)), 0
        self._standing = self._standing.then(text)
        self._look_anew()
        waited = now if self._joined is None else self._joined
        self._since = waited if self._is_visible(self._length) else None
        self.begun = self.begun or bool(text.strip())
        self._last, self._handed = now if self._handed is None else self._handed, None

    @property
    def waiting(self) -> int:
        """How many characters were not handed out for any call."""
        return self._length - self._out

    def retract(self, count: int) -> None:
        """The last `count` characters are not to be shown after all. They must be `waiting`."""
        assert count <= self.waiting, "it was handed out"
        held = self.remaining()
        self._window, self._length = "", 0
        self._more.clear()
        self._hold(held[: len(held) - count])
        self._forced = min(self._forced, self._length)
        self._look_anew()
        if not self._is_visible(self._length):
            self._since = self._joined = None
            self._began_at = self._began_at if self.begun or self._out else None

    def _look_anew(self) -> None:
        """What is known about cuts was about another text."""
        self._cuts, self._looked = Cuts(), 0
        self._best, self._base, self._based = None, 0, self._standing

    def remaining(self) -> str:
        """All that was pushed and not shown."""
        return self._window + "".join(self._more)

    def _tail(self, chars: int) -> str:
        """The last `chars` characters held."""
        tail = ""
        for piece in reversed(self._more):
            tail = piece + tail
            if len(tail) >= chars:
                return tail[-chars:]
        return (self._window + tail)[-chars:]

    def _hold(self, text: str) -> None:
        self._length += len(text)
        self._more.extend(text[at : at + self._reach] for at in range(0, len(text), self._reach))
        self._refill()

    def _drop(self, text: str) -> None:
        if self._window.startswith(text):
            self._window = self._window[len(text) :]
            self._length -= len(text)
            self._refill()
            return
        held = self.remaining()
        if not held.startswith(text):
            raise ValueError("what was shown is not how the held text begins")
        self._window, self._length = "", 0
        self._more.clear()
        self._hold(held[len(text) :])

    def _refill(self) -> None:
        """Move pieces into the window, all at once: one by one would copy the window for each."""
        pieces, room = [self._window], self._reach - len(self._window)
        while self._more and room > 0:
            piece = self._more.popleft()
            pieces.append(piece[:room])
            if len(piece) > room:
                self._more.appendleft(piece[room:])
            room -= len(piece)
        self._window = "".join(pieces)

    def _is_visible(self, length: int) -> bool:
        """More than white space stands among the first `length` characters held."""
        if self._window[:length].strip():
            return True
        return length > len(self._window) and any(piece.strip() for piece in self._more)

    def _is_forced(self) -> bool:
        return self._forced > 0 and self._is_visible(self._forced)

    def _is_due(self) -> bool:
        """Something goes without waiting: a line, all of it, or as much as one call can take."""
        if self._length > self._max or self._is_forced():
            return True
        if not self._cuts.line and "\n" in self._window[self._looked :]:
            self._look()
        return self._cuts.line > 0

    @staticmethod
    def _has_passed(deadline: float | None, now: float) -> bool:
        return deadline is not None and now + TIMER_TOLERANCE >= deadline

    def _needs_look(self) -> bool:
        """No cut is known, and the window has grown enough to be worth another reading."""
        new = len(self._window) - self._looked
        return new > 0 and not self._cuts.safe and self._has_grown(new)

    def _look(self) -> None:
        """Learn where the window may be cut."""
        self._looked = len(self._window)
        base, lead = self._base, self._lead()
        found = find_cuts(self._window[base:], self._max - base, before=self._based)
        cuts = (found.line and base + found.line, base + found.safe, base + found.word)
        self._cuts = Cuts(*(at if at > lead else 0 for at in cuts))
        if found.safe > _SETTLED and not found.line:
            self._base = base + found.safe
            self._based = self._based.then(self._window[base : self._base])

    def _has_grown(self, new: int) -> bool:
        """The window is longer by `new` characters than when it was read, which is worth another reading."""
        return new * (_GROWTH if self._looked < _MUCH else _SLOW_GROWTH) >= max(1, self._looked)

    def _cut(self, now: float) -> int:
        """How much of the window goes now; 0: nothing yet, after all."""
        if self._is_forced() and self._forced <= self._max:
            return self._forced
        if self._length > self._max:
            if self._best is None:
                cut = best_cut(self._window, self._max, before=self._standing)
                self._best = cut if cut > self._lead() else self._anywhere()
            return self._best
        if self._looked < _MUCH or self._has_grown(len(self._window) - self._looked):
            self._cuts, self._looked = Cuts(), 0
        if not self.is_ready(now):
            return 0
        return self._cuts.line or self._cuts.safe or self._cuts.word or self._anywhere()

    def _anywhere(self) -> int:
        """As much as one call takes. Half a flag goes rather than nothing: its other half may never come."""
        whole = min(self._max, len(self._window))
        cut = cluster_cut(self._window, whole)
        return cut if cut > self._lead() else whole

    def _lead(self) -> int:
        return len(self._window) - len(self._window.lstrip())
