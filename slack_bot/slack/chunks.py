"""PURE. What a stream is fed with: chunks, and the book of the task cards they open.

Slack replaces a card's title and state but appends its details and output, shows nothing of a value that
begins with `##`, loses white space at its front, and calls a plan failed that stops with an open card
(facts: Slack 1.4). The book knows what each card reads in Slack and what it should read, so that every card
is closed, truly, and one that still runs when its message ends goes on in the next.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any

from ..turn.actions import LONGEST, CardState, TaskCard
from ..turn.sanitize import sanitize

MAX_CARDS = 50
"""Cards in one message. Slack: a plan holds 50 tasks."""
CONTINUES = " (continues below)"
"""What the title of a card says that goes on in the next message."""
STOPPED = " (stopped)"
"""What it says of a card that a human stopped."""

_GUARD = "\u200b"

Chunk = dict[str, Any]


class CardClosing(StrEnum):
    """How a card reads in the end that was still running."""

    DONE = "done"  # the turn ended well
    FAILED = "failed"  # the turn failed, and the card with it
    STOPPED = "stopped"  # a human stopped it
    CONTINUES = "continues"  # it goes on in the next message


_WORDS = {CardClosing.CONTINUES: CONTINUES, CardClosing.STOPPED: STOPPED}
"""Slack has no state for a card that neither ended nor failed: its title says what became of it."""


def text_chunk(text: str) -> Chunk:
    """A piece of the answer."""
    return {"type": "markdown_text", "text": text}


def task_chunk(card: TaskCard, limit: int) -> Chunk:
    """A card, each of its values at most `limit` characters."""
    chunk = {
        "type": "task_update",
        "id": card.id,
        "title": card_title(card, limit),
        "status": card.state.value,
    }
    for name, value in (("details", card.details), ("output", card.output)):
        if shown := card_text(value, limit):
            chunk[name] = shown
    return chunk


def all_chunks(text: str, cards: Sequence[TaskCard], title: str, limit: int) -> list[Chunk]:
    """One write as chunks: plan title, cards, then text."""
    chunks = [{"type": "plan_update", "title": card_text(title, limit)}] if title else []
    chunks += [task_chunk(card, limit) for card in cards]
    return [*chunks, text_chunk(text)] if text else chunks


def weighted_bytes(chunks: Iterable[Chunk]) -> int:
    """Bytes as Slack is believed to count them: text and titles once, details and output twice [obs]."""
    return sum(
        (2 if name in ("details", "output") else 1) * len(str(chunk[name]).encode("utf-8", "replace"))
        for chunk in chunks
        for name in ("text", "title", "details", "output")
        if name in chunk
    )


def card_text(text: str, limit: int) -> str:
    """`text` as a card takes it: harmless, nothing that would vanish or render empty, not too long."""
    text = sanitize(text).lstrip()
    if text.startswith("##"):
        text = _GUARD + text
    return text if len(text) <= limit else text[: limit - 1] + "…"


def card_title(card: TaskCard, limit: int) -> str:
    """What a card is called: Slack takes none without a title, and an agent's may have nothing to be seen."""
    return card_text(card.title, limit) or card_text(card.id, limit) or "Step"


class CardTracker:
    """The cards of one message: as wanted, and as Slack has confirmed them.

    `number` is the message's among those of its answer, from 1: a card that goes on in a later one has an id
    of its own there, because Slack knows cards by their ids. `carried` are the cards that do.
    """

    def __init__(self, number: int = 1, carried: Iterable[TaskCard] = ()) -> None:
        self._suffix = f"#{number}" if number > 1 else ""
        self._wanted: dict[str, TaskCard] = {}  # details and output: what was not sent yet
        self._shown: dict[str, TaskCard] = {}  # details and output: all that was
        self._unsure: set[str] = set()
        self.want(carried)
        self._carried = dict(self._wanted)

    def want(self, cards: Iterable[TaskCard]) -> None:
        """Note how cards should read; details and output are added to what they read so far."""
        for card in cards:
            waiting = self._wanted.get(card.id)
            if waiting is not None:
                card = _behind(waiting, card)
            self._wanted[card.id] = card

    def unsent(self) -> tuple[TaskCard, ...]:
        """What Slack has not confirmed yet, as far as it has room in this message."""
        room = MAX_CARDS - len(self._shown)
        new = [key for key in self._wanted if key not in self._shown][:room]
        return tuple(
            self._named(card)
            for key, card in self._wanted.items()
            if (key in new or key in self._shown) and self._differs(key, card)
        )

    @property
    def is_changed(self) -> bool:
        """Some card should read otherwise than when it was carried here, or was not."""
        return self._carried != self._wanted

    @property
    def has_unshown(self) -> bool:
        """Some card was never shown in this message."""
        return not self._wanted.keys() <= self._shown.keys()

    def become(self, later: CardTracker) -> None:
        """Take over how the same cards should read in a message that never came."""
        for key, card in later._wanted.items():
            if key in self._wanted:
                self._wanted[key] = card

    def holds(self, later: CardTracker) -> bool:
        """All cards of `later` are shown here."""
        return later._wanted.keys() <= self._shown.keys()

    def is_full(self) -> bool:
        """Some card has no room in this message."""
        return len(self._wanted) > MAX_CARDS

    def confirm(self, cards: Iterable[TaskCard], *, unsure: bool = False) -> None:
        """Slack shows these, which `unsent` gave; `unsure`: or perhaps not, its answer never came."""
        for card in cards:
            key = card.id.removesuffix(self._suffix)
            before = self._shown.get(key)
            if before is not None:
                card = _behind(before, card)
            self._shown[key] = card
            self._wanted[key] = replace(self._wanted[key], details="", output="")
            self._unsure.discard(key)
            if unsure:
                self._unsure.add(key)

    @property
    def is_empty(self) -> bool:
        """Slack shows no card of this message."""
        return not self._shown

    @property
    def is_open(self) -> bool:
        """Slack shows a card that still runs, or may."""
        return bool(self._unsure) or any(card.state is CardState.RUNNING for card in self._shown.values())

    def closing(self, close: CardClosing) -> tuple[TaskCard, ...]:
        """What is left to say so that no card stays open."""
        left = []
        for key, shown in self._shown.items():
            end = self._end(key, close)
            if key in self._unsure or (shown.state, shown.title) != (end.state, end.title):
                left.append(replace(end, details="", output=""))
        return tuple(left)

    def closed(self, cards: Iterable[TaskCard]) -> None:
        """Slack shows these, which `closing` gave."""
        for card in cards:
            key = card.id.removesuffix(self._suffix)
            shown = self._shown[key]
            self._shown[key] = replace(shown, title=card.title, state=card.state)
            self._unsure.discard(key)

    def ended(self, close: CardClosing) -> tuple[TaskCard, ...]:
        """All cards that Slack shows, as they should read once they are closed."""
        return tuple(card for card in self._whole(close) if card.id.removesuffix(self._suffix) in self._shown)

    def present(self, close: CardClosing | None = None) -> tuple[TaskCard, ...]:
        """All cards as they should read now, whatever was sent: for a message that is written as a whole."""
        return tuple(self._whole(close))[:MAX_CARDS]

    def carried(self) -> tuple[TaskCard, ...]:
        """The cards that go on in the next message: those that still run, and those that had no room here."""
        return tuple(
            card
            for key, card in self._wanted.items()
            if card.state is CardState.RUNNING or key not in self._shown
        )

    def wanted(self) -> tuple[TaskCard, ...]:
        """All cards, for a message that takes the place of this one because this one does not exist."""
        every = []
        for key, card in self._wanted.items():
            shown = self._shown.get(key)
            before = ("", "") if shown is None else (shown.details, shown.output)
            every.append(replace(card, details=before[0] + card.details, output=before[1] + card.output))
        return tuple(every)

    def _whole(self, close: CardClosing | None) -> Iterator[TaskCard]:
        """Each card with all its details and output, sent or not."""
        for key, card in self._wanted.items():
            shown = self._shown.get(key)
            whole = self._named(card) if close is None else self._end(key, close)
            before = ("", "") if shown is None else (shown.details, shown.output)
            yield replace(whole, details=before[0] + card.details, output=before[1] + card.output)

    def _differs(self, key: str, card: TaskCard) -> bool:
        shown = self._shown.get(key)
        if shown is None or card.details or card.output:
            return True
        return (shown.state, shown.title) != (card.state, card.title)

    def _named(self, card: TaskCard) -> TaskCard:
        return replace(card, id=card.id + self._suffix)

    def _end(self, key: str, close: CardClosing) -> TaskCard:
        card = self._named(self._wanted[key])
        if card.state is not CardState.RUNNING:
            return card
        if close in _WORDS:
            return replace(card, state=CardState.DONE, title=_titled(card.title or key, _WORDS[close]))
        return replace(card, state=CardState.ERROR if close is CardClosing.FAILED else CardState.DONE)


def _behind(before: TaskCard, card: TaskCard) -> TaskCard:
    """`card` with its details and output behind those of `before`, which are long enough at some point."""
    details = before.details if len(before.details) > LONGEST else before.details + card.details
    output = before.output if len(before.output) > LONGEST else before.output + card.output
    return replace(card, details=details, output=output)


def _titled(title: str, words: str) -> str:
    """A title with the words that say how the card ended, however long it is."""
    return card_text(title, _TITLE - len(words)) + words


_TITLE = 256  # Slack: characters of a card's title
