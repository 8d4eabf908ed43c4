"""The feedback buttons below an answer, and the modal that asks why."""

import logging
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from ...inbound.access import HourlyQuestions
from ...inbound.buttons import Afterwards, Button, PressReply
from ...inbound.read import Press
from ...text.words import FEEDBACK_NOT_STORED, FEEDBACK_TO_UNKNOWN
from ...turn.buttons import AGAIN, FEEDBACK_MODAL, REASONS, WORDS, TurnButton
from ...turn.feedback import NEGATIVE, POSITIVE
from ...turn.json_values import object_of, objects_of, text_in
from ..feature import BotParts, Feature, FeatureWork
from .collector import FeedbackCollector, Why
from .records import FEEDBACK
from .sender import FeedbackSender

_log = logging.getLogger(__name__)

_DAY = 86_400.0  # seconds


class FeedbackButtons:
    """The feedback buttons below answers, and their modal.

    `hourly` limits how many new answers may be asked for.
    """

    def __init__(self, collector: FeedbackCollector, hourly: HourlyQuestions) -> None:
        self._collector, self._hourly = collector, hourly

    def buttons(self) -> Iterator[Button]:
        for name, handle, is_own in (
            (TurnButton.FEEDBACK, self.press, False),
            (FEEDBACK_MODAL, self.explain, True),
        ):
            yield Button(
                name, handle, failure="feedback was not stored: %s", sorry=FEEDBACK_NOT_STORED, is_own=is_own
            )

    async def press(self, press: Press) -> PressReply:
        """Handle a press on helpful or not helpful. Raises BotError."""
        value = press.value.rpartition("|")[0]
        if not press.turn or value not in (POSITIVE, NEGATIVE):
            _log.warning("ignored: feedback of no known value, or without a turn of its channel")
            return PressReply()
        if not await self._collector.may_be_rated(press.turn):
            return PressReply(FEEDBACK_TO_UNKNOWN)
        words = await self._collector.press(press.turn, press.user, value)
        if value != NEGATIVE:
            return PressReply(words)
        ask_why = partial(self._collector.ask_why, press.workspace, press.turn, press.user, press.trigger)
        return PressReply(words, afterwards=Afterwards(ask_why, failure="nobody was asked why: %s"))

    async def explain(self, press: Press) -> PressReply:
        """Handle the modal that asks why. Raises BotError."""
        turn, user, why = press.turn, press.user, _why(press.state)
        refusal = None
        if not turn:
            return PressReply()
        if not await self._collector.may_be_rated(turn):
            _log.warning("ignored: feedback for a turn that never was")
            return PressReply()
        question = await self._collector.question(turn)
        if why.again and question is not None and question.is_of(user):
            refusal = await self._hourly.refusal(
                user, question.thread.channel, question.thread.team, f"{turn} another"
            )
        if refusal is not None:
            why = Why(why.reasons, why.words)
        words = await self._collector.explain(turn, user, why)
        if question is None:
            return PressReply()
        return PressReply(
            refusal.words if refusal else words, place=(question.thread.channel, question.thread.ts)
        )


def _why(state: Mapping[str, Any]) -> Why:
    """Read the inputs of the modal."""

    def input_of(name: str) -> Mapping[str, Any]:
        return object_of(object_of(state.get(name)).get(name))

    reasons = [text_in(each, "value") for each in objects_of(input_of(REASONS).get("selected_options"))]
    again = text_in(object_of(input_of(AGAIN).get("selected_option")), "value")
    return Why(tuple(filter(None, reasons)), text_in(input_of(WORDS), "value").strip(), again)


def start(bot: BotParts) -> FeatureWork:
    """Take feedback and send it on."""
    common = bot.common
    settings, clock = common.settings, common.clock
    turn_age = settings.store.turn_days * _DAY
    collector = FeedbackCollector(
        common.store, common.workspaces, settings.feedback, clock, bot.threads.intake.accept, turn_age
    )
    sender = FeedbackSender(common.store, settings.feedback, clock, common.observer, bot.http)
    return FeatureWork(tuple(FeedbackButtons(collector, bot.hourly).buttons()), run=sender.run)


FEATURE = Feature("feedback", start, collections=(FEEDBACK,))
