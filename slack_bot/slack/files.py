"""A text as a file in the thread: the way out for an answer that has no room in messages.

Slack takes a file in three steps (facts: Slack 10). Nothing is seen before the last, so the first two may be
repeated; the last is looked for by what it returns.
"""

from __future__ import annotations

import logging
from typing import Any

from .api import Done, Failed
from .line import Line, repeated
from .orders import Place

_log = logging.getLogger(__name__)

Args = dict[str, Any]


class Files:
    """Uploads of one turn."""

    def __init__(self, line: Line, place: Place) -> None:
        self._line, self._place = line, place

    async def upload(self, name: str, content: bytes) -> bool:
        """Put `content`, byte for byte, into the thread as a file called `name`. False: it does not stand."""
        where = await repeated(
            self._line, "files.getUploadURLExternal", {"filename": name, "length": len(content)}
        )
        if isinstance(where, Failed):
            return self._lost(where)
        url, file_id = str(where.data.get("upload_url") or ""), str(where.data.get("file_id") or "")
        sent = await self._line.send_file(url, content)
        if isinstance(sent, Failed):
            return self._lost(sent)
        args: Args = {
            "files": [{"id": file_id, "title": name}],
            "channel_id": self._place.channel,
            "thread_ts": self._place.thread_ts,
        }
        shown = await repeated(self._line, "files.completeUploadExternal", args)
        return True if isinstance(shown, Done) else self._lost(shown)

    def _lost(self, failed: Failed) -> bool:
        _log.warning("turn %s: the answer's file was refused: %s", self._place.turn, failed.error)
        return False
