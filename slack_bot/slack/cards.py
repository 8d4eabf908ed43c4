"""PURE. The task cards of an answer and its plan's title, over all its messages.

Slack replaces a card's title and state, appends its details and output, and calls a plan failed that stops
with an open card (facts: Slack 1.4). So every card is closed truthfully, and one that still runs when its
message ends goes on in the next.

A running card alone begins no message: the next begins only with something new to read. An agent may take
thousands of steps, which would fill all messages. So steps beyond the first are counted in one card, and a
higher count begins no message, nor does any card behind half of the messages.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from enum import StrEnum

from ..turn.actions import LONGEST, CardState, TaskCard
from .blocks import all_chunks, card_text, weighted_bytes

MAX_CARDS = 50
"""Cards in one message. Slack: a plan holds 50 tasks."""
CONTINUES = " (continues below)"
"""Added to the title of a card that goes on in the next message."""
STOPPED = " (stopped)"
"""Added to the title of a card that a human stopped."""

_TITLE = 256  # Slack: characters of a card's title
_MORE = "more steps"  # the id of the card that counts


class CardClosing(StrEnum):
    """How a card reads in the end that was still running."""

    DONE = "done"  # the turn ended well
    FAILED = "failed"  # the turn failed, and the card with it
    STOPPED = "stopped"  # a human stopped it
    CONTINUES = "continues"  # it goes on in the next message


_WORDS = {CardClosing.CONTINUES: CONTINUES, CardClosing.STOPPED: STOPPED}
"""Slack has no state for a card that neither ended nor failed, so its title says it."""


class MessageCards:
    """The cards of one message: as wanted, and as Slack has confirmed them.

    `number` counts the messages of an answer from 1: a card that is `carried` into a later one has another id
    there, because Slack knows cards by their ids.
    """

    def __init__(self, number: int = 1, carried: Iterable[TaskCard] = ()) -> None:
        self._suffix = f"#{number}" if number > 1 else ""
        self._wanted: dict[str, TaskCard] = {}  # details and output: what was not sent yet
        self._shown: dict[str, TaskCard] = {}  # details and output: all that was
        self._unsure: set[str] = set()
        self.want(carried)
        self._carried = dict(self._wanted)

    @property
    def is_changed(self) -> bool:
        """Some card is new, or reads otherwise than when it was carried here."""
        return self._carried != self._wanted

    @property
    def has_unshown(self) -> bool:
        return not self._wanted.keys() <= self._shown.keys()

    @property
    def is_empty(self) -> bool:
        return not self._shown

    @property
    def is_full(self) -> bool:
        return len(self._wanted) > MAX_CARDS

    def want(self, cards: Iterable[TaskCard]) -> None:
        """Note how cards should read; details and output are added to what they read so far."""
        for card in cards:
            waiting = self._wanted.get(card.id)
            self._wanted[card.id] = card if waiting is None else _append(waiting, card)

    def become(self, later: MessageCards) -> None:
        """Take over the state of the same cards in a message that was never begun."""
        for key in self._wanted.keys() & later._wanted.keys():
            self._wanted[key] = later._wanted[key]

    def shows_all_of(self, later: MessageCards) -> bool:
        return later._wanted.keys() <= self._shown.keys()

    def unsent(self) -> tuple[TaskCard, ...]:
        """What Slack has not confirmed yet, as far as it has room in this message."""
        room = MAX_CARDS - len(self._shown)
        new = [key for key in self._wanted if key not in self._shown][:room]
        return tuple(
            self._named(card)
            for key, card in self._wanted.items()
            if key in new or (key in self._shown and self._differs(key, card))
        )

    def confirm(self, cards: Iterable[TaskCard], *, unsure: bool = False) -> None:
        """Slack shows these, which `unsent` gave. `unsure`: its answer never came, so perhaps."""
        for card in cards:
            key = self._key(card)
            before = self._shown.get(key)
            self._shown[key] = card if before is None else _append(before, card)
            self._wanted[key] = replace(self._wanted[key], details="", output="")
            self._unsure.discard(key)
            if unsure:
                self._unsure.add(key)

    def closing(self, close: CardClosing) -> tuple[TaskCard, ...]:
        """What is left to send so that no card stays open."""
        left = []
        for key, shown in self._shown.items():
            end = self._end(key, close)
            if key in self._unsure or (shown.state, shown.title) != (end.state, end.title):
                left.append(replace(end, details="", output=""))
        return tuple(left)

    def confirm_closed(self, cards: Iterable[TaskCard]) -> None:
        """Slack shows these, which `closing` gave."""
        for card in cards:
            key = self._key(card)
            self._shown[key] = replace(self._shown[key], title=card.title, state=card.state)
            self._unsure.discard(key)

    def closed(self, close: CardClosing) -> tuple[TaskCard, ...]:
        """All cards that Slack shows, as they should read once they are closed."""
        return tuple(self._whole(key, self._end(key, close)) for key in self._wanted if key in self._shown)

    def whole(self, close: CardClosing | None = None) -> tuple[TaskCard, ...]:
        """All cards as they should read now, sent or not: for a message that is written as a whole.

        `close` None: those that run go on.
        """
        cards = (
            self._whole(key, self._named(card) if close is None else self._end(key, close))
            for key, card in self._wanted.items()
        )
        return tuple(cards)[:MAX_CARDS]

    def wanted(self) -> tuple[TaskCard, ...]:
        """All cards, for a message in place of this one, which does not exist."""
        return tuple(self._whole(key, card) for key, card in self._wanted.items())

    def carried(self) -> tuple[TaskCard, ...]:
        """The cards that go on in the next message: those that still run, and those without room here."""
        return tuple(
            card
            for key, card in self._wanted.items()
            if card.state is CardState.RUNNING or key not in self._shown
        )

    def _key(self, card: TaskCard) -> str:
        return card.id.removesuffix(self._suffix)

    def _named(self, card: TaskCard) -> TaskCard:
        return replace(card, id=card.id + self._suffix)

    def _whole(self, key: str, card: TaskCard) -> TaskCard:
        """`card` with all its details and output, sent or not."""
        shown, wanted = self._shown.get(key), self._wanted[key]
        details, output = ("", "") if shown is None else (shown.details, shown.output)
        return replace(card, details=details + wanted.details, output=output + wanted.output)

    def _differs(self, key: str, card: TaskCard) -> bool:
        shown = self._shown[key]
        return bool(card.details or card.output) or (shown.state, shown.title) != (card.state, card.title)

    def _end(self, key: str, close: CardClosing) -> TaskCard:
        card = self._named(self._wanted[key])
        if card.state is not CardState.RUNNING:
            return card
        if close in _WORDS:
            words = _WORDS[close]
            title = card_text(card.title or key, _TITLE - len(words)) + words
            return replace(card, state=CardState.DONE, title=title)
        return replace(card, state=CardState.ERROR if close is CardClosing.FAILED else CardState.DONE)


def _append(before: TaskCard, card: TaskCard) -> TaskCard:
    """`card` with its details and output behind those of `before`, up to a length."""
    details = before.details if len(before.details) > LONGEST else before.details + card.details
    output = before.output if len(before.output) > LONGEST else before.output + card.output
    return replace(card, details=details, output=output)


class CardTracker:
    """The cards of all messages. `present` are those of the message that is written, or comes next.

    `room` is the most weighted bytes of cards in one call, `limit` the characters of a card's value. Up to
    `max_cards` are shown by themselves if they began in the first `max_messages` of the answer.
    """

    def __init__(self, room: int, limit: int, max_cards: int, max_messages: int) -> None:
        self._room, self._limit = room, limit
        self._max_cards, self._max_messages = max_cards, max_messages
        self._number = 1
        self._title = ""
        self._has_news = False
        self._single: set[str] = set()
        self._counted: dict[str, CardState] = {}
        self.present = MessageCards()

    def want(self, cards: Iterable[TaskCard], title: str | None) -> None:
        """Note how cards should read from now on, and the title (None: unchanged)."""
        counted = len(self._counted)
        shown = self._fold(cards)
        self.present.want(shown)
        if self._number <= self._max_messages and (not counted or any(card.id != _MORE for card in shown)):
            self._has_news = self._has_news or self.present.is_changed
        self._title = title or self._title

    def _fold(self, cards: Iterable[TaskCard]) -> list[TaskCard]:
        """`cards`, with one in place of all that are not shown by themselves."""
        shown: list[TaskCard] = []
        counts = False
        is_late = self._number > self._max_messages
        for card in cards:
            is_full = bool(self._counted) or len(self._single) >= self._max_cards or is_late
            if is_full and card.id not in self._single:
                self._counted[card.id] = card.state
                counts = True
                continue
            self._single.add(card.id)
            shown.append(replace(card, details="", output="") if is_late else card)
        return [*shown, self._more()] if counts else shown

    def _more(self) -> TaskCard:
        states = self._counted.values()
        failed = sum(state is CardState.ERROR for state in states)
        title = "… 1 more step" if len(states) == 1 else f"… {len(states):,} more steps"
        title += f" ({failed:,} failed)" if failed else ""
        return TaskCard(_MORE, title, CardState.RUNNING if CardState.RUNNING in states else CardState.DONE)

    def unsent(self, shown_title: str | None, *, has_text: bool) -> tuple[tuple[TaskCard, ...], str]:
        """The cards and the title ("": none) of the next call, as far as one call takes them.

        `shown_title` is that of the message which is written; None: one is begun.
        """
        if shown_title is None and not has_text and not self._has_news:
            return (), ""
        cards = self.present.unsent()
        while len(cards) > 1 and weighted_bytes(all_chunks("", cards, "", self._limit)) > self._room:
            cards = cards[: len(cards) // 2]
        has_cards = bool(cards) or not self.present.is_empty
        return cards, self._title if has_cards and (shown_title or "") != self._title else ""

    def next_message(self, number: int, before: MessageCards, *, exists: bool) -> None:
        """The next write begins message `number`, after the one with the cards `before`.

        `exists` false: in place of that one.
        """
        self._number = number
        if not exists:
            self.present, self._has_news = MessageCards(number), True
            self.present.want(before.wanted())
            return
        self._has_news = before.has_unshown and number <= self._max_messages
        self.present = MessageCards(number, before.carried())
