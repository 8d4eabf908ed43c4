"""One reading side without a thread: what was told, and frames that come as a test wants them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from slack_bot.a2a.wire.frames import (
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
from slack_bot.consumer.stream_consumer import StreamConsumer
from slack_bot.consumer.task_view import EventCallback, TaskView
from slack_bot.consumer.turn_handle import ExitSignals, TurnHandle
from slack_bot.settings.models import AgentSettings
from slack_bot.turn.events import AnswerReplaced, AnswerText, Event, FinalAnswer


class Told:
    """All events that were told, in order."""

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

    def hearing(self) -> EventCallback:
        return EventCallback(self.events.append, lambda kind, _: self.raw.append(kind))


class Scene:
    """The parts of a reading side, on the running loop's time."""

    def __init__(
        self, leaving: ExitSignals, control: TurnHandle, task_id: str | None, settings: AgentSettings
    ) -> None:
        self.now = asyncio.get_running_loop().time
        self.leaving, self.control, self.settings = leaving, control, settings
        self.told = Told()
        self.standing = TaskView(task_id, settings, self.told.hearing(), self.now, {})
        self.ear = StreamConsumer(self.standing, leaving, settings, self.now)


@asynccontextmanager
async def scene(task_id: str | None = None, **settings: Any) -> AsyncIterator[Scene]:
    control = TurnHandle()
    async with ExitSignals(control, asyncio.Event()) as leaving:
        yield Scene(leaving, control, task_id, AgentSettings(**settings))


def status(state: TaskState, text: str = "", message_id: str = "m") -> StatusUpdate:
    message = AgentMessage(message_id, parts=(Part(text=text),)) if text else None
    return StatusUpdate("t", "c", state, message)


def chunk(text: str, *, append: bool = True) -> ArtifactUpdate:
    return ArtifactUpdate(Artifact("a", "answer", parts=(Part(text=text),)), "t", "c", append)


def snapshot(text: str = "", state: TaskState = TaskState.WORKING) -> Snapshot:
    artifacts = (Artifact("a", "answer", parts=(Part(text=text),)),) if text else ()
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
