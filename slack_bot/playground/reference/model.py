"""What the agent's loop knows of a language model: the local one and one behind an endpoint are the same."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from .toolbox import ToolCall, ToolResult

Returned: TypeAlias = Sequence[tuple[ToolCall, ToolResult]]
"""The calls of a message, and what they gave back."""


class ModelFailed(Exception):
    """The model cannot go on. `str()` is one sentence for the reader in the thread: no address, no key."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is asked. `reply` is the human's answer where the agent had asked `asked`."""

    question: str
    reply: str | None = None
    asked: str = ""
    skill: str = ""


class Model(Protocol):
    """A language model in one conversation."""

    def turn(self, returned: Returned) -> AsyncIterator[str | ToolCall]:
        """The pieces of its next message; one without calls is the last. Raises ModelFailed."""
