"""PURE. Takes secrets out of a text that comes in pieces, wherever it is cut.

Two steps: first the values that are known (the settings'), then what the table of `secrets` describes. The
end of a text is kept back while it may begin a secret, so how a text is cut never changes what comes out.

What the second step does with a text that holds nothing like a secret is look for long words and for the
characters that stand before a value; all else is read only from there on. The leftmost secret counts; where
something may become one, all that follows waits until it is known. No part of a pattern can match the same
characters in two ways, so the work grows with the text.
"""

import functools
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from heapq import merge
from typing import TypeAlias

from .secrets import (
    ADDRESS_MOST,
    ADDRESS_VALUE,
    FORMATS,
    HEADERS,
    KEY_END_MOST,
    LATE_FORMATS,
    LATE_SIGN,
    LEAD,
    NAME_MOST,
    PRIVATE_KEYS,
    SHORTEST_FORMAT,
    VALUE,
    VALUE_MOST,
    VALUE_TAIL,
    WORD_START,
    SecretFormat,
    ValueKind,
    kind_before,
    secret_in,
)
from .words import SECRET_REMOVED

MASK = SECRET_REMOVED
"""What stands in a text where a secret was."""
MAX_UNDECIDED = 512
"""Characters that may be kept back, or the longest secret that is known."""
OF_SETTINGS = "secret of the settings"
"""What a value that is known is called where secrets are counted."""
SHORTEST_VALUE = 4
"""Characters; to mask a shorter value would tear words apart."""
_HEAD = 8  # characters of a value that are compared first
_KEY_BEGINS = 80  # characters of the first line of a key, at most


@dataclass(frozen=True, slots=True)
class _Hit:
    """A secret in a text, or what may become one. Its rest matches `tail`, or goes on up to `until`."""

    start: int
    end: int
    kind: str = ""
    tail: re.Pattern[str] | None = None
    until: re.Pattern[str] | None = None
    is_open: bool = False


_ALL = (*FORMATS, *LATE_FORMATS, *HEADERS)
_TAILS = {
    chars: re.compile(f"(?:{chars})*") for chars in {*(each.tail for each in _ALL), VALUE_TAIL} if chars
}
_VALUE_TAIL = _TAILS[VALUE_TAIL]


class _Formats:
    """Patterns of `formats`, and of their beginnings up to the end of a text."""

    def __init__(self, formats: Sequence[SecretFormat], start: str = WORD_START) -> None:
        self._formats = formats
        named = [(each, f"(?P<f{number}>{each.pattern})") for number, each in enumerate(formats)]
        self.whole = re.compile(_grouped(named, start))
        self.begun = re.compile(_grouped([(each, each.beginning()) for each in formats], start))

    def search(self, text: str, start: int, end: int) -> _Hit | None:
        match = self.whole.search(text, start, end)
        return self._hit(match) if match else None

    def match(self, text: str, at: int) -> _Hit | None:
        match = self.whole.match(text, at)
        return self._hit(match) if match else None

    def _hit(self, match: re.Match[str]) -> _Hit:
        found = self._formats[int(str(match.lastgroup)[1:])]
        tail = _TAILS[found.tail] if found.tail else None
        return _Hit(match.start() + found.keeps, match.end(), found.kind, tail, found.end)


def _grouped(patterns: Iterable[tuple[SecretFormat, str]], start: str) -> str:
    """The first character is asked for before all else that begins with it is tried."""
    groups: dict[tuple[str, str], list[str]] = {}
    for each, pattern in patterns:
        behind = "" if each.behind == start else each.behind
        groups.setdefault((each.first, behind), []).append(pattern)
    found = (f"(?={first}){behind}(?:{'|'.join(rest)})" for (first, behind), rest in groups.items())
    return f"{start}(?:{'|'.join(found)})"


_FORMATS, _LATE, _HEADERS = _Formats(FORMATS), _Formats(LATE_FORMATS, ""), _Formats(HEADERS, "")
_KEYS = _Formats(PRIVATE_KEYS, "")
_LONG = re.compile(rf"\S{{{SHORTEST_FORMAT},}}")
_NEXT_LONG = re.compile(rf"(?<!\S)\S{{{SHORTEST_FORMAT},}}")
_MARK = re.compile("[:=>]")
_MARK_OR_DASH = re.compile("[-:=>]")
_OPTION = re.compile("--[a-z-]{0,20}(?:password|passwd|passphrase|secret|token|key) ")
_OPTION_MOST = 40  # characters of that


class FormatFilter:
    """Masks what the table describes. With `keeps_length` a secret becomes as many asterisks.

    `masked` counts the secrets by kind. `_text` from `_at` on is undecided; what is before it is for looking
    behind.
    """

    def __init__(self, *, keeps_length: bool = False) -> None:
        self.masked: Counter[str] = Counter()
        self._keeps_length = keeps_length
        self._text, self._at = "", 0
        self._tail: re.Pattern[str] | None = None
        self._until: re.Pattern[str] | None = None
        self._hits: dict[_Search, _Hit | None] = {}  # the next ones in this text

    @property
    def undecided(self) -> str:
        return self._text[self._at :]

    def end(self) -> str:
        return self.push("", grows=False)

    def push(self, text: str, *, grows: bool = True) -> str:
        """What is decided now. `grows`: more may come, so the end waits if it may begin a secret."""
        if (
            # as most texts: no secret is in it, and none goes on; at most its end begins one
            self._at == len(self._text)
            and self._tail is None
            and self._until is None
            and "--" not in self._text
            and not _MARK_OR_DASH.search(text)
            and not (len(text) >= SHORTEST_FORMAT and _LONG.search(text))
        ):
            self._text += text
            return self._release(begun.start if (begun := _begun(self._text, self._at)) else len(self._text))
        self._text += text
        self._hits = {}
        pieces: list[str] = []
        while True:
            pieces.append(self._drop(grows=grows))
            if self._until is not None or self._at >= len(self._text):
                break
            hit = self._next(grows=grows)
            until = len(self._text) if hit is None else hit.start
            pieces.append(self._text[self._at : until])
            self._at = until
            if hit is None or hit.is_open:
                break
            pieces.append(self._take(hit))
        return "".join((*pieces, self._release(self._at)))

    def _release(self, until: int) -> str:
        """The text up to there. Kept of it is what is looked at before a value."""
        decided, cut = self._text[self._at : until], max(0, until - NAME_MOST)
        self._text, self._at = self._text[cut:], until - cut
        return decided

    def _next(self, *, grows: bool) -> _Hit | None:
        """The leftmost secret, or what may become one."""
        found: list[_Hit] = []
        for search in _SEARCHES:
            known = self._hits.get(search, _UNKNOWN)
            if known is _UNKNOWN or (known is not None and known.start < self._at):
                known = self._hits[search] = search(self._text, self._at, grows)
            if known is not None:
                found.append(known)
        if self._text[self._at - 1 : self._at] == "]" and (behind := _FORMATS.match(self._text, self._at)):
            found.append(behind)  # right behind another secret
        if grows and (begun := _begun(self._text, self._at)) is not None:
            found.append(begun)
        # what may become more is before what is one already: only then is the cut of no account
        return min(found, key=lambda hit: (hit.start, not hit.is_open), default=None)

    def _take(self, hit: _Hit) -> str:
        self.masked[hit.kind] += 1
        self._tail, self._until = hit.tail, hit.until
        return self._mask(hit.end - hit.start, MASK, hit.end)

    def _mask(self, size: int, mask: str, until: int) -> str:
        """A word begins behind it: two secrets in one word are two."""
        self._text = f"{self._text[: until - 1]}]{self._text[until:]}"
        self._at = until
        return "*" * size if self._keeps_length else mask

    def _drop(self, *, grows: bool) -> str:
        """The rest of a secret that was masked."""
        text, at = self._text, self._at
        if self._until is not None:
            end = self._until.search(text, at)
            until = end.end() if end else max(at, len(text) - KEY_END_MOST) if grows else len(text)
            self._until = None if end else self._until
        elif self._tail is not None:
            rest = self._tail.match(text, at)
            until = rest.end() if rest else at
            self._tail = self._tail if until == len(text) else None
        else:
            return ""
        return self._mask(until - at, "", until) if until > at else ""


_Search: TypeAlias = Callable[[str, int, bool], _Hit | None]
_UNKNOWN = _Hit(-1, -1)


def _find_format(text: str, at: int, grows: bool) -> _Hit | None:
    word = _LONG.match(text, at) or _NEXT_LONG.search(text, at)
    while word is not None:
        start, end = word.span()
        found = [_FORMATS.search(text, start, end)]
        if LATE_SIGN.search(text, start, end):
            found.append(_LATE.search(text, start, end))
        if text[start - 1 : start] == " ":
            found.append(_HEADERS.match(text, start))
        if hits := [hit for hit in found if hit is not None]:
            return min(hits, key=lambda hit: hit.start)
        word = _NEXT_LONG.search(text, end)
    return None


def _begun(text: str, at: int) -> _Hit | None:
    """Where a format may begin that the end of the text cuts."""
    near = max(at, len(text) - MAX_UNDECIDED)
    word = max(near, text.rfind(" ", near) + 1, text.rfind("\n", near) + 1)
    if word == len(text):
        return None
    found = [_FORMATS.begun.search(text, word), _LATE.begun.search(text, word)]
    if text[word - 1 : word] == " ":
        found.append(_HEADERS.begun.match(text, word))
    starts = [match.start() for match in found if match is not None]
    return _Hit(min(starts), len(text), is_open=True) if starts else None


def _find_key(text: str, at: int, grows: bool) -> _Hit | None:
    if "BEGIN " in text and (hit := _KEYS.search(text, at, len(text))):
        return hit
    if not grows:
        return None
    near = max(at, len(text) - _KEY_BEGINS)
    begun = _KEYS.begun.search(text, near) if "-" in text[near:] else None
    return _Hit(begun.start(), len(text), is_open=True) if begun else None


def _find_value(text: str, at: int, grows: bool) -> _Hit | None:
    places: Iterable[int] = (mark.start() for mark in _MARK.finditer(text, at))
    if "--" in text:
        options = _OPTION.finditer(text, max(0, at - _OPTION_MOST))
        places = merge(places, (option.end() - 1 for option in options if option.end() > at))
    for place in places:
        what = kind_before(text[max(0, place - NAME_MOST) : place], text[place])
        if what is not None and (hit := _value_hit(text, place, what, grows)) is not None:
            return hit
    return None


def _value_hit(text: str, place: int, what: tuple[ValueKind, str], grows: bool) -> _Hit | None:
    kind, user = what
    is_address = kind is ValueKind.ADDRESS
    start = place + 1
    if not is_address and (lead := LEAD.match(text, start)) is not None:
        start = lead.end()
    value = (ADDRESS_VALUE if is_address else VALUE).match(text, start)
    end, most = (start, 0) if value is None else (value.end(), ADDRESS_MOST if is_address else VALUE_MOST)
    if grows and end == len(text) and end - start < max(most, 1):
        return _Hit(place, end, is_open=True)
    secret = secret_in(kind, user, text[place], text[place + 1 : start], text[start:end])
    if not secret:
        return None
    is_long = len(secret) == VALUE_MOST and not is_address
    return _Hit(start, start + len(secret), kind.value, _VALUE_TAIL if is_long else None)


_SEARCHES: tuple[_Search, ...] = (_find_value, _find_key, _find_format)


@dataclass(frozen=True, slots=True)
class _KnownValues:
    """What `ValueFilter` looks for. `longest`: characters of the longest value. `whole`, `first`: patterns of
    the values and of their first characters. `heads`: all beginnings of values, up to `_HEAD` characters.
    """

    values: tuple[str, ...]
    longest: int
    whole: re.Pattern[str]
    first: re.Pattern[str]
    heads: frozenset[str]


@functools.lru_cache(maxsize=256)
def _known(secrets: tuple[str, ...]) -> _KnownValues | None:
    values = sorted({value for value in secrets if len(value) >= SHORTEST_VALUE}, key=len, reverse=True)
    if not values:
        return None
    first = "|".join(sorted({re.escape(value[0]) for value in values}))
    return _KnownValues(
        tuple(values),
        len(values[0]),
        re.compile("|".join(map(re.escape, values))),
        re.compile(first),
        frozenset(value[:end] for value in values for end in range(1, _HEAD + 1)),
    )


class ValueFilter:
    """Masks values that are known. A pattern of all beginnings of one would be too deep for `re`.

    It goes on where `after` was, which knew fewer of them.
    """

    def __init__(
        self, known: _KnownValues, *, keeps_length: bool = False, after: "ValueFilter | None" = None
    ) -> None:
        self.masked: Counter[str] = Counter() if after is None else after.masked
        self._known, self._keeps_length = known, keeps_length
        self.undecided: str = "" if after is None else after.undecided

    def push(self, text: str) -> str:
        text = self.undecided + text
        pieces: list[str] = []
        at, begun = 0, self._begun(text, 0)
        while (secret := self._known.whole.search(text, at)) and secret.start() < begun:
            pieces += (text[at : secret.start()], self._masked(secret))
            at = secret.end()
            begun = self._begun(text, at) if begun < at else begun
        self.undecided = text[begun:]
        return "".join((*pieces, text[at:begun]))

    def end(self) -> str:
        text, self.undecided = self.undecided, ""
        return self._known.whole.sub(self._masked, text)

    def _masked(self, secret: re.Match[str]) -> str:
        self.masked[OF_SETTINGS] += 1
        return "*" * len(secret.group()) if self._keeps_length else MASK

    def _begun(self, text: str, at: int) -> int:
        """Where a value may begin that the end of `text` cuts; its length if none does."""
        known = self._known
        for place in known.first.finditer(text, max(at, len(text) - known.longest + 1)):
            rest = text[place.start() :]
            if rest[:_HEAD] not in known.heads:  # as nearly always
                continue
            if any(value.startswith(rest) and value != rest for value in known.values):
                return place.start()
        return len(text)


class SecretFilter:
    """Both steps, piece by piece. `secrets` are values that are known.

    With `keeps_length` what comes out is as long as what went in: a secret becomes asterisks.
    """

    def __init__(self, secrets: tuple[str, ...] = (), *, keeps_length: bool = False) -> None:
        self._keeps_length = keeps_length
        self._values: ValueFilter | None = None
        self._steps: tuple[ValueFilter | FormatFilter, ...] = (FormatFilter(keeps_length=keeps_length),)
        self.learn(secrets)

    def learn(self, secrets: tuple[str, ...]) -> None:
        """From now on the known values are these. What is kept back is looked at once more."""
        if (known := _known(secrets)) is not None:
            self._values = ValueFilter(known, keeps_length=self._keeps_length, after=self._values)
            self._steps = (self._values, self._steps[-1])

    def push(self, text: str) -> str:
        for step in self._steps:
            text = step.push(text)
        return text

    def end(self) -> str:
        """What was kept back. A text may follow, as one that begins anew."""
        text = ""
        for step in self._steps:
            text = step.push(text) + step.end()
        return text

    @property
    def undecided(self) -> str:
        """What is kept back."""
        return "".join(step.undecided for step in reversed(self._steps))

    @property
    def masked(self) -> Counter[str]:
        """How many secrets were masked, by kind."""
        return sum((step.masked for step in self._steps), Counter())


def mask_secrets(text: str, secrets: tuple[str, ...] = ()) -> str:
    """`text` with `MASK` for each secret."""
    masking = SecretFilter(secrets)
    return masking.push(text) + masking.end()


def has_secret_value(name: str, value: str) -> bool:
    """`value` is a secret because of its name, as in JSON."""
    what = kind_before(f'"{name[-NAME_MOST:]}"', ":")
    secret = value[:VALUE_MOST]
    if what is None or what[0] is ValueKind.ADDRESS or VALUE.fullmatch(secret) is None:
        return False
    return secret_in(what[0], "", ":", '"', secret) != ""


def spellings(secrets: Iterable[str]) -> tuple[str, ...]:
    """The values, and how JSON writes them: where JSON is read as a text."""
    found = [
        spelling
        for secret in secrets
        for spelling in (secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1])
    ]
    return tuple(dict.fromkeys(found))
