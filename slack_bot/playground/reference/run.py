"""The loop: the model's messages and its tools, in turn, until it calls no more; told as it happens.

Nothing is kept back that is certain. What the gate calls narration or answer goes out as it comes; at a
tool's border all is said that is not half a marker; the answer's last word is out before the final result.
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
    Returned,
    Token,
    ToolCall,
)
from .scenarios import InputField, ScenarioStep, StepStatus
from .structured import Response, ResponseReader, field_of, final_of, wrapped
from .toolbox import CAPS, Toolbox, ToolResult, argument_of
from .voice_splitter import SpokenPiece, Voice, VoiceSplitter
from .word_pieces import chunks

_TOOL_SECONDS = 0.4  # long enough to be seen as running
_UNSEEN = (PLAN, ASK)  # calls that show themselves
_MOST_MESSAGES = 50  # of a model that calls tools for ever

Rest = Callable[[float], Awaitable[None]]


@dataclass
class ToolRunner:
    """The tools, and what stands before them. `rest` waits some seconds, or none where there is no pace."""

    tools: Toolbox
    middleware: Middleware
    rest: Rest

    def label(self, call: ToolCall) -> str:
        """What `call` does, for a person."""
        argument = argument_of(call.tool, call.arguments)
        return self.tools.label(call.tool, self.middleware.argument(argument))

    async def call(self, call: ToolCall) -> ToolResult:
        """Run one tool: a refusal and a failure are results too."""
        if self.middleware.checks:
            await self.rest(POLICY_SECONDS)
            if (refusal := self.middleware.refusal(call.tool, tuple(CAPS))) is not None:
                return ToolResult(refusal, failed=True)
        await self.rest(_TOOL_SECONDS)
        argument = argument_of(call.tool, call.arguments)
        return self.tools.call(call.tool, self.middleware.argument(argument))


@dataclass
class _Heard:
    """One message of the model's."""

    calls: list[ToolCall] = field(default_factory=list)
    shown: set[str] = field(default_factory=set)
    response: ResponseReader | None = None


class AgentRun:
    """One question on one task. `structured`: the final result carries the response as data."""

    def __init__(
        self,
        telling: EventWriter,
        talk: ModelConversation,
        hands: ToolRunner,
        mode: Mode,
        *,
        structured: bool = False,
    ) -> None:
        self._telling = telling
        self._talk = talk
        self._hands = hands
        self._mode = mode
        self._structured = structured
        self._gate = VoiceSplitter(marked=mode is not Mode.STRUCTURED)
        self._reader: ResponseReader | None = None

    async def carry_out(self) -> None:
        """Go on until there is an answer, a question or a failure, and tell it."""
        try:
            await self._carry_out()
        except ModelFailed as failed:
            await self._tell(self._gate.end())
            await self._last_word()
            await self._telling.fail(str(failed))

    async def _carry_out(self) -> None:
        returned: list[Returned] = []
        for _ in range(_MOST_MESSAGES):
            heard = await self._listen(self._talk.turn(returned))
            if not heard.calls and heard.response is None:
                await self._said_all()
                return
            returned = []
            for call in heard.calls:
                if call.tool == ASK:
                    await self._ask(call)
                    return
                returned.append(Returned(call, await self._call(call)))
            if heard.response is not None:
                await self._responded(heard.response)
                return
            await self._tell(self._gate.border())
        raise ModelFailed("The model called tools for ever and gave no answer.")

    async def _listen(self, message: AsyncIterator[Token | CallPart | ModelSilence]) -> _Heard:
        heard = _Heard()
        async for said in message:
            match said:
                case Token(text):
                    await self._show_calls(heard)
                    await self._tell(self._gate.feed(text))
                case CallPart(tool=tool, arguments=arguments) if tool == RESPONSE:
                    await self._compose(heard, arguments)
                case CallPart(call, tool, arguments):
                    await self._grow(heard, call, tool, arguments)
                case ModelSilence():
                    pass
                case _:
                    assert_never(said)
        await self._show_calls(heard)
        return heard

    async def _grow(self, heard: _Heard, name: str, tool: str, arguments: str) -> None:
        for at, call in enumerate(heard.calls):
            if call.id == name:
                heard.calls[at] = replace(call, arguments=call.arguments + arguments)
                return
        await self._show_calls(heard)  # a plan is whole, and what is called now belongs to it
        heard.calls.append(ToolCall(name, tool, arguments))
        await self._tell(self._gate.border())

    async def _compose(self, heard: _Heard, arguments: str) -> None:
        if heard.response is None:
            heard.response = self._reader = ResponseReader()
            await self._show_calls(heard)
            await self._telling.announce(COMPOSING, "✍️ Composing answer...\n")
        if (text := heard.response.feed(arguments)) and not heard.response.asks:
            await self._telling.say(SpokenPiece(text, Voice.ANSWER))

    # -- tools -----------------------------------------------------------------------------------------------

    async def _call(self, call: ToolCall) -> ToolResult:
        if call.tool == PLAN:
            noted = bool(read_plan(call.arguments))
            return ToolResult("noted" if noted else "the plan could not be read", failed=not noted)
        result = await self._hands.call(call)
        note = f"{result.text}\n" if result.capped or result.failed else ""
        await self._telling.tool_ended(call.tool, failed=result.failed, note=note)
        return result

    async def _show_calls(self, heard: _Heard) -> None:
        """Calls are shown when their arguments are whole: only then can be said what they do."""
        for call in heard.calls:
            if call.id in heard.shown:
                continue
            heard.shown.add(call.id)
            if call.tool == PLAN and (steps := read_plan(call.arguments)):
                await self._telling.show_plan(steps, read_plan_title(call.arguments))
            if call.tool not in _UNSEEN:
                await self._telling.tool_started(call.tool, self._hands.label(call))

    async def _ask(self, call: ToolCall) -> None:
        prompt, fields = read_question(call.arguments)
        await self._telling.ask(prompt, self._hands.middleware.fields(fields))

    # -- ends ------------------------------------------------------------------------------------------------

    async def _said_all(self) -> None:
        """The model's text is whole."""
        await self._tell(self._gate.end())
        answer = self._gate.answer
        if self._mode is Mode.STRUCTURED:
            for text in chunks(answer):
                await self._telling.say(SpokenPiece(text, Voice.ANSWER))
        response = wrapped(answer) if self._mode is Mode.HYBRID else None
        await self._finish(response, answer)

    async def _last_word(self) -> None:
        """What waits in a response for the end of its word."""
        if self._reader is not None and (rest := self._reader.end()) and not self._reader.asks:
            await self._telling.say(SpokenPiece(rest, Voice.ANSWER))

    async def _responded(self, reader: ResponseReader) -> None:
        await self._last_word()
        response, streamed = reader.response(), "" if reader.asks else reader.content
        if response is not None and (response.require_user_input or response.fields):
            await self._telling.ask(response.content, self._hands.middleware.fields(response.fields))
            return
        if response is not None and streamed:
            response = replace(response, content=streamed)
        await self._finish(response, streamed)

    async def _finish(self, response: Response | None, streamed: str) -> None:
        if response is not None and response.require_user_input:
            await self._telling.ask(response.content, self._hands.middleware.fields(response.fields))
            return
        said = self._gate.message or self._gate.everything
        final = final_of(response, streamed, said, structured=self._structured)
        if not final.text.strip():
            raise ModelFailed("The model gave no answer.")
        await self._telling.finish(final)

    async def _tell(self, pieces: Sequence[SpokenPiece]) -> None:
        for piece in pieces:
            await self._telling.say(piece)


def read_plan(arguments: str) -> tuple[ScenarioStep, ...]:
    """The steps in a call of the plan tool; () where there are none to be read."""
    found = _object(arguments).get("todos")
    rows = [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []
    return tuple(
        ScenarioStep(str(row["title"]), str(row.get("agent") or "Supervisor"), _status(row.get("status")))
        for row in rows
        if row.get("title")
    )


def read_plan_title(arguments: str) -> str:
    """What a call of the plan tool says was done; "" where it says nothing."""
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
