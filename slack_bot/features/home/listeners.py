"""Listens for visits of the Home tab and of the messages with the bot, and for Stop in the tab."""

import logging
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_bolt.context.async_context import AsyncBoltContext

from ...errors import BotError
from ...inbound.authorizer import identity_of
from ...inbound.buttons import Afterwards, Button, PressReply
from ...inbound.read import BotIdentity, Press, read_visit
from ...threads.threads import Threads
from ...turn.buttons import TurnButton
from ..feature import BotParts, Feature, FeatureWork
from .home import Home

_log = logging.getLogger(__name__)


class HomeListeners:
    """The listeners and the button of the Home tab, and of the prompts above the messages with the bot."""

    def __init__(self, home: Home, threads: Threads) -> None:
        self._home, self._threads = home, threads

    def register(self, bolt: AsyncApp) -> None:
        bolt.event("app_home_opened")(self.visit)
        bolt.event("assistant_thread_started")(self.visit)

    def buttons(self) -> Iterator[Button]:
        yield Button(
            TurnButton.STOP_IN_HOME, self.stop, failure="a question was not stopped: %s", is_own=True
        )

        yield Button(TurnButton.DIRECT_AGENT, self.choose, failure="an agent was not chosen: %s", is_own=True)

    async def choose(self, press: Press) -> PressReply:
        """Handle the select of who answers direct messages."""
        choose = partial(self._choose, press)
        return PressReply(afterwards=Afterwards(choose, failure="an agent was not chosen: %s"))

    async def _choose(self, press: Press) -> bool:
        await self._threads.routing.choose_direct(press.user, press.bot.ours.team or press.team, press.value)
        await self.show(press.user, press.bot)
        return True

    async def visit(self, body: Mapping[str, Any], context: AsyncBoltContext) -> None:
        """Bolt's listener for visits of the Home tab and the messages with the bot (facts: Slack 9)."""
        visit = read_visit(body)
        me = identity_of(context.authorize_result)
        if visit.is_home:
            await self.show(visit.user, me)
        elif visit.channel:
            await self._home.suggest(me.ours.team, visit.channel, visit.thread_ts)

    async def stop(self, press: Press) -> PressReply:
        """Handle Stop next to a question in the tab."""
        stop = partial(self._stop, press)
        return PressReply(afterwards=Afterwards(stop, failure="a question was not stopped: %s"))

    async def _stop(self, press: Press) -> bool:
        if press.turn:
            await self._threads.registry.stop_turn(press.turn, press.user)
            await self.show(press.user, press.bot)
        return True

    async def show(self, user: str, me: BotIdentity) -> None:
        """Write the tab of a person. What fails is logged."""
        try:
            await self._home.show(user, me.ours.team, me.url or "https://slack.com")
        except BotError as error:
            _log.error("the Home tab was not written: %s", error)


def start(bot: BotParts) -> FeatureWork:
    """Show the Home tab, suggest questions, and stop questions from the tab."""
    common = bot.common
    home = Home(
        common.agents,
        common.store,
        common.workspaces,
        common.settings.slack,
        bot.threads.routing,
        bot.threads.sign_in,
        bot.home_sections,
    )
    listeners = HomeListeners(home, bot.threads)
    bot.home_writers.append(listeners.show)
    return FeatureWork(tuple(listeners.buttons()), listeners.register)


FEATURE = Feature("home", start)
