"""A text as a file in the thread, for an answer that has no room in messages.

Slack takes a file in three steps (facts: Slack 10). Nothing shows before the last, so the first two may be
repeated; the last is looked for in the thread first.
"""

from __future__ import annotations

import logging
from typing import Any

from .calls import NOT_REFUSED, CallFailed, CallOk, call_until_known
from .turn_client import TurnClient

_log = logging.getLogger(__name__)

Args = dict[str, Any]


class Files:
    """Uploads of one turn."""

    def __init__(self, client: TurnClient) -> None:
        self._client = client

    async def upload(self, name: str, content: bytes) -> bool:
        """Put `content`, byte for byte, into the thread as a file called `name`. False: it is not there."""
        result = await self._upload(name, content)
        if isinstance(result, CallFailed):
            _log.warning("file refused: %s", result.error, extra=self._client.place.log_fields)
        return isinstance(result, CallOk)

    async def _upload(self, name: str, content: bytes) -> CallOk | CallFailed:
        client, place = self._client, self._client.place
        asked: Args = {"filename": name, "length": len(content)}
        target = await client.call_until_known("files.getUploadURLExternal", asked)
        if isinstance(target, CallFailed):
            return target
        url, file_id = str(target.data.get("upload_url") or ""), str(target.data.get("file_id") or "")
        sent = await call_until_known(lambda: client.upload(url, content), repeat_on=NOT_REFUSED)
        if isinstance(sent, CallFailed):
            return sent
        args: Args = {
            "files": [{"id": file_id, "title": name}],
            "channel_id": place.channel,
            "thread_ts": place.thread_ts,
        }
        return await call_until_known(
            lambda: client.call("files.completeUploadExternal", args), lambda: self._find(file_id)
        )

    async def _find(self, file_id: str) -> CallOk | None:
        messages = await self._client.read_thread_once()
        for message in () if isinstance(messages, CallFailed) else messages:
            if any(file.get("id") == file_id for file in message.get("files") or ()):
                return CallOk({})
        return None
