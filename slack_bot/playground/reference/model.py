"""What a language model sends: pieces of text, pieces of tool calls, silence.

The agent's loop knows nothing else of a model, so the local one and one behind an endpoint can be exchanged.
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
"""The agent announces it when the model begins its structured response (facts: CAIPE 6)."""


class Mode(StrEnum):
    """How the model marks its answer."""

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
class ToolReturn:
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

    def turn(self, returned: Sequence[ToolReturn]) -> AsyncIterator[Utterance]:
        """The model's next message, given what its last calls returned. It is over when it calls nothing.

        Raises ModelFailed.
        """


class Model(Protocol):
    """A language model."""

    def converse(self, prompt: Prompt) -> ModelConversation:
        """Begin a conversation."""
