"""Gets the files of a question from Slack, as the agent is given them, or says which it does not get."""

import asyncio
import base64
import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass

from ..errors import ADD_SCOPE
from ..settings.files import FileSettings
from ..text.words import (
    QUESTION_FILE_DELETED,
    QUESTION_FILE_EMPTY,
    QUESTION_FILE_FOREIGN,
    QUESTION_FILE_LATE,
    QUESTION_FILE_NO_SCOPE,
    QUESTION_FILE_NOT_FOUND,
    QUESTION_FILE_NOT_GIVEN,
    QUESTION_FILE_NOT_HAD,
    QUESTION_FILE_TOO_LARGE,
    QUESTION_FILE_UNNAMED,
    QUESTION_FILE_UNWANTED,
    QUESTION_FILES_TOO_LARGE,
    SIZE_IN_BYTES,
    SIZE_IN_MIB,
)
from ..turn.files import CANVAS, GivenFile, SlackFile, media_type_of, slack_file
from ..turn.quotes import one_line
from ..turn.record import Question
from .api import MISSING_SCOPE, SlackApi, repeat_until_answered
from .download import FOREIGN, TOO_LARGE
from .faults import NOT_REFUSED, CallFailed
from .workspaces import Workspaces

_log = logging.getLogger(__name__)

_PAGE = "text/html"
_SIGN_IN = re.compile(rb"<title>[^<]*\bSlack\b")
_HEAD = 8192  # bytes in which that stands
_NAME_CHARS = 255
_MIB = 1024 * 1024
_LACKS_SCOPE = (
    f"files of questions are not given to the agent: the Slack app lacks the scope files:read; {ADD_SCOPE}"
)
_REASONS = {
    FOREIGN: QUESTION_FILE_FOREIGN,
    MISSING_SCOPE: QUESTION_FILE_NO_SCOPE,
    "file_deleted": QUESTION_FILE_DELETED,
    "file_not_found": QUESTION_FILE_NOT_FOUND,
}


@dataclass(frozen=True, slots=True)
class ReadFiles:
    """`not_given`: one sentence for each file that the agent does not get."""

    given: tuple[GivenFile, ...] = ()
    not_given: tuple[str, ...] = ()


class _NotGiven(Exception):
    """Its text follows "because"."""


class QuestionFiles:
    """Reads them with the bot's token, one after the other."""

    def __init__(self, workspaces: Workspaces, settings: FileSettings) -> None:
        self._workspaces, self._settings = workspaces, settings
        self._is_scope_told = False

    async def read(self, question: Question) -> ReadFiles:
        """Never raises for what Slack does."""
        given, not_given, left = list[GivenFile](), list[str](), self._settings.max_total_bytes
        deadline = asyncio.get_running_loop().time() + self._settings.timeout
        api = self._workspaces.of(question.thread.team).api
        for file in question.files:
            try:
                async with asyncio.timeout_at(deadline):
                    file = await self._whole(api, file)
                    content = await self._content(api, file, left)
                given.append(_given(file, content))
                left -= len(content)
            except (_NotGiven, TimeoutError) as error:
                reason = str(error) or QUESTION_FILE_LATE
                name = one_line(file.name) or QUESTION_FILE_UNNAMED
                if reason == QUESTION_FILE_NO_SCOPE and not self._is_scope_told:
                    self._is_scope_told = True
                    _log.warning(_LACKS_SCOPE, extra={"turn": question.key})
                not_given.append(QUESTION_FILE_NOT_GIVEN.format(name, reason))
        return ReadFiles(tuple(given), tuple(not_given))

    async def _whole(self, api: SlackApi, file: SlackFile) -> SlackFile:
        """Of a file of another organisation the message says only the id."""
        if file.kind != "stub":
            return file
        result = await api.call("files.info", {"file": file.id}, patience=self._settings.timeout)
        if isinstance(result, CallFailed):
            raise _refused(result.error)
        found = result.data.get("file")
        whole = slack_file(found) if isinstance(found, Mapping) else file
        if whole.kind == "stub":
            raise _NotGiven(QUESTION_FILE_NOT_HAD)
        return whole

    async def _content(self, api: SlackApi, file: SlackFile, left: int) -> bytes:
        """At most `left` bytes; none of a file that lies elsewhere."""
        each, together = self._settings.max_bytes, self._settings.max_total_bytes
        if file.kind == "gone":
            raise _NotGiven(QUESTION_FILE_DELETED)
        if not each:
            raise _NotGiven(QUESTION_FILE_UNWANTED)
        if file.kind == "link":
            return b""
        if file.size > each:
            raise _NotGiven(QUESTION_FILE_TOO_LARGE.format(_size(each)))
        too_many = _NotGiven(QUESTION_FILES_TOO_LARGE.format(_size(together)))
        if file.size > left:
            raise too_many
        most = min(each, left)
        result = await repeat_until_answered(
            lambda: api.transport.download(file.url, most), repeat_on=NOT_REFUSED
        )
        if isinstance(result, CallFailed) and result.error == TOO_LARGE:
            raise too_many if left < each else _NotGiven(QUESTION_FILE_TOO_LARGE.format(_size(each)))
        if isinstance(result, CallFailed):
            raise _refused(result.error)
        content: bytes = result.data["content"]
        if result.data["content_type"] == _PAGE and _is_login_page(file, content):
            raise _refused(MISSING_SCOPE)
        if not content:
            raise _NotGiven(QUESTION_FILE_EMPTY)
        return content


def _refused(error: str) -> _NotGiven:
    return _NotGiven(_REASONS.get(error, QUESTION_FILE_NOT_HAD))


def _is_login_page(file: SlackFile, content: bytes) -> bool:
    """Which Slack gives, with status 200, to who may not read files."""
    if file.media_type == CANVAS:
        return _SIGN_IN.search(content[:_HEAD]) is not None
    return not (file.media_type == _PAGE and len(content) == file.size)


def _given(file: SlackFile, content: bytes) -> GivenFile:
    letters = (each for each in file.name if each.isprintable() and each not in "/\\")
    name = "".join(letters)[:_NAME_CHARS] or file.id
    if file.kind == "link":
        return GivenFile(name, file.media_type, url=file.url)
    kind = _PAGE if file.media_type == CANVAS else media_type_of(name, file.media_type, content)
    return GivenFile(name, kind, base64.b64encode(content).decode("ascii"))


def _size(count: int) -> str:
    return SIZE_IN_MIB.format(count / _MIB) if count >= _MIB else SIZE_IN_BYTES.format(count)
