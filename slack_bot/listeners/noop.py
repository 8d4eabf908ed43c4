"""Listeners that do nothing but keep Slack from bringing the same thing again."""

from __future__ import annotations

from slack_bolt.context.ack.async_ack import AsyncAck


async def noop() -> None:
    """For events: Bolt acknowledges those itself, before a listener's body runs."""


async def acknowledge(ack: AsyncAck) -> None:
    """For buttons, views, shortcuts and commands that are not the bot's."""
    await ack()
