"""PURE. What the parts of a message or an artifact hold: text, thoughts, tool calls.

Text parts are joined with nothing between, because chunks are parts (facts: A2A 8.1). Data and files become
paragraphs. A tool call is an event, never text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..wire.frames import AgentMessage, Metadata, Part
from .data_markdown import TextBeside, beside
from .tools import ToolPart, is_thought, tool_part, tool_words


class Content(NamedTuple):
    """The parts, sorted. `is_block`: the text begins with data or a file, on lines of its own."""

    text: str = ""
    thoughts: str = ""
    tools: tuple[ToolPart, ...] = ()
    is_block: bool = False

    @property
    def calls_a_tool(self) -> bool:
        """A call begins: the text beside it says what it is for."""
        return any(tool.begins for tool in self.tools)


def extract_content(parts: tuple[Part, ...], metadata: Metadata | None = None) -> Content:
    """What `parts` hold. `metadata`, of what holds them, may make all of it a thought or a tool's."""
    if len(parts) == 1 and parts[0].text is not None and not parts[0].metadata and not metadata:
        return Content(parts[0].text)
    around = tool_words(metadata)
    tools = tuple(found for part in parts if (found := tool_part(part, around)) is not None)
    thoughts = "".join(part.text for part in parts if part.text and is_thought(part.metadata))
    if around:
        return Content("", thoughts, tools)
    plain = [part for part in parts if tool_part(part) is None and not is_thought(part.metadata)]
    text, is_block = _joined(plain)
    if metadata and is_thought(metadata):
        return Content("", thoughts + text, tools)
    return Content(text, thoughts, tools, is_block)


def _joined(parts: list[Part]) -> tuple[str, bool]:
    """The text, and whether it begins with a block; linear, for a hundred thousand parts."""
    text_beside = TextBeside("".join(part.text for part in parts if part.text))
    pieces: list[str] = []
    is_block = False
    for part in parts:
        if part.text:
            if is_block and part.text.strip() and not "".join(pieces[-2:]).endswith("\n\n"):
                pieces.append("\n\n")
            pieces.append(part.text)
            is_block = False
        elif part.text is None and (block := beside(part, text_beside)):
            _strip_end(pieces)
            pieces += ["\n\n", block] if pieces else [block]
            is_block = True
    text = "".join(pieces)
    return text, bool(parts) and parts[0].text is None and bool(text)


def _strip_end(pieces: list[str]) -> None:
    """Take the white space off the end of a text in pieces."""
    while pieces and not (kept := pieces[-1].rstrip()):
        pieces.pop()
    if pieces:
        pieces[-1] = kept


def last_message(history: Sequence[AgentMessage]) -> str:
    """The agent's last message, unless the human's last one follows it: then it is of an earlier turn.

    With one question only, the order means nothing: some servers list the newest first.
    """
    asked = [at for at, each in enumerate(history) if each.role == "user"]
    since = history[asked[-1] + 1 :] if len(asked) > 1 else history
    texts = (
        extract_content(each.parts, each.metadata).text for each in reversed(since) if each.role == "agent"
    )
    return next((text for text in texts if text.strip()), "")
