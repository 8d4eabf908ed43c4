"""Slack in: every listener of the bot, registered in one place. Only this room and `app` use Bolt.

An event that no listener matches is not acknowledged, and Slack sends it again and again (facts: Slack 3.1).
So the last listeners match everything.
"""

from __future__ import annotations

import re

from slack_bolt.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck

from ..dispatch import TurnDispatcher
from .buttons import ButtonListener
from .inbound import FEEDBACK_ACTION, RETRY_ACTION
from .messages import BotAccess, MessageListener

_ANYTHING = re.compile(".*", re.DOTALL)


def register(bolt: AsyncApp, dispatcher: TurnDispatcher, bots: BotAccess) -> None:
    """Register all listeners. The first that matches gets the request."""
    accept, buttons = MessageListener(dispatcher, bots).accept, ButtonListener(dispatcher)
    bolt.event("app_mention", middleware=[accept])(_do_nothing)
    bolt.event("message", middleware=[accept])(_do_nothing)
    bolt.event("agent_session_stopped")(buttons.stop)
    for button in (FEEDBACK_ACTION, RETRY_ACTION):
        bolt.action(button)(buttons.press)
    bolt.event(_ANYTHING)(_do_nothing)
    for kind in (bolt.action, bolt.view, bolt.view_closed, bolt.shortcut, bolt.command, bolt.options):
        kind(_ANYTHING)(_acknowledge)


async def _do_nothing() -> None:
    """Bolt acknowledges an event itself, before its listener runs."""


async def _acknowledge(ack: AsyncAck) -> None:
    await ack()
