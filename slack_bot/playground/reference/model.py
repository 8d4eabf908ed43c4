"""What a language model says, whichever it is: pieces of text, pieces of tool calls, silence.

The agent's loop, its gates and its tools see nothing else of a model, so the deterministic one that runs
offline and one behind an endpoint are exchanged without a change to either.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, TypeAlias

from .toolbox import ToolResult

PLAN = "write_todos"
ASK = "ask_human"
RESPONSE = "PlatformEngineerResponse"
COMPOSING = "composing_answer"
"""What the agent announces where a model begins to write its structured response (facts: CAIPE 6)."""


class Mode(StrEnum):
    """How the model tells its answer apart from what it says on the way."""

    HYBRID = "hybrid"  # as marker; the answer is wrapped in a structured response afterwards
    MARKER = "marker"  # it writes `[FINAL ANSWER]` where the answer begins
    STRUCTURED = "structured"  # it calls a tool with the answer as one field of a JSON object


@dataclass(frozen=True, slots=True)
class Token:
    """The next piece of the model's text, markers and all."""

    text: str


@dataclass(frozen=True, slots=True)
class CallPart:
    """The next piece of a tool call: `arguments` is a piece of JSON. The first piece begins the call."""

    call: str
    tool: str
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class ModelSilence:
    """Nothing for so many seconds, and for as long as so many tokens take. Only a model of ours says so."""

    seconds: float = 0.0
    tokens: int = 0


Utterance: TypeAlias = Token | CallPart | ModelSilence


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A whole tool call. `arguments` is JSON, if the model did well."""

    id: str
    tool: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Returned:
    """What a call gave back."""

    call: ToolCall
    result: ToolResult


class ModelFailed(Exception):
    """The model cannot go on. `str()` is one sentence for the reader in the thread: no address, no key."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is asked. `reply` is the human's answer where the agent had asked `asked`."""

    question: str
    mode: Mode
    reply: str | None = None
    asked: str = ""
    skills: tuple[str, ...] = ()
    plans_itself: bool = False


class ModelConversation(Protocol):
    """One question's way through a model."""

    def turn(self, returned: Sequence[Returned]) -> AsyncIterator[Utterance]:
        """The model's next message, given what its last calls returned. It is over when it calls nothing.

        Raises ModelFailed.
        """


class Model(Protocol):
    """A language model."""

    def converse(self, brief: Prompt) -> ModelConversation:
        """Begin a conversation."""
