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
ParsedFrames: TypeAlias = list[tuple[str, list[events.Event]]]
"""What frames say, each with its kind."""


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


class FrameReader:
    """Reads the frames of one turn as events; of a task that was asked for, what it adds to the streams.

    `parser`: what all of it says so far. `names_kinds`: each frame comes with its kind.
    """

    def __init__(
        self, settings: AgentSettings, habits: Mapping[str, str], *, is_new_task: bool, names_kinds: bool
    ) -> None:
        self.parser = EventParser(
            settings.dialect,
            settings.answer_source,
            settings.max_turn_chars,
            marker=settings.answer_marker,
            profile=habits,
        )
        in_statuses = self.parser.answers_in_status if is_new_task else False
        self._merger = SnapshotMerger(in_statuses=in_statuses)
        self._names_kinds = names_kinds
        self._has_begun = self._was_polled = self._has_baseline = False
        self._size = 0

    async def set_baseline(self, task: Snapshot) -> None:
        """The task before this turn's question: none of that is news."""
        await offload(self._merger.set_baseline, task)
        self._has_baseline = True

    def is_long(self, received: Received, *, is_polled: bool) -> bool:
        """Count what came, before it is read. True: it may take long, so it is to be read in a thread.

        A polled task may be huge; for some frames all that was said is read again.
        """
        frame, size = received.frame, LARGE + 1 if is_polled else received.size
        self._was_polled = self._was_polled or is_polled
        self._size += size
        if isinstance(frame, StatusUpdate):
            reads_all_again = frame.state.is_terminal or frame.state.is_asking
        else:
            reads_all_again = isinstance(frame, Snapshot)
        return (self._size if reads_all_again else size) > LARGE

    def read(self, frame: Frame, parsed: ParsedFrames) -> None:
        """Add what `frame` says to `parsed`. Raises BadAgentData, after what could be read was added."""
        parser = self.parser
        frames: Iterable[Frame] = (frame,)
        if isinstance(frame, Snapshot) and (self._was_polled or self._has_baseline):
            # a joined stream begins with it, and so do streams of replies
            frames = self._merger.merge(frame if self._was_polled else self._as_begun(frame))
        else:
            self._merger.on_frame(frame)
        self._has_begun = True
        for each in frames:
            needed_sign_in = parser.state is TaskState.AUTH_REQUIRED
            happened = parser.feed(each)
            if needed_sign_in and not parser.state.is_asking:
                happened.insert(0, events.AuthCompleted(f"task is {parser.state}"))
            parsed.append((parser.kind_of(each) if self._names_kinds else "", happened))

    async def finish(self) -> tuple[list[events.Event], Mapping[str, str]]:
        """Nothing more will come: the best of what came, and what it teaches about how the agent answers."""
        parser, is_large = self.parser, self._size > LARGE
        last = await offload(parser.finish) if is_large else parser.finish()
        if self._was_polled:  # what was put together from two sources shows no habit
            return last, {}
        updates = parser.profile_updates
        return last, await offload(updates) if is_large else updates()

    def _as_begun(self, task: Snapshot) -> Snapshot:
        """A task with which the stream of a reply begins, and which still waits for that, works now.

        Servers on the JavaScript SDK begin so. Where the task does wait on, it says so when it is asked for.
        """
        is_waiting = not self._has_begun and task.state is TaskState.INPUT_REQUIRED
        is_old = is_waiting and self._merger.is_as_before(task)
        return replace(task, state=TaskState.WORKING, message=None) if is_old else task


class LastNews:
    """When news of the task last came (`at`), and when a person who waits is to read how long ago."""

    def __init__(self, notice_after: float, now: Callable[[], float]) -> None:
        self._notice_after, self._now = notice_after, now
        self.at = now()
        self._due_after = notice_after  # seconds after the last news
        self._newest: Sequence[events.Event] = ()

    @property
    def age(self) -> float:
        return self._now() - self.at

    def came(self) -> None:
        self.at, self._due_after = self._now(), self._notice_after

    def take_notice(self) -> float | None:
        """How long nothing came, if a person who waits is to read that now; once each time. None: not yet."""
        age = self.age
        if age < self._due_after:
            return None
        self._due_after = age + _NOTIFY_AGAIN_AFTER
        return age

    def has_news(self, parsed: ParsedFrames) -> bool:
        """A polled task says again and again what is known."""
        news = [event for _, happened in parsed for event in happened if isinstance(event, _NEWS)]
        if not news or news == self._newest:
            return False
        self._newest = news
        return True


class TaskView:
    """The task of one turn. `heard` counts the events of streams; `news`: when news of it last came.

    `is_understood`: an event was of a known kind. `is_stream_final`: the last status said that it ends the
    stream.

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
        self._habits = habits
        self.news = LastNews(settings.lost_notice_after, now)
        self._reader = FrameReader(
            settings, habits, is_new_task=task_id is None, names_kinds=on_raw is not None
        )
        self._on_event, self._on_raw = on_event, on_raw

    @property
    def state(self) -> TaskState:
        return self._reader.parser.state

    @property
    def is_over(self) -> bool:
        return self.state.is_terminal or self.state.is_asking

    @property
    def waits_for_sign_in(self) -> bool:
        """People take their time for that, and know what is waited for."""
        return self.state is TaskState.AUTH_REQUIRED

    @property
    def is_settled(self) -> bool:
        return self._reader.parser.has_final or self._reader.parser.asks

    def has_ended(self, *, cut: bool) -> bool:
        """All was said, though the stream is over. `cut`: it broke, or fell silent.

        The id of a task in a message in place of a task is of one that the server never makes.
        """
        if self.is_over or (self.is_settled and not (cut and self.task_id is not None)):
            return True
        if cut:
            return False
        return self._reader.parser.has_replied or (self.task_id is None and self.is_understood)

    @property
    def asks_quietly(self) -> bool:
        """It asked something, and the task's state does not say so."""
        return self._reader.parser.asks and not self.is_over

    async def set_baseline(self, task: Snapshot) -> None:
        """The task before this turn's question: none of that is news."""
        await self._reader.set_baseline(task)

    async def on_frame(self, received: Received, *, is_polled: bool = False) -> bool:
        """An event of a stream, or the polled task. True: it brought something new.

        Raises BadAgentData: more text than a turn may have.
        """
        frame, reader = received.frame, self._reader
        self.heard += not is_polled
        self._note(received)
        parsed: ParsedFrames = []
        try:
            if reader.is_long(received, is_polled=is_polled):
                await offload(reader.read, frame, parsed)
            else:
                reader.read(frame, parsed)
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
        # what nobody can read is no sign that the agent works
        is_news = self.news.has_news(parsed) if is_polled else not isinstance(frame, Unknown)
        if is_news:
            self.news.came()
        return is_news

    def notify_waiting(self, why: str, known: events.TaskKnowledge) -> None:
        if (age := self.news.take_notice()) is not None:
            self._on_event(events.AgentIdle(age, known, why))

    def notify_quiet(self) -> None:
        self._on_event(events.AgentIdle(self.news.age, events.TaskKnowledge.QUIET, "no event on the stream"))

    def notify_behind(self, why: str) -> None:
        """An earlier task of the conversation, which was stopped, works on."""
        self._on_event(events.AgentIdle(0.0, events.TaskKnowledge.BEHIND, why))

    async def finish(self) -> None:
        """Report the best of what came: nothing more will come."""
        last, habits = await self._reader.finish()
        for count, event in enumerate(last, start=1):
            self._on_event(event)
            if count % _LAST_AT_ONCE == 0:
                await asyncio.sleep(0)
        self._habits.update(habits)

    def _note(self, received: Received) -> None:
        if received.event_id:
            self.ids.take(received.event_id)
        frame = received.frame
        self.is_understood = self.is_understood or not isinstance(frame, Unknown)
        if isinstance(frame, StatusUpdate):
            self.is_stream_final = frame.final is True
