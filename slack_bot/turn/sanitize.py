"""Makes what an agent wrote harmless before it waits to be shown: what is counted is what Slack receives.

In this order, because each step may uncover something for the next:

1. Characters. Control characters and those that turn text around are removed. Every line end becomes a
   newline. Halves of a surrogate pair are joined, or replaced.
2. Secrets (`masking`): first the values given, then what the table of `secrets` describes. A private key
   ends at its END line or at a backtick: the code span or fence around it.
3. Mentions. Slack makes a live mention of `<!channel>`, `<@U1>` and `<#C1>`, and its own parser decides what
   is code (facts: Slack 6). So their `<` becomes `&lt;` everywhere.

The end of a text is kept back while it may begin a danger, so the deltas never change what comes out.
"""

import re
from collections import Counter
from collections.abc import Generator, Iterable, Iterator
from dataclasses import replace

from .actions import LONGEST, TaskCard
from .extras import Chart, DataTable, Extra, LinkedFile, OutFile, Source
from .form import Choice, Field, Form, ProposedCall
from .masking import SecretFilter

SLICE = 16_384
"""Characters of a long text that are read in one step: a few milliseconds."""
_CELLS_AT_ONCE = 200  # of a table, in one step

_RARE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")  # all below
_GONE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_LINE_END = re.compile("\r\n?")
_SURROGATES = re.compile("[\ud800-\udfff]")
_HALF_DONE = re.compile("[\r\ud800-\udbff]\\Z")


def _clean(text: str) -> str:
    return _LINE_END.sub("\n", text).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


_MENTION = re.compile(
    r"<(?=![Cc][Hh][Aa][Nn][Nn][Ee][Ll]|![Hh][Ee][Rr][Ee]|![Ee][Vv][Ee][Rr][Yy][Oo][Nn][Ee]"
    r"|![Gg][Rr][Oo][Uu][Pp]|![Ss][Uu][Bb][Tt][Ee][Aa][Mm]|@[BUWbuw][A-Za-z0-9]|#[CDGcdg][A-Za-z0-9])"
)
_MENTIONS = ("!channel", "!here", "!everyone", "!group", "!subteam")
_IDS = ("@", "#", "@b", "@u", "@w", "#c", "#d", "#g")
_MENTION_MOST = 10  # characters until it is known whether it is one


def _may_mention(text: str) -> bool:
    """`text`, which begins with `<`, may become a mention."""
    name = text[1:].lower()
    return name in _IDS or any(each.startswith(name) and each != name for each in _MENTIONS)


class _MentionFilter:
    """Step 3."""

    def __init__(self) -> None:
        self.undecided = ""

    def push(self, text: str) -> str:
        text = self.undecided + text
        if "<" not in text:
            self.undecided = ""
            return text
        last = text.rfind("<", max(0, len(text) - _MENTION_MOST))
        until = last if last >= 0 and _may_mention(text[last:]) else len(text)
        self.undecided = text[until:]
        return _MENTION.sub("&lt;", text[:until])

    def end(self) -> str:
        text, self.undecided = self.undecided, ""
        return text


class StreamSanitizer:
    """Sanitizes one answer delta by delta. `secrets` are values that must never be shown."""

    def __init__(self, secrets: tuple[str, ...] = ()) -> None:
        self._half = ""  # a line end or a surrogate pair that may go on
        self._secrets = SecretFilter(secrets)
        self._mentions = _MentionFilter()

    def push(self, text: str) -> str:
        if self._half or _RARE.search(text):
            text = self._half + _GONE.sub("", text)
            half = _HALF_DONE.search(text)
            self._half = half.group() if half else ""
            text = _clean(text.removesuffix(self._half))
        text = self._secrets.push(text)
        return self._mentions.push(text) if self._mentions.undecided or "<" in text else text

    @property
    def masked(self) -> Counter[str]:
        """How many secrets were masked, by kind."""
        return self._secrets.masked

    @property
    def splits_a_word(self) -> bool:
        """What is undecided begins with a letter: it may go on in a word."""
        return (self._mentions.undecided or self._secrets.undecided)[:1].isalnum()

    def end(self) -> str:
        text = self._secrets.push(_clean(self._half)) + self._secrets.end()
        return self._mentions.push(text) + self._mentions.end()


def slices(text: str) -> Iterable[str]:
    """`text` in pieces; an empty text is one empty piece."""
    if len(text) <= SLICE:
        return (text,)
    return (text[at : at + SLICE] for at in range(0, len(text), SLICE))


def sanitize_slices(
    text: str, secrets: tuple[str, ...] = (), masked: Counter[str] | None = None
) -> Iterator[str]:
    """`text`, sanitized, a piece for each slice. The secrets in it are added to `masked`, by kind."""
    sanitizer, left = StreamSanitizer(secrets), len(text)
    for piece in slices(text):
        left -= len(piece)
        yield sanitizer.push(piece) + ("" if left else sanitizer.end())
    if masked is not None:
        masked.update(sanitizer.masked)


def sanitize(text: str, secrets: tuple[str, ...] = ()) -> str:
    """`text`, sanitized."""
    return "".join(sanitize_slices(text, secrets))


def sanitize_in_steps(
    text: str, secrets: tuple[str, ...], masked: Counter[str] | None = None
) -> Generator[None, None, str]:
    """`text`, sanitized; a step for each slice but the last. The secrets in it are added to `masked`."""
    pieces: list[str] = []
    for piece in sanitize_slices(text, secrets, masked):
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
