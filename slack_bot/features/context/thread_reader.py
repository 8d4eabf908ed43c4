"""Reads what was said in a thread while a question waits.

It takes at most a few pages and seconds, and reads nothing more if Slack does not let the app.
"""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...errors import ADD_SCOPE
from ...settings.context import ContextSettings
from ...slack.api import MISSING_SCOPE
from ...slack.faults import CallFailed, Fault
from ...slack.methods import Priority
from ...slack.workspaces import Workspaces
from ...turn.record import ThreadKey

_log = logging.getLogger(__name__)

_PAGE = 200


@dataclass(slots=True)
class ThreadRead:
    """The messages that were read, the oldest first.

    `is_failed`: the messages after these could not be read. `is_cut`: they were left out, because they would
    have been too many pages.
    """

    messages: list[Mapping[str, Any]] = field(default_factory=list)
    is_failed: bool = True
    is_cut: bool = False


class ThreadReader:
    """Reads threads."""

    def __init__(self, workspaces: Workspaces, settings: ContextSettings, reads_per_minute: float) -> None:
        self._workspaces, self._settings = workspaces, settings
        self.is_always_limited = reads_per_minute <= 1
        self._limited: set[str] = set()  # workspaces
        self._problems: set[str] = set()

    def is_limited(self, team: str) -> bool:
        """Slack lets the app read so rarely, and so little (facts: Slack 7), that no thread of this workspace
        should be read any more.
        """
        return self.is_always_limited or team in self._limited

    async def read(self, thread: ThreadKey, oldest: str, latest: str) -> ThreadRead:
        """Read the messages between two `ts`, and always the root. Errors of Slack are logged."""
        thread_read = ThreadRead()
        try:
            async with asyncio.timeout(self._settings.read_timeout):
                await self._read(thread_read, thread, oldest, latest)
        except TimeoutError:
            self._warn_once("a thread was not read in time: the agent is asked without what was said there")
        return thread_read

    async def _read(self, thread_read: ThreadRead, thread: ThreadKey, oldest: str, latest: str) -> None:
        api = self._workspaces.of(thread.team).api.for_turn("", priority=Priority.BACKGROUND)
        args: dict[str, Any] = {"channel": thread.channel, "ts": thread.ts}
        args |= {"oldest": oldest, "latest": latest, "limit": _PAGE}
        for _ in range(self._settings.pages):
            result = await api.call("conversations.replies", args, patience=0.0)
            if isinstance(result, CallFailed):
                self._note(result, thread.team)
                return
            messages, cursor = result.page
            thread_read.messages += messages
            if not cursor:
                thread_read.is_failed = False
                return
            args = {**args, "cursor": cursor}
        thread_read.is_failed, thread_read.is_cut = False, True

    def _note(self, failure: CallFailed, team: str) -> None:
        settings = self._settings
        if failure.error == MISSING_SCOPE:
            self._warn_once(
                f"threads are not read where the Slack app needs the scope {failure.needed or '*:history'},"
                f" so agents are asked without what was said there: {ADD_SCOPE}"
            )
        elif failure.fault is Fault.LATER and (failure.retry_after or 0.0) >= settings.limited_after:
            self._limited.add(team)
            consequence = (
                "remembered as it is said" if settings.overheard else "not told (CONTEXT__OVERHEARD is 0)"
            )
            self._warn_once(
                f"Slack lets the app read threads too seldom (again after {failure.retry_after:g} s): from"
                f" now on what is said in the bot's threads is {consequence}, and no thread is read"
                " (SLACK_BOT_GOVERNOR__READS_PER_MINUTE=1 says so from the start)"
            )
        else:
            self._warn_once(
                f"a thread was not read ({failure.error}): the agent is asked without what was said"
            )

    def _warn_once(self, problem: str) -> None:
        """Log a problem once."""
        if problem not in self._problems:
            self._problems.add(problem)
            _log.warning("%s", problem)
