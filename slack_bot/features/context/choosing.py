"""PURE. Which messages of a thread are quoted to its agent, how much of them, and what people are called."""

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
"""Controls, what turns text around, and what only a machine reads."""


@dataclass(frozen=True, slots=True)
class QuoteLimits:
    """At most so many messages, characters of one and characters in all."""

    messages: int = 30
    message_chars: int = 800
    chars: int = 12_000


def unheard(messages: Iterable[ThreadMessage], heard: Heard, asked: Iterable[str]) -> list[ThreadMessage]:
    """What the agent has not heard, said before the question, whose own messages are `asked`; in order.

    The bot's own answers are news only to an agent that knows nothing of the thread.
    """
    own = frozenset(asked)
    until, after = max(map(time_of, own)), time_of(heard[0]) if heard else (-1, 0)
    found = {
        each.ts: each
        for each in messages
        if after < time_of(each.ts) < until
        and each.ts not in own.union(heard)
        and not (heard and each.is_own)
        and (each.text or each.files)
    }
    return sorted(found.values(), key=lambda each: time_of(each.ts))


def quotable(
    said: Iterable[ThreadMessage], asker: str, scope: Scope, *, with_external: bool
) -> list[ThreadMessage]:
    """What may be quoted by the settings of the channel: the bot's words and the asker's always may."""
    is_open = scope == "thread"
    return [
        each
        for each in said
        if each.author == asker
        or each.is_own
        or (is_open and (with_external or each.kind is not PersonKind.EXTERNAL))
    ]


def newest(said: Sequence[ThreadMessage], most: int, root: str) -> list[ThreadMessage]:
    """The `root` of the thread, and the newest of the others."""
    first = [each for each in said[:1] if each.ts == root]
    others = said[len(first) :]
    room = most - len(first)
    return [*first, *(others[-room:] if room else [])]


@dataclass(frozen=True, slots=True)
class Naming:
    """What people are called. `names`: as far as they may be told, by id. `authors`: those of the quotes."""

    asker: str
    identity: Identity = "id"
    names: Mapping[str, str] = field(default_factory=dict, hash=False)
    authors: tuple[str, ...] = ()

    def item(self, said: ThreadMessage) -> dict[str, Any]:
        """A message as it is quoted."""
        ids = {} if self.identity == "none" else {"author_id": said.author}
        return {
            "ts": said.ts,
            "author": self._author(said),
            **ids,
            "kind": "self" if said.is_own else str(said.kind),
            "asker": said.author == self.asker,
            "text": plain(to_text(said.text, self._mentioned)),
            "files": [one_line(name) for name in said.files[:_MOST_FILES]],
        }

    def _author(self, said: ThreadMessage) -> str:
        if said.is_own:
            return "this bot"
        is_bot = said.kind is PersonKind.BOT
        return (one_line(said.name) if is_bot else "") or self._person(said.author)

    def _person(self, user: str) -> str:
        if self.identity == "none":
            return f"person {self.authors.index(user) + 1}" if user in self.authors else "someone"
        return one_line(self.names.get(user, "")) or one_line(user)

    def _mentioned(self, target: str) -> str:
        return f"@{self._person(target[1:])}" if target[0] == "@" else target


def quoted(said: Sequence[ThreadMessage], root: str, limits: QuoteLimits, naming: Naming) -> Quotes:
    """Of what was `said` the newest, and the `root` of the thread, as far as the limits allow."""
    kept, size, is_cut = list[dict[str, Any]](), 0, False
    chosen = newest(said, limits.messages, root)
    for each in sorted(chosen, key=lambda each: (each.ts == root, time_of(each.ts)), reverse=True):
        item = naming.item(each)
        text, most = item["text"], limits.message_chars
        if len(text) > most:
            item["text"], is_cut = text[: most - 1] + _CUT, True
        size += len(item["author"]) + len(item["text"]) + sum(map(len, item["files"]))
        if size > limits.chars:
            break
        kept.append(item)
        is_cut |= len(item["files"]) < len(each.files)
    kept.sort(key=lambda each: time_of(each["ts"]))
    return Quotes(tuple(kept), truncated=is_cut or len(kept) < len(said))


def plain(text: str) -> str:
    """`text` without invisible characters, its lines ended by `\\n`."""
    return _INVISIBLE.sub("", _LINES.sub("\n", text))
