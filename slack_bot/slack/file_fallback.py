"""An answer that has no room in messages: it is announced at once, and comes as a file in the end.

The answer may go on for minutes after its last message is full, and the file can only be sent when it is
whole. So the last message announces the file, and a typing status goes on until it is there. Where Slack
takes no file, the announcement is removed, and the answer goes on in more messages.
"""

from __future__ import annotations

from dataclasses import replace

from ..turn.record import Outcome
from . import blocks
from .cards import CardClosing
from .delivery import Delivery
from .files import Files
from .message import SlackMessage
from .orders import TurnEnd
from .status import TypingStatus

FILE = "answer.md"
COMING = f"This answer is too long for the thread. All of it comes as {FILE}, once it is written."
"""Under the last message, while the agent goes on."""
WRITING_ON = "is writing the rest, it comes as a file..."
_TOO_LONG = "This answer is too long for the thread."
_REFUSED = "Slack did not take all of this answer as a message."
_WHOLE = f"All of it is in {FILE}."
_PART = f"What there is of it is in {FILE}."
_WHOLE_ENDS = frozenset({Outcome.ANSWERED, Outcome.ASKED})


class FileFallback:
    """The file of one answer."""

    def __init__(self, delivery: Delivery, files: Files, status: TypingStatus) -> None:
        self._delivery, self._files, self._status = delivery, files, status
        self._announced: SlackMessage | None = None  # the message that announces the file

    async def announce(self) -> None:
        """Tell the reader that a file comes. The last message must be stopped."""
        last = self._delivery.last
        self._show_status()
        if last is None or self._announced is not None:
            return
        self._announced = last
        await self._delivery.attach_footer(last, [blocks.context(COMING)], CardClosing.CONTINUES)
        last.is_signed = False  # this is not the footer of the end

    async def attach(self, text: str, ending: TurnEnd) -> TurnEnd | None:
        """Put the whole answer, `text`, into the thread as a file.

        Returns the ending, with a note about the file; None: Slack did not take it.
        """
        self._show_status()
        async with self._status.kept():
            if not await self._files.upload(FILE, text.encode("utf-8", "replace")):
                return None
        why = _TOO_LONG if self._delivery.refusal is None else _REFUSED
        what = _WHOLE if ending.outcome in _WHOLE_ENDS else _PART
        return replace(ending, note=f"{why} {what} {ending.note}".rstrip())

    async def withdraw(self) -> None:
        """No file comes: remove the announcement."""
        message, self._announced = self._announced, None
        if message is not None and self._delivery.ended is None:
            await self._delivery.attach_footer(message, (), CardClosing.CONTINUES)

    def _show_status(self) -> None:
        self._status.reopen(forget=True)
        self._status.show(WRITING_ON)
