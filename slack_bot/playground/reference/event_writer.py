"""Writes what the playground's agent does as A2A events, as CAIPE's supervisor does (facts: CAIPE 2).

Text goes piece by piece into `streaming_result`, tagged `is_narration` or `is_final_answer`; tools, the plan
and the final result have artifacts of their own. Two differences are on purpose: narration and answer have
different artifact ids, so that they are apart in the task too, and a heartbeat is a status, not text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

from a2a.helpers import new_data_part, new_text_message, new_text_part
from a2a.server.events import EventQueue
from a2a.types import (
    Artifact,
    Part,
    Task,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatus,
    TaskStatusUpdateEvent,
)

from .scenarios import InputField, ScenarioStep, StepStatus
from .structured import Final, field_data
from .voice_splitter import SpokenPiece, Voice

_KINDS = {Voice.NARRATION: "narration", Voice.ANSWER: "answer", Voice.UNMARKED: "text"}


class EventWriter:
    """Writes one run on one task. `touched` is called for every event."""

    def __init__(self, queue: EventQueue, task: Task, touched: Callable[[], None] = lambda: None) -> None:
        self._queue = queue
        self._task = task
        self._touched = touched
        self._trace = hashlib.sha256(task.id.encode()).hexdigest()[:32]
        # a task that asked back goes on: its artifacts must not be replaced
        self._artifacts = len(task.artifacts)
        self._ids: dict[str, str] = {}
        self._begun: set[str] = set()
        self._step: str | None = None
        self._has_plan = False

    async def start(self) -> None:
        """The task is working."""
        await self._status(TaskState.TASK_STATE_WORKING)

    async def beat(self, silent: float) -> None:
        """The agent works on after so many seconds without an event."""
        await self._status(TaskState.TASK_STATE_WORKING, f"Still working ({silent:g} s)…")

    async def say(self, piece: SpokenPiece) -> None:
        """Append text."""
        kind = _KINDS[piece.voice]
        metadata: dict[str, Any] = {piece.voice.value: True} if piece.voice is not Voice.UNMARKED else {}
        if piece.voice is Voice.ANSWER and self._step is not None:
            metadata["plan_step_id"] = self._step
        await self._artifact(
            "streaming_result",
            new_text_part(piece.text),
            self._id(kind),
            "Streaming result",
            metadata,
            append=self._goes_on(kind),
        )

    async def show_plan(self, steps: tuple[ScenarioStep, ...], title: str = "") -> None:
        """Show the whole plan; text from now on belongs to the running step. `title` says what was done."""
        rows = [
            {
                "step_id": _step_id(step),
                "title": step.title,
                "agent": step.agent,
                "status": step.status.value,
                "order": order,
            }
            for order, step in enumerate(steps)
        ]
        running = next((step for step in steps if step.status is StepStatus.RUNNING), None)
        self._step = _step_id(running) if running is not None else self._step
        name = "execution_plan_status_update" if self._has_plan else "execution_plan_update"
        self._has_plan = True
        part = new_data_part({"steps": rows, **({"title": title} if title else {})})
        await self._artifact(name, part, self._id("plan"), "Execution plan progress update")

    async def announce(self, what: str, text: str, label: str = "") -> None:
        """Announce what comes next, as CAIPE does: like a tool."""
        await self._tool("tool_notification_start", what, text, f"Tool call started: {what}", label)

    async def tool_started(self, tool: str, label: str = "") -> None:
        """A tool call began. `label` says what it does, for a person."""
        await self.announce(tool, f"🔧 Supervisor: Calling Agent {tool.title()}...\n", label)

    async def tool_ended(self, tool: str, *, failed: bool = False, note: str = "") -> None:
        """A tool call ended. `note` is added to the text."""
        mark, word = ("❌", "failed") if failed else ("✅", "completed")
        text = f"{mark} Supervisor: Agent task {tool.title()} {word}\n{note}"
        await self._tool("tool_notification_end", tool, text, f"Tool call {word}: {tool}")

    async def finish(self, final: Final) -> None:
        """The final result, and the task is completed."""
        part = new_text_part(final.text) if final.data is None else new_data_part(dict(final.data))
        ended = {"trace_id": self._trace}
        metadata = {**ended, **({"response": dict(final.flags)} if final.flags else {})}
        await self._artifact(
            "final_result", part, self._next_id("final_result"), "Final result", metadata, last=True
        )
        await self._status(TaskState.TASK_STATE_COMPLETED, metadata=ended)

    async def ask(self, prompt: str, fields: tuple[InputField, ...]) -> None:
        """Ask the human; the task waits."""
        if fields:
            part = new_data_part({"user_input": True, "input_fields": [field_data(each) for each in fields]})
            await self._artifact("UserInputMetaData", part, self._next_id("form"), "Structured user input")
        await self._status(TaskState.TASK_STATE_INPUT_REQUIRED, prompt)

    async def fail(self, reason: str) -> None:
        """The task failed."""
        await self._status(TaskState.TASK_STATE_FAILED, reason)

    async def cancel(self) -> None:
        """The task was canceled."""
        await self._status(TaskState.TASK_STATE_CANCELED)

    # -- the wire --------------------------------------------------------------------------------------------

    async def _tool(self, name: str, tool: str, text: str, description: str, label: str = "") -> None:
        metadata = {"sourceAgent": tool, "agentType": "notification"}
        if label:
            metadata["tool_title"] = label
        if self._step is not None:
            metadata["plan_step_id"] = self._step
        await self._artifact(name, new_text_part(text), self._next_id("tool"), description, metadata)

    async def _artifact(
        self,
        name: str,
        part: Part,
        artifact_id: str,
        description: str,
        metadata: Mapping[str, Any] | None = None,
        *,
        append: bool = False,
        last: bool = False,
    ) -> None:
        artifact = Artifact(
            artifact_id=artifact_id, name=name, description=description, parts=[part], metadata=metadata
        )
        self._touched()
        await self._queue.enqueue_event(
            TaskArtifactUpdateEvent(
                task_id=self._task.id,
                context_id=self._task.context_id,
                artifact=artifact,
                append=append,
                last_chunk=last,
            )
        )

    async def _status(
        self, state: TaskState, text: str = "", metadata: Mapping[str, Any] | None = None
    ) -> None:
        status = TaskStatus(state=state)
        if text:
            status.message.CopyFrom(
                new_text_message(text, context_id=self._task.context_id, task_id=self._task.id)
            )
        await self._queue.enqueue_event(
            TaskStatusUpdateEvent(
                task_id=self._task.id, context_id=self._task.context_id, status=status, metadata=metadata
            )
        )

    def _goes_on(self, kind: str) -> bool:
        """The artifact of this kind of text was begun before."""
        begun = kind in self._begun
        self._begun.add(kind)
        return begun

    def _id(self, kind: str) -> str:
        if kind not in self._ids:
            self._ids[kind] = self._next_id(kind)
        return self._ids[kind]

    def _next_id(self, kind: str) -> str:
        self._artifacts += 1
        return f"{kind}-{self._artifacts}"


def _step_id(step: ScenarioStep) -> str:
    return "step-" + hashlib.sha256(f"{step.agent}::{step.title}".encode()).hexdigest()[:12]
