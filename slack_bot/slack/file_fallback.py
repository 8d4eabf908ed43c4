"""An answer with no room in messages: the reader is told at once, and gets all of it as a file in the end.

The answer may go on for minutes after its last message is full, and the file can only be sent when it is
whole. So the last message says what is to come as soon as that is known, where everybody in the thread can
read it, and a typing status goes on until the file stands. Where Slack takes no file, what the message said
was not true: it is taken back, and the answer goes on in more messages.
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
    """What is done about the part of one answer that no message takes."""

    def __init__(self, delivery: Delivery, files: Files, status: TypingStatus) -> None:
        self._delivery, self._files, self._status = delivery, files, status
        self._told: SlackMessage | None = None  # the message that says what is to come

    async def announce(self) -> None:
        """Tell the reader that a file is to come. Call it where the last message is stopped."""
        last = self._delivery.last
        self._show_status()
        if last is None or self._told is not None:
            return
        self._told = last
        await self._delivery.attach_footer(last, [blocks.context(COMING)], CardClosing.CONTINUES)
        last.is_signed = False  # that is not what belongs under it in the end

    async def attach(self, text: str, ending: TurnEnd) -> TurnEnd | None:
        """Put all of the answer, `text`, into the thread as a file. None: it does not stand.

        Else the ending, with what the reader should know about the file.
        """
        self._show_status()
        async with self._status.kept():
            if not await self._files.upload(FILE, text.encode("utf-8", "replace")):
                return None
        why = _TOO_LONG if self._delivery.refusal is None else _REFUSED
        what = _WHOLE if ending.outcome in _WHOLE_ENDS else _PART
        return replace(ending, note=f"{why} {what} {ending.note}".rstrip())

    async def take_back(self) -> None:
        """No file comes: the message that announced it says so no longer."""
        told, self._told = self._told, None
        if told is not None and self._delivery.ended is None:
            await self._delivery.attach_footer(told, (), CardClosing.CONTINUES)

    def _show_status(self) -> None:
        self._status.reopen(forget=True)
        self._status.show(WRITING_ON)
