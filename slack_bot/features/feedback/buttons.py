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
    """`hourly` limits how many other answers may be asked for."""

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
        """A side of the buttons. Raises BotError."""
        value = press.value.rpartition("|")[0]
        if not press.turn or value not in (POSITIVE, NEGATIVE):
            _log.warning("ignored: feedback of no known value, or without a turn of its channel")
            return PressReply()
        if not await self._collector.may_be_rated(press.turn):
            return PressReply(FEEDBACK_TO_UNKNOWN)
        words = await self._collector.press(press.turn, press.user, value)
        if value != NEGATIVE:
            return PressReply(words)
        ask_why = partial(self._collector.ask_why, press.turn, press.user, press.trigger)
        return PressReply(words, afterwards=Afterwards(ask_why, failure="nobody was asked why: %s"))

    async def explain(self, press: Press) -> PressReply:
        """The modal was sent. Raises BotError."""
        turn, user, why = press.turn, press.user, _why(press.state)
        refused = None
        if not turn:
            return PressReply()
        if not await self._collector.may_be_rated(turn):
            _log.warning("ignored: feedback for a turn that never was")
            return PressReply()
        asked = await self._collector.question(turn)
        if why.again and asked is not None and asked.is_of(user):
            refused = await self._hourly.refusal(user, asked.thread.channel, f"{turn} another")
        if refused is not None:
            why = Why(why.reasons, why.words)
        words = await self._collector.explain(turn, user, why)
        if asked is None:
            return PressReply()
        return PressReply(refused.words if refused else words, place=(asked.thread.channel, asked.thread.ts))


def _why(values: Mapping[str, Any]) -> Why:
    """The reasons, the words and the other answer that the modal's inputs hold."""

    def given(name: str) -> Mapping[str, Any]:
        return object_of(object_of(values.get(name)).get(name))

    reasons = [text_in(each, "value") for each in objects_of(given(REASONS).get("selected_options"))]
    again = text_in(object_of(given(AGAIN).get("selected_option")), "value")
    return Why(tuple(filter(None, reasons)), text_in(given(WORDS), "value").strip(), again)


def start(bot: BotParts) -> FeatureWork:
    """Takes what people say of answers, and sends it on."""
    common = bot.common
    settings, clock = common.settings, common.clock
    turn_age = settings.store.turn_days * _DAY
    collector = FeedbackCollector(
        common.store, common.api, settings.feedback, clock, bot.threads.intake.accept, turn_age
    )
    sender = FeedbackSender(common.store, settings.feedback, clock, common.observer, bot.http)
    return FeatureWork(tuple(FeedbackButtons(collector, bot.hourly).buttons()), run=sender.run)


FEATURE = Feature("feedback", start, collections=(FEEDBACK,))
