"""PURE. What waits to be shown in one turn: at most one write's worth of everything.

Slack's budget is shared by all answers of a workspace, so nothing queues up: while one call is under way,
text joins the text that waits, and a card's newer state replaces its older one (its details, which Slack
appends, are added up). So the next call always carries all there is.
"""

from __future__ import annotations

from dataclasses import replace

from .slack.model import Batch
from .turn.actions import LONGEST, SaveIds, TaskCard
from .turn.buffer import TIMER_TOLERANCE, StreamBuffer
from .turn.form import Form
from .turn.sanitize import StreamSanitizer


class PendingWrites:
    """All that waits. Text is sanitized on its way into the ledger, over which `buffer` decides.

    `secrets` are values that must never be shown.
    """

    def __init__(self, buffer: StreamBuffer, secrets: tuple[str, ...] = ()) -> None:
        self.buffer, self._secrets = buffer, secrets
        self._sanitizer = StreamSanitizer(secrets)
        self._since_mark = 0  # sanitized characters since the last `start_new_text`
        self.status: str | None = None
        self._cards: dict[str, TaskCard] = {}
        self._plan_title: str | None = None
        self._ids: list[SaveIds] = []
        self._form: tuple[Form, float] | None = None

    # -- text ------------------------------------------------------------------------------------------------

    def add_text(self, text: str, now: float) -> None:
        """The answer grew by `text`."""
        self._push(self._sanitizer.push(text), now)

    def flush(self) -> None:
        """Nothing follows soon: all that may be shown is ready, but no word without its end."""
        self.buffer.flush(in_word=self._sanitizer.splits_a_word)

    def start_new_text(self, now: float) -> None:
        """What comes from now on is another text: it may be retracted without what came before."""
        self._push(self._sanitizer.end(), now)
        self._sanitizer, self._since_mark = StreamSanitizer(self._secrets), 0

    @property
    def is_unsent(self) -> bool:
        """Nothing that came since the last `start_new_text` was released."""
        return self._since_mark <= self.buffer.waiting

    def retract(self) -> None:
        """What came since the last `start_new_text` is not shown. It must be unsent."""
        self.buffer.retract(self._since_mark)
        self._sanitizer, self._since_mark = StreamSanitizer(self._secrets), 0

    def end(self, now: float) -> None:
        """Nothing follows at all."""
        self.start_new_text(now)
        self.buffer.flush()

    def _push(self, text: str, now: float) -> None:
        self._since_mark += len(text)
        self.buffer.push(text, now)

    # -- cards -----------------------------------------------------------------------------------------------

    def add_card(self, card: TaskCard) -> None:
        """A card's newest state; details and output join what waits."""
        waiting = self._cards.get(card.id)
        if waiting is not None:
            details, output = _joined(waiting.details, card.details), _joined(waiting.output, card.output)
            card = replace(card, details=details, output=output)
        self._cards[card.id] = card

    def set_plan_title(self, title: str) -> None:
        """The newest plan title."""
        self._plan_title = title

    @property
    def has_cards(self) -> bool:
        """Cards or a plan title wait."""
        return bool(self._cards) or self._plan_title is not None

    def take_cards(self) -> Batch:
        """The cards and the title that wait; they are the caller's now."""
        cards, self._cards = tuple(self._cards.values()), {}
        title, self._plan_title = self._plan_title, None
        return Batch("", cards, title)

    # -- the rest --------------------------------------------------------------------------------------------

    def save_ids(self, ids: SaveIds) -> None:
        """Ids to be kept before anything is shown."""
        self._ids.append(ids)

    def take_ids(self) -> list[SaveIds]:
        """The ids that wait; they are the caller's now."""
        waiting, self._ids = self._ids, []
        return waiting

    def take_status(self) -> str | None:
        """The status that waits; it is the caller's now."""
        waiting, self.status = self.status, None
        return waiting

    def add_form(self, form: Form, due: float) -> None:
        """A question that is to be shown at `due`, in seconds, if the turn goes on until then."""
        self._form = (form, due)

    def take_form(self, now: float) -> Form | None:
        """The question whose time has come; it is the caller's now."""
        if self.form_due(now) != 0.0 or self._form is None:
            return None
        (form, _), self._form = self._form, None
        return form

    def form_due(self, now: float) -> float | None:
        """Seconds until a question is to be shown; None: there is none."""
        if self._form is None:
            return None
        left = self._form[1] - now
        return left if left > TIMER_TOLERANCE else 0.0

    # -- when ------------------------------------------------------------------------------------------------

    def is_due(self, now: float) -> bool:
        """Something may be written now."""
        return self.has_cards or self.buffer.is_ready(now)

    @property
    def is_urgent(self) -> bool:
        """Something waits besides text."""
        return bool(self._cards or self._plan_title or self._ids) or self.status is not None

    def due(self, now: float) -> float | None:
        """Seconds until something may be written: 0 for now, None for nothing in sight."""
        if self.is_urgent:
            return 0.0
        deadline = self.buffer.deadline()
        return None if deadline is None else max(0.0, deadline - now)


def _joined(first: str, second: str) -> str:
    if len(first) > LONGEST:
        return first  # no call takes as much, and an agent may change a card thousands of times
    return f"{first}\n{second}" if first and second and not first.endswith("\n") else first + second
