"""A person in the workspace, for the probes that need one."""

from __future__ import annotations

import asyncio
from typing import Protocol, TextIO

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


class AskedHand:
    """The person at the terminal, who is told what to do in Slack."""

    def __init__(self, answers: TextIO, out: TextIO) -> None:
        self._answers, self._out = answers, out
        self._lock = asyncio.Lock()

    async def mention(self, channel: str, root: str) -> None:
        """Ask for a mention."""
        self._say("Mention the bot in the thread that it writes in, with one word behind it.")

    async def edit(self, channel: str, root: str) -> None:
        """Ask for a change."""
        self._say("Change the text of your last message there.")

    async def press(self, channel: str, root: str, label: str) -> None:
        """Ask for a press."""
        self._say(f"Press the last button there, which is called {label!r}.")

    async def sees(self, channel: str, root: str, words: str) -> bool:
        """Ask what is there, one question at a time; the answer is read beside the loop."""
        async with self._lock:
            self._say(f"Does a thread of the channel say {words!r} at its end now? [y/N] ")
            said = await asyncio.to_thread(self._answers.readline)
        return said.strip().lower() in ("y", "yes")

    def _say(self, words: str) -> None:
        self._out.write(f"\n>> {words}")
        self._out.flush()
