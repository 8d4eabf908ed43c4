"""PURE. The cards and the plan's title of one answer, over all its messages.

Cards that still run go on in the next message. That alone is no reason to begin one: where an agent works for
long and says nothing, a message is ended by its age, and the next begins only with something new to read.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..turn.actions import Card
from .chunks import CardBook, all_chunks, weight
from .message import Message


class Plan:
    """What the cards should read. `is_plain`: Slack refused a form, so from now on there are none.

    `room` is the most weighted bytes of cards in one call, `limit` the characters of a card's value.
    """

    def __init__(self, room: int, limit: int) -> None:
        self._room, self._limit = room, limit
        self._title = ""
        self._has_news = False
        self.is_plain = False
        self.book = CardBook()

    def want(self, cards: Iterable[Card], title: str | None) -> None:
        """Note how cards should read from now on, and the title (None: unchanged)."""
        self.book.want(cards)
        self._has_news = self._has_news or self.book.is_changed
        self._title = title or self._title

    def unsent(self, message: Message | None, *, text: bool) -> tuple[tuple[Card, ...], str]:
        """The cards and the title ("": none) of the next call: all that wait, as far as one call takes them.

        `message` is the one that is written into, None where one is begun; `text`: there is text to write.
        """
        if self.is_plain or (message is None and not text and not self._has_news):
            return (), ""
        cards = self.book.unsent()
        while len(cards) > 1 and weight(all_chunks("", cards, "", self._limit)) > self._room:
            cards = cards[: len(cards) // 2]
        shown = "" if message is None else message.title
        has_cards = bool(cards) or not self.book.is_empty
        return cards, self._title if has_cards and shown != self._title else ""

    def turn(self, number: int, message: Message) -> None:
        """The next write begins message `number`, after `message` or, where that does not exist, instead."""
        if message.ts is None:
            self.book, self._has_news = CardBook(number), True
            self.book.want(message.book.wanted())
            return
        self.book, self._has_news = CardBook(number, message.book.carried()), message.book.has_unshown

    def heal(self, message: Message) -> None:
        """Nothing follows `message` any more: what its cards have become since is for it to show."""
        if self.book is not message.book:
            message.book.become(self.book)

    def is_told_by(self, message: Message) -> bool:
        """`message`, the last one, can show all there is to say, written anew: none is needed for it."""
        return message.book.holds(self.book)

    @property
    def is_full(self) -> bool:
        """Some card has no room in the present message."""
        return self.book.is_full()
