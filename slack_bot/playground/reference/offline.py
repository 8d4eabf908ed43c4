"""The local model at a pace: tokens come as a hosted model writes them, and everything takes its time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import assert_never

from .local import LocalTurns
from .model import CallPart, ModelSilence, Prompt, Returned, Token, Utterance
from .scenarios import think
from .search import Library

BURST = 700.0
"""Pieces a second of arguments that were whole before the first was sent: 290 in 0.4 s (facts: CAIPE 2)."""


class LocalModel:
    """Answers from `library`, `pace` tokens a second (0: as fast as it goes)."""

    def __init__(self, library: Library, pace: float) -> None:
        self._library = library
        self._pace = pace

    def converse(self, brief: Prompt) -> _Paced:
        """Begin a conversation."""
        thought = think(brief.question, self._library, brief.reply)
        return _Paced(LocalTurns(thought, brief.mode, plans_itself=brief.plans_itself), self._pace)


class _Paced:
    def __init__(self, turns: LocalTurns, pace: float) -> None:
        self._turns = turns
        self._pace = pace

    async def turn(self, returned: Sequence[Returned]) -> AsyncIterator[Utterance]:
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
