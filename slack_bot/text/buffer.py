"""When waiting text is shown: soon, but cut only where it may be cut.

Slack trims white space: alone it is not sent, and cuts are behind it (delivery.md 3).
"""

import copy
import re
from collections import Counter

from .fit import best_cut
from .ledger import Ledger, TextQueue
from .markdown import RULE_SIGNS, Cuts, MarkdownState, cluster_cut, find_cuts, sendable_part
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


def _longest_undecided(secrets: tuple[str, ...]) -> int:
    return max(MAX_UNDECIDED, *map(len, secrets), 0)


class SanitizedInput:
    """What came, on its way to `ledger` without what must not be shown; and what of it may be taken back.

    It stays as it came (`raw_size` characters) until it is looked at. `secrets` must never be shown.
    """

    def __init__(self, ledger: Ledger, secrets: tuple[str, ...]) -> None:
        self._ledger, self.secrets = ledger, secrets
        self.longest_undecided = _longest_undecided(secrets)
        """Characters that may be kept back."""
        self._sanitizer = StreamSanitizer(secrets)
        self._at_mark: StreamSanitizer | None = None  # None: before the first character
        self._replaced: Counter[str] | None = None
        self._masked: Counter[str] = Counter()  # by the sanitizers of texts that have ended
        self._raw: list[str] = []
        self.raw_size = 0
        self._since_mark = 0  # sanitized characters since the last `mark`

    def learn(self, secret: str) -> None:
        """In what comes from now on `secret` must not be shown either."""
        if secret not in self.secrets:
            self.settle()
            self.secrets = (*self.secrets, secret)
            self.longest_undecided = _longest_undecided(self.secrets)
            self._sanitizer.learn(self.secrets)

    def keep_raw(self, text: str) -> None:
        self._raw.append(text)
        self.raw_size += len(text)

    def settle(self) -> None:
        """Sanitize what was kept as it came."""
        if self._raw:
            text, self._raw, self.raw_size = "".join(self._raw), [], 0
            self.push(text)

    def push(self, text: str) -> str:
        """Returns what of it waits now."""
        return self._hand_on(self._sanitizer.push(text))

    def end(self) -> str:
        """The text is whole. Returns what of it waits now that was held back until here."""
        text = self._hand_on(self._sanitizer.end())
        self._masked += self._sanitizer.masked
        self._sanitizer = StreamSanitizer(self.secrets)
        return text

    def mark(self) -> None:
        """What comes now may be taken back without what came before.

        The sanitizer goes on: text that is written again hands on only what it adds, so a secret may begin
        before the mark and end behind it.
        """
        self.settle()
        self._at_mark, self._since_mark = copy.deepcopy(self._sanitizer), 0

    def take_back(self) -> None:
        """What came since the last `mark` is not shown. It must be unsent."""
        self.settle()
        assert self.is_unsent, "it was released"
        self._ledger.waiting.drop_last(self._since_mark)
        self._sanitizer = copy.deepcopy(self._at_mark) or StreamSanitizer(self.secrets)
        self._sanitizer.learn(self.secrets)
        self._since_mark = 0

    @property
    def is_unsent(self) -> bool:
        """Nothing since the last `mark` was released."""
        return self._since_mark <= self._ledger.waiting.size

    @property
    def undecided(self) -> str:
        """What comes behind the waiting text, and is held back because of what it may become."""
        return self._sanitizer.undecided

    @property
    def masked(self) -> Counter[str]:
        """How many secrets were masked in the text, by kind."""
        return self._replaced if self._replaced is not None else self._masked + self._sanitizer.masked

    def text_was_replaced(self, masked: Counter[str]) -> None:
        """The whole text is written anew in the end. `masked`: the secrets in the new one, by kind."""
        self._replaced = masked

    def _hand_on(self, text: str) -> str:
        self._since_mark += len(text)
        return self._ledger.push(text)


class CutFinder:
    """Where `waiting`, behind released text that ends in `state`, may be cut: `cuts`, as far as is known.

    To look costs as much as there is to read, so known cuts are good until the text has grown by a part.
    """

    def __init__(self, waiting: TextQueue, most: int) -> None:
        self._waiting, self._max = waiting, most
        self.start_again(MarkdownState())

    def start_again(self, state: MarkdownState) -> None:
        """The waiting text is another one, behind released text that ends in `state`."""
        self.state = state
        self.cuts, self.looked = Cuts(), 0  # known cuts, found in so many characters
        self.sendable: int | None = None  # where a line begins that has to wait for its end
        self._base, self._base_state = 0, state  # a safe cut from which on the text is read

    def finds_line_end(self) -> bool:
        if not self.cuts.line and self._waiting.front.find("\n", self.looked) >= 0:
            self.look()
        return self.cuts.line > 0

    def waits_for_line_end(self) -> bool:
        """Nothing to be seen waits but a line that must be whole."""
        return self.sendable is not None and not self._waiting.is_visible(self.sendable)

    def needs_look(self) -> bool:
        new = len(self._waiting.front) - self.looked
        if new <= 0 or self.cuts.safe:
            return False
        return self._has_grown(new) or self.waits_for_line_end()  # which the next character may undo

    def _has_grown(self, new: int) -> bool:
        return new * (_GROWTH if self.looked < _MUCH else _SLOW_GROWTH) >= max(1, self.looked)

    def look(self) -> None:
        text, base, before = self._waiting.front, self._base, self._base_state
        self.looked, lead = len(text), _white(text)
        found = find_cuts(text[base:], self._max - base, before, words="\n" not in text)
        if "\n" in text and not (found.line and base + found.line > lead):
            found = find_cuts(text[base:], self._max - base, before)
        cuts = (found.line and base + found.line, base + found.safe, base + found.word)
        self.cuts = Cuts(*(at if at > lead else 0 for at in cuts))
        sendable = len(text)
        if not (self.cuts.line or self.cuts.word):
            sendable = base + sendable_part(text[base:], before)
        self.sendable = sendable if sendable < len(text) else None
        if found.safe > _SETTLED and not found.line:
            self._base = base + found.safe
            self._base_state = before.then(text[base : self._base])

    def look_again_if_grown(self) -> None:
        """A cut that was found may be none: what has come since may undo it."""
        new = len(self._waiting.front) - self.looked
        if new and (self.looked < _MUCH or self._has_grown(new)):
            self.cuts, self.looked = Cuts(), 0

    def best(self) -> int:
        """The best known cut; the last resort is anywhere, but not in a line that must be whole."""
        cuts = self.cuts
        return cuts.line or cuts.safe or cuts.word or _anywhere(self._waiting.front[: self.sendable])

    def best_of_a_call(self) -> int:
        """Where to cut more text than a call takes."""
        return best_cut(self._waiting.front, self.state, self._max, self._max - self._max // 4, None)

    def safe_after(self, at: int) -> int:
        """How many characters behind the cut `at` are up to the last safe one."""
        text = self._waiting.front
        safe = find_cuts(text[at:], self._max - at, self.state.then(text[:at])).safe
        return safe if safe > _white(text[at:]) else 0  # a cut in the indentation of a line of code loses it


class FlushClock:
    """When waiting text is due by its age, wherever it may be cut.

    `begun`: something that can be seen was released. `since`: when the wait began; None: nothing to be seen
    waits. `joined`: when the first text came after the last release; None: none has come.
    """

    def __init__(self, first_delay: float, interval: float, *, begun: bool) -> None:
        self._first, self._interval = first_delay, interval
        self.begun = begun
        self.since: float | None = None
        self.joined: float | None = None
        self._began_at: float | None = None  # when the first token of all came
        self._released_at: float | None = None  # when the text of the present call was released
        self._last = 0.0  # when the text before was released: a slow call is no reason to wait longer

    def text_came(self, now: float) -> None:
        self._began_at = now if self._began_at is None else self._began_at
        self.since = now if self.since is None else self.since
        self.joined = now if self.joined is None else self.joined

    def text_went_back(self) -> bool:
        """Nothing to be seen waits any more. True: as if nothing had ever come."""
        self.since = self.joined = None
        is_new = not self.begun and self._released_at is None
        if is_new:
            self._began_at = None
        return is_new

    def text_was_released(self, now: float, *, is_visible: bool) -> None:
        self.begun = self.begun or is_visible
        self._released_at, self.joined = now, None

    def all_was_released(self) -> None:
        self.begun = True

    def text_was_shown(self, now: float, *, waits: bool) -> None:
        """The call of the released text has ended. `waits`: more that can be seen does."""
        if self._released_at is not None:
            waited = now if self.joined is None else self.joined
            self.since = waited if waits else None
            self._last, self._released_at = self._released_at, None

    def pause(self) -> float:
        age = self._last - self._began_at if self.begun and self._began_at is not None else 0.0
        return min(self._interval, max(self._first, age / _PAUSES_IN_AGE))

    def due(self, since: float, pause: float) -> float:
        """When text is due that has waited from `since` on."""
        return max(since, self._last + pause) if self.begun else since + pause

    def next_due(self, now: float) -> float | None:
        """Before this no part of a line that begins later will be due; None: it may be due at once."""
        due = self._last + self.pause()
        return due if self.begun and due > now else None


class UnprovenText:
    """Text that may yet be retracted is shown a moment later, and less often after `most_calls` with it.

    `not_before`: when waiting text may be shown.
    """

    def __init__(self, delay: float, most_calls: int, interval: float) -> None:
        self._delay, self._interval = delay, interval
        self._calls_left = most_calls
        self.not_before = 0.0
        self._is_newest = False  # the text that came last is unproven

    def text_came(self, *, unproven: bool) -> None:
        self._is_newest = unproven

    def hold_back(self, now: float) -> None:
        """The first of all text is unproven."""
        self.not_before = now + self._delay

    def let_go(self) -> None:
        """It was retracted."""
        self.not_before = 0.0

    def text_was_released(self, now: float) -> None:
        if self._is_newest:
            self._calls_left -= 1
            if self._calls_left <= 0:
                self.not_before = now + self._interval


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

    `secrets` must never be shown. `input`: what came, before it waits. `clock`: since when.
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
        self._ledger, self._waiting, self._max = ledger, ledger.waiting, ledger.limits.max_call_chars
        self.clock = FlushClock(first_flush_delay, flush_interval, begun=bool(ledger.segments))
        self._unproven = UnprovenText(unproven_delay, unproven_calls, unproven_interval)
        self._finder = CutFinder(self._waiting, self._max)
        self.input = SanitizedInput(ledger, secrets)
        self._forced = 0  # how many characters `flush` wants out

    @property
    def waiting_since(self) -> float | None:
        """When the oldest text came that is not confirmed. None: nothing to be seen waits."""
        return self.clock.since

    def push(self, text: str, now: float, *, unproven: bool = False) -> bool:
        """The answer grew by `text`. `unproven`: it may yet be retracted. False: `deadline` is as before."""
        if self._may_stay_raw(text):
            self.input.keep_raw(text)
            return False
        self.input.settle()
        self._unproven.text_came(unproven=unproven)
        waits = self.input.push(text)
        if waits and not waits.isspace():
            if unproven and self.clock.since is None and not self.clock.begun:
                self._unproven.hold_back(now)
            self.clock.text_came(now)
        return True

    def _may_stay_raw(self, text: str) -> bool:
        """As most text of a line that waits already: it changes nothing about when text is ready."""
        clock, finder = self.clock, self._finder
        if clock.since is None or clock.joined is None or "\n" in text or "\r" in text:
            return False
        # with that and what the sanitizer keeps back, which masks may make longer, a call is not full
        most = (self._max - self.input.longest_undecided) // _MASK_GROWTH
        is_full = self._waiting.size + self.input.raw_size + len(text) > most
        return not (is_full or self._ledger.repeated.rest) and (finder.cuts.safe > 0 or finder.needs_look())

    def end(self, now: float) -> None:
        self.input.settle()
        waits = self.input.end()
        if waits and not waits.isspace():
            self.clock.text_came(now)
        self.input.mark()
        self.flush()

    def flush(self) -> None:
        """Nothing follows soon: all is ready, whatever the cut, but a word, or a line that rules a table,
        without its end.
        """
        self.input.settle()
        self._forced = self._waiting.size - self._unfinished()
        if not self._is_forced():
            self._ledger.release_tables()

    def retract(self) -> None:
        """What came since the last mark of `input` is not shown. It must be unsent."""
        self.input.take_back()
        self._forced = min(self._forced, self._waiting.size)
        self._finder.start_again(self._finder.state)
        if not self._waiting.is_visible(self._waiting.size) and self.clock.text_went_back():
            self._unproven.let_go()

    def deadline(self) -> float | None:
        """When `release` may have something to do. None: nothing to be seen waits, or only a line that waits
        for its end, and no more of it has come.

        It may be too early: only `due` looks for cuts within a line.
        """
        clock, finder = self.clock, self._finder
        since, not_before = clock.since, self._unproven.not_before
        if since is None or self._is_forced():
            return since
        if self._is_due():
            return max(since, not_before)
        needs_look = finder.needs_look()
        if finder.waits_for_line_end() and not needs_look:
            return None
        pause = clock.pause()
        due = clock.due(since, pause)
        return max(due if finder.cuts.safe or needs_look else due + pause, not_before)

    def due(self, now: float) -> float | None:
        """As `deadline`, after a look for cuts if one is due; not after `now` if text is ready."""
        self.input.settle()
        while (due := self.deadline()) is not None and now + TIMER_TOLERANCE >= due:
            if self._is_due() or not self._finder.needs_look():
                return min(due, now)
            self._finder.look()
        return due

    def is_ready(self, now: float) -> bool:
        due = self.due(now)
        return due is not None and due <= now

    def release(self, now: float, *, is_late: bool = False) -> int:
        """How many characters of the waiting text go now. `is_late`: it was ready before and had to wait, so
        the line that is not at its end goes along."""
        was_forced = self._is_forced()
        count = self._cut(now, is_forced=was_forced) if self.is_ready(now) else 0
        if is_late and count and count == self._finder.cuts.line:
            count += self._finder.safe_after(count)
        if count:
            text = self._ledger.release(count)
            state = self._finder.state.then(text)
            self.clock.text_was_released(now, is_visible=not text.isspace())
            self._unproven.text_was_released(now)
            self._forced = max(0, self._forced - count)
            if was_forced and not self._is_forced():
                self._ledger.release_tables()
            self._finder.start_again(state)
        return count

    def release_all(self) -> None:
        self.input.settle()
        if self._waiting.is_visible(self._waiting.size):
            self._ledger.release(self._waiting.size)
            self.clock.all_was_released()

    def acknowledge(self, now: float) -> None:
        """The call of the released text has ended."""
        waits = self._waiting.size > 0 and self._waiting.is_visible(self._waiting.size)
        self.clock.text_was_shown(now, waits=waits)

    def _unfinished(self) -> int:
        """How many characters, at the end of the waiting text, wait for what is held back behind them."""
        undecided = self.input.undecided
        if undecided[:1].isalnum():
            word = _WORD.search(self._waiting.tail(_WORD_MOST + 1))
            return len(word.group()) if word else 0
        text = self._waiting.front
        if not undecided or undecided[0] not in RULE_SIGNS or len(text) < self._waiting.size:
            return 0
        return len(text) - sendable_part(text, self._finder.state)

    def _is_forced(self) -> bool:
        return self._forced > 0 and self._waiting.is_visible(self._forced)

    def _is_due(self) -> bool:
        return self._waiting.size > self._max or self._is_forced() or self._finder.finds_line_end()

    def _cut(self, now: float, *, is_forced: bool) -> int:
        if is_forced and self._forced <= self._max:
            return self._forced
        if self._waiting.size > self._max:
            return self._finder.best_of_a_call()
        self._finder.look_again_if_grown()
        return self._finder.best() if self.is_ready(now) else 0


def _white(text: str) -> int:
    return len(text) - len(text.lstrip())


def _anywhere(text: str) -> int:
    """All of it but half a cluster, unless nothing else is there: its other half may never come."""
    cut = cluster_cut(text, len(text))
    return cut if cut > _white(text) else len(text)
