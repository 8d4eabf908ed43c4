"""What was said in a thread, read while a question waits: a few pages, a few seconds, and no more where Slack
does not let the app.
"""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...errors import ADD_SCOPE
from ...settings.context import ContextSettings
from ...slack.api import MISSING_SCOPE, SlackApi
from ...slack.faults import CallFailed, Fault
from ...slack.methods import Priority
from ...turn.record import ThreadKey

_log = logging.getLogger(__name__)

_PAGE = 200


@dataclass(slots=True)
class ThreadRead:
    """The `messages` that were read, the oldest first. `is_failed`: what is behind them could not be read;
    `is_cut`: it is left out, because it would be too many pages."""

    messages: list[Mapping[str, Any]] = field(default_factory=list)
    is_failed: bool = True
    is_cut: bool = False


class ThreadReader:
    """`is_limited`: Slack lets the app read so seldom, and so little (facts: Slack 7), that no thread should
    be read any more.
    """

    def __init__(self, api: SlackApi, settings: ContextSettings, reads_per_minute: float) -> None:
        self._api, self._settings = api.for_turn("", priority=Priority.BACKGROUND), settings
        self.is_limited = reads_per_minute <= 1
        self._told: set[str] = set()

    async def read(self, thread: ThreadKey, oldest: str, latest: str) -> ThreadRead:
        """What was said between two `ts`, and the root whenever that was. Never raises for
        what Slack does.
        """
        found = ThreadRead()
        try:
            async with asyncio.timeout(self._settings.read_timeout):
                await self._read(found, {"channel": thread.channel, "ts": thread.ts}, oldest, latest)
        except TimeoutError:
            self._tell("a thread was not read in time: the agent is asked without what was said there")
        return found

    async def _read(self, found: ThreadRead, place: Mapping[str, Any], oldest: str, latest: str) -> None:
        args = {**place, "oldest": oldest, "latest": latest, "limit": _PAGE}
        for _ in range(self._settings.pages):
            result = await self._api.call("conversations.replies", args, patience=0.0)
            if isinstance(result, CallFailed):
                self._note(result)
                return
            messages, cursor = result.page
            found.messages += messages
            if not cursor:
                found.is_failed = False
                return
            args = {**args, "cursor": cursor}
        found.is_failed, found.is_cut = False, True

    def _note(self, failed: CallFailed) -> None:
        settings = self._settings
        if failed.error == MISSING_SCOPE:
            self._tell(
                f"threads are not read where the Slack app needs the scope {failed.needed or '*:history'}, so"
                f" agents are asked without what was said there: {ADD_SCOPE}"
            )
        elif failed.fault is Fault.LATER and (failed.retry_after or 0.0) >= settings.limited_after:
            self.is_limited = True
            kept = "remembered as it is said" if settings.overheard else "not told (CONTEXT__OVERHEARD is 0)"
            self._tell(
                f"Slack lets the app read threads too seldom (again after {failed.retry_after:g} s): from now"
                f" on what is said in the bot's threads is {kept}, and no thread is read"
                " (SLACK_BOT_GOVERNOR__READS_PER_MINUTE=1 says so from the start)"
            )
        else:
            self._tell(f"a thread was not read ({failed.error}): the agent is asked without what was said")

    def _tell(self, problem: str) -> None:
        """Once."""
        if problem not in self._told:
            self._told.add(problem)
            _log.warning("%s", problem, extra=self._api.log_fields)
