"""Slack in: every listener of the bot, wired in one place. Bolt lives here and in `app`, and nowhere else.

The last lines catch whatever nobody asked for: an event that no listener matches is not acknowledged, and
Slack brings it again and again (facts: Slack 3.1).
"""

from __future__ import annotations

import re

from slack_bolt.async_app import AsyncApp

from ..dispatch import Desk
from .bots import BotAccess
from .feedback import Feedback
from .inbound import FEEDBACK_ACTION, RETRY_ACTION
from .questions import Acceptance
from .quiet import acknowledge, nothing
from .retry import Retry
from .stop import Stop

ANYTHING = re.compile(".*", re.DOTALL)


def register(bolt: AsyncApp, desk: Desk, bots: BotAccess) -> None:
    """The whole wiring, one line a listener. Order counts: the first that matches takes it."""
    accept = Acceptance(desk, bots).accept
    bolt.event("app_mention", middleware=[accept])(nothing)
    bolt.event("message", middleware=[accept])(nothing)
    bolt.event("agent_session_stopped")(Stop(desk).stopped)
    bolt.action(FEEDBACK_ACTION)(Feedback(desk).pressed)
    bolt.action(RETRY_ACTION)(Retry(desk).pressed)
    bolt.event(ANYTHING)(nothing)
    bolt.action(ANYTHING)(acknowledge)
    bolt.view(ANYTHING)(acknowledge)
    bolt.view_closed(ANYTHING)(acknowledge)
    bolt.shortcut(ANYTHING)(acknowledge)
    bolt.command(ANYTHING)(acknowledge)
    bolt.options(ANYTHING)(acknowledge)
