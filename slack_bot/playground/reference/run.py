"""The agent's loop: messages of the model and calls of its tools, until it calls no more.

Text goes out as soon as it is known to be narration or answer, all of it before the final result.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import replace

from a2a.types import TaskState

from ...settings.models import ReferenceSettings
from .event_writer import EventWriter
from .requests import REQUESTS
from .scenarios import STATUSES, InputField, ScenarioStep
from .structured import Response, ResponseReader, chunks, read_fields, wrapped
from .toolbox import ASK, PLAN, RESPONSE, SIGN_IN, ModelFailed, ModelTurn, Toolbox, ToolCall, ToolResult
from .voice_splitter import SpokenPiece, Voice, VoiceSplitter

SIGN_IN_HERE = (
    "Please sign in at https://login.example.com/device?code=PLAY-GROUND so that I may go on. This is a "
    "demonstration: nobody answers at that address, so I go on after ten seconds, as if you had signed in."
)
_SIGN_IN_SECONDS = 10.0  # for which a person could sign in: the agent cannot know, and goes on
COMPOSING = "composing_answer"
"""What is announced when the model begins its structured response (facts: CAIPE 6)."""
_MOST_MESSAGES = 50  # of a model that calls tools for ever


class AgentRun:
    """One question on one task, in the mode of `settings`."""

    def __init__(
        self, writer: EventWriter, turn: ModelTurn, tools: Toolbox, settings: ReferenceSettings
    ) -> None:
        self._writer, self._turn, self._tools, self._settings = writer, turn, tools, settings
        self._is_structured = settings.response_mode == "structured"
        self._splitter = VoiceSplitter(marked=not self._is_structured)
        self._reader: ResponseReader | None = None

    async def carry_out(self) -> None:
        try:
            await self._carry_out()
        except ModelFailed as failed:
            await self._say(self._splitter.end())
            await self._end_response()
            await self._writer.status(TaskState.TASK_STATE_FAILED, str(failed))

    async def _carry_out(self) -> None:
        returned: list[tuple[ToolCall, ToolResult]] = []
        for _ in range(_MOST_MESSAGES):
            calls = await self._listen(returned)
            returned = []
            for call in calls:
                if call.tool == ASK:
                    await self._ask(*read_question(call), request=str(call.values().get("request") or ""))
                    return
                returned.append((call, await self._call(call)))
            if self._reader is not None:
                await self._end_response()
                await self._finish(self._reader.response(), self._reader.content)
                return
            if not calls:
                await self._finish_text()
                return
            await self._say(self._splitter.border())
        raise ModelFailed("The model called tools for ever and gave no answer.")

    async def _listen(self, returned: list[tuple[ToolCall, ToolResult]]) -> list[ToolCall]:
        """Write the model's next message while it comes. Returns its calls."""
        calls: dict[str, ToolCall] = {}
        latest = ""  # the call that is being written: its label needs all of its arguments
        async for said in self._turn(returned):
            if isinstance(said, ToolCall) and (known := calls.get(said.id)) is not None:
                calls[said.id] = replace(known, arguments=known.arguments + said.arguments)
                continue
            await self._show(calls.get(latest))
            latest = ""
            if isinstance(said, str):
                await self._say(self._splitter.feed(said))
            elif said.tool == RESPONSE:
                await self._compose(said.arguments)
            else:
                latest, calls[said.id] = said.id, said
                await self._say(self._splitter.border())
        await self._show(calls.get(latest))
        return list(calls.values())

    async def _show(self, call: ToolCall | None) -> None:
        if call is None or call.tool in (ASK, SIGN_IN):
            return
        if call.tool != PLAN:
            text = f"🔧 Supervisor: Calling Agent {call.tool.title()}...\n"
            await self._writer.announce(call.tool, text, self._tools.label(call))
        elif steps := read_plan(call):
            title = call.values().get("title")
            await self._writer.show_plan(steps, title if isinstance(title, str) else "")

    async def _call(self, call: ToolCall) -> ToolResult:
        if call.tool == PLAN:
            noted = bool(read_plan(call))
            return ToolResult("noted" if noted else "the plan could not be read", failed=not noted)
        if call.tool == SIGN_IN:
            await self._writer.status(TaskState.TASK_STATE_AUTH_REQUIRED, SIGN_IN_HERE)
            await asyncio.sleep(_SIGN_IN_SECONDS if self._settings.pace else 0)
            await self._writer.status(TaskState.TASK_STATE_WORKING)
            return ToolResult("signed in")
        result = await self._tools.call(call)
        note = f"{result.text}\n" if result.capped or result.failed else ""
        await self._writer.tool_ended(call.tool, failed=result.failed, note=note)
        return result

    async def _compose(self, arguments: str) -> None:
        if self._reader is None:
            self._reader = ResponseReader()
            await self._writer.announce(COMPOSING, "✍️ Composing answer...\n")
        if text := self._reader.feed(arguments):
            await self._writer.say(text, Voice.ANSWER)

    async def _end_response(self) -> None:
        if self._reader is not None and (rest := self._reader.end()):
            await self._writer.say(rest, Voice.ANSWER)

    async def _finish_text(self) -> None:
        await self._say(self._splitter.end())
        answer = self._splitter.answer
        if self._is_structured:
            await self._say((text, Voice.ANSWER) for text in chunks(answer))
        await self._finish(wrapped(answer) if self._settings.response_mode == "hybrid" else None, answer)

    async def _finish(self, response: Response | None, streamed: str) -> None:
        """End with `response`, whose answer was written as `streamed`."""
        text, as_data = streamed or self._splitter.text, self._settings.structured_output
        if response is not None:
            if response.require_user_input or (response.fields and self._reader is not None):
                await self._ask(response.content, response.fields)
                return
            if streamed and self._reader is not None:
                response = replace(response, content=streamed)
            text = response.content or ("" if as_data else text)
        if not text.strip():
            raise ModelFailed("The model gave no answer.")
        await self._writer.finish(text, response, as_data=as_data)

    async def _ask(self, prompt: str, fields: tuple[InputField, ...], request: str = "") -> None:
        if request in REQUESTS:
            await self._writer.request(prompt, REQUESTS[request])
            return
        await self._writer.ask(prompt, fields if self._settings.self_service_middleware else ())

    async def _say(self, pieces: Iterable[SpokenPiece]) -> None:
        for text, voice in pieces:
            await self._writer.say(text, voice)


def read_plan(call: ToolCall) -> tuple[ScenarioStep, ...]:
    """The steps in a call of the plan tool; () if it has none."""
    found = call.values().get("todos")
    rows = [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []
    return tuple(
        ScenarioStep(
            str(row["title"]),
            status if (status := row.get("status")) in STATUSES else "pending",
            str(row.get("agent") or "Supervisor"),
        )
        for row in rows
        if row.get("title")
    )


def read_question(call: ToolCall) -> tuple[str, tuple[InputField, ...]]:
    """The prompt and the fields in a call that asks the human."""
    found = call.values()
    prompt = str(found.get("prompt") or "") or "Please say how to go on."
    return prompt, read_fields(found.get("input_fields"))
