"""Keeps feedback on answers, asks why an answer was not helpful, and lets the agent answer again."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from ...clock import Clock
from ...settings.feedback import FeedbackSettings
from ...slack.faults import CallOk
from ...slack.methods import Priority
from ...slack.workspaces import Workspaces
from ...store.collection import CollectionStore
from ...store.contracts import TurnStore
from ...text.words import (
    FEEDBACK_ANOTHER_ASKED,
    FEEDBACK_ANOTHER_COMES,
    FEEDBACK_FORGOTTEN,
    FEEDBACK_MORE_DETAIL,
    FEEDBACK_NOT_YOURS,
    FEEDBACK_SHORTER,
    FEEDBACK_THANKS,
)
from ...turn.feedback import NEGATIVE, FeedbackRecord
from ...turn.progress import TurnRecord
from ...turn.record import Question
from .records import change_feedback
from .targets import requests_of
from .view import feedback_view

_TRIGGER_LIFE = 3.0  # seconds: Slack opens no modal later

ANOTHER: Mapping[str, tuple[str, str]] = {
    "shorter": (FEEDBACK_SHORTER, "Please answer this again, shorter: only what matters most."),
    "detail": (FEEDBACK_MORE_DETAIL, "Please answer this again, with more detail."),
}
"""The new answers that are offered: the label, and what the agent is asked."""


@dataclass(frozen=True, slots=True)
class Why:
    """What a person said about an answer that did not help. `again`: a key of `ANOTHER`, or ""."""

    reasons: tuple[str, ...] = ()
    words: str = ""
    again: str = ""


class FeedbackStores(CollectionStore, TurnStore, Protocol):
    """The parts of a store that the collector needs."""


class FeedbackCollector:
    """Keeps feedback and asks for new answers.

    `accept`: see `Intake.accept`. `turn_age`: seconds for which the store keeps a turn.
    """

    def __init__(
        self,
        store: FeedbackStores,
        workspaces: Workspaces,
        settings: FeedbackSettings,
        clock: Clock,
        accept: Callable[[Question], Awaitable[bool]],
        turn_age: float,
    ) -> None:
        self._turn_age = turn_age
        self._store, self._settings, self._clock, self._accept = store, settings, clock, accept
        self._workspaces = workspaces
        self._targets = tuple(requests_of(settings))

    async def may_be_rated(self, turn: str) -> bool:
        """Whether the turn exists, or may have existed before the store forgot it. Raises StoreError."""
        if await self._store.turn(turn) is not None:
            return True
        at = "".join(turn.split(":")[2:3])  # team, channel, `ts` and attempt
        is_time = at.replace(".", "", 1).isdecimal()
        return is_time and self._clock.wall() - float(at) >= self._turn_age

    async def press(self, turn: str, user: str, value: str) -> str | None:
        """Store a press on helpful or not helpful. Returns what to tell the person. Raises StoreError."""
        record = await self._store.turn(turn)
        feedback = _record(turn, user, value, self._clock.wall(), record).to_send(self._targets)

        def press(stored: FeedbackRecord | None) -> FeedbackRecord:
            return stored if stored is not None and stored.value == value else feedback

        before, _ = await change_feedback(self._store, turn, user, press, feedback.at)
        return None if before is not None and before.value == value else FEEDBACK_THANKS

    async def ask_why(self, team: str, turn: str, user: str, trigger: str) -> bool:
        """Open the modal that asks why an answer was not helpful. `team`: the workspace of the answer.

        Returns whether it opened. Raises StoreError.
        """
        api = self._workspaces.of(team).api.for_turn("", priority=Priority.BACKGROUND)
        record = await self._store.turn(turn)
        is_asker = record is not None and record.question.user == user
        others = {value: label for value, (label, _) in ANOTHER.items()} if is_asker else {}
        view = feedback_view(turn, self._settings.reasons, others)
        opening = {"trigger_id": trigger, "view": view}
        return isinstance(await api.call("views.open", opening, patience=_TRIGGER_LIFE), CallOk)

    async def explain(self, turn: str, user: str, why: Why) -> str:
        """Store what the modal says, and ask for another answer if it wants one.

        Returns what to tell the person. Raises BotError.
        """
        record, now = await self._store.turn(turn), self._clock.wall()
        new = _record(turn, user, NEGATIVE, now, record)

        def explained(stored: FeedbackRecord | None) -> FeedbackRecord:
            feedback = replace(stored or new, value=NEGATIVE, at=now, reasons=why.reasons, words=why.words)
            return feedback.to_send(self._targets)

        await change_feedback(self._store, turn, user, explained, now)
        if why.again not in ANOTHER:
            return FEEDBACK_THANKS
        if record is None:
            return FEEDBACK_FORGOTTEN
        if record.question.user != user:
            return FEEDBACK_NOT_YOURS
        is_new = await self._accept(_again(record.question, why.again))
        return FEEDBACK_ANOTHER_COMES if is_new else FEEDBACK_ANOTHER_ASKED

    async def question(self, turn: str) -> Question | None:
        """The question of a turn; None if the store no longer has the turn. Raises StoreError."""
        record = await self._store.turn(turn)
        return None if record is None else record.question


def _again(question: Question, how: str) -> Question:
    """The same question again, in the same context."""
    text = f"{question.text}\n\n{ANOTHER[how][1]}".strip()
    new = replace(question, text=text, attempt=question.attempt + 1, references=(), task_id=None)
    return replace(new, form=None, answer=None, handle="", answered_by="")


def _record(turn: str, user: str, value: str, now: float, turn_record: TurnRecord | None) -> FeedbackRecord:
    feedback = FeedbackRecord(turn, user, value, now)
    if turn_record is None:
        return feedback
    return replace(
        feedback,
        task_id=turn_record.task_id,
        context_id=turn_record.context_id,
        trace_id=turn_record.trace_id,
        agent=turn_record.agent,
    )
