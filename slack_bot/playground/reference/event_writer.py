"""Writes what the playground's agent does as A2A events, as CAIPE's supervisor does (facts: CAIPE 2).

Two differences are on purpose: narration and answer have different artifact ids, so that they are apart in
the task too, and a heartbeat is a status, not text.
"""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import Any

from a2a.helpers import new_data_part, new_text_part, new_text_status_update_event
from a2a.server.events import EventQueue
from a2a.types import Artifact, Part, Task, TaskArtifactUpdateEvent, TaskState

from .requests import HumanRequest
from .scenarios import InputField, ScenarioStep
from .structured import Response
from .voice_splitter import Voice

_KINDS = {Voice.NARRATION: "narration", Voice.ANSWER: "answer", Voice.UNMARKED: "text"}


class EventWriter:
    """Writes one run on one task."""

    def __init__(self, queue: EventQueue, task: Task) -> None:
        self._queue, self._task = queue, task
        self._trace = hashlib.sha256(task.id.encode()).hexdigest()[:32]
        # a task that asked back goes on: its artifacts must not be replaced
        self._artifacts = len(task.artifacts)
        self._ids: dict[str, str] = {}  # of the artifacts that are written more than once, by kind
        self._step: str | None = None
        self._written = asyncio.Event()

    @asynccontextmanager
    async def beating(self, interval: float) -> AsyncIterator[None]:
        """Inside, a status comes after every `interval` seconds without an artifact; 0: never."""
        watching = asyncio.create_task(self._beat(interval), name="heartbeat") if interval else None
        try:
            yield
        finally:
            if watching is not None:
                watching.cancel()
                await asyncio.gather(watching, return_exceptions=True)

    async def say(self, text: str, voice: Voice) -> None:
        kind = _KINDS[voice]
        metadata: dict[str, Any] = {voice.value: True} if voice else {}
        if voice is Voice.ANSWER and self._step is not None:
            metadata["plan_step_id"] = self._step
        goes_on = kind in self._ids
        part, artifact_id = new_text_part(text), self._id(kind)
        await self._artifact(
            "streaming_result", part, artifact_id, "Streaming result", metadata, append=goes_on
        )

    async def attach(self, part: Part, about: str) -> None:
        """A part of the answer that is no text, behind the text that was said."""
        metadata = {Voice.ANSWER.value: True}
        await self._artifact("streaming_result", part, self._id("answer"), about, metadata, append=True)

    async def show_plan(self, steps: tuple[ScenarioStep, ...], title: str = "") -> None:
        """Show the whole plan; text from now on belongs to the running step. `title` says what was done."""
        rows = []
        for order, step in enumerate(steps):
            step_id = "step-" + hashlib.sha256(f"{step.agent}::{step.title}".encode()).hexdigest()[:12]
            rows.append({"step_id": step_id, **asdict(step), "order": order})
        running = (row["step_id"] for row in rows if row["status"] == "in_progress")
        self._step = next(running, self._step)
        name = "execution_plan_status_update" if "plan" in self._ids else "execution_plan_update"
        part = new_data_part({"steps": rows, **({"title": title} if title else {})})
        await self._artifact(name, part, self._id("plan"), "Execution plan progress update")

    async def announce(self, what: str, text: str, label: str = "") -> None:
        """Announce what comes next, as CAIPE does: like a tool. `label` says it for a person."""
        await self._tool("tool_notification_start", what, text, f"Tool call started: {what}", label)

    async def tool_ended(self, tool: str, *, failed: bool = False, note: str = "") -> None:
        mark, word = ("❌", "failed") if failed else ("✅", "completed")
        text = f"{mark} Supervisor: Agent task {tool.title()} {word}\n{note}"
        await self._tool("tool_notification_end", tool, text, f"Tool call {word}: {tool}")

    async def finish(self, text: str, response: Response | None = None, *, as_data: bool = False) -> None:
        """The final result, as `text` or as the data of `response`; the task is completed."""
        ended: dict[str, Any] = {"trace_id": self._trace}
        metadata, part = ended, new_text_part(text)
        if response is not None:
            metadata = {**ended, "response": response.flags()}
            part = new_data_part(response.data()) if as_data else part
        result_id = self._new_id("final_result")
        await self._artifact("final_result", part, result_id, "Final result", metadata, last=True)
        await self.status(TaskState.TASK_STATE_COMPLETED, metadata=ended)

    async def ask(self, prompt: str, fields: tuple[InputField, ...]) -> None:
        if fields:
            part = new_data_part({"user_input": True, "input_fields": [asdict(each) for each in fields]})
            await self._artifact("UserInputMetaData", part, self._new_id("form"), "Structured user input")
        await self.status(TaskState.TASK_STATE_INPUT_REQUIRED, prompt)

    async def request(self, prompt: str, asked: HumanRequest) -> None:
        """Ask with more than words: it stands in the status's message."""
        state = TaskState.TASK_STATE_INPUT_REQUIRED
        event = new_text_status_update_event(self._task.id, self._task.context_id, state, prompt)
        if asked.data is not None:
            event.status.message.parts.append(new_data_part(dict(asked.data)))
        event.status.message.metadata.update(asked.metadata)
        await self._queue.enqueue_event(event)

    async def status(
        self, state: TaskState, text: str = "", metadata: Mapping[str, Any] | None = None
    ) -> None:
        event = new_text_status_update_event(self._task.id, self._task.context_id, state, text)
        if not text:
            event.status.ClearField("message")
        event.metadata.update(metadata or {})
        await self._queue.enqueue_event(event)

    async def _tool(self, name: str, tool: str, text: str, description: str, label: str = "") -> None:
        metadata = {"sourceAgent": tool, "agentType": "notification"}
        if label:
            metadata["tool_title"] = label
        if self._step is not None:
            metadata["plan_step_id"] = self._step
        await self._artifact(name, new_text_part(text), self._new_id("tool"), description, metadata)

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
        self._written.set()
        await self._queue.enqueue_event(
            TaskArtifactUpdateEvent(
                task_id=self._task.id,
                context_id=self._task.context_id,
                artifact=artifact,
                append=append,
                last_chunk=last,
            )
        )

    async def _beat(self, interval: float) -> None:
        silent = 0.0
        while True:
            try:
                async with asyncio.timeout(interval):
                    await self._written.wait()
            except TimeoutError:
                silent += interval
                await self.status(TaskState.TASK_STATE_WORKING, f"Still working ({silent:g} s)…")
            else:
                silent = 0.0
                self._written.clear()

    def _id(self, kind: str) -> str:
        if kind not in self._ids:
            self._ids[kind] = self._new_id(kind)
        return self._ids[kind]

    def _new_id(self, kind: str) -> str:
        self._artifacts += 1
        return f"{kind}-{self._artifacts}"
