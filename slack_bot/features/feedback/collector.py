"""Keeps what people say of answers, asks why one was not helpful, and has the agent answer again."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from ...clock import Clock
from ...settings.feedback import FeedbackSettings
from ...slack.api import SlackApi
from ...slack.faults import CallOk
from ...slack.methods import Priority
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
"""Another answer: its label, and what the agent is told."""


@dataclass(frozen=True, slots=True)
class Why:
    """What somebody says who calls an answer not helpful. `again`: one of ANOTHER, or ""."""

    reasons: tuple[str, ...] = ()
    words: str = ""
    again: str = ""


class FeedbackStores(CollectionStore, TurnStore, Protocol):
    """What the collector needs of a store."""


class FeedbackCollector:
    """`accept` takes a question: that of `Intake`. `turn_age`: seconds for which the store knows a turn."""

    def __init__(
        self,
        store: FeedbackStores,
        api: SlackApi,
        settings: FeedbackSettings,
        clock: Clock,
        accept: Callable[[Question], Awaitable[bool]],
        turn_age: float,
    ) -> None:
        self._turn_age = turn_age
        self._store, self._settings, self._clock, self._accept = store, settings, clock, accept
        self._api = api.for_turn("", priority=Priority.BACKGROUND)
        self._targets = tuple(requests_of(settings))

    async def may_be_rated(self, turn: str) -> bool:
        """Whether there was such a turn, as far as can be known: the store forgets old ones. StoreError."""
        if await self._store.turn(turn) is not None:
            return True
        at = "".join(turn.split(":")[2:3])  # team, channel, `ts` and attempt
        is_time = at.replace(".", "", 1).isdecimal()
        return is_time and self._clock.wall() - float(at) >= self._turn_age

    async def press(self, turn: str, user: str, value: str) -> str | None:
        """Somebody pressed a side of the buttons. What they are told. Raises StoreError."""
        asked = await self._store.turn(turn)
        said = _record(turn, user, value, self._clock.wall(), asked).to_send(self._targets)

        def press(known: FeedbackRecord | None) -> FeedbackRecord:
            return known if known is not None and known.value == value else said

        before, _ = await change_feedback(self._store, turn, user, press, said.at)
        return None if before is not None and before.value == value else FEEDBACK_THANKS

    async def ask_why(self, turn: str, user: str, trigger: str) -> bool:
        """Open the modal for who found an answer not helpful. Raises StoreError."""
        asked = await self._store.turn(turn)
        is_asker = asked is not None and asked.question.user == user
        others = {value: label for value, (label, _) in ANOTHER.items()} if is_asker else {}
        view = feedback_view(turn, self._settings.reasons, others)
        opening = {"trigger_id": trigger, "view": view}
        return isinstance(await self._api.call("views.open", opening, patience=_TRIGGER_LIFE), CallOk)

    async def explain(self, turn: str, user: str, why: Why) -> str:
        """Somebody sent the modal. What they are told. Raises BotError."""
        asked, now = await self._store.turn(turn), self._clock.wall()
        new = _record(turn, user, NEGATIVE, now, asked)

        def explained(known: FeedbackRecord | None) -> FeedbackRecord:
            said = replace(known or new, value=NEGATIVE, at=now, reasons=why.reasons, words=why.words)
            return said.to_send(self._targets)

        await change_feedback(self._store, turn, user, explained, now)
        if why.again not in ANOTHER:
            return FEEDBACK_THANKS
        if asked is None:
            return FEEDBACK_FORGOTTEN
        if asked.question.user != user:
            return FEEDBACK_NOT_YOURS
        is_new = await self._accept(_again(asked.question, why.again))
        return FEEDBACK_ANOTHER_COMES if is_new else FEEDBACK_ANOTHER_ASKED

    async def question(self, turn: str) -> Question | None:
        """What a turn is about; None: it is not known any more. Raises StoreError."""
        asked = await self._store.turn(turn)
        return None if asked is None else asked.question


def _again(question: Question, how: str) -> Question:
    """The same question once more, in the same context."""
    text = f"{question.text}\n\n{ANOTHER[how][1]}".strip()
    new = replace(question, text=text, attempt=question.attempt + 1, references=(), task_id=None)
    return replace(new, form=None, answer=None, handle="", answered_by="")


def _record(turn: str, user: str, value: str, at: float, asked: TurnRecord | None) -> FeedbackRecord:
    said = FeedbackRecord(turn, user, value, at)
    if asked is None:
        return said
    return replace(said, task_id=asked.task_id, context_id=asked.context_id, trace_id=asked.trace_id)
