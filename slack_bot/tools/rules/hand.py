"""A person in the workspace, for the probes that need one."""

from __future__ import annotations

from typing import Protocol

from ...clock import Clock
from ...testing.slack.blocks import controls, plain
from ...testing.slack.workspace import Workspace


class Hand(Protocol):
    """What a probe asks a person to do. Each raises CannotTell where that person does not."""

    async def mention(self, channel: str, root: str) -> None:
        """Mention the bot in the thread."""

    async def edit(self, channel: str, root: str) -> None:
        """Change the mention in the thread."""

    async def press(self, channel: str, root: str, label: str) -> None:
        """Press the button with this label in the thread."""

    async def sees(self, channel: str, root: str, words: str) -> bool:
        """Whether `words` are the typing status of the thread now."""
        raise NotImplementedError


class EmulatedHand:
    """A person of the emulated workspace, who does at once what is asked."""

    def __init__(self, workspace: Workspace, clock: Clock, user: str) -> None:
        self._workspace, self._clock, self._user = workspace, clock, user
        self._said = ""

    async def mention(self, channel: str, root: str) -> None:
        """Write `<@BOT> hello` there."""
        words, now = f"<@{self._workspace.bot.user_id}> hello", self._clock.wall()
        self._said = self._workspace.say(self._user, channel, words, now=now, thread_ts=root)

    async def edit(self, channel: str, root: str) -> None:
        """Add a word to it."""
        words = f"<@{self._workspace.bot.user_id}> hello again"
        self._workspace.edit(channel, self._said, words, now=self._clock.wall())

    async def press(self, channel: str, root: str, label: str) -> None:
        """Press the last one with this label."""
        for message in self._workspace.thread(channel, root)[::-1]:
            for _, control in controls(list(map(dict, message.blocks))):
                if plain(control["text"]) == label:
                    now, action = self._clock.wall(), control["action_id"]
                    self._workspace.press(self._user, channel, message.ts, action, now=now)
                    return

    async def sees(self, channel: str, root: str, words: str) -> bool:
        """Look at it."""
        return self._workspace.status_line(channel, root, now=self._clock.wall()) == words
