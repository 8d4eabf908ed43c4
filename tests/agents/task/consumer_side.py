"""The agent's side of a turn without a thread: what was reported, and frames as a test wants them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from slack_bot.agents.task.stream_consumer import StreamConsumer, TurnHandle
from slack_bot.agents.task.task_consumer import TaskConsumer
from slack_bot.agents.wire.frames import (
    AgentMessage,
    Artifact,
    ArtifactUpdate,
    Frame,
    Part,
    Received,
    Snapshot,
    StatusUpdate,
    TaskState,
)
from slack_bot.settings.models import AgentSettings
from slack_bot.testing import virtual_clock
from slack_bot.turn.events import AnswerReplaced, AnswerText, Event, FinalAnswer
from slack_bot.turn.form import Answer, Form
from slack_bot.turn.progress import TaskBaseline
from slack_bot.turn.record import Question, ThreadKey


class Reported:
    """All events that were reported, in order."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.raw: list[str] = []

    @property
    def text(self) -> str:
        """The answer that they make."""
        text = ""
        for event in self.events:
            match event:
                case AnswerText():
                    text += event.text
                case AnswerReplaced() | FinalAnswer():
                    text = event.text
        return text

    def only(self, kind: type) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    def on_event(self, event: Event) -> bool:
        self.events.append(event)
        return False

    def on_raw(self, kind: str, raw: Mapping[str, Any]) -> None:
        self.raw.append(kind)


class AnyAgent:
    """Whatever agent a test puts in its place."""

    def __init__(self) -> None:
        self.habits: dict[str, str] = {}
        self.conversation = SimpleNamespace(key=("T", "C", "1.0"))
        self.server: Any = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.server, name)


class Scene:
    """The parts of a consumer, on the running loop's time."""

    def __init__(
        self,
        task_id: str | None = None,
        habits: Mapping[str, str] | None = None,
        form: Form | None = None,
        answer: Answer | None = None,
        **settings: Any,
    ) -> None:
        self.now = asyncio.get_running_loop().time
        self.handle, self.settings = TurnHandle(), AgentSettings(**settings)
        self.reported, self.agent = Reported(), AnyAgent()
        self.agent.habits |= habits or {}
        agent: Any = self.agent
        asked = Question(ThreadKey("T", "C", "1.0"), "1.0", "U", "T", "hi", task_id=task_id)
        asked = replace(asked, form=form, answer=answer)
        self.task = TaskConsumer(
            asked,
            agent,
            self.settings,
            virtual_clock.new_clock(),
            self.handle,
            self.reported.on_event,
            self.reported.on_raw,
            self.note_sending,
        )
        self.view = self.task.view
        self.consumer = StreamConsumer(self.view, self.handle, self.settings, self.now)
        self.sendings = 0

    async def note_sending(self, baseline: TaskBaseline | None) -> None:
        self.sendings += 1


def status(state: TaskState, text: str = "", message_id: str = "m") -> StatusUpdate:
    message = AgentMessage(message_id, parts=(Part(text=text),)) if text else None
    return StatusUpdate("t", "c", state, message)


def chunk(text: str, *, append: bool = True, name: str = "answer") -> ArtifactUpdate:
    return ArtifactUpdate(Artifact("a", name, parts=(Part(text=text),)), "t", "c", append)


def snapshot(text: str = "", state: TaskState = TaskState.WORKING, name: str = "answer") -> Snapshot:
    artifacts = (Artifact("a", name, parts=(Part(text=text),)),) if text else ()
    return Snapshot("t", "c", state, artifacts=artifacts)


async def stream(
    *frames: tuple[float, Frame | Exception], open_for: float = 0.0
) -> AsyncGenerator[Received, None]:
    """Frames, each so many seconds after the one before; an exception is raised."""
    for after, frame in frames:
        await asyncio.sleep(after)
        if isinstance(frame, Exception):
            raise frame
        raw: Mapping[str, Any] = {}
        yield Received(raw, frame)
    await asyncio.sleep(open_for)
