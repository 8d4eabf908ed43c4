"""Slack in: every listener of the bot, wired in one place. Bolt lives here and in `app`, and nowhere else.

The last lines catch whatever nobody asked for: an event that no listener matches is not acknowledged, and
Slack brings it again and again (facts: Slack 3.1).
"""

from __future__ import annotations

import re

from slack_bolt.async_app import AsyncApp

from ..dispatch import TurnDispatcher
from .bots import BotAccess
from .feedback import FeedbackListener
from .inbound import FEEDBACK_ACTION, RETRY_ACTION
from .messages import MessageListener
from .noop import acknowledge, noop
from .retry import RetryListener
from .stop import StopListener

ANYTHING = re.compile(".*", re.DOTALL)


def register(bolt: AsyncApp, dispatcher: TurnDispatcher, bots: BotAccess) -> None:
    """The whole wiring, one line a listener. Order counts: the first that matches takes it."""
    accept = MessageListener(dispatcher, bots).accept
    bolt.event("app_mention", middleware=[accept])(noop)
    bolt.event("message", middleware=[accept])(noop)
    bolt.event("agent_session_stopped")(StopListener(dispatcher).stopped)
    bolt.action(FEEDBACK_ACTION)(FeedbackListener(dispatcher).pressed)
    bolt.action(RETRY_ACTION)(RetryListener(dispatcher).pressed)
    bolt.event(ANYTHING)(noop)
    bolt.action(ANYTHING)(acknowledge)
    bolt.view(ANYTHING)(acknowledge)
    bolt.view_closed(ANYTHING)(acknowledge)
    bolt.shortcut(ANYTHING)(acknowledge)
    bolt.command(ANYTHING)(acknowledge)
    bolt.options(ANYTHING)(acknowledge)
