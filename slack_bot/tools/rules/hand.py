"""A person in the workspace, for the probes that need one."""

from __future__ import annotations

from typing import Protocol

from ...clock import Clock
from ...testing.slack.workspace import Workspace


class Hand(Protocol):
    """What a probe asks a person to do. Each raises CannotTell where that person does not."""

    async def mention(self, channel: str, root: str) -> None:
        """Mention the bot in the thread."""


class EmulatedHand:
    """A person of the emulated workspace, who does at once what is asked."""

    def __init__(self, workspace: Workspace, clock: Clock, user: str) -> None:
        self._workspace, self._clock, self._user = workspace, clock, user

    async def mention(self, channel: str, root: str) -> None:
        """Write `<@BOT> hello` there."""
        words, now = f"<@{self._workspace.bot.user_id}> hello", self._clock.wall()
        self._workspace.say(self._user, channel, words, now=now, thread_ts=root)
