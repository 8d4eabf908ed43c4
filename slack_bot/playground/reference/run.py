"""The agent's loop: messages of the model and calls of its tools, until it calls no more.

Text goes out as soon as the splitter knows whether it is narration or answer, all of it before the final
result.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from .event_writer import EventWriter
from .middleware import POLICY_SECONDS, Middleware
from .model import (
    ASK,
    COMPOSING,
    PLAN,
    RESPONSE,
    CallPart,
    Mode,
    ModelConversation,
    ModelFailed,
    ModelSilence,
    Token,
    ToolCall,
    ToolReturn,
)
from .scenarios import InputField, ScenarioStep, StepStatus
from .structured import Response, ResponseReader, chunks, field_of, final_of, wrapped
from .toolbox import CAPS, Toolbox, ToolResult, argument_of
from .voice_splitter import SpokenPiece, Voice, VoiceSplitter

_TOOL_SECONDS = 0.4  # long enough to be seen as running
_UNSEEN = (PLAN, ASK)  # calls that show themselves
_MOST_MESSAGES = 50  # of a model that calls tools for ever

Rest = Callable[[float], Awaitable[None]]


@dataclass
class ToolRunner:
    """The tools behind the middleware. `rest` waits some seconds, or none where the pace is 0."""

    tools: Toolbox
    middleware: Middleware
    rest: Rest

    def label(self, call: ToolCall) -> str:
        """What `call` does, for a person."""
        argument = argument_of(call.tool, call.arguments)
        return self.tools.label(call.tool, self.middleware.argument(argument))

    async def call(self, call: ToolCall) -> ToolResult:
        """Run one tool. A refusal and a failure are results too."""
        if self.middleware.checks:
            await self.rest(POLICY_SECONDS)
            if (refusal := self.middleware.refusal(call.tool, tuple(CAPS))) is not None:
                return ToolResult(refusal, failed=True)
        await self.rest(_TOOL_SECONDS)
        argument = argument_of(call.tool, call.arguments)
        return self.tools.call(call.tool, self.middleware.argument(argument))


@dataclass
class _ModelMessage:
    """One message of the model."""

    calls: list[ToolCall] = field(default_factory=list)
    shown: set[str] = field(default_factory=set)
    response: ResponseReader | None = None


class AgentRun:
    """One question on one task. `structured`: the final result carries the response as data."""

    def __init__(
        self,
        writer: EventWriter,
        talk: ModelConversation,
        tools: ToolRunner,
        mode: Mode,
        *,
        structured: bool = False,
    ) -> None:
        self._writer = writer
        self._talk = talk
        self._tools = tools
        self._mode = mode
        self._structured = structured
        self._splitter = VoiceSplitter(marked=mode is not Mode.STRUCTURED)
        self._reader: ResponseReader | None = None

    async def carry_out(self) -> None:
        """Run until there is an answer, a question or a failure, and write it."""
        try:
            await self._carry_out()
        except ModelFailed as failed:
            await self._say(self._splitter.end())
            await self._flush_response()
            await self._writer.fail(str(failed))

    async def _carry_out(self) -> None:
        returned: list[ToolReturn] = []
        for _ in range(_MOST_MESSAGES):
            message = await self._listen(self._talk.turn(returned))
            if not message.calls and message.response is None:
                await self._finish_text()
                return
            returned = []
            for call in message.calls:
                if call.tool == ASK:
                    await self._ask(call)
                    return
                returned.append(ToolReturn(call, await self._call(call)))
            if message.response is not None:
                await self._handle_response(message.response)
                return
            await self._say(self._splitter.border())
        raise ModelFailed("The model called tools for ever and gave no answer.")

    async def _listen(self, turn: AsyncIterator[Token | CallPart | ModelSilence]) -> _ModelMessage:
        message = _ModelMessage()
        async for said in turn:
            match said:
                case Token(text):
                    await self._show_calls(message)
                    await self._say(self._splitter.feed(text))
                case CallPart(tool=tool, arguments=arguments) if tool == RESPONSE:
                    await self._compose(message, arguments)
                case CallPart(call, tool, arguments):
                    await self._extend_call(message, call, tool, arguments)
                case ModelSilence():
                    pass
                case _:
                    assert_never(said)
        await self._show_calls(message)
        return message

    async def _extend_call(self, message: _ModelMessage, name: str, tool: str, arguments: str) -> None:
        for at, call in enumerate(message.calls):
            if call.id == name:
                message.calls[at] = replace(call, arguments=call.arguments + arguments)
                return
        await self._show_calls(message)  # a plan is complete before the calls that belong to it
        message.calls.append(ToolCall(name, tool, arguments))
        await self._say(self._splitter.border())

    async def _compose(self, message: _ModelMessage, arguments: str) -> None:
        if message.response is None:
            message.response = self._reader = ResponseReader()
            await self._show_calls(message)
            await self._writer.announce(COMPOSING, "✍️ Composing answer...\n")
        if (text := message.response.feed(arguments)) and not message.response.asks:
            await self._writer.say(SpokenPiece(text, Voice.ANSWER))

    # -- tools -----------------------------------------------------------------------------------------------

    async def _call(self, call: ToolCall) -> ToolResult:
        if call.tool == PLAN:
            noted = bool(read_plan(call.arguments))
            return ToolResult("noted" if noted else "the plan could not be read", failed=not noted)
        result = await self._tools.call(call)
        note = f"{result.text}\n" if result.capped or result.failed else ""
        await self._writer.tool_ended(call.tool, failed=result.failed, note=note)
        return result

    async def _show_calls(self, message: _ModelMessage) -> None:
        """Show calls whose arguments are complete: their labels need them."""
        for call in message.calls:
            if call.id in message.shown:
                continue
            message.shown.add(call.id)
            if call.tool == PLAN and (steps := read_plan(call.arguments)):
                await self._writer.show_plan(steps, read_plan_title(call.arguments))
            if call.tool not in _UNSEEN:
                await self._writer.tool_started(call.tool, self._tools.label(call))

    async def _ask(self, call: ToolCall) -> None:
        prompt, fields = read_question(call.arguments)
        await self._writer.ask(prompt, self._tools.middleware.fields(fields))

    # -- ends ------------------------------------------------------------------------------------------------

    async def _finish_text(self) -> None:
        """The model ended with text."""
        await self._say(self._splitter.end())
        answer = self._splitter.answer
        if self._mode is Mode.STRUCTURED:
            for text in chunks(answer):
                await self._writer.say(SpokenPiece(text, Voice.ANSWER))
        response = wrapped(answer) if self._mode is Mode.HYBRID else None
        await self._finish(response, answer)

    async def _flush_response(self) -> None:
        """Write the end of a response that waits for the end of its word."""
        if self._reader is not None and (rest := self._reader.end()) and not self._reader.asks:
            await self._writer.say(SpokenPiece(rest, Voice.ANSWER))

    async def _handle_response(self, reader: ResponseReader) -> None:
        await self._flush_response()
        response, streamed = reader.response(), "" if reader.asks else reader.content
        if response is not None and (response.require_user_input or response.fields):
            await self._writer.ask(response.content, self._tools.middleware.fields(response.fields))
            return
        if response is not None and streamed:
            response = replace(response, content=streamed)
        await self._finish(response, streamed)

    async def _finish(self, response: Response | None, streamed: str) -> None:
        if response is not None and response.require_user_input:
            await self._writer.ask(response.content, self._tools.middleware.fields(response.fields))
            return
        said = self._splitter.message or self._splitter.everything
        final = final_of(response, streamed, said, structured=self._structured)
        if not final.text.strip():
            raise ModelFailed("The model gave no answer.")
        await self._writer.finish(final)

    async def _say(self, pieces: Sequence[SpokenPiece]) -> None:
        for piece in pieces:
            await self._writer.say(piece)


def read_plan(arguments: str) -> tuple[ScenarioStep, ...]:
    """The steps in a call of the plan tool; () if it has none."""
    found = _object(arguments).get("todos")
    rows = [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []
    return tuple(
        ScenarioStep(str(row["title"]), str(row.get("agent") or "Supervisor"), _status(row.get("status")))
        for row in rows
        if row.get("title")
    )


def read_plan_title(arguments: str) -> str:
    """The title in a call of the plan tool, which says what was done; "" if it has none."""
    title = _object(arguments).get("title")
    return title if isinstance(title, str) else ""


def read_question(arguments: str) -> tuple[str, tuple[InputField, ...]]:
    """The prompt and the fields in a call that asks the human."""
    found = _object(arguments)
    asked = found.get("input_fields")
    fields = tuple(filter(None, map(field_of, asked))) if isinstance(asked, list) else ()
    return str(found.get("prompt") or "") or "Please say how to go on.", fields


def _object(arguments: str) -> dict[str, object]:
    try:
        found = json.loads(arguments)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _status(said: object) -> StepStatus:
    return next((status for status in StepStatus if status.value == said), StepStatus.PENDING)
