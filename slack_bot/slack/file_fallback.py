"""PURE. An answer that has no room in messages comes as a file in the end.

It may go on for minutes after its last message is full, so that message announces the file, and a status goes
on until it is there.
"""

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
from .answer_state import AnswerState
from .cards import CardClosing
from .delivery import MessageEnds
from .faults import CallFailed
from .model import Ending, SlackMessage
from .orders import Log, Step
from .turn_calls import TurnCalls
from .uploads import FileUpload, upload

FILE = "answer.md"
COMING = ANSWER_COMES_AS_FILE.format(FILE)
"""Under the last message, while the agent goes on."""


class FileFallback:
    """The file of one answer."""

    def __init__(self, calls: TurnCalls, state: AnswerState, ends: MessageEnds) -> None:
        self._calls, self._state, self._ends = calls, state, ends
        self._announced: SlackMessage | None = None  # the message that announces the file

    def announce(self) -> Step[None]:
        """The last message must be stopped."""
        last = self._state.last
        yield from self._calls.show_status_again(WRITING_FILE)
        if last is None or self._announced is not None:
            return
        self._announced = last
        yield from self._ends.attach_footer([blocks.context(COMING)], CardClosing.CONTINUES)
        last.sign(is_signed=False)  # this is not the footer of the end

    def attach(self, text: str, ending: Ending) -> Step[Ending | None]:
        """Put the whole answer there. Returns the ending with a note; None: Slack did not take it."""
        yield from self._calls.show_status_again(WRITING_FILE)
        done = yield from upload(self._calls, FileUpload(FILE, text.encode("utf-8", "replace")))
        if isinstance(done, CallFailed):
            yield from Log("warning", "file refused: %s", (done.error,))
            return None
        why = ANSWER_HAS_NO_ROOM if self._state.refusal is None else ANSWER_NOT_TAKEN
        is_whole = ending.outcome in (Outcome.ANSWERED, Outcome.ASKED)
        what = (WHOLE_ANSWER_IN_FILE if is_whole else PART_OF_ANSWER_IN_FILE).format(FILE)
        return replace(ending, note=f"{why} {what} {ending.note}".rstrip())

    def withdraw(self) -> Step[None]:
        """No file comes: the message that announced it no longer does."""
        message, self._announced = self._announced, None
        if message is not None and self._state.ended is None:
            yield from self._ends.attach_footer((), CardClosing.CONTINUES, message)
