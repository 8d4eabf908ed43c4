"""PURE. The task cards of an answer and its plan's title, over all its messages.

Slack replaces a card's title and state, appends its details, and calls a plan failed that stops
with an open card (facts: Slack 1.4). So every card is closed truthfully, and one that still runs goes on in
the next message, which it alone does not begin. Thousands of steps would fill all messages: those beyond the
first are counted in one card, and behind half of the messages no card begins another.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from ..text.sanitize import LONGEST
from ..text.words import (
    CARD_CONTINUES,
    CARD_FAILED_STEPS,
    CARD_MORE_STEPS,
    CARD_ONE_MORE_STEP,
    CARD_STOPPED,
)
from ..turn.actions import CardState, TaskCard
from .blocks import all_chunks, card_text, weighted_bytes

MAX_CARDS = 50
"""Cards in one message. Slack: a plan holds 50 tasks."""

_TITLE = 256  # Slack: characters of a card's title
_MORE = "more steps"  # the id of the card that counts


class CardClosing(StrEnum):
    """How a card reads in the end that was still running."""

    DONE = "done"  # the turn ended well
    FAILED = "failed"  # the turn failed, and the card with it
    STOPPED = "stopped"  # a human stopped it
    CONTINUES = "continues"  # it goes on in the next message


_WORDS = {CardClosing.CONTINUES: CARD_CONTINUES, CardClosing.STOPPED: CARD_STOPPED}
"""Slack has no state for a card that neither ended nor failed, so its title says it."""


@dataclass(slots=True)
class _Card:
    """`wanted` has the details that were not sent yet, `shown` the confirmed ones."""

    wanted: TaskCard
    shown: TaskCard | None = None
    is_unsure: bool = False

    def whole(self, card: TaskCard) -> TaskCard:
        if self.shown is None:
            return card
        return replace(
            card,
            details=self.shown.details + self.wanted.details,
            sources=self.shown.sources + self.wanted.sources,
        )

    def reads_as(self, card: TaskCard) -> bool:
        shown = self.shown
        return shown is not None and (shown.state, shown.title) == (card.state, card.title)


class MessageCards:
    """The cards of the message `number` of an answer. A card that is `carried` into a later one has another
    id there, because Slack knows cards by their ids."""

    def __init__(self, number: int = 1, carried: Iterable[TaskCard] = ()) -> None:
        self._suffix = f"#{number}" if number > 1 else ""
        self._cards: dict[str, _Card] = {}
        self.want(carried)
        self._carried = {key: card.wanted for key, card in self._cards.items()}

    @classmethod
    def restored(cls, number: int, shown: Iterable[TaskCard]) -> MessageCards:
        """A message of another process: Slack shows `shown`."""
        cards = cls(number)
        for card in shown:
            cards._cards[card.id] = _Card(replace(card, details="", sources=()), cards._named(card))
        return cards

    def shown(self) -> tuple[TaskCard, ...]:
        """What Slack shows, with the ids that the agent gave."""
        cards = self._cards.items()
        return tuple(replace(card.shown, id=key) for key, card in cards if card.shown is not None)

    @property
    def is_changed(self) -> bool:
        return self._carried != {key: card.wanted for key, card in self._cards.items()}

    @property
    def is_empty(self) -> bool:
        return all(card.shown is None for card in self._cards.values())

    @property
    def has_any(self) -> bool:
        return bool(self._cards)

    @property
    def is_full(self) -> bool:
        return len(self._cards) > MAX_CARDS

    def want(self, cards: Iterable[TaskCard]) -> None:
        for card in cards:
            known = self._cards.get(card.id)
            if known is None:
                self._cards[card.id] = _Card(card)
            else:
                known.wanted = _append(known.wanted, card)

    def become(self, later: MessageCards) -> None:
        """Take over the state of the same cards in a message that was never begun."""
        for key in self._cards.keys() & later._cards.keys():
            self._cards[key].wanted = later._cards[key].wanted

    def shows_all_of(self, later: MessageCards) -> bool:
        return later._cards.keys() <= {key for key, card in self._cards.items() if card.shown is not None}

    def unsent(self) -> tuple[TaskCard, ...]:
        """What is not confirmed yet, as far as it has room in this message."""
        unsent = []
        room = MAX_CARDS - sum(card.shown is not None for card in self._cards.values())
        for card in self._cards.values():
            if card.shown is None:
                room -= 1
                is_sent = room < 0
            else:
                is_sent = card.reads_as(card.wanted) and not (card.wanted.details or card.wanted.sources)
            if not is_sent:
                unsent.append(self._named(card.wanted))
        return tuple(unsent)

    def confirm(self, cards: Iterable[TaskCard], *, unsure: bool = False) -> None:
        """Slack shows these, which `unsent` gave. `unsure`: its answer never came, so perhaps."""
        for sent in cards:
            card = self._cards[sent.id.removesuffix(self._suffix)]
            card.shown = sent if card.shown is None else _append(card.shown, sent)
            card.wanted = replace(card.wanted, details="", sources=())
            card.is_unsure = unsure

    def closing(self, close: CardClosing) -> tuple[TaskCard, ...]:
        ends = [(card, self._end(card, close)) for card in self._cards.values() if card.shown is not None]
        return tuple(
            replace(end, details="", sources=())
            for card, end in ends
            if card.is_unsure or not card.reads_as(end)
        )

    def confirm_closed(self, close: CardClosing) -> None:
        for card in self._cards.values():
            if card.shown is not None:
                end = self._end(card, close)
                card.shown, card.is_unsure = replace(card.shown, title=end.title, state=end.state), False

    def closed(self, close: CardClosing) -> tuple[TaskCard, ...]:
        cards = self._cards.values()
        return tuple(card.whole(self._end(card, close)) for card in cards if card.shown is not None)

    def whole(self, close: CardClosing | None = None) -> tuple[TaskCard, ...]:
        """All cards, for a message that is written as a whole. `close` None: those that run go on."""
        return tuple(card.whole(self._end(card, close)) for card in [*self._cards.values()][:MAX_CARDS])

    def wanted(self) -> tuple[TaskCard, ...]:
        return tuple(card.whole(card.wanted) for card in self._cards.values())

    def carried(self) -> tuple[TaskCard, ...]:
        return tuple(
            card.wanted
            for card in self._cards.values()
            if card.wanted.state is CardState.RUNNING or card.shown is None
        )

    def _named(self, card: TaskCard) -> TaskCard:
        return replace(card, id=card.id + self._suffix)

    def _end(self, card: _Card, close: CardClosing | None) -> TaskCard:
        end = self._named(card.wanted)
        if close is None or end.state is not CardState.RUNNING:
            return end
        if close in _WORDS:
            words = _WORDS[close]
            title = card_text(end.title or card.wanted.id, _TITLE - len(words)) + words
            return replace(end, state=CardState.DONE, title=title)
        return replace(end, state=CardState.ERROR if close is CardClosing.FAILED else CardState.DONE)


def _append(before: TaskCard, card: TaskCard) -> TaskCard:
    shown, sources = before.details, before.sources + card.sources
    return replace(card, details=shown if len(shown) > LONGEST else shown + card.details, sources=sources)


class CardTracker:
    """The cards of all messages. `present` are those of the message that is written, or comes next.

    `room`: weighted bytes of cards in one call. `limit`: characters of a card's value. `max_cards` are shown
    by themselves, if they began in the first `max_messages`.
    """

    def __init__(self, room: int, limit: int, max_cards: int, max_messages: int) -> None:
        self._room, self._limit = room, limit
        self._max_cards, self._max_messages = max_cards, max_messages
        self._number = 1
        self._title = ""
        self._has_news = False
        self._single: set[str] = set()
        self._counted: dict[str, CardState] = {}
        self._restored: dict[str, TaskCard] = {}
        self.present = MessageCards()

    def last_title(self, shown: str) -> str:
        """What the title `shown` of the last message becomes when nothing follows; "": it stays."""
        return self._title if shown and self._title != shown else ""

    def restore(self, messages: Sequence[MessageCards]) -> None:
        """The messages of another process. Their cards that ended are not shown again."""
        for cards in messages:
            self._restored |= {card.id: card for card in cards.shown()}
        self._single |= self._restored.keys()
        self.next_message(len(messages) + 1, messages[-1], exists=True)

    def want(self, cards: Iterable[TaskCard], title: str | None) -> None:
        """`title` None: unchanged."""
        counted = len(self._counted)
        shown = self._fold(cards)
        self.present.want(shown)
        if self._number <= self._max_messages and (not counted or any(card.id != _MORE for card in shown)):
            self._has_news = self._has_news or self.present.is_changed
        self._title = title or self._title

    def _fold(self, cards: Iterable[TaskCard]) -> list[TaskCard]:
        shown: list[TaskCard] = []
        counts = False
        is_late = self._number > self._max_messages
        for card in cards:
            known = self._restored.get(card.id)
            if known is not None and (known.state, known.title) == (card.state, card.title):
                continue
            is_full = bool(self._counted) or len(self._single) >= self._max_cards or is_late
            if is_full and card.id not in self._single:
                self._counted[card.id] = card.state
                counts = True
                continue
            self._single.add(card.id)
            shown.append(replace(card, details="", sources=()) if is_late else card)
        return [*shown, self._more()] if counts else shown

    def _more(self) -> TaskCard:
        states = self._counted.values()
        failed = sum(state is CardState.ERROR for state in states)
        title = CARD_ONE_MORE_STEP if len(states) == 1 else CARD_MORE_STEPS.format(len(states))
        title += CARD_FAILED_STEPS.format(failed) if failed else ""
        return TaskCard(_MORE, title, CardState.RUNNING if CardState.RUNNING in states else CardState.DONE)

    def unsent(self, shown_title: str | None, *, has_text: bool) -> tuple[tuple[TaskCard, ...], str]:
        """What one call takes. `shown_title` is that of the present message; None: one is begun."""
        if not self.present.has_any or (shown_title is None and not has_text and not self._has_news):
            return (), ""
        cards = self.present.unsent()
        while len(cards) > 1 and weighted_bytes(all_chunks("", cards, "", self._limit)) > self._room:
            cards = cards[: len(cards) // 2]
        has_cards = bool(cards) or not self.present.is_empty
        return cards, self._title if has_cards and (shown_title or "") != self._title else ""

    def next_message(self, number: int, before: MessageCards, *, exists: bool) -> None:
        """Message `number` comes after the one with the cards `before`, or in its place."""
        self._number = number
        if exists:
            has_unshown = any(card.shown is None for card in before._cards.values())
            self._has_news = has_unshown and number <= self._max_messages
            self.present = MessageCards(number, before.carried())
        else:
            self._has_news, self.present = True, MessageCards(number)
            self.present.want(before.wanted())
