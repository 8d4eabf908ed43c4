"""The model that needs no network: what `scenarios` thinks, said as a language model says it.

It writes the marker, calls tools with JSON, keeps its plan with a tool, and is the same every time. In the
structured mode it does what made CAIPE 0.3.0 silent and then sudden: the answer is written as JSON by a call
of its own, and its endpoint hands a call's arguments over only when they are complete.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Generator, Iterator, Mapping, Sequence
from itertools import count
from typing import assert_never

from .model import (
    ASK,
    PLAN,
    RESPONSE,
    CallPart,
    Mode,
    ModelFailed,
    ModelSilence,
    Prompt,
    Token,
    ToolReturn,
    Utterance,
)
from .scenarios import (
    AskBack,
    CallTool,
    GiveUp,
    Move,
    Narrate,
    PauseMove,
    ScenarioStep,
    ShowPlan,
    Thought,
    WriteMove,
    think,
    tokens,
)
from .search import Library
from .structured import Response, field_data
from .toolbox import ToolResult, argument_name

MARKER = "[FINAL ANSWER]\n\n"


class LocalTurns:
    """A thought, message by message. `plans_itself`: it takes its time before each plan."""

    PLANNING = 24  # tokens a plan takes to be written

    def __init__(self, thought: Thought, mode: Mode, *, plans_itself: bool = False) -> None:
        self._thought = thought
        self._mode = mode
        self._plans_itself = plans_itself
        self._calls = count(1)
        self._waiting: Move | None = None
        self._marked = False
        self._awaited = ""
        self._draft: list[str] = []

    def turn(self, returned: Sequence[ToolReturn]) -> Iterator[Utterance]:
        """The next message, given what its calls returned. Raises ModelFailed where the thought gives up."""
        result = next((each.result for each in returned if each.call.id == self._awaited), None)
        self._awaited, has_called = "", False
        while (move := self._next(result)) is not None:
            result = None
            if has_called and not isinstance(move, ShowPlan | CallTool):
                self._waiting = move
                return
            has_called = isinstance(move, ShowPlan | CallTool | AskBack)
            self._marked = self._marked and not has_called
            yield from self._said(move)
            if self._awaited or isinstance(move, AskBack):
                return
        if self._draft and not has_called:
            yield from self._respond(Response("".join(self._draft)))

    def _next(self, result: ToolResult | None) -> Move | None:
        if (waiting := self._waiting) is not None:
            self._waiting = None
            return waiting
        try:
            return self._thought.send(result)
        except StopIteration:
            return None

    def _said(self, move: Move) -> Iterator[Utterance]:
        match move:
            case Narrate(text):
                yield from map(Token, tokens(text))
            case WriteMove(text):
                yield from self._write(text)
            case PauseMove(seconds):
                yield ModelSilence(seconds)
            case ShowPlan(steps, title):
                yield from self._plan(steps, title)
            case CallTool(tool, argument):
                self._awaited = yield from self._called(tool, {argument_name(tool): argument})
            case AskBack(prompt, fields) if self._mode is Mode.STRUCTURED:
                yield from self._respond(Response(prompt, False, True, fields=fields))
            case AskBack(prompt, fields):
                asked = {"prompt": prompt, "input_fields": [field_data(each) for each in fields]}
                yield from self._called(ASK, asked)
            case GiveUp(reason):
                yield from self._break_off(reason)
            case _:
                assert_never(move)

    def _plan(self, steps: Sequence[ScenarioStep], title: str) -> Iterator[Utterance]:
        if self._plans_itself:
            yield ModelSilence(tokens=self.PLANNING)
        todos = [{"title": each.title, "agent": each.agent, "status": each.status} for each in steps]
        yield from self._called(PLAN, {"todos": todos, **({"title": title} if title else {})})

    def _break_off(self, reason: str) -> Iterator[Utterance]:
        if self._draft:
            yield from self._respond(Response("".join(self._draft)), breaks_off=True)
        raise ModelFailed(reason)

    def _write(self, text: str) -> Iterator[Utterance]:
        if self._mode is Mode.STRUCTURED:
            self._draft.append(text)
            return
        if not self._marked:
            self._marked = True
            yield from map(Token, tokens(MARKER))
        yield from map(Token, tokens(text))

    def _called(self, tool: str, arguments: Mapping[str, object]) -> Generator[Utterance, None, str]:
        call = f"call-{next(self._calls)}"
        yield CallPart(call, tool, json.dumps(arguments, ensure_ascii=False))
        return call

    def _respond(self, response: Response, *, breaks_off: bool = False) -> Iterator[Utterance]:
        """The flags come before the text: a reader waits for them too."""
        raw = json.dumps(response.data(), ensure_ascii=False)
        pieces = list(tokens(raw.removesuffix('"}') if breaks_off else raw))
        call = f"call-{next(self._calls)}"
        self._draft.clear()
        yield CallPart(call, RESPONSE)
        yield ModelSilence(tokens=len(pieces))
        yield from (CallPart(call, RESPONSE, piece) for piece in pieces)


BURST = 700.0
"""Pieces a second of arguments that were whole before the first was sent: 290 in 0.4 s (facts: CAIPE 2)."""


class LocalModel:
    """Answers from `library`, `pace` tokens a second (0: as fast as it goes)."""

    def __init__(self, library: Library, pace: float) -> None:
        self._library = library
        self._pace = pace

    def converse(self, prompt: Prompt) -> _Paced:
        """Begin a conversation."""
        thought = think(prompt.question, self._library, prompt.reply)
        return _Paced(LocalTurns(thought, prompt.mode, plans_itself=prompt.plans_itself), self._pace)


class _Paced:
    def __init__(self, turns: LocalTurns, pace: float) -> None:
        self._turns = turns
        self._pace = pace

    async def turn(self, returned: Sequence[ToolReturn]) -> AsyncIterator[Utterance]:
        """The next message. Raises ModelFailed."""
        for said in self._turns.turn(returned):
            yield said
            await asyncio.sleep(self._takes(said))

    def _takes(self, said: Utterance) -> float:
        if not self._pace:
            return 0.0
        match said:
            case Token():
                return 1 / self._pace
            case ModelSilence(seconds, tokens):
                return seconds + tokens / self._pace
            case CallPart(arguments=arguments):
                return 1 / BURST if arguments else 0.0
            case _:
                assert_never(said)
