"""PURE. Files on their way into a thread, in three steps (facts: Slack 10).

Nothing shows before the last step, so only that one is looked for where it had no answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ..turn.json_values import objects_of
from .blocks import Args
from .faults import NOT_REFUSED, CallFailed, CallOk, CallResult, Fault
from .features import WorkspaceFeature
from .orders import CallSlack, Messages, Step, UploadFile, call_until_known
from .turn_calls import TurnCalls

MOST_AT_ONCE = 10
"""Files that are shown by one call."""


@dataclass(frozen=True, slots=True)
class FileUpload:
    """A file for Slack. `snippet_type`: it is shown as code of this kind."""

    name: str
    content: bytes
    alt_text: str = ""
    snippet_type: str = ""


def upload(calls: TurnCalls, file: FileUpload) -> Step[CallResult]:
    """Into the thread. Ok: it is there."""
    sent = yield from send(calls, file)
    return sent if isinstance(sent, CallFailed) else (yield from show(calls, [(sent, file)]))


def send(calls: TurnCalls, file: FileUpload) -> Step[str | CallFailed]:
    """The id of the file, whose bytes Slack has then, and nobody sees."""
    if (lacking := calls.workspace.lacks(WorkspaceFeature.FILES)) is not None:
        return CallFailed(Fault.NOT_HERE, lacking.error)
    asked: Args = {"filename": file.name, "length": len(file.content)}
    asked |= {"alt_txt": file.alt_text} if file.alt_text else {}
    asked |= {"snippet_type": file.snippet_type} if file.snippet_type else {}
    target = yield from calls.call_until_known("files.getUploadURLExternal", asked)
    if isinstance(target, CallFailed):
        return target
    url = str(target.data.get("upload_url") or "")
    sent = yield from call_until_known(lambda: iter(UploadFile(url, file.content)), repeat_on=NOT_REFUSED)
    return sent if isinstance(sent, CallFailed) else str(target.data.get("file_id") or "")


def show(calls: TurnCalls, files: Sequence[tuple[str, FileUpload]]) -> Step[CallResult]:
    """Files that were sent, with their ids, in one message of the thread."""
    args: Args = {
        "files": [{"id": file_id, "title": file.name} for file_id, file in files],
        "channel_id": calls.channel,
        "thread_ts": calls.thread_ts,
    }

    def find() -> Step[CallOk | None]:
        messages = yield from calls.read_thread()
        return CallOk({}) if shows(messages, files[0][0]) else None

    return (yield from call_until_known(lambda: iter(CallSlack("files.completeUploadExternal", args)), find))


def shows(messages: Messages | CallFailed, file_id: str) -> bool:
    """Whether a thread shows the file."""
    found = () if isinstance(messages, CallFailed) else messages
    return any(file.get("id") == file_id for message in found for file in objects_of(message.get("files")))
