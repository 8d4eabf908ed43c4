"""Makes what an agent wrote harmless before it waits to be shown: what is counted is what Slack receives.

In this order, because each step may uncover something for the next:

1. Characters. Control characters and the invisible ones that turn text around are removed. Every line end
   becomes a newline, but U+2028 and U+2029 stay. Halves of a surrogate pair are joined, or replaced where
   the other half never comes.
2. Secrets: first the values given, then what looks like a token or a private key. They become
   `[secret removed]`. A key's body is dropped up to its END line; a backtick ends it too, because a key has
   none and the code span or fence around a key does.
3. Mentions. Slack makes a live mention of `<!channel>`, `<@U1>` and `<#C1>` in Markdown (facts: Slack 6),
   and its own parser decides what is code. So the `<` in front of one becomes `&lt;` everywhere: a reader
   sees the same characters, except in code, where a client may show the entity. Any other `<` stays, and so
   do `<https://...|links>` and dates. A bare `@channel` stays: Slack links none in what an app sends.

A danger may be cut in two by the border of two deltas, so the end of a text is kept back while it is
undecided. Every pattern has a longest beginning, so this has a bound: `MAX_UNDECIDED`, or the longest secret
given. An ordinary word is not kept back. A place is decided only when no pattern that may begin there is
open. So the deltas never change what comes out, and a long text may be worked off in `slices`, each of which
costs a few milliseconds.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from .actions import LONGEST, TaskCard
from .form import Field, Form

MASK = "[secret removed]"
MAX_UNDECIDED = 512
"""Characters that may be kept back, where no secret that was given is longer."""
SLICE = 16_384
"""Characters of a long text that are read in one step."""
_SHORTEST_SECRET = 4  # a shorter value is no secret, and masking it would tear words apart

_RARE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")  # all below
_GONE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_LINE_END = re.compile("\r\n?")
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_HALF = re.compile("[\ud800-\udfff]")
_HALF_DONE = re.compile("[\r\ud800-\udbff]\\Z")
_KEY_END = re.compile("-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----|(?=`)")
_KEY_END_MOST = 64  # characters of that, at most

Steps: TypeAlias = tuple[tuple[str, int, int], ...]  # character class, least, most


@dataclass(frozen=True, slots=True)
class _Danger:
    """A pattern, step by step, so that its beginnings can be recognised too.

    A match becomes its first `keeps` characters and then `instead`. It takes `takes` characters of the text
    (None: all it matched), and all that follows and matches `tail` is dropped. `starts_word`: no letter or
    digit may precede it. `needs` must match where the last step begins.
    """

    steps: Steps
    instead: str = MASK
    keeps: int = 0
    takes: int | None = None
    tail: str = ""
    is_key: bool = False
    starts_word: bool = True
    needs: str = ""

    @property
    def first(self) -> str:
        """Its first character's class."""
        return self.steps[0][0]

    def whole(self) -> str:
        """Matches all of it behind its first character."""
        steps = [f"{chars}{{{least},{most}}}" for chars, least, most in self.steps[1:]]
        return "".join([self._before(self.first), *steps[:-1], self.needs, steps[-1]])

    def begun(self) -> str:
        """Matches a beginning of it, not all, that ends where the text ends."""
        return self._before("") + _begun(self.steps)

    def _before(self, first: str) -> str:
        return f"(?<![A-Za-z0-9]{first})" if self.starts_word else ""


def _begun(steps: Steps) -> str:
    (chars, least, most), later = steps[0], steps[1:]
    if not later:
        return rf"{chars}{{0,{most - 1}}}\Z"
    return rf"(?:{chars}{{0,{most}}}\Z|{chars}{{{least},{most}}}{_begun(later)})"


def _letters(text: str, *, any_case: bool = False) -> Steps:
    def one(char: str) -> str:
        return "".join(re.escape(case) for case in sorted({char, char.lower(), char.upper()}))

    return tuple((f"[{one(char) if any_case else re.escape(char)}]", 1, 1) for char in text)


def _token(begins: str, chars: str, least: int) -> _Danger:
    """`begins` and at least `least` of `chars`; what follows of them is dropped as it comes."""
    return _Danger((*_letters(begins), (chars, least, least)), tail=chars)


def _key(block: str) -> _Danger:
    begin = (*_letters("-----BEGIN "), ("[A-Z0-9 ]", 0, 30), *_letters(f"PRIVATE KEY{block}-----"))
    return _Danger(begin, is_key=True, starts_word=False)


def _mention(steps: Steps) -> _Danger:
    return _Danger(steps, instead="&lt;", takes=1, starts_word=False)


_ALNUM, _DASHED, _SAFE64 = "[A-Za-z0-9]", "[A-Za-z0-9-]", "[A-Za-z0-9_-]"
_BEARER = "[A-Za-z0-9._~+/=-]"
_PATTERNS = (
    _Danger((*_letters("xox"), ("[a-z]", 1, 1), *_letters("-"), (_DASHED, 10, 10)), tail=_DASHED),
    _Danger((*_letters("xoxe.xox"), ("[a-z]", 1, 1), *_letters("-"), (_DASHED, 10, 10)), tail=_DASHED),
    _token("xapp-", _DASHED, 10),
    _Danger((*_letters("A"), ("[KS]", 1, 1), *_letters("IA"), ("[A-Z0-9]", 16, 16))),
    _Danger((*_letters("gh"), ("[oprsu]", 1, 1), *_letters("_"), (_ALNUM, 36, 36)), tail=_ALNUM),
    _token("github_pat_", _SAFE64, 22),
    _token("glpat-", _SAFE64, 20),
    _token("sk-ant-", _SAFE64, 20),
    _token("sk-proj-", _SAFE64, 20),
    _token("AIza", _SAFE64, 35),
    _Danger((*_letters("eyJ"), (_SAFE64, 8, 300), *_letters(".eyJ"), (_SAFE64, 8, 8)), tail="[A-Za-z0-9_.-]"),
    # only what holds a digit: "Bearer" is also said of long words
    _Danger(
        (*_letters("Bearer "), (_BEARER, 32, 32)), keeps=7, tail=_BEARER, needs=f"(?={_BEARER}{{0,31}}[0-9])"
    ),
    _key(""),
    _key(" BLOCK"),
    *(
        _mention((*_letters("<!"), *_letters(name, any_case=True)))
        for name in ("channel", "here", "everyone", "group", "subteam")
    ),
    _mention((*_letters("<@"), ("[BUWbuw]", 1, 1), (_ALNUM, 1, 1))),
    _mention((*_letters("<#"), ("[CDGcdg]", 1, 1), (_ALNUM, 1, 1))),
)


@dataclass(frozen=True, slots=True)
class _Patterns:
    """Compiled dangers. `growing` also finds those that begin at the text's end, as group `open`."""

    dangers: tuple[_Danger, ...]
    growing: re.Pattern[str]
    ended: re.Pattern[str]
    tails: tuple[re.Pattern[str], ...]


def _compiled(dangers: Sequence[_Danger]) -> _Patterns:
    """Grouped by first character, so that most characters of a text are skipped at once."""
    wholes: dict[str, list[str]] = {}
    for number, danger in enumerate(dangers):
        wholes.setdefault(danger.first, []).append(f"(?P<d{number}>{danger.whole()})")
    begun = "|".join(danger.begun() for danger in dangers)
    ended = "|".join(f"{first}(?:{'|'.join(rest)})" for first, rest in wholes.items())
    return _Patterns(
        tuple(dangers),
        re.compile(f"(?={'|'.join(sorted(wholes))})(?:(?P<open>{begun})|{ended})"),
        re.compile(ended),
        tuple(re.compile(f"{danger.tail}*" if danger.tail else "") for danger in dangers),
    )


_COMPILED = _compiled(_PATTERNS)


@dataclass(frozen=True, slots=True)
class _Secrets:
    """Values that must not be shown. `values`: longest first, because one may begin another."""

    values: tuple[str, ...]
    whole: re.Pattern[str]
    first: re.Pattern[str]

    @property
    def longest(self) -> int:
        return len(self.values[0])


@functools.lru_cache(maxsize=8)
def _secrets(given: tuple[str, ...]) -> _Secrets | None:
    """Compiled once: forms and cards have thousands of texts. None: no value is long enough."""
    values = sorted({value for value in given if len(value) >= _SHORTEST_SECRET}, key=len, reverse=True)
    if not values:
        return None
    first = "|".join(sorted({re.escape(value[0]) for value in values}))
    return _Secrets(tuple(values), re.compile("|".join(map(re.escape, values))), re.compile(first))


class _Characters:
    """Step 1, over delta borders."""

    def __init__(self) -> None:
        self._half = ""

    def push(self, text: str) -> str:
        if not self._half and _RARE.search(text) is None:
            return text
        text = self._half + _GONE.sub("", text)
        half = _HALF_DONE.search(text)
        self._half = half.group() if half else ""
        return _clean(text.removesuffix(self._half))

    def end(self) -> str:
        half, self._half = self._half, ""
        return _clean(half)


def _clean(text: str) -> str:
    text = _PAIR.sub(_joined, _LINE_END.sub("\n", text))
    return _HALF.sub("\ufffd", text)


def _joined(pair: re.Match[str]) -> str:
    return pair.group().encode("utf-16", "surrogatepass").decode("utf-16")


class _Values:
    """Step 2 for the values given, over delta borders.

    They may be long, as signed tokens are: a pattern of all beginnings of one would be too deep for `re`.
    """

    def __init__(self, secrets: _Secrets) -> None:
        self._secrets = secrets
        self.undecided = ""

    def push(self, text: str) -> str:
        text = self.undecided + text
        shown: list[str] = []
        at, begun = 0, -1
        while True:
            begun = self._begun(text, at) if begun < at else begun
            found = self._secrets.whole.search(text, at)
            if found is None or found.start() >= begun:
                break
            shown += (text[at : found.start()], MASK)
            at = found.end()
        self.undecided = text[begun:]
        return "".join((*shown, text[at:begun]))

    def end(self) -> str:
        text, self.undecided = self.undecided, ""
        return self._secrets.whole.sub(MASK, text)

    def _begun(self, text: str, at: int) -> int:
        """Where, from `at` on, a value may begin that the end of `text` cuts; its length if none does."""
        secrets = self._secrets
        for found in secrets.first.finditer(text, max(at, len(text) - secrets.longest + 1)):
            rest = text[found.start() :]
            if any(value.startswith(rest) and value != rest for value in secrets.values):
                return found.start()
        return len(text)


class _Filter:
    """Steps 2 and 3, over delta borders. `_text` from `_at` on is undecided; what precedes is context."""

    def __init__(self, patterns: _Patterns) -> None:
        self._patterns = patterns
        self._text, self._at = "", 0
        self._tail: re.Pattern[str] | None = None
        self._in_key = False

    @property
    def undecided(self) -> str:
        return self._text[self._at :]

    def push(self, text: str) -> str:
        self._text += text
        return self._run(grows=True)

    def end(self) -> str:
        return self._run(grows=False)

    def _find(self, *, grows: bool) -> re.Match[str] | None:
        """The next danger. `grows`: or what may become one, near the text's end."""
        near = len(self._text) - MAX_UNDECIDED if grows else len(self._text)
        if self._at < near:
            found = self._patterns.ended.search(self._text, self._at)
            if not grows or (found is not None and found.start() < near):
                return found
        return self._patterns.growing.search(self._text, max(self._at, near)) if grows else None

    def _run(self, *, grows: bool) -> str:
        shown: list[str] = []
        while self._drop():
            found = self._find(grows=grows)
            until = found.start() if found else len(self._text)
            shown.append(self._text[self._at : until])
            self._at = until
            if found is None or found.lastgroup == "open":
                break
            shown.append(self._take(found))
        kept = max(0, self._at - 1)
        self._text, self._at = self._text[kept:], self._at - kept
        return "".join(shown)

    def _take(self, found: re.Match[str]) -> str:
        number = int(str(found.lastgroup)[1:])
        danger = self._patterns.dangers[number]
        if danger.takes is None:
            self._forget(found.end())
        else:
            self._at = found.start() + danger.takes
        self._tail, self._in_key = self._patterns.tails[number], danger.is_key
        return found.group()[: danger.keeps] + danger.instead

    def _drop(self) -> bool:
        """Drop what belongs to the last secret. True if something is left to be read."""
        if self._in_key:
            end = _KEY_END.search(self._text, self._at)
            self._in_key = end is None
            self._forget(end.end() if end else max(self._at, len(self._text) - _KEY_END_MOST))
        elif self._tail is not None:
            found = self._tail.match(self._text, self._at)
            if found and found.end() > self._at:
                self._forget(found.end())
            if self._at < len(self._text):
                self._tail = None
        return self._at < len(self._text) and not self._in_key

    def _forget(self, until: int) -> None:
        """Remove what was masked. A word begins behind it: two secrets in one word are two."""
        self._text, self._at = f"]{self._text[until:]}", 1


class StreamSanitizer:
    """Sanitizes the text of one answer delta by delta. `secrets` are values that must never be shown.

    All that `push` and at last `end` return is `sanitize` of the whole, whatever the deltas.
    """

    def __init__(self, secrets: tuple[str, ...] = ()) -> None:
        self._characters = _Characters()
        given = _secrets(secrets)
        self._filters: list[_Values | _Filter] = [*([_Values(given)] if given else []), _Filter(_COMPILED)]

    def push(self, text: str) -> str:
        """What may be shown now that `text` has come. Of a long text, push its `slices`, one by one."""
        text = self._characters.push(text)
        for each in self._filters:
            text = each.push(text)
        return text

    @property
    def splits_a_word(self) -> bool:
        """What is undecided begins with a letter, so it may go on in a word whose beginning was given."""
        text = next((each.undecided for each in reversed(self._filters) if each.undecided), "")
        return text[:1].isalnum()

    def end(self) -> str:
        """What was undecided. Nothing may be pushed after it."""
        text = self._characters.end()
        for each in self._filters:
            text = each.push(text) + each.end()
        return text


def slices(text: str) -> Iterator[str]:
    """`text` in pieces of at most `SLICE` characters; an empty text is one empty piece."""
    yield text[:SLICE]
    yield from (text[at : at + SLICE] for at in range(SLICE, len(text), SLICE))


def sanitize_slices(text: str, secrets: tuple[str, ...] = ()) -> Iterator[str]:
    """The whole `text`, sanitized, a piece for each slice."""
    sanitizer = StreamSanitizer(secrets)
    shown: str | None = None
    for piece in slices(text):
        if shown is not None:
            yield shown
        shown = sanitizer.push(piece)
    yield (shown or "") + sanitizer.end()


def sanitize(text: str, secrets: tuple[str, ...] = ()) -> str:
    """The whole `text`, sanitized."""
    return "".join(sanitize_slices(text, secrets))


def sanitize_in_steps(text: str, secrets: tuple[str, ...]) -> Generator[None, None, str]:
    """The whole `text`, sanitized; a step for each slice but the last."""
    pieces: list[str] = []
    for piece in sanitize_slices(text, secrets):
        if pieces:
            yield
        pieces.append(piece)
    return "".join(pieces)


# -- cards and forms: they come complete, and an agent's megabyte in one of their texts is cut ---------------


def sanitize_beginning(text: str, secrets: tuple[str, ...]) -> str:
    """`text`, sanitized; a very long one ends in dots, and never within a secret."""
    if len(text) <= LONGEST:
        return sanitize(text, secrets)
    return StreamSanitizer(secrets).push(text.lstrip()[:LONGEST]) + "…"


def sanitize_card(card: TaskCard, secrets: tuple[str, ...]) -> TaskCard:
    """`card`, sanitized. Its id too: with half a surrogate pair in it no call can be read."""
    return replace(
        card,
        id=sanitize_beginning(card.id, secrets),
        title=sanitize_beginning(card.title, secrets),
        details=sanitize_beginning(card.details, secrets),
        output=sanitize_beginning(card.output, secrets),
    )


def sanitize_form(
    form: Form, secrets: tuple[str, ...], most_fields: int, most_choices: int
) -> Generator[None, None, Form]:
    """`form`, sanitized, with at most so many fields and choices; steps as in `sanitize_in_steps`."""
    fields: list[Field] = []
    read = 0
    for each in form.fields[:most_fields]:
        texts: list[str] = []
        for text in (each.name, each.label, *each.choices[:most_choices]):
            if read > SLICE:
                read = 0
                yield
            read += min(len(text), LONGEST)
            texts.append(sanitize_beginning(text, secrets))
        name, label, *choices = texts
        hidden = len(each.choices) - len(choices)
        fields.append(replace(each, name=name, label=label, choices=tuple(choices), hidden_choices=hidden))
    prompt = yield from sanitize_in_steps(form.prompt, secrets)
    title = sanitize_beginning(form.title, secrets)
    return Form(prompt, tuple(fields), title, form.is_auth, len(form.fields) - len(fields))
