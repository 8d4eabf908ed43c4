"""PURE. Compares what a message shows with what was written into it.

Slack gives a streamed message back in another dialect: mrkdwn, rich text, names of emoji (facts: Slack 1.8).
So only letters and digits are compared, which no dialect changes. The text has the titles of the cards too;
the blocks name them. An append is applied as a whole or not at all: a message that shows neither cannot be
read.
"""

import html
import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ..text.markdown import Cut, CutQuality, MarkdownState, cuts_up_to
from ..text.tables import first_table
from ..turn.actions import CardState
from ..turn.json_values import list_of, object_of, objects_of
from .blocks import fallback, is_beside_answer, turn_of

_LINK = re.compile(r"!?\[([^\[\]\n]*)\]\([^)\s]{0,999}\)")  # Markdown: the label stays
_LABELLED = re.compile(r"<[^|<>\s]+\|([^<>]*)>")  # mrkdwn: the label stays
_BARE = re.compile(r"<((?:https?|mailto|tel):[^<>|\s]+)>")
_EMOJI = re.compile(r":[a-z0-9_+'-]+:")
_ESCAPED = re.compile(r"&(?:amp;)+")  # Slack escapes what an agent had escaped already
_FRONT = r"^(?:[ \t>•]|&(?:amp;)*gt;|#{1,6}[ \t]|[-*+][ \t])*"  # of a line: quotes, headings, bullets
_NUMBER = re.compile(_FRONT + r"\d{1,9}[.)][ \t]", re.MULTILINE)  # Slack counts an ordered list itself
_INFO = re.compile(_FRONT + r"(?:`{3,}[^\n`]*|~{3,}[^\n~]*)$", re.MULTILINE)  # a fence and its language
_MOST_READINGS = 16  # ways to tell cards' titles from text that are followed; more is no title's doing
_ENOUGH = 24  # letters by which a stream is recognised
_SENTENCE_MOST = 500  # characters to the end of a sentence


class Readback(StrEnum):
    """What became of a text whose call had no answer."""

    ALL = "all"
    NONE = "none"
    UNREADABLE = "unreadable"


def comparable(text: str) -> str:
    """The letters and digits of `text`, Markdown or mrkdwn."""
    for pattern, kept in ((_INFO, ""), (_LINK, r" \1 "), (_LABELLED, r" \1 "), (_BARE, r" \1 ")):
        text = pattern.sub(kept, text)
    text = html.unescape(_ESCAPED.sub("&", text))
    text = _NUMBER.sub("", _EMOJI.sub("", text))
    return "".join(letter for letter in text if letter.isalnum())


def compare_shown(message: Mapping[str, Any], confirmed: str, sent: str) -> Readback:
    """Whether `message`, after its stop, shows `sent` behind `confirmed`."""
    blocks = message.get("blocks")
    shown: list[tuple[str, list[str]]] = [(str(message.get("text") or ""), titles_of(blocks))]
    shown.append((words_of(blocks), []))  # of the blocks without the cards
    without, both = comparable(confirmed), comparable(confirmed + sent)
    if both != without:
        said = {
            _says(comparable(text), without, both, [comparable(each) for each in titles])
            for text, titles in shown
        }
        if Readback.ALL in said:
            return Readback.ALL
        if Readback.NONE in said and Readback.UNREADABLE not in said:
            return Readback.NONE
    if sent.strip() and any(_is_exactly(text, confirmed, sent, titles) for text, titles in shown):
        return Readback.ALL  # no letters came, and no dialect changed the signs that did
    return Readback.UNREADABLE


@dataclass(frozen=True, slots=True)
class ShownRest:
    """What a message shows behind the text that is known of it, which ends in `state`.

    `letters` are comparable, and so many; None: they cannot be read. `signs` has all but the white space.
    `is_open`: a card of it runs on.
    """

    letters: str | None
    count: int
    signs: str
    state: MarkdownState
    is_open: bool

    @classmethod
    def of(cls, message: Mapping[str, Any] | None, known: str, state: MarkdownState) -> "ShownRest":
        """What `message` shows behind `known`."""
        message = message or {}
        blocks = message.get("blocks")
        text = words_of(blocks) or ("" if titles_of(blocks) else str(message.get("text") or ""))
        shown, before = comparable(text), comparable(known)
        letters = shown[len(before) :] if shown.startswith(before) else None
        count, is_open = max(0, len(shown) - len(before)), has_open_card(blocks)
        return cls(letters, count, _dense(text), state, is_open)

    def part_of(self, text: str, is_all: bool) -> tuple[int, bool] | None:
        """How much of `text`, the next of the answer, belongs to the message, and whether it reads well so.

        Where it shows anything else, it takes as many letters, up to the end of a sentence: then nothing is
        taken back in the middle of one. None: more text must come. `is_all`: no more comes.
        """
        wanted, read = self.letters, self._letters(text)
        if wanted is not None and read.startswith(wanted):
            return self._end_of(wanted, text, is_read=read == wanted), not self.is_open
        if wanted is not None and wanted.startswith(read) and not is_all:
            return None
        start = self._reach(text, self.count)
        cuts = list(self._cuts(text, start))
        ends = [cut.at for cut in cuts if cut.rank >= CutQuality.SENTENCE]
        if ends or is_all:
            return (ends or [len(text)])[0], False
        return (cuts[-1].at, False) if cuts and len(text) - start > _SENTENCE_MOST else None

    def _letters(self, text: str) -> str:
        line = self.state.line
        return comparable(line + text)[len(comparable(line)) :]

    def _reach(self, text: str, count: int) -> int:
        """The fewest characters of `text` that have so many letters."""
        return bisect_left(range(len(text)), count, key=lambda end: len(self._letters(text[:end])))

    def _cuts(self, text: str, start: int) -> Iterator[Cut]:
        return (cut for cut in cuts_up_to(text, len(text), self.state) if cut.at >= start and not cut.inside)

    def _end_of(self, letters: str, text: str, *, is_read: bool) -> int:
        """Where `text` has these letters, with the signs behind them that belong there. `is_read`: it has no
        others."""
        start, found = self._reach(text, len(letters)), list[Cut]()
        for cut in self._cuts(text, start):  # an address counts until its link is whole
            read = self._letters(text[: cut.at])
            if len(read) > len(letters):
                break
            found += [cut] if read == letters else []
        found += [Cut(len(text), CutQuality.WORD)] if is_read else []

        def goodness(cut: Cut) -> tuple[bool, CutQuality]:
            is_shown = self.signs.endswith(_dense(text[max(0, start - 1) : cut.at]))
            return is_shown and cut.rank is not CutQuality.ROW, cut.rank  # no fence is left to be closed

        return max(found, key=goodness).at if found else start


def _says(shown: str, without: str, both: str, titles: Sequence[str]) -> Readback | None:
    """None: it is empty, or may be read either way."""
    is_both, is_without = _reads(shown, both, titles), _reads(shown, without, titles)
    if is_both != is_without:
        return Readback.ALL if is_both else Readback.NONE
    return None if is_both or not shown else Readback.UNREADABLE


def _is_exactly(shown: str, confirmed: str, sent: str, titles: Sequence[str]) -> bool:
    without, both, names = _dense(confirmed), _dense(confirmed + sent), [_dense(title) for title in titles]
    texts = (_dense(shown), _dense(html.unescape(shown)))
    return any(_says(text, without, both, names) is Readback.ALL for text in texts)


def _dense(text: str) -> str:
    return "".join(text.split())


def _reads(shown: str, written: str, titles: Sequence[str]) -> bool:
    """`shown` is `written`, with any of `titles` anywhere in it, in their order."""
    places = {(0, 0)}  # how far both are read where a title ends
    for title in filter(None, titles):
        for start, done in tuple(places):
            at = shown.find(title, start)
            while at >= 0 and shown[start:at] == written[done : done + at - start]:
                places.add((at + len(title), done + at - start))
                at = shown.find(title, at + 1)
                if len(places) > len(titles) + _MOST_READINGS:
                    return False
    return any(shown[start:] == written[done:] for start, done in places)


_TABLES = frozenset({"table", "data_table"})
_READ = frozenset({"rich_text", "markdown"})
_AROUND = frozenset({"plan", "task_card", "context", "context_actions", "actions"})


def is_ignored(answer: Mapping[str, Any], sent: str, before: str) -> bool:
    """Whether Slack's `answer` shows a message that reads as `before` or is empty, and not as `sent`."""
    shown = object_of(answer.get("message"))
    texts = [text for text in (answer.get("text"), shown.get("text")) if isinstance(text, str)]
    blocks = objects_of(shown.get("blocks"))
    if not texts or any(block.get("type") not in _READ | _AROUND for block in blocks):
        return False
    new, titles = comparable(sent), [comparable(title) for title in titles_of(blocks)]
    stale = {"", comparable(before), comparable(fallback(before))}  # the last is what a notification says
    if new in stale:
        return False
    read = {comparable(text) for text in (*texts, words_of(blocks))}
    is_old = all(any(_reads(each, old, titles) for old in stale) for each in read)
    return is_old and not any(_reads(each, new, titles) for each in read)


def titles_of(blocks: object) -> list[str]:
    """The titles of a message's cards, in order, and of their plan."""
    found: list[str] = []
    for block in objects_of(blocks):
        if block.get("type") in ("plan", "task_card"):
            found += [str(block.get("title") or ""), *titles_of(block.get("tasks"))]
    return found


def has_open_card(blocks: object) -> bool:
    """Whether one of the task cards in `blocks` still runs."""
    return any(
        block.get("status") == CardState.RUNNING or has_open_card(block.get("tasks"))
        for block in objects_of(blocks)
    )


def draws_tables(message: object, text: str) -> bool | None:
    """Whether the stream `message`, which was written as `text`, shows its table as one. None: it has none
    that would tell.
    """
    table = first_table(text, MarkdownState())
    blocks = objects_of(object_of(message).get("blocks"))
    if table is None or not text.startswith("|", table[0]) or not blocks:
        return None
    return any(block.get("type") in _TABLES for block in blocks)


def words_of(blocks: object) -> str:
    """The words of a message's text blocks, without its cards and its footer."""
    found: list[str] = []
    for block in objects_of(blocks):
        if block.get("type") == "rich_text":
            found.extend(_words(block))
        elif block.get("type") == "markdown":
            found.append(str(block.get("text") or ""))
        elif block.get("type") in _TABLES:
            rows = map(objects_of, list_of(block.get("rows")))
            found += (f"| {' | '.join(map(_cell, row))} |\n" for row in rows)
    return "".join(found)


def _cell(cell: Mapping[str, Any]) -> str:
    return "".join(_words(cell)).strip()


def _words(node: Mapping[str, Any]) -> Iterable[str]:
    if isinstance(text := node.get("text"), str):
        yield text
    elif node.get("type") == "link":
        yield str(node.get("url") or "")
    for inner in objects_of(node.get("elements")):
        yield from _words(inner)
        if inner.get("type") in ("rich_text_section", "rich_text_preformatted", "rich_text_quote"):
            yield "\n"


def own_stream(
    messages: Iterable[Mapping[str, Any]], *, since: float, sent: str, known: Collection[str]
) -> Mapping[str, Any] | None:
    """The stream among a thread's `messages` that a start without an answer has opened.

    It was begun after `since` (wall-clock seconds), is not `known`, and begins as `sent`, as far as it can be
    read: Slack may show an open stream without its text.
    """
    wanted, new = comparable(sent), (each for each in messages if each.get("ts") not in known)
    return next((each for each in new if _is_stream(each, since) and _begins(each, wanted)), None)


def unrecorded(
    messages: Iterable[Mapping[str, Any]], turn: str, since: float, known: Collection[str]
) -> list[str]:
    """The `ts` of messages that a process which is gone wrote for `turn` and did not record.

    A post names its turn; what shows the question, or says something about it, stays. A stream is not
    `known`, and began after `since` in wall-clock seconds.
    """
    new = (each for each in messages if each.get("ts") not in known)
    return [
        str(each["ts"])
        for each in new
        if (turn_of(each.get("metadata")) == turn and not is_beside_answer(each.get("metadata")))
        or _is_stream(each, since)
    ]


def _is_stream(message: Mapping[str, Any], since: float) -> bool:
    """A stream has no metadata (facts: Slack 1.8)."""
    is_stream = message.get("bot_id") and message.get("streaming_state") and not message.get("metadata")
    return bool(is_stream) and float(message.get("ts") or 0) >= since


def _begins(message: Mapping[str, Any], wanted: str) -> bool:
    text = comparable(str(message.get("text") or ""))
    behind = text
    for title in titles_of(message.get("blocks")):
        behind = behind.removeprefix(comparable(title))
    shown = [text, behind] if behind else [behind]
    return any(each[:_ENOUGH] == wanted[: min(_ENOUGH, len(each))] for each in shown)
