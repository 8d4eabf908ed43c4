"""The buttons below forms, and the modals that they open."""

import logging
import re
from collections.abc import Mapping
from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.context.async_context import AsyncBoltContext

from ..dispatch import TurnDispatcher
from ..errors import BotError
from ..turn.open_form import FormAction
from .access import NOT_FOR_OTHERS, Access
from .authorizer import identity_of
from .inbound import read_asker, read_form_press

_log = logging.getLogger(__name__)

_OURS = re.compile("form_")
_NOT_NOW = "Your answer could not be stored right now. Please send it again in a minute."


class FormListeners:
    """Registered before `SlackListeners`, which matches everything."""

    def __init__(self, dispatcher: TurnDispatcher, access: Access) -> None:
        self._dispatcher, self._access = dispatcher, access

    def register(self, bolt: AsyncApp) -> None:
        bolt.action(_OURS)(self.press)
        bolt.view(_OURS)(self.submit)

    async def press(self, ack: AsyncAck, body: Mapping[str, Any], context: AsyncBoltContext) -> None:
        """A button. What it answers is stored before Slack is told that it came."""
        press = read_form_press(body)
        if press is None or press.action is FormAction.OPENED:
            await ack()
            return
        if press.action.opens_modal:  # the trigger lives no longer than the acknowledgement may take
            await ack()
        words, _ = await self._pressed(body, context)
        await ack()
        if words:
            await self._dispatcher.reply((press.channel, press.thread_ts, press.user), words)

    async def submit(self, ack: AsyncAck, body: Mapping[str, Any], context: AsyncBoltContext) -> None:
        """A modal: it closes, or says what is wrong."""
        words, errors = await self._pressed(body, context)
        if errors:
            await ack(response_action="errors", errors=dict(errors))
        elif words:
            await ack(response_action="update", view=self._dispatcher.forms.notice_view(words))
        else:
            await ack()

    async def _pressed(
        self, body: Mapping[str, Any], context: AsyncBoltContext
    ) -> tuple[str | None, Mapping[str, str] | None]:
        press = read_form_press(body)
        if press is None:
            _log.warning("ignored: a form's button or modal without a handle")
            return None, None
        try:
            ours = identity_of(context.authorize_result).ours
            channel = press.channel or await self._dispatcher.forms.channel_of(press.handle)
            if not await self._access.may_press(channel, read_asker(body), ours):
                return NOT_FOR_OTHERS, None
            reply = await self._dispatcher.forms.press(press)
        except BotError as error:
            _log.error("an answer to a form was not stored: %s", error)
            return _NOT_NOW, None
        return reply.words, reply.errors
