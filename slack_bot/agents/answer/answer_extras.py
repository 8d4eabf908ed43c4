"""PURE. What an answer holds besides text: tables, charts and files, by the place that they are in."""

from collections import Counter

from ...turn.events import Attached, Event
from ...turn.extras import Extra, key_of


class AnswerExtras:
    """The extras of each artifact and message as it is now. A place is an id or a name."""

    def __init__(self) -> None:
        self._places: dict[str, list[tuple[str, Extra]]] = {}  # with their keys: a file is long to read
        self._beside: set[str] = set()  # places whose text is not the answer

    @property
    def are_answer(self) -> bool:
        """Some of them are the answer, or a part of it."""
        return any(extras for place, extras in self._places.items() if place not in self._beside)

    def keep(
        self, place: str, extras: tuple[Extra, ...], *, append: bool = False, beside: bool = False
    ) -> None:
        """Add these extras, or else replace those of the place. `beside`: its text is not the answer."""
        if beside:
            self._beside.add(place)
        if place in self._places and not append:
            self._places[place] = []
        if extras:
            self._places.setdefault(place, []).extend((key_of(extra), extra) for extra in extras)

    def attached(self) -> list[Event]:
        """All of them in their order. An artifact may have two that are equal; one that is in another place
        too is attached once."""
        distinct: dict[tuple[str, int], tuple[Extra, str]] = {}
        for place, extras in self._places.items():
            copies: Counter[str] = Counter()
            for key, extra in extras:
                distinct.setdefault((key, copies[key]), (extra, place))
                copies[key] += 1
        return [Attached(extra, reason=f"in {place!r}") for extra, place in distinct.values()]
