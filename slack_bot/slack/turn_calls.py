"""PURE. One turn's calls to Slack, and what all parts of its answer share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..turn.record import Question
from .faults import NOT_REFUSED, CallFailed, CallOk, CallResult, Fault, StreamingRefusalCache
from .features import WorkspaceFacts, WorkspaceFeature
from .look import TurnFace
from .orders import (
    CallSlack,
    Messages,
    ReadMessages,
    ReopenStatus,
    ShowTyping,
    Step,
    call_until_known,
)
from .stream_starts import StreamStart, StreamStartTracker

if TYPE_CHECKING:
    from ..settings.models import StreamSettings

DROPPED = "dropped"
"""The error of a write that was not made, or not waited for, because writes were given up."""

UNANSWERED = "unanswered"
"""The error of a start that Slack's event shows to be made, and whose answer stayed away too long."""


_OWN_FACE = TurnFace()


class TurnCalls:
    """Makes one turn's orders. `now` and `wall` are the clocks as the writer read them last, in seconds;
    `are_writes_given_up`: nothing more of the answer is written (`GiveUpWrites`), but notes and footers are.

    `turn`: its key, if that is not the question's. `workspace`: what is known of it, by name; the turn adds
    to that. `session` is what the thread's agent session reads by the turn's streams and statuses (facts:
    Slack 1.9, 4). `refusals` and `stream_starts` are all turns'. `face`: how readers see its messages.
    """

    def __init__(
        self,
        question: Question,
        settings: StreamSettings,
        refusals: StreamingRefusalCache,
        stream_starts: StreamStartTracker,
        *,
        turn: str = "",
        face: TurnFace = _OWN_FACE,
    ) -> None:
        self.question, self.settings = question, settings
        self.face = face
        self.turn = turn or question.key
        self.refusals, self.stream_starts = refusals, stream_starts
        self.now = self._wall_at_zero = 0.0
        self.workspace = WorkspaceFacts(lambda: self.wall, settings.workspace_days)
        self.session = ""
        self.are_writes_given_up = False
        self.is_status_latest = True  # no message was begun since the last status

    @property
    def wall(self) -> float:
        return self._wall_at_zero + self.now

    def set_wall(self, wall: float) -> None:
        """The wall clock reads so `now`."""
        self._wall_at_zero = wall - self.now

    @property
    def can_stream(self) -> bool:
        """A stream may be begun, as far as is known of the workspace and of who asks."""
        is_here = self.face.can_stream and not self.question.asker_is_bot
        return is_here and not self.workspace.lacks(WorkspaceFeature.STREAMS)

    @property
    def channel(self) -> str:
        return self.question.thread.channel

    @property
    def thread_ts(self) -> str:
        return self.question.shown_in

    @property
    def lacks_thread(self) -> bool:
        """The thread begins with the first thing that is shown."""
        return bool(self.question.headline) and not self.question.root

    def begin_thread(self, root: str) -> None:
        """The thread begins with the message `root`."""
        self.question = replace(self.question, root=root)

    @property
    def tables_apart(self) -> bool:
        """Streams do not draw Markdown tables here."""
        chosen = self.settings.tables
        return chosen == "no" or (chosen == "auto" and bool(self.workspace.lacks(WorkspaceFeature.TABLES)))

    def address(self, ts: str | None) -> dict[str, Any]:
        return {"channel": self.channel, "ts": ts}

    def set_status(self, status: str, method: str = "assistant.threads.setStatus") -> CallSlack:
        """The thread's typing status, or by another method that of its agent session. Tried once."""
        args = {"channel_id": self.channel, "thread_ts": self.thread_ts, "status": status}
        return CallSlack(method, args, patience=0)

    def show_status(self, text: str) -> Step[None]:
        self.is_status_latest = True
        yield from ShowTyping(text)

    def show_status_again(self, text: str) -> Step[None]:
        """Where the reader would see nothing for a while, though text was shown before."""
        yield from ReopenStatus(forget=True)
        yield from self.show_status(text)

    def call_until_known(
        self, method: str, args: Mapping[str, object], *, applied_as: Fault | None = None
    ) -> Step[CallResult]:
        """Call what may be repeated. A repetition that is refused as `applied_as` was applied before."""
        result = yield from call_until_known(lambda: iter(CallSlack(method, args)))
        if isinstance(result, CallFailed) and result.in_doubt and result.fault is applied_as:
            return CallOk({})
        return result

    def read_thread(self, oldest: float = 0.0) -> Step[Messages | CallFailed]:
        """As `read_thread_once`, until Slack answers."""
        read = yield from call_until_known(lambda: self.read_thread_once(oldest), repeat_on=NOT_REFUSED)
        return read or []

    def read_thread_once(
        self, oldest: float = 0.0, until_seen: StreamStart | None = None
    ) -> Step[Messages | CallFailed | None]:
        """The thread's messages since `oldest` (wall-clock seconds). A deleted thread is empty.

        Before there is a thread: those of the conversation. `until_seen`: as of `ReadMessages`.
        """
        since = {"oldest": f"{max(0.0, oldest):.6f}"}
        if self.thread_ts:
            args = {**self.address(self.thread_ts), **since}
            messages = yield from ReadMessages("conversations.replies", args, until_seen)
        else:
            args = {"channel": self.channel, **since}
            messages = yield from ReadMessages("conversations.history", args, until_seen)
        is_gone = isinstance(messages, CallFailed) and messages.fault is Fault.GONE
        return [] if is_gone else messages
