"""An answer that has no room in messages: it is announced at once, and comes as a file in the end.

It may go on for minutes after its last message is full, so that message announces the file, and a status goes
on until it is there. Where Slack takes no file, the answer goes on in more messages.
"""

from __future__ import annotations

import logging

from .api import TurnClient
from .blocks import Args
from .calls import NOT_REFUSED, CallFailed, CallOk, CallResult, call_until_known

_log = logging.getLogger(__name__)


FILE = "answer.md"
COMING = f"This answer is too long for the thread. All of it comes as {FILE}, once it is written."
"""Under the last message, while the agent goes on."""
WRITING_ON = "is writing the rest, it comes as a file..."
TOO_LONG = "This answer is too long for the thread."
REFUSED = "Slack did not take all of this answer as a message."
WHOLE = f"All of it is in {FILE}."
PART = f"What there is of it is in {FILE}."


async def upload(client: TurnClient, content: bytes) -> bool:
    """False: Slack did not take it."""
    result = await _upload(client, content)
    if isinstance(result, CallFailed):
        _log.warning("file refused: %s", result.error, extra=client.api.log_fields)
    return isinstance(result, CallOk)


async def _upload(client: TurnClient, content: bytes) -> CallResult:
    """In three steps (facts: Slack 10). Nothing shows before the last, so only that is looked for."""
    api = client.api
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
        "channel_id": client.channel,
        "thread_ts": client.thread_ts,
    }
    return await call_until_known(
        lambda: api.call("files.completeUploadExternal", args), lambda: _find(client, file_id)
    )


async def _find(client: TurnClient, file_id: str) -> CallOk | None:
    messages = await client.read_thread_once()
    for message in () if isinstance(messages, CallFailed) else messages:
        if any(file.get("id") == file_id for file in message.get("files") or ()):
            return CallOk({})
    return None
