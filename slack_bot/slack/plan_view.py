"""PURE. The cards and the plan's title of one answer, over all its messages.

Cards that still run go on in the next message. That alone is no reason to begin one: where an agent works for
long and says nothing, a message is ended by its age, and the next begins only with something new to read.

An agent may take thousands of steps, and a message holds 50 cards: they would fill all messages the answer
may have. So the steps beyond the first are counted in one card. To count on is no reason to begin a message,
and behind half of the messages no card is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..turn.actions import CardState, TaskCard
from .chunks import CardTracker, all_chunks, weighted_bytes
from .message import SlackMessage

_MORE = "more steps"  # the id of the card that counts


class PlanView:
    """What the cards should read. `is_plain`: Slack refused a form, so from now on there are none.

    `room` is the most weighted bytes of cards in one call, `limit` the characters of a card's value. `most`
    cards stand for themselves, as far as they began in the first `messages` of the answer.
    """

    def __init__(self, room: int, limit: int, most: int, messages: int) -> None:
        self._room, self._limit, self._most, self._messages = room, limit, most, messages
        self._number = 1
        self._title = ""
        self._has_news = False
        self._own: set[str] = set()
        self._counted: dict[str, CardState] = {}
        self.is_plain = False
        self.book = CardTracker()

    def want(self, cards: Iterable[TaskCard], title: str | None) -> None:
        """Note how cards should read from now on, and the title (None: unchanged)."""
        counted = len(self._counted)
        shown = self._folded(cards)
        self.book.want(shown)
        if self._number <= self._messages and (not counted or any(card.id != _MORE for card in shown)):
            self._has_news = self._has_news or self.book.is_changed
        self._title = title or self._title

    def _folded(self, cards: Iterable[TaskCard]) -> list[TaskCard]:
        """`cards`, with one in place of all that do not stand for themselves."""
        shown: list[TaskCard] = []
        counts = False
        is_late = self._number > self._messages
        for card in cards:
            is_full = bool(self._counted) or len(self._own) >= self._most or is_late
            if is_full and card.id not in self._own:
                self._counted[card.id] = card.state
                counts = True
                continue
            self._own.add(card.id)
            shown.append(replace(card, details="", output="") if is_late else card)
        return [*shown, self._more()] if counts else shown

    def _more(self) -> TaskCard:
        """The card that counts the others."""
        states = self._counted.values()
        failed = sum(state is CardState.ERROR for state in states)
        title = "… 1 more step" if len(states) == 1 else f"… {len(states):,} more steps"
        title += f" ({failed:,} failed)" if failed else ""
        return TaskCard(_MORE, title, CardState.RUNNING if CardState.RUNNING in states else CardState.DONE)

    def unsent(self, message: SlackMessage | None, *, text: bool) -> tuple[tuple[TaskCard, ...], str]:
        """The cards and the title ("": none) of the next call: all that wait, as far as one call takes them.

        `message` is the one that is written into, None where one is begun; `text`: there is text to write.
        """
        if self.is_plain or (message is None and not text and not self._has_news):
            return (), ""
        cards = self.book.unsent()
        while len(cards) > 1 and weighted_bytes(all_chunks("", cards, "", self._limit)) > self._room:
            cards = cards[: len(cards) // 2]
        shown = "" if message is None else message.title
        has_cards = bool(cards) or not self.book.is_empty
        return cards, self._title if has_cards and shown != self._title else ""

    def next_message(self, number: int, message: SlackMessage) -> None:
        """The next write begins message `number`, after `message` or, where that does not exist, instead."""
        self._number = number
        if message.ts is None:
            self.book, self._has_news = CardTracker(number), True
            self.book.want(message.book.wanted())
            return
        has_unshown = message.book.has_unshown and number <= self._messages
        self.book, self._has_news = CardTracker(number, message.book.carried()), has_unshown

    def heal(self, message: SlackMessage) -> None:
        """Nothing follows `message` any more: what its cards have become since is for it to show."""
        if self.book is not message.book:
            message.book.become(self.book)

    def is_told_by(self, message: SlackMessage) -> bool:
        """`message`, the last one, can show all there is to say, written anew: none is needed for it."""
        return message.book.holds(self.book)

    @property
    def is_full(self) -> bool:
        """Some card has no room in the present message."""
        return self.book.is_full()
