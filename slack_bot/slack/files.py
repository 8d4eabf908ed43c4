"""An answer that has no room in messages: it is announced at once, and comes as a file in the end.

It may go on for minutes after its last message is full, so that message announces the file, and a status goes
on until it is there. Where Slack takes no file, the answer goes on in more messages.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

from ..turn.record import Outcome
from . import blocks
from .api import TurnClient
from .calls import NOT_REFUSED, CallFailed, CallOk, CallResult, call_until_known
from .cards import CardClosing
from .delivery import Delivery
from .model import SlackMessage, TurnEnd
from .status import TypingStatus

_log = logging.getLogger(__name__)

Args = dict[str, Any]

FILE = "answer.md"
COMING = f"This answer is too long for the thread. All of it comes as {FILE}, once it is written."
"""Under the last message, while the agent goes on."""
WRITING_ON = "is writing the rest, it comes as a file..."
_TOO_LONG = "This answer is too long for the thread."
_REFUSED = "Slack did not take all of this answer as a message."
_WHOLE = f"All of it is in {FILE}."
_PART = f"What there is of it is in {FILE}."


class AnswerFile:
    """The file of one answer."""

    def __init__(self, client: TurnClient, delivery: Delivery, status: TypingStatus) -> None:
        self._client, self._delivery, self._status = client, delivery, status
        self._announced: SlackMessage | None = None  # the message that announces the file

    async def announce(self) -> None:
        """The last message must be stopped."""
        last = self._delivery.last
        self._status.show_again(WRITING_ON)
        if last is None or self._announced is not None:
            return
        self._announced = last
        await self._delivery.attach_footer([blocks.context(COMING)], CardClosing.CONTINUES)
        last.is_signed = False  # this is not the footer of the end

    async def attach(self, text: str, ending: TurnEnd) -> TurnEnd | None:
        """Put the whole answer there. Returns the ending with a note; None: Slack did not take it."""
        self._status.show_again(WRITING_ON)
        try:
            result = await self._upload(text.encode("utf-8", "replace"))
        finally:
            await self._status.close()
        if isinstance(result, CallFailed):
            _log.warning("file refused: %s", result.error, extra=self._client.api.log_fields)
            return None
        why = _TOO_LONG if self._delivery.refusal is None else _REFUSED
        what = _WHOLE if ending.outcome in (Outcome.ANSWERED, Outcome.ASKED) else _PART
        return replace(ending, note=f"{why} {what} {ending.note}".rstrip())

    async def withdraw(self) -> None:
        message, self._announced = self._announced, None
        if message is not None and self._delivery.ended is None:
            await self._delivery.attach_footer((), CardClosing.CONTINUES, message)

    async def _upload(self, content: bytes) -> CallResult:
        """In three steps (facts: Slack 10). Nothing shows before the last, so only that is looked for."""
        client, place, api = self._client, self._client.place, self._client.api
        asked: Args = {"filename": FILE, "length": len(content)}
        target = await client.call_until_known("files.getUploadURLExternal", asked)
        if isinstance(target, CallFailed):
            return target
        url, file_id = str(target.data.get("upload_url") or ""), str(target.data.get("file_id") or "")
        sent = await call_until_known(lambda: api.upload(url, content), repeat_on=NOT_REFUSED)
        if isinstance(sent, CallFailed):
            return sent
        args: Args = {
            "files": [{"id": file_id, "title": FILE}],
            "channel_id": place.channel,
            "thread_ts": place.thread_ts,
        }
        return await call_until_known(
            lambda: api.call("files.completeUploadExternal", args), lambda: self._find(file_id)
        )

    async def _find(self, file_id: str) -> CallOk | None:
        messages = await self._client.read_thread_once()
        for message in () if isinstance(messages, CallFailed) else messages:
            if any(file.get("id") == file_id for file in message.get("files") or ()):
                return CallOk({})
        return None
