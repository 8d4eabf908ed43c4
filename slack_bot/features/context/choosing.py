"""PURE. Chooses which messages of a thread are quoted to its agent, how much, and how people are named."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from ...text.mrkdwn import to_text
from ...turn.people import PersonKind
from ...turn.quotes import Heard, Quotes, ThreadMessage, one_line, time_of

Scope: TypeAlias = Literal["none", "asker", "thread"]
Identity: TypeAlias = Literal["none", "id", "name", "email"]

_MOST_FILES = 10  # names of files of one message
_CUT = "…"
_LINES = re.compile("\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1b\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)
"""Control characters, marks that turn the direction of text, and characters that only machines read."""


@dataclass(frozen=True, slots=True)
class QuoteLimits:
    """The most messages, characters of one message, and characters in all."""

    messages: int = 30
    message_chars: int = 800
    chars: int = 12_000


def unheard(messages: Iterable[ThreadMessage], heard: Heard, own_ts: Iterable[str]) -> list[ThreadMessage]:
    """The messages before the question that the agent has not got yet, in order.

    `heard`: what the agent has got (`turn/quotes.py`). `own_ts`: the `ts` of the question's own messages. The
    bot's answers are included only if the agent has got nothing of the thread.
    """
    question_ts = frozenset(own_ts)
    until, after = max(map(time_of, question_ts)), time_of(heard[0]) if heard else (-1, 0)
    news = {
        each.ts: each
        for each in messages
        if after < time_of(each.ts) < until
        and each.ts not in question_ts.union(heard)
        and not (heard and each.is_own)
        and (each.text or each.files)
    }
    return sorted(news.values(), key=lambda each: time_of(each.ts))


def quotable(
    messages: Iterable[ThreadMessage], asker: str, scope: Scope, *, with_external: bool
) -> list[ThreadMessage]:
    """The messages that the channel's `scope` allows to quote. Those of the bot and of the asker always are.

    `with_external`: also messages of people from other organisations.
    """
    is_open = scope == "thread"
    return [
        each
        for each in messages
        if each.author == asker
        or each.is_own
        or (is_open and (with_external or each.kind is not PersonKind.EXTERNAL))
    ]


def newest(messages: Sequence[ThreadMessage], most: int, root: str) -> list[ThreadMessage]:
    """At most `most` messages: the thread's first one, whose `ts` is `root`, and the newest of the others."""
    first = [each for each in messages[:1] if each.ts == root]
    others = messages[len(first) :]
    room = most - len(first)
    return [*first, *(others[-room:] if room else [])]


@dataclass(frozen=True, slots=True)
class Naming:
    """How people are named to the agent.

    `identity`: what may be told of them. `names`: display names by user id. `authors`: the people who are
    quoted, in order, for numbers where they have no names.
    """

    asker: str
    identity: Identity = "id"
    names: Mapping[str, str] = field(default_factory=dict, hash=False)
    authors: tuple[str, ...] = ()

    def item(self, message: ThreadMessage) -> dict[str, Any]:
        """A message as the agent gets it."""
        ids = {} if self.identity == "none" else {"author_id": message.author}
        return {
            "ts": message.ts,
            "author": self._author(message),
            **ids,
            "kind": "self" if message.is_own else str(message.kind),
            "asker": message.author == self.asker,
            "text": plain(to_text(message.text, self._mentioned)),
            "files": [one_line(name) for name in message.files[:_MOST_FILES]],
        }

    def _author(self, message: ThreadMessage) -> str:
        if message.is_own:
            return "this bot"
        is_bot = message.kind is PersonKind.BOT
        return (one_line(message.name) if is_bot else "") or self._person(message.author)

    def _person(self, user: str) -> str:
        if self.identity == "none":
            return f"person {self.authors.index(user) + 1}" if user in self.authors else "someone"
        return one_line(self.names.get(user, "")) or one_line(user)

    def _mentioned(self, target: str) -> str:
        return f"@{self._person(target[1:])}" if target[0] == "@" else target


def quoted(
    messages: Sequence[ThreadMessage],
    root: str,
    limits: QuoteLimits,
    naming: Naming,
    focus: frozenset[str] = frozenset(),
) -> Quotes:
    """Quote the first message of the thread and the newest others, as far as the limits allow.

    `focus`: the `ts` of those that the question is about. They come first,
    and may have half of all characters each.
    """
    items, size, is_cut = list[dict[str, Any]](), 0, False
    selection = newest(messages, limits.messages, root)
    by_weight = sorted(
        selection, key=lambda each: (each.ts in focus, each.ts == root, time_of(each.ts)), reverse=True
    )
    for each in by_weight:
        item = naming.item(each)
        text, most = item["text"], limits.chars // 2 if each.ts in focus else limits.message_chars
        if len(text) > most:
            item["text"], is_cut = text[: most - 1] + _CUT, True
        size += len(item["author"]) + len(item["text"]) + sum(map(len, item["files"]))
        if size > limits.chars:
            break
        items.append(item)
        is_cut |= len(item["files"]) < len(each.files)
    items.sort(key=lambda each: time_of(each["ts"]))
    return Quotes(tuple(items), truncated=is_cut or len(items) < len(messages))


def plain(text: str) -> str:
    """`text` without invisible characters, and with `\\n` as its line ends."""
    return _INVISIBLE.sub("", _LINES.sub("\n", text))
