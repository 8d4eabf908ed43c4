"""What is known of one turn's task, whichever way it became known: by a stream, or by asking.

It lives outside the coroutines that read, so what a broken stream had said is not lost with it, and what the
task says later is laid against it (delivery.md 7.1, 7.3).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..a2a.frames import Frame, Snapshot, TaskState
from ..a2a.overlay import Overlay
from ..a2a.parser import EventParser
from ..sections import AgentSettings
from ..turn.events import (
    AnswerReplaced,
    AnswerText,
    Event,
    FinalAnswer,
    HumanAsked,
    Known,
    PlanChanged,
    TaskEnded,
    TaskKnown,
    ToolEnded,
    ToolStarted,
    Waited,
    WentOn,
)

_NEWS = (
    AnswerReplaced, AnswerText, FinalAnswer, HumanAsked, PlanChanged, TaskEnded, ToolEnded, ToolStarted,
)  # fmt: skip
_SAID_AGAIN = 60.0  # seconds after which a reader who waits is told so again


@dataclass(frozen=True, slots=True)
class Hearing:
    """Who is told what was read: `event` what it meant, `raw` what it was (its kind, the JSON)."""

    event: Callable[[Event], None]
    raw: Callable[[str, Mapping[str, Any]], None]


class Standing:
    """The task of one turn as it is known by now. `now` is in seconds, on one clock.

    `task_id` is the one to ask for; `heard` counts the events of streams. `habits` is what is known of how
    the agent answers; what this turn teaches is added to it at the end.
    """

    def __init__(
        self,
        task_id: str | None,
        settings: AgentSettings,
        hearing: Hearing,
        now: Callable[[], float],
        habits: dict[str, str] | None = None,
    ) -> None:
        self.task_id = task_id
        self.heard = 0
        self._habits = {} if habits is None else habits
        self._parser = EventParser(
            settings.convention,
            settings.answer_from,
            settings.max_turn_chars,
            marker=settings.answer_marker,
            habits=self._habits,
        )
        self._overlay = Overlay(in_statuses=task_id is None and self._parser.answers_in_status)
        self._was_asked = self._continues = False
        self._hearing, self._now = hearing, now
        self._told_after = settings.silence_told
        self._news: tuple[Event, ...] = ()
        self._news_at = now()
        self._tell_at = settings.silence_told

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

    def stood_before(self, task: Snapshot) -> None:
        """The task as it was before this turn's question: none of that is news, whoever says it again."""
        self._overlay.stood_before(task)
        self._continues = True

    def hear(self, frame: Frame, raw: Mapping[str, Any]) -> None:
        """An event of a stream. Raises BadAgentData: more text than a turn may have."""
        self.heard += 1
        if isinstance(frame, Snapshot) and (self._was_asked or self._continues):
            self._lay(frame, raw)  # a stream that was joined begins with the task as it stands
        else:
            self._overlay.hear(frame)
            self._feed(frame, raw)
        self._has_news()

    def lay(self, task: Snapshot, raw: Mapping[str, Any]) -> bool:
        """The task as it was asked for: told is only what is new. Whether anything was.

        Raises BadAgentData: more text than a turn may have.
        """
        self._was_asked = True
        found = tuple(event for event in self._lay(task, raw) if isinstance(event, _NEWS))
        is_news = bool(found) and found != self._news
        if is_news:
            self._news = found
            self._has_news()
        return is_news

    def waited(self, why: str, known: Known) -> None:
        """Tell the reader, now and then, that nothing was heard for a while."""
        since = self._now() - self._news_at
        if since >= self._tell_at:
            self._tell_at = since + _SAID_AGAIN
            self._hearing.event(Waited(since, known, why))

    def quiet(self) -> None:
        """Tell the reader that an open stream says nothing."""
        since = self._now() - self._news_at
        self._hearing.event(Waited(since, Known.QUIET, "no event on the stream"))

    def finish(self) -> None:
        """Nothing more will come: tell the best of what came, where the agent named no result."""
        for event in self._parser.finish():
            self._hearing.event(event)
        if not self._was_asked:  # what was put together from two sides shows no habit
            self._habits.update(self._parser.lessons())

    def _has_news(self) -> None:
        self._news_at, self._tell_at = self._now(), self._told_after

    def _lay(self, task: Snapshot, raw: Mapping[str, Any]) -> list[Event]:
        return [event for frame in self._overlay.lay(task) for event in self._feed(frame, raw)]

    def _feed(self, frame: Frame, raw: Mapping[str, Any]) -> list[Event]:
        waited = self.state is TaskState.AUTH_REQUIRED
        events = self._parser.feed(frame)
        if waited and not self.state.is_asking:
            events.insert(0, WentOn(f"task is {self.state}"))
        self._hearing.raw(self._parser.kind_of(frame), raw)
        for event in events:
            if isinstance(event, TaskKnown):
                self.task_id = event.task_id or self.task_id
            self._hearing.event(event)
        return events
