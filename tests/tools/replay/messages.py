"""Messages of the bot, made by hand."""

from __future__ import annotations

from typing import Any

from slack_bot.testing.slack.rendering import SeenMessage, SeenTask


def shown(ts: str, text: str, state: Any = "posted", **more: Any) -> SeenMessage:
    return SeenMessage(ts, "UBOT", True, text, state=state, **more)


def card(title: str, status: str, details: str = "") -> SeenTask:
    return SeenTask(title.lower(), title, status, details)
