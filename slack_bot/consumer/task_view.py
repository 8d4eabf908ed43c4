"""What is known of one turn's task, whichever way it became known: by a stream, or by asking.

It lives outside the coroutines that read, so what a broken stream had said is not lost with it, and what the
task says later is laid against it (delivery.md 7.1, 7.3).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from ..a2a.answer.snapshot_merge import SnapshotMerger
from ..a2a.offload import LARGE, offload
from ..a2a.parser import EventParser
from ..a2a.wire.frames import Frame, Received, Snapshot, StatusUpdate, TaskState
from ..settings.models import AgentSettings
from ..turn.events import (
    AgentIdle,
    AnswerReplaced,
    AnswerText,
    AuthCompleted,
    Event,
    FinalAnswer,
    InputRequired,
    PlanChanged,
    TaskEnded,
    TaskKnowledge,
    TaskKnown,
    ToolEnded,
    ToolStarted,
)

_NEWS = (
    AnswerReplaced, AnswerText, FinalAnswer, InputRequired, PlanChanged, TaskEnded, ToolEnded, ToolStarted,
)  # fmt: skip
_SAID_AGAIN = 60.0  # seconds after which a reader who waits is told so again
_ASKED_SIZE = LARGE + 1  # characters that a task which was asked for is taken to have: it may be huge
_AT_ONCE = 100  # events of one frame that are told before the loop runs

Understood: TypeAlias = list[tuple[str, list[Event]]]
"""What frames meant: the kind and the events of each."""


@dataclass(frozen=True, slots=True)
class EventCallback:
    """Who is told what was read: `event` what it meant, `raw` what it was (its kind, the JSON)."""

    event: Callable[[Event], None]
    raw: Callable[[str, Mapping[str, Any]], None]


class TaskView:
    """The task of one turn as it is known by now. `now` is in seconds, on one clock.

    `task_id` is the one to ask for; `heard` counts the events of streams. `habits` is what is known of how
    the agent answers; what this turn teaches is added to it at the end.

    What takes long to understand is understood in a thread; told is everything in the loop.
    """

    def __init__(
        self,
        task_id: str | None,
        settings: AgentSettings,
        hearing: EventCallback,
        now: Callable[[], float],
        habits: dict[str, str] | None = None,
    ) -> None:
        self.task_id = task_id
        self.heard = 0
        self._size = 0
        self._habits = {} if habits is None else habits
        self._parser = EventParser(
            settings.dialect,
            settings.answer_source,
            settings.max_turn_chars,
            marker=settings.answer_marker,
            habits=self._habits,
        )
        self._overlay = SnapshotMerger(in_statuses=task_id is None and self._parser.answers_in_status)
        self._was_asked = self._continues = False
        self._hearing, self._now = hearing, now
        self._told_after = settings.lost_notice_after
        self._news: tuple[Event, ...] = ()
        self._news_at = now()
        self._tell_at = settings.lost_notice_after

    @property
    def state(self) -> TaskState:
        """The task's state as last said."""
        return self._parser.state

    @property
    def is_over(self) -> bool:
        """The task ended, or waits for the human."""
        return self.state.is_terminal or self.state.is_asking

    @property
    def is_settled(self) -> bool:
        """The agent named its result, or asked something, whatever the task's state says."""
        return self._parser.has_final or self._parser.asks

    @property
    def has_replied(self) -> bool:
        """The agent sent a message in place of a task."""
        return self._parser.has_replied

    @property
    def asks_quietly(self) -> bool:
        """The agent asked something, and the task's state does not say so."""
        return self._parser.asks and not self.state.is_asking and not self.state.is_terminal

    async def set_baseline(self, task: Snapshot) -> None:
        """The task as it was before this turn's question: none of that is news, whoever says it again."""
        await offload(_ASKED_SIZE, self._overlay.set_baseline, task)
        self._continues = True

    async def on_frame(self, received: Received) -> None:
        """An event of a stream. Raises BadAgentData: more text than a turn may have."""
        self.heard += 1
        self._size += received.size
        size = self._size if _looks_back(received.frame) else received.size
        understood = Understood()
        try:
            await offload(size, self._understand, received.frame, understood)
        finally:
            await self._tell(understood, received.raw)
        self._has_news()

    async def merge_snapshot(self, task: Snapshot, raw: Mapping[str, Any]) -> bool:
        """The task as it was asked for: told is only what is new. Whether anything was.

        Raises BadAgentData: more text than a turn may have.
        """
        self._was_asked = True
        self._size += _ASKED_SIZE
        understood = Understood()
        try:
            is_news = await offload(_ASKED_SIZE, self._is_news, task, understood)
        finally:
            await self._tell(understood, raw)
        if is_news:
            self._has_news()
        return is_news

    def notify_waiting(self, why: str, known: TaskKnowledge) -> None:
        """Tell the reader, now and then, that nothing was heard for a while."""
        since = self._now() - self._news_at
        if since >= self._tell_at:
            self._tell_at = since + _SAID_AGAIN
            self._hearing.event(AgentIdle(since, known, why))

    def notify_quiet(self) -> None:
        """Tell the reader that an open stream says nothing."""
        since = self._now() - self._news_at
        self._hearing.event(AgentIdle(since, TaskKnowledge.QUIET, "no event on the stream"))

    async def finish(self) -> None:
        """Nothing more will come: tell the best of what came, where the agent named no result."""
        for event in await offload(self._size, self._parser.finish):
            self._hearing.event(event)
        if not self._was_asked:  # what was put together from two sides shows no habit
            self._habits.update(await offload(self._size, self._parser.lessons))

    def _has_news(self) -> None:
        self._news_at, self._tell_at = self._now(), self._told_after

    # -- understanding, perhaps in a thread ------------------------------------------------------------------

    def _understand(self, frame: Frame, understood: Understood) -> None:
        if isinstance(frame, Snapshot) and (self._was_asked or self._continues):
            self._feed(self._overlay.merge(frame), understood)  # a joined stream begins with it
        else:
            self._overlay.on_frame(frame)
            self._feed([frame], understood)

    def _is_news(self, task: Snapshot, understood: Understood) -> bool:
        self._feed(self._overlay.merge(task), understood)
        found = tuple(event for _, events in understood for event in events if isinstance(event, _NEWS))
        if not found or found == self._news:
            return False
        self._news = found
        return True

    def _feed(self, frames: Iterable[Frame], understood: Understood) -> None:
        for frame in frames:
            waited = self.state is TaskState.AUTH_REQUIRED
            events = self._parser.feed(frame)
            if waited and not self.state.is_asking:
                events.insert(0, AuthCompleted(f"task is {self.state}"))
            understood.append((self._parser.kind_of(frame), events))

    # -- telling, in the loop --------------------------------------------------------------------------------

    async def _tell(self, understood: Understood, raw: Mapping[str, Any]) -> None:
        told = 0
        for kind, events in understood:
            self._hearing.raw(kind, raw)
            for event in events:
                if isinstance(event, TaskKnown):
                    self.task_id = event.task_id or self.task_id
                self._hearing.event(event)
                told += 1
                if told % _AT_ONCE == 0:
                    await asyncio.sleep(0)


def _looks_back(frame: Frame) -> bool:
    """All that was said so far may be read again for it: a task as it stands, an end, a question."""
    if isinstance(frame, StatusUpdate):
        return frame.state.is_terminal or frame.state.is_asking
    return isinstance(frame, Snapshot)
