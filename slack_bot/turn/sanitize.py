"""Makes what an agent wrote harmless before it waits to be shown: what is counted is what Slack receives.

In this order, because each step may uncover something for the next:

1. Characters. Control characters and those that turn text around are removed. Every line end becomes a
   newline. Halves of a surrogate pair are joined, or replaced.
2. Secrets: first the values given, then what looks like a token or a private key. A key ends at its END line
   or at a backtick: the code span or fence around it.
3. Mentions. Slack makes a live mention of `<!channel>`, `<@U1>` and `<#C1>`, and its own parser decides what
   is code (facts: Slack 6). So their `<` becomes `&lt;` everywhere.

The end of a text is kept back while it may begin a danger, so the deltas never change what comes out.
"""

import functools
import re
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, replace

from .actions import LONGEST, TaskCard
from .extras import Chart, DataTable, Extra, LinkedFile, OutFile, Source
from .form import Choice, Field, Form, ProposedCall

MASK = "[secret removed]"
MAX_UNDECIDED = 512
"""Characters that may be kept back, or the longest secret given."""
SLICE = 16_384
"""Characters of a long text that are read in one step: a few milliseconds."""
_CELLS_AT_ONCE = 200  # of a table, in one step
_SHORTEST_SECRET = 4  # to mask a shorter value would tear words apart
_HEAD = 8  # characters of a value that are compared first

_RARE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")  # all below
_GONE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_LINE_END = re.compile("\r\n?")
_SURROGATES = re.compile("[\ud800-\udfff]")
_HALF_DONE = re.compile("[\r\ud800-\udbff]\\Z")
_KEY_END = re.compile("-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----|(?=`)")
_KEY_END_MOST = 64  # characters of that, at most


def _clean(text: str) -> str:
    return _LINE_END.sub("\n", text).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


@dataclass(frozen=True, slots=True)
class _Danger:
    """A `pattern` of characters and classes with counts.

    The first `keeps` characters of a secret stay; what follows is dropped as long as it matches `tail`.
    """

    pattern: str
    tail: re.Pattern[str] | None = None
    keeps: int = 0
    is_key: bool = False
    is_mention: bool = False

    def _before(self, first: str) -> str:
        return "" if self.is_key or self.is_mention else f"(?<![A-Za-z0-9]{first})"

    def rest(self) -> str:
        return self._before(self.pattern[0]) + self.pattern[1:]

    def begun(self) -> str:
        beginning = ""
        for chars, least, most in reversed(_STEP.findall(_CONDITION.sub("", self.pattern))):
            least, most = least or "1", most or least or "1"
            if beginning:
                beginning = rf"(?:{chars}{{0,{most}}}\Z|{chars}{{{least},{most}}}{beginning})"
            else:
                beginning = rf"{chars}{{0,{int(most) - 1}}}\Z"
        return self._before("") + beginning


_STEP = re.compile(r"(\[[^\]]+\]|\\?.)(?:\{(\d+)(?:,(\d+))?\})?")
_CONDITION = re.compile(r"\(\?=[^)]*\)")


def _token(begins: str, chars: str, least: int) -> _Danger:
    return _Danger(f"{begins}{chars}{{{least}}}", re.compile(f"{chars}*"))


_ALNUM, _DASHED, _SAFE64 = "[A-Za-z0-9]", "[A-Za-z0-9-]", "[A-Za-z0-9_-]"
_BEARER = "[A-Za-z0-9._~+/=-]"
_DANGERS = (
    _token("xox[a-z]-", _DASHED, 10),
    _token(r"xoxe\.xox[a-z]-", _DASHED, 10),
    _token("xapp-", _DASHED, 10),
    _Danger("A[KS]IA[A-Z0-9]{16}"),
    _token("gh[oprsu]_", _ALNUM, 36),
    _token("github_pat_", _SAFE64, 22),
    _token("glpat-", _SAFE64, 20),
    _token("sk-ant-", _SAFE64, 20),
    _token("sk-proj-", _SAFE64, 20),
    _token("AIza", _SAFE64, 35),
    _Danger(rf"eyJ{_SAFE64}{{8,300}}\.eyJ{_SAFE64}{{8}}", re.compile("[A-Za-z0-9_.-]*")),
    # only what holds a digit: "Bearer" is also said of long words
    _Danger(f"Bearer (?={_BEARER}{{0,31}}[0-9]){_BEARER}{{32}}", re.compile(f"{_BEARER}*"), keeps=7),
    _Danger("-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY-----", is_key=True),
    _Danger("-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY BLOCK-----", is_key=True),
    *(
        _Danger("<!" + "".join(f"[{char.upper()}{char}]" for char in name), is_mention=True)
        for name in ("channel", "here", "everyone", "group", "subteam")
    ),
    _Danger("<@[BUWbuw][A-Za-z0-9]", is_mention=True),
    _Danger("<#[CDGcdg][A-Za-z0-9]", is_mention=True),
)


def _compiled() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """All dangers, and also, as group `open`, those that the text's end cuts; by first character."""
    rests: dict[str, list[str]] = {}
    for number, danger in enumerate(_DANGERS):
        rests.setdefault(danger.pattern[0], []).append(f"(?P<d{number}>{danger.rest()})")
    ended = "|".join(f"{first}(?:{'|'.join(each)})" for first, each in rests.items())
    begun = "|".join(danger.begun() for danger in _DANGERS)
    return re.compile(ended), re.compile(f"(?=[{''.join(sorted(rests))}])(?:(?P<open>{begun})|{ended})")


_ENDED, _GROWING = _compiled()


@functools.lru_cache(maxsize=8)
def _secrets(given: tuple[str, ...]) -> tuple[tuple[str, ...], re.Pattern[str], re.Pattern[str]] | None:
    """The values, longest first, and patterns of them and of their first characters."""
    values = sorted({value for value in given if len(value) >= _SHORTEST_SECRET}, key=len, reverse=True)
    if not values:
        return None
    first = "|".join(sorted({re.escape(value[0]) for value in values}))
    return tuple(values), re.compile("|".join(map(re.escape, values))), re.compile(first)


class _Values:
    """Step 2 for the values given: a pattern of all beginnings of one would be too deep for `re`."""

    def __init__(self, values: tuple[str, ...], whole: re.Pattern[str], first: re.Pattern[str]) -> None:
        self._values, self._whole, self._first = values, whole, first
        self._heads = {value[:end] for value in values for end in range(1, _HEAD + 1)}
        self.undecided = ""

    def push(self, text: str) -> str:
        text = self.undecided + text
        shown: list[str] = []
        at, begun = 0, self._begun(text, 0)
        while (found := self._whole.search(text, at)) and found.start() < begun:
            shown += (text[at : found.start()], MASK)
            at = found.end()
            begun = self._begun(text, at) if begun < at else begun
        self.undecided = text[begun:]
        return "".join((*shown, text[at:begun]))

    def end(self) -> str:
        return self._whole.sub(MASK, self.undecided)

    def _begun(self, text: str, at: int) -> int:
        """Where a value may begin that the end of `text` cuts; its length if none does."""
        for found in self._first.finditer(text, max(at, len(text) - len(self._values[0]) + 1)):
            rest = text[found.start() :]
            if rest[:_HEAD] not in self._heads:  # as nearly always
                continue
            if any(value.startswith(rest) and value != rest for value in self._values):
                return found.start()
        return len(text)


class _Filter:
    """Steps 2 and 3. `_text` from `_at` on is undecided."""

    def __init__(self) -> None:
        self._text, self._at = "", 0
        self._tail: re.Pattern[str] | None = None
        self._in_key = False

    @property
    def undecided(self) -> str:
        return self._text[self._at :]

    def end(self) -> str:
        return self.push("", grows=False)

    def push(self, text: str, *, grows: bool = True) -> str:
        self._text += text
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

    def _find(self, *, grows: bool) -> re.Match[str] | None:
        """The next danger, or where the text `grows`, what may become one."""
        near = len(self._text) - MAX_UNDECIDED if grows else len(self._text)
        if self._at < near:
            found = _ENDED.search(self._text, self._at)
            if not grows or (found is not None and found.start() < near):
                return found
        return _GROWING.search(self._text, max(self._at, near)) if grows else None

    def _take(self, found: re.Match[str]) -> str:
        danger = _DANGERS[int(str(found.lastgroup)[1:])]
        if danger.is_mention:
            self._at += 1
            return "&lt;"
        self._forget(found.end())
        self._tail, self._in_key = danger.tail, danger.is_key
        return found.group()[: danger.keeps] + MASK

    def _drop(self) -> bool:
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
    """Sanitizes one answer delta by delta. `secrets` are values that must never be shown."""

    def __init__(self, secrets: tuple[str, ...] = ()) -> None:
        self._half = ""  # a line end or a surrogate pair that may go on
        given = _secrets(secrets)
        self._filters: list[_Values | _Filter] = [*([_Values(*given)] if given else []), _Filter()]

    def push(self, text: str) -> str:
        if self._half or _RARE.search(text):
            text = self._half + _GONE.sub("", text)
            half = _HALF_DONE.search(text)
            self._half = half.group() if half else ""
            text = _clean(text.removesuffix(self._half))
        for each in self._filters:
            text = each.push(text)
        return text

    @property
    def splits_a_word(self) -> bool:
        """What is undecided begins with a letter: it may go on in a word."""
        text = next((each.undecided for each in reversed(self._filters) if each.undecided), "")
        return text[:1].isalnum()

    def end(self) -> str:
        text = _clean(self._half)
        for each in self._filters:
            text = each.push(text) + each.end()
        return text


def slices(text: str) -> Iterable[str]:
    """`text` in pieces; an empty text is one empty piece."""
    if len(text) <= SLICE:
        return (text,)
    return (text[at : at + SLICE] for at in range(0, len(text), SLICE))


def sanitize_slices(text: str, secrets: tuple[str, ...] = ()) -> Iterator[str]:
    """`text`, sanitized, a piece for each slice."""
    sanitizer, left = StreamSanitizer(secrets), len(text)
    for piece in slices(text):
        left -= len(piece)
        yield sanitizer.push(piece) + ("" if left else sanitizer.end())


def sanitize(text: str, secrets: tuple[str, ...] = ()) -> str:
    """`text`, sanitized."""
    return "".join(sanitize_slices(text, secrets))


def sanitize_in_steps(text: str, secrets: tuple[str, ...]) -> Generator[None, None, str]:
    """`text`, sanitized; a step for each slice but the last."""
    pieces: list[str] = []
    for piece in sanitize_slices(text, secrets):
        if pieces:
            yield
        pieces.append(piece)
    return "".join(pieces)


def sanitize_beginning(text: str, secrets: tuple[str, ...]) -> str:
    """`text`, sanitized; a very long one ends in dots, never within a secret."""
    if len(text) <= LONGEST:
        return sanitize(text, secrets)
    return StreamSanitizer(secrets).push(text.lstrip()[:LONGEST]) + "…"


def sanitize_card(card: TaskCard, secrets: tuple[str, ...]) -> TaskCard:
    """`card`, sanitized; its id too, which may hold half a surrogate pair."""
    name, title, details = (sanitize_beginning(text, secrets) for text in (card.id, card.title, card.details))
    return TaskCard(name, title, card.state, details, sanitize_sources(card.sources, secrets))


def sanitize_sources(sources: tuple[Source, ...], secrets: tuple[str, ...]) -> tuple[Source, ...]:
    """Those whose address holds nothing that must not be shown."""
    kept = (each for each in sources if sanitize(each.url, secrets) == each.url)
    return tuple(Source(each.url, sanitize_beginning(each.title, secrets)) for each in kept)


def sanitize_form(
    form: Form, secrets: tuple[str, ...], most_fields: int, most_choices: int
) -> Generator[None, None, Form]:
    """`form`, sanitized in steps, with at most so many fields and choices.

    What goes back to the agent stays as it is: it is not shown. What is not the same when it is shown can be
    no default, and is not offered for a change.
    """
    kept = [each for each in form.fields if _is_kept(each.name)][:most_fields]
    offered = [[one for one in each.choices if _is_kept(one.value)][:most_choices] for each in kept]
    texts = [form.title]
    for each, choices in zip(kept, offered, strict=True):
        texts += [each.shown, each.help, _text_default(each), *(one.shown for one in choices)]
    shown = iter((yield from _sanitize_each(texts, secrets)))
    title = next(shown)
    fields: list[Field] = []
    for each, choices in zip(kept, offered, strict=True):
        label, help_, default = next(shown), next(shown), next(shown)
        fields.append(
            replace(
                each,
                label=label,
                help=help_,
                default=each.default if default == _text_default(each) else None,
                choices=tuple(Choice(one.value, next(shown)) for one in choices),
                hidden_choices=len(each.choices) - len(choices),
            )
        )
    proposed: list[ProposedCall] = []
    for call in form.calls:
        details = yield from sanitize_in_steps(call.details, secrets)
        arguments = yield from sanitize_in_steps(call.arguments, secrets)
        proposed.append(ProposedCall(sanitize_beginning(call.name, secrets), details, arguments))
    return replace(
        form,
        prompt=(yield from sanitize_in_steps(form.prompt, secrets)),
        title=title,
        fields=tuple(fields),
        hidden_fields=form.hidden_fields + len(form.fields) - len(fields),
        calls=tuple(proposed),
        may_edit=form.may_edit
        and [each.arguments for each in proposed] == [call.arguments for call in form.calls],
        url="" if any(secret in form.url for secret in secrets) or len(form.url) > LONGEST else form.url,
    )


def _is_kept(name: str) -> bool:
    """It can be stored and sent back."""
    return len(name) <= LONGEST and not _SURROGATES.search(name)


def _text_default(field: Field) -> str:
    return field.default if isinstance(field.default, str) else ""


def _sanitize_each(texts: list[str], secrets: tuple[str, ...]) -> Generator[None, None, list[str]]:
    done: list[str] = []
    read = 0
    for text in texts:
        if read > SLICE:
            read = 0
            yield
        read += min(len(text), LONGEST)
        done.append(sanitize_beginning(text, secrets))
    return done


def sanitize_extra(extra: Extra, secrets: tuple[str, ...]) -> Generator[None, None, Extra]:
    """`extra`, its texts sanitized in steps; the bytes of a file are not touched."""

    def clean(text: str) -> str:
        return sanitize_beginning(text, secrets)

    match extra:
        case OutFile() | LinkedFile():
            return replace(extra, name=clean(extra.name), description=clean(extra.description))
        case Chart():
            series = tuple(replace(each, name=clean(each.name)) for each in extra.series)
            categories = tuple(map(clean, extra.categories))
            title, x_label, y_label = map(clean, (extra.title, extra.x_label, extra.y_label))
            return Chart(extra.kind, categories, series, title, x_label, y_label)
        case DataTable():
            rows = []
            for number, row in enumerate(extra.rows, start=1):
                rows.append(tuple(clean(cell) if isinstance(cell, str) else cell for cell in row))
                if number % max(1, _CELLS_AT_ONCE // max(1, len(row))) == 0:
                    yield
            return DataTable(tuple(map(clean, extra.columns)), tuple(rows), clean(extra.title))
