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

from .masking import SecretFilter

LONGEST = 4_000
"""Characters kept of one text of a card or a form: Slack takes a few hundred."""

SLICE = 16_384
"""Characters of a long text that are read in one step: a few milliseconds."""

_RARE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")  # all below
_GONE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_LINE_END = re.compile("\r\n?")
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

    def learn(self, secrets: tuple[str, ...]) -> None:
        """From now on the values are these."""
        self._secrets.learn(secrets)

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
    def undecided(self) -> str:
        """What comes next, held back because of what it may become. Not all of what is held back."""
        return self._mentions.undecided or self._secrets.undecided

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
