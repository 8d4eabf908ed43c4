"""PURE. The ids of a stream's events: where to go on after a cut, and whether an event was lost.

Ids that are rising numbers leave none out (a2a-rs); others only name an event (a2a-go). Some servers count
anew on each connection, so a lower number says nothing.
"""


class EventIds:
    """The ids that came in one turn. `last`: the newest. `has_gap`: one was left out."""

    def __init__(self) -> None:
        self.last = ""
        self.has_gap = False

    def goes_on_with(self, event_id: str) -> bool:
        """`event_id` is the number behind the last one."""
        return event_id.isdecimal() and self.last.isdecimal() and int(event_id) == int(self.last) + 1

    def take(self, event_id: str) -> None:
        """The next event of a stream has this id; "": it has none."""
        if not event_id:
            return
        is_number = event_id.isdecimal() and self.last.isdecimal()
        self.has_gap = self.has_gap or (is_number and int(event_id) > int(self.last) + 1)
        self.last = event_id
