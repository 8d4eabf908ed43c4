"""The feedback buttons below an answer, and the modal that asks why."""

import logging
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from ...errors import BotError
from ...inbound.access import HourlyQuestions
from ...inbound.buttons import Button, PressReply
from ...inbound.read import BotIdentity, Press
from ...turn.buttons import AGAIN, FEEDBACK_MODAL, REASONS, WORDS, TurnButton
from ...turn.feedback import NEGATIVE, POSITIVE
from ...turn.json_values import object_of, objects_of, text_in
from ..feature import BotParts, Feature, FeatureWork
from .collector import FeedbackCollector, Why
from .sender import FeedbackSender

_log = logging.getLogger(__name__)

_DAY = 86_400.0  # seconds
_UNKNOWN = "I do not know this answer, so your feedback was not kept."
_NOT_STORED = "Your feedback could not be stored right now. Please press again later."


class FeedbackButtons:
    """`hourly` limits how many other answers may be asked for."""

    def __init__(self, collector: FeedbackCollector, hourly: HourlyQuestions) -> None:
        self._collector, self._hourly = collector, hourly

    def buttons(self) -> Iterator[Button]:
        yield Button(
            TurnButton.FEEDBACK, self.press, failure="feedback was not stored: %s", sorry=_NOT_STORED
        )
        yield Button(FEEDBACK_MODAL, self.explain, failure="feedback was not stored: %s", is_own=True)

    async def press(self, press: Press, _: BotIdentity) -> PressReply:
        """A side of the buttons. Raises BotError."""
        value = press.value.rpartition("|")[0]
        if not press.turn or value not in (POSITIVE, NEGATIVE):
            _log.warning("ignored: feedback of no known value, or without a turn of its channel")
            return PressReply()
        if not await self._collector.may_be_rated(press.turn):
            return PressReply(_UNKNOWN)
        words = await self._collector.press(press.turn, press.user, value)
        return PressReply(words, afterwards=partial(self._ask_why, press) if value == NEGATIVE else None)

    async def _ask_why(self, press: Press) -> bool:
        try:
            return await self._collector.ask_why(press.turn, press.user, press.trigger)
        except BotError as error:
            _log.error("nobody was asked why: %s", error, extra={"turn": press.turn})
            return False

    async def explain(self, press: Press, _: BotIdentity) -> PressReply:
        """The modal was sent."""
        turn, user, why = press.turn, press.user, _why(press.state)
        place, refused = None, None
        if not turn:
            return PressReply()
        try:
            if not await self._collector.may_be_rated(turn):
                _log.warning("ignored: feedback for a turn that never was")
                return PressReply()
            asked = await self._collector.question(turn)
            place = None if asked is None else (asked.thread.channel, asked.thread.ts)
            if why.again and asked is not None and asked.is_of(user):
                refused = await self._hourly.refusal(user, asked.thread.channel, f"{turn} another")
            if refused is not None:
                why = Why(why.reasons, why.words)
            words = await self._collector.explain(turn, user, why)
        except BotError as error:
            _log.error("feedback was not stored: %s", error, extra={"turn": turn})
            words = _NOT_STORED
        if place is None:
            return PressReply()
        return PressReply(refused.words if refused else words, place=place)


def _why(values: Mapping[str, Any]) -> Why:
    """The reasons, the words and the other answer that the modal's inputs hold."""

    def given(name: str) -> Mapping[str, Any]:
        return object_of(object_of(values.get(name)).get(name))

    reasons = [text_in(each, "value") for each in objects_of(given(REASONS).get("selected_options"))]
    again = text_in(object_of(given(AGAIN).get("selected_option")), "value")
    return Why(tuple(filter(None, reasons)), text_in(given(WORDS), "value").strip(), again)


def start(bot: BotParts) -> FeatureWork:
    """Takes what people say of answers, and sends it on."""
    settings = bot.settings
    turn_age = settings.store.turn_days * _DAY
    collector = FeedbackCollector(
        bot.store, bot.api, settings.feedback, bot.clock, bot.dispatcher.accept, turn_age
    )
    sender = FeedbackSender(bot.store, settings.feedback, bot.clock, bot.observer, bot.http)
    return FeatureWork(tuple(FeedbackButtons(collector, bot.hourly).buttons()), run=sender.run)


FEATURE = Feature("feedback", start)
