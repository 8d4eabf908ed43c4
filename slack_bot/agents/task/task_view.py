"""What is known of one turn's task, by its streams and by polls.

What a broken stream said is compared with what the task says later (delivery.md 7.1, 7.3).
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from ...settings.models import AgentSettings
from ...turn import events
from ..answer.snapshot_merger import SnapshotMerger
from ..parser import EventParser
from ..wire.frames import Frame, Received, Snapshot, StatusUpdate, TaskState, Unknown
from ..wire.transport import LARGE, offload

_NEWS = (
    events.AnswerReplaced, events.AnswerText, events.FinalAnswer, events.InputRequired,
    events.PlanChanged, events.TaskEnded, events.ToolEnded, events.ToolStarted,
)  # fmt: skip
_NOTIFY_AGAIN_AFTER = 60.0  # seconds after which a person who waits reads so again
_AT_ONCE = 100  # events of one frame that are handled before the loop runs
_LAST_AT_ONCE = 10  # of the end: each may be a table, whose texts are sanitized

OnEvent: TypeAlias = Callable[[events.Event], bool]
"""Called with each event of the turn. True: let the loop run before the next frame."""
OnRaw: TypeAlias = Callable[[str, Mapping[str, Any]], None] | None
"""Called with each frame: its kind and its JSON."""


class EventIds:
    """The ids of a stream's events: where to go on after a cut, and whether an event was lost.

    Ids that are rising numbers leave none out (a2a-rs); others only name an event (a2a-go). Some servers
    start again on each connection, so a lower number says nothing. `last`: the newest. `has_gap`: one was
    left out.
    """

    def __init__(self) -> None:
        self.last = ""
        self.has_gap = False

    def goes_on_with(self, event_id: str) -> bool:
        """`event_id` is the number behind the last one."""
        return event_id.isdecimal() and self.last.isdecimal() and int(event_id) == int(self.last) + 1

    def take(self, event_id: str) -> None:
        """The next event of a stream has this id; "": it has none."""
        if not event_id:
            return
        is_number = event_id.isdecimal() and self.last.isdecimal()
        self.has_gap = self.has_gap or (is_number and int(event_id) > int(self.last) + 1)
        self.last = event_id


class TaskView:
    """The task of one turn. `heard` counts the events of streams; `news_at`: when news last came (s).

    `is_understood`: one of them was of a known kind. `is_stream_final`: the last said it ends the stream.

    `habits`: how the agent answers; what this turn teaches is added at the end.
    """

    def __init__(
        self,
        task_id: str | None,
        context_id: str | None,
        settings: AgentSettings,
        on_event: OnEvent,
        on_raw: OnRaw,
        now: Callable[[], float],
        habits: dict[str, str],
    ) -> None:
        self.task_id, self.context_id = task_id, context_id
        self.trace_id: str | None = None
        self.heard = 0
        self.is_understood = self.is_stream_final = False
        self.ids = EventIds()
        self._size = 0
        self._habits = habits
        self._parser = EventParser(
            settings.dialect,
            settings.answer_source,
            settings.max_turn_chars,
            marker=settings.answer_marker,
            profile=habits,
        )
        in_statuses = self._parser.answers_in_status if task_id is None else False
        self._merger = SnapshotMerger(in_statuses=in_statuses)
        self._was_polled = self._has_baseline = False
        self._on_event, self._on_raw, self._now = on_event, on_raw, now
        self._lost_notice_after = settings.lost_notice_after
        self._last_news: Sequence[events.Event] = ()
        self.news_at = now()
        self._notify_at = settings.lost_notice_after  # seconds after the last news

    @property
    def state(self) -> TaskState:
        return self._parser.state

    @property
    def is_over(self) -> bool:
        return self.state.is_terminal or self.state.is_asking

    @property
    def seconds_without_news(self) -> float:
        return self._now() - self.news_at

    @property
    def waits_for_sign_in(self) -> bool:
        """People take their time for that, and know what is waited for."""
        return self.state is TaskState.AUTH_REQUIRED

    @property
    def is_settled(self) -> bool:
        return self._parser.has_final or self._parser.asks

    def has_ended(self, *, cut: bool) -> bool:
        """All was said, though the stream is over. `cut`: it broke, or fell silent.

        The id of a task in a message in place of a task is of one that the server never makes.
        """
        if self.is_over or (self.is_settled and not (cut and self.task_id is not None)):
            return True
        return not cut and (self._parser.has_replied or (self.task_id is None and self.is_understood))

    @property
    def asks_quietly(self) -> bool:
        """It asked something, and the task's state does not say so."""
        return self._parser.asks and not self.is_over

    async def set_baseline(self, task: Snapshot) -> None:
        """The task before this turn's question: none of that is news."""
        await offload(self._merger.set_baseline, task)
        self._has_baseline = True

    async def on_frame(self, received: Received, *, is_polled: bool = False) -> bool:
        """An event of a stream, or the polled task. True: it brought something new.

        Raises BadAgentData: more text than a turn may have.
        """
        frame = received.frame
        self.heard += not is_polled
        reads_all_again = self._note(received)
        self._was_polled = self._was_polled or is_polled
        size = LARGE + 1 if is_polled else received.size  # a polled task may be huge
        self._size += size
        if reads_all_again:
            size = self._size
        parsed: list[tuple[str, list[events.Event]]] = []
        try:
            if size <= LARGE:
                self._parse(frame, parsed)
            else:
                await offload(self._parse, frame, parsed)
        finally:
            count, is_due = 0, False
            for kind, happened in parsed:
                if self._on_raw is not None:
                    self._on_raw(kind, received.raw)
                for event in happened:
                    if isinstance(event, events.TaskKnown):
                        self.task_id = event.task_id or self.task_id
                        self.context_id = event.context_id or self.context_id
                        self.trace_id = event.trace_id or self.trace_id
                    is_due = self._on_event(event) or is_due
                    count += 1
                    if count % _AT_ONCE == 0:
                        await asyncio.sleep(0)
            if is_due:
                await asyncio.sleep(0)
        if not self._is_news(frame, parsed, is_polled=is_polled):
            return False
        self.news_at, self._notify_at = self._now(), self._lost_notice_after
        return True

    def notify_waiting(self, why: str, known: events.TaskKnowledge) -> None:
        since = self._now() - self.news_at
        if since >= self._notify_at:
            self._notify_at = since + _NOTIFY_AGAIN_AFTER
            self._on_event(events.AgentIdle(since, known, why))

    def notify_quiet(self) -> None:
        since = self._now() - self.news_at
        self._on_event(events.AgentIdle(since, events.TaskKnowledge.QUIET, "no event on the stream"))

    async def finish(self) -> None:
        """Report the best of what came: nothing more will come."""
        is_large = self._size > LARGE
        last = await offload(self._parser.finish) if is_large else self._parser.finish()
        for count, event in enumerate(last, start=1):
            self._on_event(event)
            if count % _LAST_AT_ONCE == 0:
                await asyncio.sleep(0)
        if not self._was_polled:  # what was put together from two sources shows no habit
            updates = self._parser.profile_updates
            self._habits.update(await offload(updates) if is_large else updates())

    def _parse(self, frame: Frame, parsed: list[tuple[str, list[events.Event]]]) -> None:
        parser = self._parser
        frames: Iterable[Frame] = (frame,)
        if isinstance(frame, Snapshot) and (self._was_polled or self._has_baseline):
            # a joined stream begins with it, and so do streams of replies
            frames = self._merger.merge(frame if self._was_polled else self._as_begun(frame))
        else:
            self._merger.on_frame(frame)
        for each in frames:
            needed_sign_in = parser.state is TaskState.AUTH_REQUIRED
            happened = parser.feed(each)
            if needed_sign_in and not parser.state.is_asking:
                happened.insert(0, events.AuthCompleted(f"task is {parser.state}"))
            parsed.append(("" if self._on_raw is None else parser.kind_of(each), happened))

    def _as_begun(self, task: Snapshot) -> Snapshot:
        """A task with which the stream of a reply begins, and which still waits for that, works now.

        Servers on the JavaScript SDK begin so. Where the task does wait on, it says so when it is asked for.
        """
        is_waiting = self.heard == 1 and task.state is TaskState.INPUT_REQUIRED
        is_old = is_waiting and self._merger.is_as_before(task)
        return replace(task, state=TaskState.WORKING, message=None) if is_old else task

    def _note(self, received: Received) -> bool:
        """Note what came. True: all that was said may be read again for it."""
        frame = received.frame
        if received.event_id:
            self.ids.take(received.event_id)
        self.is_understood = self.is_understood or not isinstance(frame, Unknown)
        if isinstance(frame, StatusUpdate):
            self.is_stream_final = frame.final is True
            return frame.state.is_terminal or frame.state.is_asking
        return isinstance(frame, Snapshot)

    def _is_news(
        self, frame: Frame, parsed: Iterable[tuple[str, Iterable[events.Event]]], *, is_polled: bool
    ) -> bool:
        """What nobody can read is no sign that the agent works."""
        return self._has_news(parsed) if is_polled else not isinstance(frame, Unknown)

    def _has_news(self, parsed: Iterable[tuple[str, Iterable[events.Event]]]) -> bool:
        news = [event for _, happened in parsed for event in happened if isinstance(event, _NEWS)]
        if not news or news == self._last_news:
            return False
        self._last_news = news
        return True
