"""When waiting text is shown: soon, but cut only where it may be cut.

Slack trims white space: alone it is not sent, and cuts are behind it (delivery.md 3).
"""

import copy
import re
from collections import Counter

from .fit import best_cut
from .ledger import Ledger
from .markdown import Cuts, MarkdownState, cluster_cut, find_cuts, sendable_part
from .masking import MAX_UNDECIDED
from .sanitize import StreamSanitizer

TIMER_TOLERANCE = 1e-6
"""Seconds a timer may fire before the time it was set to, by rounding."""
_PAUSES_IN_AGE = 5
_SETTLED = 200  # characters up to a safe cut that are not read again
_GROWTH = 32  # text without a cut is read again when it grew by this part of it
_SLOW_GROWTH = 8  # the same for more than `_MUCH` characters
_MUCH = 1_000
_MASK_GROWTH = 4  # times that a mask may be longer than what it stands for
_WORD_MOST = 40  # letters; a longer run of them is a script without spaces, where nothing is torn
_WORD = re.compile(rf"(?<!\w)\w{{1,{_WORD_MOST}}}\Z")


class StreamBuffer:
    """Decides when `ledger` may send its waiting text, which is sanitized on its way there.

    A line is ready at its end. Less than a line is ready, up to the last safe cut, `first_flush_delay`
    seconds after the first token, then a pause after the last flush: a fifth of the age, but at least
    that delay and at most `flush_interval`. What cannot be cut safely waits once as long again; a line that
    opens or closes a fence, or rules a table, waits for its end, however long that takes, because a call that
    fails would leave half of it: such a line is marks and the name of a language, and what is before it is
    shown. Nothing of an unproven text is ready before `unproven_delay` seconds, while nothing else was shown;
    and after `unproven_calls` calls with such text the next is ready `unproven_interval` seconds later at
    the soonest.

    `secrets` must never be shown.
    """

    def __init__(
        self,
        ledger: Ledger,
        *,
        first_flush_delay: float,
        flush_interval: float,
        unproven_delay: float = 0.0,
        unproven_calls: int = 60,
        unproven_interval: float = 0.0,
        secrets: tuple[str, ...] = (),
    ) -> None:
        self._unproven_delay, self._not_before = unproven_delay, 0.0
        self._unproven_interval, self._unproven_calls = unproven_interval, unproven_calls
        self._is_unproven = False  # the text that came last
        self._ledger, self._waiting, self._max = ledger, ledger.waiting, ledger.limits.max_call_chars
        self._first, self._interval, self._secrets = first_flush_delay, flush_interval, secrets
        self._sanitizer, self._at_mark = StreamSanitizer(secrets), StreamSanitizer(secrets)
        self._replaced: Counter[str] | None = None
        self._masked: Counter[str] = Counter()  # by the sanitizers of texts that have ended
        self._raw: list[str] = []  # not sanitized yet: it changes nothing about when text is ready
        self._raw_size = 0
        # with that and what the sanitizer keeps back, which masks may make longer, a call is not full
        self._most_raw = (self._max - max(MAX_UNDECIDED, *map(len, secrets), 0)) // _MASK_GROWTH
        self._since_mark = 0  # sanitized characters since the last `start_new_text`
        self._forced = 0  # how many characters `flush` wants out
        self._since: float | None = None  # when the wait began; None: nothing to be seen waits
        self._joined: float | None = None  # the first push since text was released
        self._began_at: float | None = None  # when the first token of all came
        self._released_at: float | None = None  # when the text of the present call was released
        self._last = 0.0  # when the text before was released: a slow call is no reason to wait longer
        self.begun = bool(ledger.segments)  # something that can be seen was released
        self._state = MarkdownState()  # of all text that was released
        self._look_again()

    def _look_again(self) -> None:
        self._cuts, self._looked = Cuts(), 0  # known cuts, found in so many characters
        self._sendable: int | None = None  # where a line begins that has to wait for its end
        self._base, self._base_state = 0, self._state  # a safe cut from which on the text is read

    def push(self, text: str, now: float, *, unproven: bool = False) -> bool:
        """The answer grew by `text`. `unproven`: it may yet be retracted. False: `deadline` is as before."""
        if self._may_stay_raw(text):
            self._raw.append(text)
            self._raw_size += len(text)
            return False
        self._settle()
        self._is_unproven = unproven
        self._add(self._sanitizer.push(text), now, unproven=unproven)
        return True

    def _may_stay_raw(self, text: str) -> bool:
        """As most text of a line that waits already."""
        if self._since is None or self._joined is None or "\n" in text or "\r" in text:
            return False
        is_full = self._waiting.size + self._raw_size + len(text) > self._most_raw
        return not (is_full or self._ledger.repeated) and (self._cuts.safe > 0 or self._needs_look())

    def _settle(self) -> None:
        if self._raw:
            text, self._raw, self._raw_size = "".join(self._raw), [], 0
            self._keep(self._sanitizer.push(text))

    def _keep(self, text: str) -> str:
        self._since_mark += len(text)
        return self._ledger.push(text)

    def _add(self, text: str, now: float, *, unproven: bool = False) -> None:
        text = self._keep(text)
        if text and not text.isspace():
            if unproven and self._since is None and not self.begun:
                self._not_before = now + self._unproven_delay
            self._began_at = now if self._began_at is None else self._began_at
            self._since = now if self._since is None else self._since
            self._joined = now if self._joined is None else self._joined

    @property
    def masked(self) -> Counter[str]:
        """How many secrets were masked in the text, by kind."""
        return self._replaced if self._replaced is not None else self._masked + self._sanitizer.masked

    def text_was_replaced(self, masked: Counter[str]) -> None:
        """The whole text is written anew in the end. `masked`: the secrets in the new one, by kind."""
        self._replaced = masked

    def start_new_text(self) -> None:
        """What comes now may be retracted without what came before.

        The sanitizer goes on: text that is written again hands on only what it adds, so a secret may begin
        before the mark and end behind it.
        """
        self._settle()
        self._at_mark, self._since_mark = copy.deepcopy(self._sanitizer), 0

    def end(self, now: float) -> None:
        self._settle()
        self._add(self._sanitizer.end(), now)
        self._masked += self._sanitizer.masked
        self._sanitizer = StreamSanitizer(self._secrets)
        self.start_new_text()
        self.flush()

    def flush(self) -> None:
        """Nothing follows soon: all is ready, whatever the cut, but a word without its end."""
        self._settle()
        in_word = self._sanitizer.splits_a_word
        word = _WORD.search(self._waiting.tail(_WORD_MOST + 1)) if in_word else None
        self._forced = self._waiting.size - (len(word.group()) if word else 0)
        if not self._is_forced():
            self._ledger.release_tables()

    @property
    def is_unsent(self) -> bool:
        return self._since_mark <= self._waiting.size

    def retract(self) -> None:
        """What came since the last `start_new_text` is not shown. It must be unsent."""
        self._settle()
        assert self.is_unsent, "it was released"
        self._waiting.drop_last(self._since_mark)
        self._sanitizer, self._since_mark = copy.deepcopy(self._at_mark), 0
        self._forced = min(self._forced, self._waiting.size)
        self._look_again()
        if not self._is_visible:
            self._since = self._joined = None
            if not self.begun and self._released_at is None:
                self._began_at, self._not_before = None, 0.0

    def deadline(self) -> float | None:
        """When `release` may have something to do. None: nothing to be seen waits, or only a line that waits
        for its end, and no more of it has come.

        It may be too early: only `is_ready` looks for cuts within a line.
        """
        if self._since is None or self._is_forced():
            return self._since
        if self._is_due():
            return max(self._since, self._not_before)
        pause = self._pause()
        due = max(self._since, self._last + pause) if self.begun else self._since + pause
        if self._waits_for_line_end() and not self._needs_look():
            return None
        return max(due if self._cuts.safe or self._needs_look() else due + pause, self._not_before)

    def next_deadline(self, now: float) -> float | None:
        """Before this no part of a line that begins later will be due; None: it may be due at once."""
        due = self._last + self._pause()
        return due if self.begun and due > now else None

    def _pause(self) -> float:
        age = self._last - self._began_at if self.begun and self._began_at is not None else 0.0
        return min(self._interval, max(self._first, age / _PAUSES_IN_AGE))

    def is_ready(self, now: float) -> bool:
        self._settle()
        while (due := self.deadline()) is not None and now + TIMER_TOLERANCE >= due:
            if self._is_due() or not self._needs_look():
                return True
            self._look()
        return False

    def release(self, now: float, *, is_late: bool = False) -> int:
        """How many characters of the waiting text go now. `is_late`: it was ready before and had to wait, so
        the line that is not at its end goes along."""
        count, was_forced = self._cut(now) if self.is_ready(now) else 0, self._is_forced()
        if is_late and count and count == self._cuts.line:
            count += self._safe_after(count)
        if count:
            text = self._ledger.release(count)
            self.begun = self.begun or not text.isspace()
            self._released_at, self._joined = now, None
            self._unproven_calls -= self._is_unproven
            if self._unproven_calls <= 0 and self._is_unproven:
                self._not_before = now + self._unproven_interval
            self._forced = max(0, self._forced - count)
            if was_forced and not self._is_forced():
                self._ledger.release_tables()
            self._state = self._state.then(text)
            self._look_again()
        return count

    def release_all(self) -> None:
        self._settle()
        if self._is_visible:
            self._ledger.release(self._waiting.size)
            self.begun = True

    @property
    def waiting_since(self) -> float | None:
        """When the oldest text came that is not confirmed. None: nothing to be seen waits."""
        return self._since

    def acknowledge(self, now: float) -> None:
        if self._released_at is not None:
            waited = now if self._joined is None else self._joined
            self._since = waited if self._is_visible else None
            self._last, self._released_at = self._released_at, None

    @property
    def _is_visible(self) -> bool:
        return self._waiting.is_visible(self._waiting.size)

    def _is_forced(self) -> bool:
        return self._forced > 0 and self._waiting.is_visible(self._forced)

    def _is_due(self) -> bool:
        if self._waiting.size > self._max or self._is_forced():
            return True
        if not self._cuts.line and self._waiting.front.find("\n", self._looked) >= 0:
            self._look()
        return self._cuts.line > 0

    def _waits_for_line_end(self) -> bool:
        return self._sendable is not None and not self._waiting.is_visible(self._sendable)

    def _needs_look(self) -> bool:
        new = len(self._waiting.front) - self._looked
        if new <= 0 or self._cuts.safe:
            return False
        return self._has_grown(new) or self._waits_for_line_end()  # which the next character may undo

    def _has_grown(self, new: int) -> bool:
        return new * (_GROWTH if self._looked < _MUCH else _SLOW_GROWTH) >= max(1, self._looked)

    def _look(self) -> None:
        text, base, before = self._waiting.front, self._base, self._base_state
        self._looked, lead = len(text), _white(text)
        found = find_cuts(text[base:], self._max - base, before, words="\n" not in text)
        if "\n" in text and not (found.line and base + found.line > lead):
            found = find_cuts(text[base:], self._max - base, before)
        cuts = (found.line and base + found.line, base + found.safe, base + found.word)
        self._cuts = Cuts(*(at if at > lead else 0 for at in cuts))
        sendable = len(text)
        if not (self._cuts.line or self._cuts.word):
            sendable = base + sendable_part(text[base:], before)
        self._sendable = sendable if sendable < len(text) else None
        if found.safe > _SETTLED and not found.line:
            self._base = base + found.safe
            self._base_state = before.then(text[base : self._base])

    def _cut(self, now: float) -> int:
        text = self._waiting.front
        if self._is_forced() and self._forced <= self._max:
            return self._forced
        if self._waiting.size > self._max:
            return best_cut(text, self._state, self._max, self._max - self._max // 4, None)
        new = len(text) - self._looked
        if new and (self._looked < _MUCH or self._has_grown(new)):
            self._cuts, self._looked = Cuts(), 0
        if not self.is_ready(now):
            return 0
        return self._cuts.line or self._cuts.safe or self._cuts.word or _anywhere(text[: self._sendable])

    def _safe_after(self, at: int) -> int:
        text = self._waiting.front
        safe = find_cuts(text[at:], self._max - at, self._state.then(text[:at])).safe
        return safe if safe > _white(text[at:]) else 0  # a cut in the indentation of a line of code loses it


def _white(text: str) -> int:
    return len(text) - len(text.lstrip())


def _anywhere(text: str) -> int:
    """All of it but half a cluster, unless nothing else is there: its other half may never come."""
    cut = cluster_cut(text, len(text))
    return cut if cut > _white(text) else len(text)
