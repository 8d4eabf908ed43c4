"""The Home tab and the prompts above the messages with the bot, and Stop in the tab."""

import logging
from collections.abc import Mapping
from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.context.async_context import AsyncBoltContext

from ..dispatch import TurnDispatcher
from ..errors import BotError
from ..home import Home
from ..turn.buttons import TurnButton
from .inbound import read_home_stop, read_view, read_visit

_log = logging.getLogger(__name__)


class HomeListeners:
    """Registered before `SlackListeners`, which matches everything."""

    def __init__(self, home: Home, dispatcher: TurnDispatcher) -> None:
        self._home, self._dispatcher = home, dispatcher

    def register(self, bolt: AsyncApp) -> None:
        bolt.event("app_home_opened")(self.visit)
        bolt.event("assistant_thread_started")(self.visit)
        bolt.event("app_context_changed")(self.view)
        bolt.action(TurnButton.STOP_IN_HOME)(self.stop)

    async def visit(self, body: Mapping[str, Any], context: AsyncBoltContext) -> None:
        """Somebody opens the Home tab, the messages with the bot, or a new thread there (facts: Slack 9)."""
        visit = read_visit(body)
        if visit.is_home:
            await self._show(visit.user, context)
        elif visit.channel:
            await self._home.suggest(visit.channel, visit.thread_ts)

    async def view(self, body: Mapping[str, Any]) -> None:
        """Somebody looks at something else beside the messages with the bot."""
        if (viewed := read_view(body)) is not None:
            self._dispatcher.context.viewed(*viewed)

    async def stop(self, ack: AsyncAck, body: Mapping[str, Any], context: AsyncBoltContext) -> None:
        """The button of one question."""
        await ack()
        if (pressed := read_home_stop(body)) is not None:
            try:
                await self._dispatcher.controls.stop_turn(*pressed)
            except BotError as error:
                _log.error("a question was not stopped: %s", error, extra={"turn": pressed[0]})
            await self._show(pressed[1], context)

    async def _show(self, user: str, context: AsyncBoltContext) -> None:
        identity = context.authorize_result
        assert identity is not None, "Bolt asks who the bot is before it calls a listener"
        try:
            await self._home.show(user, identity.team_id or "", identity.url or "https://slack.com")
        except BotError as error:
            _log.error("the Home tab was not written: %s", error)
