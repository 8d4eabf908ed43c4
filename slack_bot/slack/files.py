"""A text as a file in the thread: the way out for an answer that has no room in messages.

Slack takes a file in three steps (facts: Slack 10). Nothing is seen before the last, so the first two may be
repeated; the last is looked for by what it returns.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from .api import CallFailed, CallOk
from .faults import Fault
from .orders import Destination
from .turn_client import REPEAT_PAUSES, TurnClient, retry_unknown

_log = logging.getLogger(__name__)

Args = dict[str, Any]


class Files:
    """Uploads of one turn."""

    def __init__(self, line: TurnClient, place: Destination) -> None:
        self._line, self._place = line, place

    async def upload(self, name: str, content: bytes) -> bool:
        """Put `content`, byte for byte, into the thread as a file called `name`. False: it does not stand."""
        asked: Args = {"filename": name, "length": len(content)}
        where = await retry_unknown(self._line, "files.getUploadURLExternal", asked)
        if isinstance(where, CallFailed):
            return self._lost(where)
        url, file_id = str(where.data.get("upload_url") or ""), str(where.data.get("file_id") or "")
        sent = await self._send(url, content)
        if isinstance(sent, CallFailed):
            return self._lost(sent)
        args: Args = {
            "files": [{"id": file_id, "title": name}],
            "channel_id": self._place.channel,
            "thread_ts": self._place.thread_ts,
        }
        shown = await self._show(file_id, args)
        return True if isinstance(shown, CallOk) else self._lost(shown)

    async def _send(self, url: str, content: bytes) -> CallOk | CallFailed:
        """The bytes, again while no answer comes or they do not get through."""
        sent = await self._line.send_file(url, content)
        for pause in REPEAT_PAUSES:
            if isinstance(sent, CallOk) or sent.fault not in (Fault.UNKNOWN, Fault.LATER):
                break
            await asyncio.sleep(pause)
            sent = await self._line.send_file(url, content)
        return sent

    async def _show(self, file_id: str, args: Args) -> CallOk | CallFailed:
        """The file as a message of the thread, and if the answer stays away, again unless it stands there."""
        result = await self._line.call("files.completeUploadExternal", args)
        for pause in REPEAT_PAUSES:
            if isinstance(result, CallOk) or result.fault is not Fault.UNKNOWN:
                break
            await asyncio.sleep(pause)
            if await self._stands(file_id):
                return CallOk({})
            result = await self._line.call("files.completeUploadExternal", args)
        return result

    async def _stands(self, file_id: str) -> bool:
        """Whether the thread shows the file. Not knowing counts as no."""
        messages = await self._line.thread(self._place)
        for message in () if isinstance(messages, CallFailed) else messages:
            if any(file.get("id") == file_id for file in message.get("files") or ()):
                return True
        return False

    def _lost(self, failed: CallFailed) -> bool:
        _log.warning("turn %s: the answer's file was refused: %s", self._place.turn, failed.error)
        return False
