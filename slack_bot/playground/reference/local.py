"""The model that needs no network: what `scenarios` thinks, said as a language model says it.

Structured, it does what made CAIPE 0.3.0 silent and then sudden: the answer is JSON in a call of its own,
whose arguments are handed over only when they are complete.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import asdict
from itertools import count
from typing import TypeAlias, assert_never

from ...settings.models import ReferenceSettings
from .scenarios import AskBack, CallTool, Move, Pause, ShowPlan, Thought, WriteMove, tokens
from .structured import Response
from .toolbox import ASK, PLAN, RESPONSE, ModelFailed, Returned, ToolCall, argument_name

MARKER = "[FINAL ANSWER]\n\n"
PLANNING = 24
"""Tokens that a plan takes to be written."""
BURST = 700.0
"""Pieces a second of arguments that were whole before the first was sent: 290 in 0.4 s (facts: CAIPE 2)."""

_Said: TypeAlias = str | ToolCall | Pause


class LocalModel:
    """Says `thought`, with the mode and the pace of `settings`."""

    def __init__(self, thought: Thought, settings: ReferenceSettings) -> None:
        self._thought, self._settings = thought, settings
        self._is_structured = settings.response_mode == "structured"
        self._ids = map("call-{}".format, count(1))
        self._returned: Returned = ()
        self._marked = False
        self._draft = ""
        self._speech = self._speak()

    async def turn(self, returned: Returned) -> AsyncIterator[str | ToolCall]:
        self._returned = returned
        for said in self._speech:
            if said is None:
                return
            if not isinstance(said, Pause):
                yield said
            await asyncio.sleep(self._seconds(said))

    def _seconds(self, said: _Said) -> float:
        if not (pace := self._settings.pace):
            return 0.0
        if isinstance(said, Pause):
            return said.seconds + said.tokens / pace
        if isinstance(said, ToolCall):
            return 1 / BURST if said.arguments else 0.0
        return 1 / pace

    def _speak(self) -> Iterator[_Said | None]:
        """All messages; None ends one."""
        result, has_called = None, False
        while True:
            try:
                move = self._thought.send(result)
            except (StopIteration, ModelFailed) as end:
                if has_called:
                    yield None
                has_failed = isinstance(end, ModelFailed)
                if self._draft:
                    yield from self._respond(Response(self._draft), breaks_off=has_failed)
                if has_failed:
                    raise
                return
            calls = isinstance(move, ShowPlan | CallTool)
            if has_called and not calls:
                yield None
            has_called, result = calls, None
            yield from self._say(move)
            if isinstance(move, CallTool):
                yield None
                has_called, result = False, self._returned[-1][1]

    def _say(self, move: Move) -> Iterator[_Said]:
        if isinstance(move, ShowPlan | CallTool):
            self._marked = False
        match move:
            case str():
                yield from tokens(move)
            case WriteMove(text):
                yield from self._write(text)
            case Pause():
                yield move
            case ShowPlan(steps, title):
                if not self._settings.deterministic_middleware:
                    yield Pause(tokens=PLANNING)
                yield self._call(PLAN, {"todos": [asdict(each) for each in steps], "title": title})
            case CallTool(tool, argument):
                yield self._call(tool, {argument_name(tool): argument})
            case AskBack():
                yield from self._ask_back(move)
            case _:
                assert_never(move)

    def _ask_back(self, asked: AskBack) -> Iterator[_Said]:
        if asked.request:
            yield self._call(ASK, {"prompt": asked.prompt, "request": asked.request})
        elif self._is_structured:
            yield from self._respond(Response(asked.prompt, False, True, fields=asked.fields))
        else:
            fields = [asdict(each) for each in asked.fields]
            yield self._call(ASK, {"prompt": asked.prompt, "input_fields": fields})

    def _write(self, text: str) -> Iterator[str]:
        if self._is_structured:
            self._draft += text
            return
        if not self._marked:
            self._marked = True
            yield from tokens(MARKER)
        yield from tokens(text)

    def _call(self, tool: str, arguments: dict[str, object]) -> ToolCall:
        return ToolCall(next(self._ids), tool, json.dumps(arguments, ensure_ascii=False))

    def _respond(self, response: Response, *, breaks_off: bool = False) -> Iterator[_Said]:
        raw = json.dumps(response.data(), ensure_ascii=False)
        pieces = list(tokens(raw.removesuffix('"}') if breaks_off else raw))
        call, self._draft = next(self._ids), ""
        yield ToolCall(call, RESPONSE)
        yield Pause(tokens=len(pieces))
        yield from (ToolCall(call, RESPONSE, piece) for piece in pieces)
