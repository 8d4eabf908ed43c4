"""An answer that has no room in messages comes as a file in the end.

It may go on for minutes after its last message is full, so that message announces the file, and a status goes
on until it is there.
"""

import logging
from collections.abc import Callable
from dataclasses import replace

from ..text.words import (
    ANSWER_COMES_AS_FILE,
    ANSWER_HAS_NO_ROOM,
    ANSWER_NOT_TAKEN,
    PART_OF_ANSWER_IN_FILE,
    WHOLE_ANSWER_IN_FILE,
    WRITING_FILE,
)
from ..turn.record import Outcome
from . import blocks
from .cards import CardClosing
from .delivery import Delivery
from .faults import CallFailed
from .model import Ending, SlackMessage
from .turn_client import TurnClient
from .uploads import FileUpload, upload

_log = logging.getLogger(__name__)

FILE = "answer.md"
COMING = ANSWER_COMES_AS_FILE.format(FILE)
"""Under the last message, while the agent goes on."""


class FileFallback:
    """The file of one answer. `show_status` shows a typing status, whatever was shown before."""

    def __init__(self, client: TurnClient, delivery: Delivery, show_status: Callable[[str], None]) -> None:
        self._client, self._delivery, self._show_status = client, delivery, show_status
        self._announced: SlackMessage | None = None  # the message that announces the file

    async def announce(self) -> None:
        """The last message must be stopped."""
        last = self._delivery.last
        self._show_status(WRITING_FILE)
        if last is None or self._announced is not None:
            return
        self._announced = last
        await self._delivery.attach_footer([blocks.context(COMING)], CardClosing.CONTINUES)
        last.is_signed = False  # this is not the footer of the end

    async def attach(self, text: str, ending: Ending) -> Ending | None:
        """Put the whole answer there. Returns the ending with a note; None: Slack did not take it."""
        self._show_status(WRITING_FILE)
        done = await upload(self._client, FileUpload(FILE, text.encode("utf-8", "replace")))
        if isinstance(done, CallFailed):
            _log.warning("file refused: %s", done.error, extra=self._client.api.log_fields)
            return None
        why = ANSWER_HAS_NO_ROOM if self._delivery.refusal is None else ANSWER_NOT_TAKEN
        is_whole = ending.outcome in (Outcome.ANSWERED, Outcome.ASKED)
        what = (WHOLE_ANSWER_IN_FILE if is_whole else PART_OF_ANSWER_IN_FILE).format(FILE)
        return replace(ending, note=f"{why} {what} {ending.note}".rstrip())

    async def withdraw(self) -> None:
        """No file comes: the message that announced it no longer does."""
        message, self._announced = self._announced, None
        if message is not None and self._delivery.ended is None:
            await self._delivery.attach_footer((), CardClosing.CONTINUES, message)
