"""PURE. What waits to be shown in one turn: at most one write's worth of everything.

Slack's budget is shared by all answers of a workspace, so nothing queues up: while one call is under way,
text joins the text that waits, and a card's newer state replaces its older one (its details, which Slack
appends, are added up). So the next call always carries all there is.
"""

from __future__ import annotations

from dataclasses import replace

from .slack.orders import Batch
from .turn.actions import LONGEST, SaveIds, TaskCard
from .turn.buffer import TIMER_TOLERANCE, StreamBuffer
from .turn.form import Form
from .turn.sanitize import StreamSanitizer


class PendingWrites:
    """All that waits. `buffer` holds the text, which leaves it only when Slack has said ok.

    What is said becomes harmless on its way there; `secrets` are values that must never be shown.
    """

    def __init__(self, buffer: StreamBuffer, secrets: tuple[str, ...] = ()) -> None:
        self.buffer, self._secrets = buffer, secrets
        self._safety = StreamSanitizer(secrets)
        self._said = 0  # characters that entered the buffer since the last mark
        self.status: str | None = None
        self._cards: dict[str, TaskCard] = {}
        self._plan_title: str | None = None
        self._remember: list[SaveIds] = []
        self._question: tuple[Form, float] | None = None

    def add_text(self, text: str, now: float) -> None:
        """The answer grew by `text`."""
        self._push(self._safety.push(text), now)

    def flush(self) -> None:
        """Nothing follows soon: all that may be shown is ready, but no word without its end."""
        self.buffer.flush(in_word=self._safety.splits_a_word)

    def start_new_text(self, now: float) -> None:
        """What is said from now on is another text: it may be taken back without what came before."""
        self._push(self._safety.end(), now)
        self._safety, self._said = StreamSanitizer(self._secrets), 0

    @property
    def is_unsent(self) -> bool:
        """Nothing that was said since the last mark was handed out."""
        return self._said <= self.buffer.waiting

    def retract(self) -> None:
        """What was said since the last mark is not shown. It must be unseen."""
        self.buffer.retract(self._said)
        self._safety, self._said = StreamSanitizer(self._secrets), 0

    def end(self, now: float) -> None:
        """Nothing follows at all."""
        self.start_new_text(now)
        self.buffer.flush()

    def _push(self, text: str, now: float) -> None:
        self._said += len(text)
        self.buffer.push(text, now)

    def add_card(self, card: TaskCard) -> None:
        """A card's newest state; details and output join what waits."""
        waiting = self._cards.get(card.id)
        if waiting is not None:
            card = replace(
                card,
                details=_joined(waiting.details, card.details),
                output=_joined(waiting.output, card.output),
            )
        self._cards[card.id] = card

    def set_plan_title(self, title: str) -> None:
        """The newest plan title."""
        self._plan_title = title

    def save_ids(self, ids: SaveIds) -> None:
        """Ids to be kept before anything is shown."""
        self._remember.append(ids)

    def add_form(self, form: Form, due: float) -> None:
        """A question that is to be shown at `due`, in seconds, if the turn goes on until then."""
        self._question = (form, due)

    def take_form(self, now: float) -> Form | None:
        """The question whose time has come; it is the caller's now."""
        if self.form_due(now) != 0.0 or self._question is None:
            return None
        (form, _), self._question = self._question, None
        return form

    def form_due(self, now: float) -> float | None:
        """Seconds until a question is to be shown; None: there is none."""
        if self._question is None:
            return None
        left = self._question[1] - now
        return left if left > TIMER_TOLERANCE else 0.0

    def take_ids(self) -> list[SaveIds]:
        """The ids that wait; they are the caller's now."""
        waiting, self._remember = self._remember, []
        return waiting

    def take_status(self) -> str | None:
        """The status that waits; it is the caller's now."""
        waiting, self.status = self.status, None
        return waiting

    @property
    def has_cards(self) -> bool:
        """Cards or a plan title wait."""
        return bool(self._cards) or self._plan_title is not None

    def is_due(self, now: float) -> bool:
        """Something may be written now, as far as can be told without cutting the text."""
        return self.has_cards or self.buffer.is_ready(now)

    def batch(self, now: float) -> Batch:
        """What may be written now. The text stays in the buffer; cards and title are the caller's now."""
        return replace(self.take_cards(), text=self.buffer.ready(now))

    def take_cards(self) -> Batch:
        """The cards and the title that wait; they are the caller's now. The text is not among it."""
        cards, self._cards = tuple(self._cards.values()), {}
        title, self._plan_title = self._plan_title, None
        return Batch("", cards, title)

    @property
    def is_urgent(self) -> bool:
        """Something waits besides text."""
        return bool(self._cards or self._plan_title or self._remember) or self.status is not None

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
