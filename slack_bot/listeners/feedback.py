"""The feedback buttons below an answer, and the modal that asks why."""

import logging
from collections.abc import Mapping
from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.context.async_context import AsyncBoltContext

from ..dispatch import TurnDispatcher
from ..errors import BotError
from ..feedback.collector import FeedbackCollector, Why
from ..turn.buttons import FEEDBACK_MODAL, TurnButton
from ..turn.feedback import NEGATIVE
from .access import NOT_FOR_OTHERS, Access, HourlyQuestions
from .authorizer import identity_of
from .inbound import ButtonPress, Ignored, read_asker, read_press, read_why

_log = logging.getLogger(__name__)

_UNKNOWN = "I do not know this answer, so your feedback was not kept."
_NOT_STORED = "Your feedback could not be stored right now. Please press again later."


class FeedbackListeners:
    """Registered before `SlackListeners`, which matches everything."""

    def __init__(
        self,
        collector: FeedbackCollector,
        dispatcher: TurnDispatcher,
        access: Access,
        hourly: HourlyQuestions,
    ) -> None:
        self._collector, self._dispatcher = collector, dispatcher
        self._access, self._hourly = access, hourly

    def register(self, bolt: AsyncApp) -> None:
        bolt.action(TurnButton.FEEDBACK)(self.press)
        bolt.view(FEEDBACK_MODAL)(self.explain)

    async def press(self, ack: AsyncAck, body: Mapping[str, Any], context: AsyncBoltContext) -> None:
        """What is pressed is stored before Slack is told that it came."""
        press = read_press(body)
        if isinstance(press, Ignored):
            _log.warning("ignored: %s", press.reason)
            await ack()
            return
        ours, asks_why = identity_of(context.authorize_result).ours, False
        reply: str | None
        try:
            if not await self._access.may_press(press.channel, read_asker(body), ours):
                reply = NOT_FOR_OTHERS
            elif not await self._collector.may_be_rated(press.turn):
                reply = _UNKNOWN
            else:
                reply = await self._collector.press(press.turn, press.user, press.value)
                asks_why = press.value == NEGATIVE
        except BotError as error:
            reply = _not_stored(press.turn, error)
        await ack()
        if asks_why and await self._is_asked_why(press):
            reply = None
        place = press.channel, press.thread_ts, press.user
        await self._dispatcher.reply(place, reply, private_url=press.private_url)

    async def _is_asked_why(self, press: ButtonPress) -> bool:
        try:
            return await self._collector.ask_why(press.turn, press.user, press.trigger)
        except BotError as error:
            _log.error("nobody was asked why: %s", error, extra={"turn": press.turn})
            return False

    async def explain(self, ack: AsyncAck, body: Mapping[str, Any]) -> None:
        """The modal was sent."""
        if (given := read_why(body)) is None:
            await ack()
            return
        turn, user, said = given
        why, place, refused = Why(*said), None, None
        try:
            if not await self._collector.may_be_rated(turn):
                _log.warning("ignored: feedback for a turn that never was")
                await ack()
                return
            asked = await self._collector.question(turn)
            place = None if asked is None else (asked.thread.channel, asked.thread.ts)
            if why.again and asked is not None and asked.is_of(user):
                refused = await self._hourly.refusal(user, asked.thread.channel, f"{turn} another")
            if refused is not None:
                why = Why(why.reasons, why.words)
            reply = await self._collector.explain(turn, user, why)
        except BotError as error:
            reply = _not_stored(turn, error)
        await ack()
        if place is not None:
            await self._dispatcher.reply((*place, user), refused.words if refused else reply)


def _not_stored(turn: str, error: BotError) -> str:
    _log.error("feedback was not stored: %s", error, extra={"turn": turn})
    return _NOT_STORED
