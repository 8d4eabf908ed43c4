"""What a model is asked and what it calls: the tools of the playground's agent, each with a limit of its own.

A call beyond the limit is answered with a sentence, never with an error, and never ends the run.
"""

import asyncio
import json
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ...settings.models import ReferenceSettings
from .search import Library
from .verdict import Hit

SEARCH = "search"
FETCH = "fetch_document"
PLAN = "write_todos"
ASK = "ask_human"
SIGN_IN = "sign_in"
RESPONSE = "PlatformEngineerResponse"

POLICY_SECONDS = 0.15
_TOOL_SECONDS = 0.4  # long enough to be seen as running
_ARGUMENTS = {SEARCH: "query", FETCH: "name", SIGN_IN: "service"}
_LABELS = {SEARCH: "Search", FETCH: "Read"}
_FILE = re.compile(r"@([\w-]+?)(?:\.md)?\Z")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call, or a piece of one: pieces share an `id`, and their `arguments` join to JSON."""

    id: str
    tool: str
    arguments: str = ""

    def values(self) -> dict[str, Any]:
        """The arguments; {} where a model wrote something else."""
        return parse_object(self.arguments)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool gave back. `text` is for the model; `capped`: it was not run, its limit is reached."""

    text: str
    hits: tuple[Hit, ...] = ()
    capped: bool = False
    failed: bool = False


Returned: TypeAlias = Sequence[tuple[ToolCall, ToolResult]]
"""The calls of a message, and what they gave back."""
ModelTurn: TypeAlias = Callable[[Returned], AsyncIterator[str | ToolCall]]
"""The pieces of a model's next message; one without calls is the last. Raises ModelFailed."""


class ModelFailed(Exception):
    """The model cannot go on. `str()` is one sentence for the reader in the thread: no address, no key."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is asked. `reply` is the human's answer where the agent had asked `asked`, `decision` what
    they decided by a button: `approve` or `reject`.
    """

    question: str
    reply: str | None = None
    asked: str = ""
    skill: str = ""
    decision: str = ""


def parse_object(text: str, *, strict: bool = True) -> dict[str, Any]:
    """The JSON object in `text`; {} where there is none. `strict` false: line ends may be in its strings."""
    try:
        found = json.loads(text, strict=strict)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def argument_name(tool: str) -> str:
    """What the one argument of `tool` is called in a call's JSON."""
    return _ARGUMENTS.get(tool, "input")


class Toolbox:
    """The tools of one run, with the limits and the middleware of `settings`."""

    def __init__(self, library: Library, settings: ReferenceSettings) -> None:
        self._library, self._settings = library, settings
        self._caps = {SEARCH: settings.search_calls, FETCH: settings.fetch_calls}
        self._calls = Counter[str]()

    def argument(self, call: ToolCall) -> str:
        """The argument as the tool gets it; "" where a model wrote none."""
        value = call.values().get(argument_name(call.tool))
        text = value if isinstance(value, str) else ""
        found = _FILE.fullmatch(text.strip()) if self._settings.file_arg_middleware else None
        return found[1] if found else text

    def label(self, call: ToolCall) -> str:
        """What a call does, for a person: a page is named by its title."""
        argument = self.argument(call)
        found = self._library.sections_of(argument) if call.tool == FETCH else []
        shown = found[0].title if found else " ".join(argument.split())
        name = _LABELS.get(call.tool) or call.tool.replace("_", " ").capitalize()
        return f"{name} “{shown}”" if shown else name

    async def call(self, call: ToolCall) -> ToolResult:
        """Check a call and run it. It takes no time at a pace of 0."""
        if self._settings.policy_middleware:
            await self._rest(POLICY_SECONDS)
            if call.tool not in self._caps:
                return ToolResult(f"policy: {call.tool} is not among the tools of this agent", failed=True)
        await self._rest(_TOOL_SECONDS)
        return self.run(call.tool, self.argument(call))

    def run(self, tool: str, argument: str) -> ToolResult:
        """Run `tool`. An unknown tool or document is a failed result, not an exception."""
        self._calls[tool] += 1
        cap = self._caps.get(tool)
        if cap is not None and self._calls[tool] > cap:
            return ToolResult(f"limit reached: {tool} may be called {cap} times in one run", capped=True)
        if tool == SEARCH:
            hits = tuple(self._library.search(argument))
            return ToolResult("\n".join(f"{hit.section.page}: {hit.section.heading}" for hit in hits), hits)
        page = self._library.fetch(argument) if tool == FETCH else None
        if page is None:
            return ToolResult(f"{tool} has nothing for {argument!r}", failed=True)
        return ToolResult(page)

    async def _rest(self, seconds: float) -> None:
        await asyncio.sleep(seconds if self._settings.pace else 0)
